# Copyright 2026 repsq_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A subject that wears over sessions: the results of each rule, and the delay of the alarm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.anytime import AnytimeBatch
from repsq_ros.estimation.moments import EmpiricalBernstein
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.paper.drawing import style
from repsq_ros.paper.stops import (
    Numbers,
    StoppedCampaigns,
    anytime_stops,
    fixed_stops,
    moment_stops,
)
from repsq_ros.paper.study_interface import (
    Finding,
    Row,
    Study,
    StudyOutcome,
    StudyRequest,
    by_name,
    campaigns_of,
    number,
    parts,
    row_of,
    seed_of,
    sizes,
)
from repsq_ros.paper.written import share
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import RequiredAccuracy, read_accuracy
from repsq_ros.specification.reader import Section

ANYTIME, PAPER, FIXED = 'anytime', "paper's rule", 'first session alone'
UNIT = Bounds(0.0, 1.0)
CHUNK = 50  # campaigns per task
NEVER = 0  # in place of a test: none


@dataclass(frozen=True)
class Wear:
    """How the mean of psi changes over sessions."""

    mean: float
    each: float  # increase with each session
    jump: float = 0.0  # additional increase from session jump_at on
    jump_at: int = 1  # number of the session, from 1

    def means(self, sessions: int) -> Numbers:
        """Return the mean of each session."""
        session = np.arange(sessions)
        found: Numbers = (
            self.mean + self.each * session + self.jump * (session + 1 >= self.jump_at)
        )
        return found


@dataclass(frozen=True)
class DriftSetting:
    """The settings of the study."""

    accuracy: RequiredAccuracy
    sd: float
    sessions: int
    tests: int
    wears: Mapping[str, Wear]
    campaigns: int
    seed: int

    def truths(self, wear: Wear) -> Numbers:
        """Return the mean of psi at each test of a campaign."""
        return np.repeat(wear.means(self.sessions), self.tests)


@dataclass(frozen=True)
class WearOutcomes:
    """The results of some campaigns."""

    stopped: Mapping[str, StoppedCampaigns]
    # test at which two sessions' intervals were disjoint; or NEVER
    sessions_alarm: NDArray[np.int64]


def _read(section: Section, asked: StudyRequest) -> DriftSetting:
    accuracy, sd = read_accuracy(section.section('accuracy'), 1.0), section.number('sd', above=0)
    sessions, tests = section.whole('sessions', at_least=2), section.whole('tests', at_least=2)
    wears = {}
    for name, each in section.named('wears'):
        wear = Wear(
            each.number('mean'), each.number('each'), each.number('jump', 0.0),
            each.whole('jump_at', 1, at_least=1),
        )  # fmt: skip
        means = wear.means(sessions)
        if not ((means * (1.0 - means)).min() > sd**2 and 0 < means.min() < means.max() + 1 < 2):
            raise each.fail('mean', f'{means}', f'means in (0, 1) that allow an sd of {sd:g}')
        wears[name] = wear
    return DriftSetting(
        accuracy, sd, sessions, tests, wears, sizes(section, asked, campaigns_of),
        seed_of(section, asked),
    )  # fmt: skip


def _pieces(setting: DriftSetting) -> Sequence[tuple[str, int, int]]:
    return parts(setting.wears, setting.campaigns, CHUNK)


def _work(setting: DriftSetting, piece: tuple[str, int, int]) -> WearOutcomes:
    name, begin, end = piece
    mean = setting.truths(setting.wears[name])
    strength = mean * (1.0 - mean) / setting.sd**2 - 1.0
    a, b, place = mean * strength, (1.0 - mean) * strength, list(setting.wears).index(name)
    z = np.stack([
        generator(setting.seed, RandomStream.STUDY, place, campaign).beta(a, b)
        for campaign in range(begin, end)
    ])  # fmt: skip
    asked = setting.accuracy
    question = Question(asked.gamma, asked.c, UNIT)
    return WearOutcomes(
        {
            ANYTIME: anytime_stops(z, question),
            PAPER: moment_stops(z, EmpiricalBernstein(), question),
            FIXED: fixed_stops(z, setting.tests),
        },
        sessions_alarm(z, setting.tests, asked.gamma, asked.c),
    )  # fmt: skip


