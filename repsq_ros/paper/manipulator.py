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

"""ISO 9283 against the method: how often independent trials report the same displacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.alpha import paper_alpha
from repsq_ros.estimation.moments import EmpiricalBernstein
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.paper.manipulator_figure import draw
from repsq_ros.paper.methods import ANCHORED, ANYTIME, CERTIFIED, ISO, PAPER, READOUT
from repsq_ros.paper.stops import (
    Numbers,
    StoppedCampaigns,
    anytime_stops,
    cell_stops,
    fixed_stops,
    moment_stops,
)
from repsq_ros.paper.study_interface import (
    Cell,
    Finding,
    Row,
    Study,
    StudyOutcome,
    StudyRequest,
    number,
    row_of,
    seed_of,
    sizes,
)
from repsq_ros.paper.written import share
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import RequiredAccuracy, read_accuracy
from repsq_ros.specification.reader import Section
from repsq_ros.studies.laws import Law, read_law

CHUNK = 20  # trials in a piece of work, an even number
FIRST = 3  # trials that are shown one by one


@dataclass(frozen=True)
class DisplacementSubject:
    """A subject: the law of its displacement and what is asked of it."""

    law: str
    upper: float  # of the range of psi [mm]
    cycles: int
    readout: float  # [mm]
    accuracy: RequiredAccuracy

    @property
    def read(self) -> Law:
        """Return its law."""
        return read_law(self.law, 0.0, self.upper)

    @property
    def mean(self) -> float:
        """Return r*."""
        found = self.read.mean
        assert found is not None
        return found

    @property
    def cells(self) -> Partition:
        """Return the paper's partition, from 0 on."""
        asked = self.accuracy
        alpha = paper_alpha(asked.gamma, asked.c, asked.beta)
        return Partition.almost_uniform(0.0, self.upper, alpha)

    @property
    def question(self) -> Question:
        """Return what the rules are asked."""
        asked = self.accuracy
        return Question(asked.gamma, asked.c, Bounds(0.0, self.upper), self.cells.edges)


@dataclass(frozen=True)
class ManipulatorSetting:
    """What is asked of the study."""

    subjects: Mapping[str, DisplacementSubject]
    trials: int
    most_tests: int
    seed: int


@dataclass(frozen=True)
class Trials:
    """Some trials of one subject."""

    stopped: Mapping[str, StoppedCampaigns]
    deviations: Numbers  # of the readings of the ISO procedure [mm], one for each trial


def _read(section: Section, asked: StudyRequest) -> ManipulatorSetting:
    named, subjects = section.section('subjects'), {}
    for name in named.keys():  # noqa: SIM118 (a Section is no dict)
        each = named.section(name)
        upper = each.number('range', above=0)
        subjects[name] = DisplacementSubject(
            each.text('law'), upper, each.whole('cycles', at_least=2),
            each.number('readout', above=0), read_accuracy(each.section('accuracy'), upper),
        )  # fmt: skip
        each.finish()
        law = subjects[name].read
        if law.mean is None or law.many is None:
            raise each.fail('law', law.text, 'one that does not depend on the case')
    trials, most = sizes(section, asked, _sizes)
    return ManipulatorSetting(subjects, trials, most, seed_of(section, asked))


def _sizes(section: Section) -> tuple[int, int]:
    found = section.whole('trials', at_least=FIRST), section.whole('most_tests', at_least=2)
    section.finish()
    if found[0] % 2:
        raise section.fail('trials', f'{found[0]}', 'an even number: they are paired')
    return found


def _pieces(setting: ManipulatorSetting) -> Sequence[tuple[str, int, int]]:
    return [
        (name, begin, min(begin + CHUNK, setting.trials))
        for name in setting.subjects
        for begin in range(0, setting.trials, CHUNK)
    ]


def _work(setting: ManipulatorSetting, piece: tuple[str, int, int]) -> Trials:
    name, begin, end = piece
    subject, place = setting.subjects[name], list(setting.subjects).index(name)
    tests = max(setting.most_tests, subject.cycles)
    many = subject.read.many
    assert many is not None
    z = np.stack([
        many(generator(setting.seed, RandomStream.STUDY, place, trial), tests)
        for trial in range(begin, end)
    ])  # fmt: skip
    question, iso = subject.question, fixed_stops(z, subject.cycles)
    read = np.round(iso.mean / subject.readout) * subject.readout
    anytime = anytime_stops(z, question)
    return Trials(
        {
            ISO: iso, READOUT: StoppedCampaigns(iso.n, iso.mean, iso.reached, read),
            PAPER: moment_stops(z, EmpiricalBernstein(), question), ANYTIME: anytime,
            ANCHORED: anytime, CERTIFIED: cell_stops(z, question),
        },
        np.std(z[:, : subject.cycles], axis=1, ddof=1),
    )  # fmt: skip


