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

"""Risk by importance sampling: tests of each rule for two labs, and how often it is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.moments import (
    EmpiricalBernstein,
    Hoeffding,
    RelativeHalfWidth,
    smallest_n,
)
from repsq_ros.paper.driving_figure import draw
from repsq_ros.paper.stops import AskedOnRange, StoppedCampaigns, anytime_stops, moment_stops
from repsq_ros.paper.study_interface import (
    Finding,
    Row,
    Study,
    StudyOutcome,
    StudyRequest,
    agreement_found,
    number,
    parts,
    row_of,
    seed_of,
    sizes,
)
from repsq_ros.paper.traffic import Traffic, drive
from repsq_ros.paper.written import share
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import read_accuracy
from repsq_ros.specification.reader import Section

RELATIVE, SQUARED, PAPER = 'relative half-width', 'R squared, as printed', 'empirical Bernstein'
HOEFFDING, ANYTIME, ANCHORED = 'Hoeffding', 'anytime', 'anytime, anchored'
CHUNK = 10  # campaigns per task, an even number
EPISODES = 1_000_000  # naturalistic episodes per task


@dataclass(frozen=True)
class Risk(AskedOnRange):
    """The question about a crash probability; `upper` is R."""

    relative: float


@dataclass(frozen=True)
class DrivingSetting:
    """The settings of the study."""

    scenarios: Mapping[str, tuple[Traffic, Risk]]
    table: Risk
    pairs: int
    truth: int  # number of naturalistic episodes for the true value
    most_tests: int
    seed: int


@dataclass(frozen=True)
class DrivingPiece:
    """Naturalistic episodes, or campaigns begin .. end."""

    scenario: str
    begin: int
    end: int
    episodes: int = 0


@dataclass(frozen=True)
class Crashes:
    """Results of naturalistic episodes."""

    episodes: int
    crashes: int
    without: int  # crashes without the event


@dataclass(frozen=True)
class Campaigns:
    """Results of campaigns, and statistics of all their values."""

    stopped: Mapping[str, StoppedCampaigns]
    tests: int
    total: float  # sum of z
    squares: float
    largest: float  # largest z
    without: int  # crashes without the event


def _read(section: Section, asked: StudyRequest) -> DrivingSetting:
    scenarios = {}
    for name, each in section.named('scenarios'):
        traffic = Traffic(
            each.choice('event', ('brake', 'cut_in')), each.whole('seconds', at_least=1),
            each.number('probability', above=0, below=1), each.number('share', above=0, below=1),
        )  # fmt: skip
        scenarios[name] = traffic, _risk(each, traffic.largest)
    inner = section.section('table')
    table = _risk(inner, inner.number('range', above=0))
    pairs, truth, most = sizes(section, asked, _sizes)
    return DrivingSetting(scenarios, table, pairs, truth, most, seed_of(section, asked))


def _risk(section: Section, upper: float) -> Risk:
    relative = section.number('relative', above=0)
    found = Risk(upper, read_accuracy(section.section('accuracy'), upper), relative)
    section.finish()
    return found


def _sizes(section: Section) -> tuple[int, int, int]:
    pairs, truth = (section.whole(key, at_least=1) for key in ('pairs', 'truth'))
    return pairs, truth, section.whole('most_tests', at_least=100)


def _pieces(setting: DrivingSetting) -> Sequence[DrivingPiece]:
    found = []
    for name in setting.scenarios:
        for _, begin, end in parts([name], setting.truth, EPISODES):
            found.append(DrivingPiece(name, begin // EPISODES, 0, end - begin))
        found += [DrivingPiece(*part) for part in parts([name], 2 * setting.pairs, CHUNK)]
    return found


def _work(setting: DrivingSetting, piece: DrivingPiece) -> Crashes | Campaigns:
    place = list(setting.scenarios).index(piece.scenario)
    traffic, risk = setting.scenarios[piece.scenario]
    if piece.episodes:
        random = generator(setting.seed, RandomStream.STUDY, place, 0, piece.begin)
        driven = drive(traffic, random, piece.episodes, importance=False)
        without = int((driven.crash & ~driven.happened).sum())
        return Crashes(piece.episodes, int(driven.crash.sum()), without)
    rows, without = [], 0
    for campaign in range(piece.begin, piece.end):
        random = generator(setting.seed, RandomStream.STUDY, place, 1, campaign)
        driven = drive(traffic, random, setting.most_tests, importance=True)
        rows.append(driven.crash * driven.weight)
        without += int((driven.crash & ~driven.happened).sum())
    z, question = np.stack(rows), risk.question
    anytime = anytime_stops(z, question)
    return Campaigns(
        {
            RELATIVE: moment_stops(z, RelativeHalfWidth(risk.relative), question),
            SQUARED: moment_stops(z, EmpiricalBernstein(range_power=2), question),
            PAPER: moment_stops(z, EmpiricalBernstein(), question),
            ANYTIME: anytime, ANCHORED: anytime,
        },
        z.size, float(z.sum()), float((z * z).sum()), float(z.max()), without,
    )  # fmt: skip


def _conclude(setting: DrivingSetting, results: Sequence[Crashes | Campaigns]) -> StudyOutcome:
    pieces, rows, truths = _pieces(setting), [], []
    for name, (traffic, risk) in setting.scenarios.items():
        own = [r for piece, r in zip(pieces, results, strict=True) if piece.scenario == name]
        campaigns = [each for each in own if isinstance(each, Campaigns)]
        truth = _truth(name, traffic, [e for e in own if isinstance(e, Crashes)], campaigns)
        truths.append(truth)
        stops = StoppedCampaigns.of_rules([each.stopped for each in campaigns])
        for method, stopped in stops.items():
            rows.append(_row(name, risk, method, stopped, number(truth, 'reference')))
        rows.append(_hoeffding(rows[-1], risk))
    return StudyOutcome({'': rows, '_truth': truths}, tuple(_findings(setting, rows, truths)))


def _truth(
    name: str, traffic: Traffic, crude: Sequence[Crashes], campaigns: Sequence[Campaigns]
) -> Row:
    episodes, crashes = sum(c.episodes for c in crude), sum(c.crashes for c in crude)
    tests, total = sum(c.tests for c in campaigns), math.fsum(c.total for c in campaigns)
    mean = total / tests
    variance = math.fsum(c.squares for c in campaigns) / tests - mean * mean
    rate = crashes / episodes
    own, theirs = rate * (1.0 - rate) / episodes, variance / tests
    precision = (1.0 / own if own else 0.0) + 1.0 / theirs
    reference = ((rate / own if own else 0.0) + mean / theirs) / precision
    without = sum(c.without for c in crude) + sum(c.without for c in campaigns)
    return {
        'scenario': name, 'episodes': episodes, 'crashes': crashes, 'truth': rate,
        'truth_error': math.sqrt(own), 'weighted_tests': tests, 'weighted': mean,
        'weighted_error': math.sqrt(theirs),
        # Difference in standard errors.
        'apart': round((rate - mean) / math.sqrt(own + theirs), 2), 'reference': reference,
        'reference_error': precision**-0.5,
        'sd': math.sqrt(variance), 'range': traffic.largest,
        'largest': max(c.largest for c in campaigns),
        'without_event': without,
    }  # fmt: skip


def _row(name: str, risk: Risk, method: str, stopped: StoppedCampaigns, truth: float) -> Row:
    gamma = risk.accuracy.gamma
    if method == ANCHORED:
        same = stopped.same_as_initiator(0.0, risk.upper, 2.0 * gamma)
    else:
        same = stopped.same(risk.cells)
    met = stopped.reached
    far = (np.abs(stopped.mean - truth) > gamma) & met
    return {
        'scenario': name, 'method': method, 'campaigns': len(met), 'met_rule': int(met.sum()),
        'tests_mean': float(stopped.n.mean()), 'tests_least': int(stopped.n.min()),
        'tests_most': int(stopped.n.max()), 'estimate': float(stopped.mean.mean()),
        'estimate_sd': float(stopped.mean.std(ddof=1)),
        **share('missed', int(far.sum()), int(met.sum())), **share('same', *same),
    }  # fmt: skip


def _hoeffding(like: Row, risk: Risk) -> Row:
    """Return the row of Hoeffding's rule, whose number of tests depends only on the range."""
    question = risk.question
    n = smallest_n(Hoeffding(), question.gamma, 0.0, question.bounds.width, question.c)
    counted = {'scenario': like['scenario'], 'method': HOEFFDING, 'campaigns': 0, 'met_rule': 0}
    tests = {'tests_mean': n, 'tests_least': n, 'tests_most': n}
    return {**dict.fromkeys(like, ''), **counted, **tests}