def sessions_alarm(z: Numbers, tests: int, gamma: float, c: float) -> NDArray[np.int64]:
    """Return the test at which a session's interval is disjoint from an earlier session's.

    Each session has its own confidence sequence with c / sessions: without drift, there is an
    alarm with probability c at most, ever.

    :param z: shape (campaigns, sessions times tests), in [0, 1]
    :param tests: per session
    :returns: from 1; NEVER: no alarm
    """
    runs, total = z.shape
    sessions = total // tests
    highest: Numbers = np.zeros(runs)  # highest lower end of earlier sessions
    lowest: Numbers = np.ones(runs)  # lowest upper end of earlier sessions
    alarm: NDArray[np.int64] = np.full(runs, NEVER, dtype=np.int64)
    for session in range(sessions):
        sequence = AnytimeBatch(Question(gamma, c / sessions, UNIT), runs)
        for test in range(session * tests, (session + 1) * tests):
            sequence.add(z[:, test])
            apart = (sequence.lower > lowest) | (sequence.upper < highest)
            alarm = np.where((alarm == NEVER) & apart, test + 1, alarm)
        highest = np.maximum(highest, sequence.lower)
        lowest = np.minimum(lowest, sequence.upper)
    return alarm


def _conclude(setting: DriftSetting, results: Sequence[WearOutcomes]) -> StudyOutcome:
    rows, alarms = [], []
    for name, own in by_name(_pieces(setting), results).items():
        truths = setting.truths(setting.wears[name])
        stops = StoppedCampaigns.of_rules([each.stopped for each in own])
        rows += [_reported(setting, name, rule, each, truths) for rule, each in stops.items()]
        within = stops[ANYTIME]
        void = ~within.reached & (within.n < len(truths))
        empty = np.where(void, within.n, NEVER)
        apart = np.concatenate([each.sessions_alarm for each in own])
        moved = _moved(truths, setting.accuracy.gamma)
        for alarm, tests in (('interval of a campaign is empty', empty),
                             ('sessions apart', apart)):  # fmt: skip
            alarms.append(_alarmed(name, alarm, tests, moved, setting.tests))
    return StudyOutcome({'': rows, '_alarms': alarms}, tuple(_findings(setting, rows, alarms)))


def _moved(truths: Numbers, gamma: float) -> int:
    """Return the first test with a mean more than gamma from the initial one; or NEVER."""
    far = np.abs(truths - truths[0]) > gamma
    return int(far.argmax()) + 1 if far.any() else NEVER


def _reported(
    setting: DriftSetting, name: str, rule: str, stopped: StoppedCampaigns, truths: Numbers
) -> Row:
    gamma = setting.accuracy.gamma
    over = np.cumsum(truths)[stopped.n - 1] / stopped.n  # mean of psi over the tests made
    now = truths[stopped.n - 1]
    met = stopped.reached
    return {
        'wear': name, 'rule': rule, 'campaigns': len(met), 'met_rule': int(met.sum()),
        'tests_mean': float(stopped.n.mean()), 'reported': float(stopped.mean.mean()),
        'mean_at_first': float(truths[0]), 'mean_over_tests': float(over.mean()),
        'mean_at_end': float(now.mean()), 'mean_last_session': float(truths[-1]),
        **share('far_from_over', int(((np.abs(stopped.mean - over) > gamma) & met).sum()),
                int(met.sum())),
        **share('far_from_end', int(((np.abs(stopped.mean - now) > gamma) & met).sum()),
                int(met.sum())),
    }  # fmt: skip