def _conclude(setting: ManipulatorSetting, results: Sequence[Trials]) -> StudyOutcome:
    pieces, rows, first = _pieces(setting), [], []
    shown: dict[str, Trials] = {}
    for name, subject in setting.subjects.items():
        own = [r for (whose, _, _), r in zip(pieces, results, strict=True) if whose == name]
        whole = Trials(
            {
                m: StoppedCampaigns.together([each.stopped[m] for each in own])
                for m in own[0].stopped
            },
            np.concatenate([each.deviations for each in own]),
        )
        shown[name] = whole
        for method, stopped in whole.stopped.items():
            rows.append(_row(name, subject, method, stopped, whole.deviations))
            first += _first(name, subject, method, stopped, whole.deviations)
    return StudyOutcome({'': rows, '_trials': first}, _findings(setting, rows), shown)


def _values(subject: DisplacementSubject, method: str, stopped: StoppedCampaigns) -> list[float]:
    if method in (ISO, READOUT):
        return [
            float(each) for each in stopped.decided
        ]  # a number as it is, or as the gauge shows it
    return stopped.values(subject.cells)


def _row(
    name: str,
    subject: DisplacementSubject,
    method: str,
    stopped: StoppedCampaigns,
    deviations: Numbers,
) -> Row:
    values, gamma = _values(subject, method, stopped), subject.accuracy.gamma
    if method == ANCHORED:
        same = stopped.same_as_initiator(0.0, subject.upper, 2.0 * gamma)
        cells = Partition.anchored(0.0, subject.upper, float(stopped.mean[0]), 2.0 * gamma)
        values = stopped.values(cells)
    elif method in (ISO, READOUT):
        pairs = list(zip(values[::2], values[1::2], strict=True))
        same = sum(a == b for a, b in pairs), len(pairs)
    else:
        same = stopped.same(subject.cells)
    met = int(stopped.reached.sum())
    far = np.abs(stopped.mean - subject.mean) > gamma
    if method == CERTIFIED:
        halves = np.diff(subject.cells.edges).max() / 2.0
        far = (np.abs(stopped.decided - subject.mean) > halves * (1 + 1e-12)) & stopped.reached
    usual = max(set(values), key=values.count)
    return {
        'subject': name, 'method': method, 'trials': len(values), 'met_rule': met,
        'tests_mean': float(stopped.n.mean()), 'tests_least': int(stopped.n.min()),
        'tests_most': int(stopped.n.max()), 'mean': float(stopped.mean.mean()),
        'mean_sd': float(stopped.mean.std(ddof=1)), 'deviation': float(deviations.mean()),
        'deviation_least': float(deviations.min()), 'deviation_most': float(deviations.max()),
        **share('missed', int(far.sum()), len(values)), **share('same', *same),
        'usual_value': usual, **share('usual', values.count(usual), len(values)),
    }  # fmt: skip


def _first(
    name: str,
    subject: DisplacementSubject,
    method: str,
    stopped: StoppedCampaigns,
    deviations: Numbers,
) -> list[Row]:
    if method == ANCHORED:
        cells = Partition.anchored(
            0.0, subject.upper, float(stopped.mean[0]), 2.0 * subject.accuracy.gamma
        )
        values = stopped.values(cells)
    else:
        values = _values(subject, method, stopped)
    iso = method in (ISO, READOUT)
    rows: list[Row] = []
    for trial in range(FIRST):
        deviation: Cell = float(deviations[trial]) if iso else ''
        rows.append({
            'subject': name, 'method': method, 'trial': trial + 1,
            'tests': int(stopped.n[trial]), 'mean': float(stopped.mean[trial]),
            'deviation': deviation, 'value': values[trial],
        })  # fmt: skip
    return rows


def _findings(setting: ManipulatorSetting, rows: Sequence[Row]) -> tuple[Finding, ...]:
    found = []
    for name in setting.subjects:
        anchored = row_of(rows, subject=name, method=ANCHORED)
        promised = (1.0 - setting.subjects[name].accuracy.c) ** 2
        found.append(Finding(
            f'{name}: {anchored["same_count"]} of {anchored["same_of"]} pairs agree on anchored '
            f'cells, promised are {promised:.4g}',
            number(anchored, 'same_high') >= promised and number(anchored, 'same') >= 0.85,
        ))  # fmt: skip
        iso = row_of(rows, subject=name, method=READOUT)
        found.append(Finding(
            f'{name}: {iso["same_count"]} of {iso["same_of"]} pairs of ISO trials report the same '
            'mean, as the gauge shows it', number(iso, 'same_high') < promised,
        ))  # fmt: skip
    for name, subject in setting.subjects.items():
        row = row_of(rows, subject=name, method=PAPER)
        near = min(abs(subject.mean - edge) for edge in subject.cells.edges)
        if near < 1e-9:
            found.append(Finding(
                f'{name}: {row["same_count"]} of {row["same_of"]} pairs of the paper\'s rule '
                'agree, about one half',
                number(row, 'same_low') <= 0.5 <= number(row, 'same_high'),
            ))  # fmt: skip
    return tuple(found)


MANIPULATOR = Study(
    'manipulator', _read, _pieces, _work, _conclude, draw,
    {
        '': ('subject', 'method', 'met_rule', 'tests_mean', 'tests_least', 'tests_most',
             'mean_sd', 'missed_count', 'same_count', 'same_of', 'same_low', 'same_high',
             'usual_count'),
    },
)  # fmt: skip