def _findings(
    setting: DrivingSetting, rows: Sequence[Row], truths: Sequence[Row]
) -> Iterator[Finding]:
    for name, (_, risk) in setting.scenarios.items():
        c, truth = risk.accuracy.c, row_of(truths, scenario=name)
        squared = row_of(rows, scenario=name, method=SQUARED)
        yield Finding(
            f'{name}: with R squared {squared["missed_count"]} of {squared["missed_of"]} '
            f'campaigns miss, promised are {c:.4g}',
            number(squared, 'missed_low') > c,
        )
        for method in (ANYTIME, PAPER):
            row = row_of(rows, scenario=name, method=method)
            yield Finding(
                f'{name}: {method} misses in {row["missed_count"]} of {row["missed_of"]}',
                number(row, 'missed_low') <= c,
            )
        anchored = row_of(rows, scenario=name, method=ANCHORED)
        yield agreement_found(name, anchored, c)
        error = math.hypot(number(truth, 'truth_error'), number(truth, 'weighted_error'))
        apart = abs(number(truth, 'truth') - number(truth, 'weighted'))
        yield Finding(
            f'{name}: crude Monte Carlo and importance sampling differ by {apart / error:.2g} '
            'standard errors',
            apart <= 3.5 * error,
        )


DRIVING = Study(
    'driving', _read, _pieces, _work, _conclude, draw,
    {
        '': ('scenario', 'method', 'met_rule', 'tests_mean', 'tests_least', 'tests_most',
             'estimate', 'missed_count', 'missed_low', 'missed_high', 'same_count', 'same_of',
             'same_low', 'same_high'),
        '_truth': ('scenario', 'episodes', 'crashes', 'truth', 'truth_error', 'weighted',
                   'weighted_error', 'reference', 'reference_error', 'range', 'largest',
                   'without_event'),
    },
)  # fmt: skip