def _alarmed(name: str, alarm: str, tests: NDArray[np.int64], moved: int, of_session: int) -> Row:
    risen = tests[tests != NEVER]
    return {
        'wear': name, 'alarm': alarm, **share('risen', len(risen), len(tests)),
        'moved_at': moved, 'risen_at_median': float(np.median(risen)) if len(risen) else '',
        'late_median': float(np.median(risen)) - moved if len(risen) and moved else '',
        'session_median': float(np.median(-(-risen // of_session))) if len(risen) else '',
    }  # fmt: skip


def _findings(
    setting: DriftSetting, rows: Sequence[Row], alarms: Sequence[Row]
) -> Iterator[Finding]:
    c = setting.accuracy.c
    for name, wear in setting.wears.items():
        means = wear.means(setting.sessions)
        apart = row_of(alarms, wear=name, alarm='sessions apart')
        risen = f'{apart["risen_count"]} of {apart["risen_of"]} campaigns'
        if means.min() == means.max():
            yield Finding(
                f'{name}: sessions seem to differ in {risen}, at most {c:.4g} are promised',
                number(apart, 'risen_low') <= c,
            )
        elif abs(means[-1] - means[0]) >= setting.sd:
            told = number(apart, 'risen') >= 0.9
            yield Finding(f'{name}: the sessions show it in {risen}', told)
    for row in rows:
        if row['wear'] == 'fast' and row['rule'] == PAPER:
            yield Finding(
                f"fast: the paper's rule reports a mean that is more than gamma from that of the "
                f'robot as it is by then in {row["far_from_end_count"]} of '
                f'{row["far_from_end_of"]} campaigns',
                number(row, 'far_from_end_of') > 0 and number(row, 'far_from_end') > 0.9,
            )


def _draw(setting: DriftSetting, figure: Any, found: StudyOutcome) -> None:
    left, right = figure.subplots(1, 2)
    sessions = np.arange(1, setting.sessions + 1)
    for place, (name, wear) in enumerate(setting.wears.items()):
        left.plot(sessions, wear.means(setting.sessions), label=name, markersize=4, **style(place))
        row = row_of(found.tables[''], wear=name, rule=PAPER)
        left.axhline(
            number(row, 'reported'), color=style(place)['color'], linestyle=':', linewidth=1
        )
    left.set(xlabel='session', ylabel='mean of psi [1]', title="dotted: the paper's rule reports")
    left.legend(fontsize='x-small')
    alarms = found.tables['_alarms']
    names = list(setting.wears)
    for place, alarm in enumerate(dict.fromkeys(str(row['alarm']) for row in alarms)):
        own = [row_of(alarms, wear=name, alarm=alarm) for name in names]
        right.errorbar(
            [k + (place - 0.5) * 0.2 for k in range(len(own))],
            [number(row, 'risen') for row in own],
            yerr=[
                [number(row, 'risen') - number(row, 'risen_low') for row in own],
                [number(row, 'risen_high') - number(row, 'risen') for row in own],
            ], capsize=3, linestyle='none', label=alarm, **style(place + 1),
        )  # fmt: skip
    right.axhline(setting.accuracy.c, color='0.4', linestyle='--', label='c')
    right.set_xticks(range(len(names)), names)
    right.set(ylabel='campaigns with an alarm', ylim=(-0.03, 1.03))
    right.legend(fontsize='x-small')


DRIFT = Study(
    'drift', _read, _pieces, _work, _conclude, _draw,
    {
        '': ('wear', 'rule', 'met_rule', 'tests_mean', 'reported', 'mean_at_first',
             'mean_over_tests', 'mean_at_end', 'far_from_over_count', 'far_from_end_count',
             'far_from_end_of'),
        '_alarms': ('wear', 'alarm', 'risen_count', 'risen_of', 'risen_low', 'risen_high',
                    'moved_at', 'risen_at_median', 'late_median', 'session_median'),
    },
)  # fmt: skip
