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

"""The paper's humanoid: one policy, four proposals, each form of psi; and robots that differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from repsq_ros.errors import ParameterError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.difference import PairedDifference
from repsq_ros.estimation.moments import EmpiricalBernstein, smallest_n
from repsq_ros.estimation.stopping import Bounds, Progress, Question, StoppingRule
from repsq_ros.estimation.weights import z_bounds
from repsq_ros.measurement.tracking_loss import REDUCTIONS
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.simulation.g1_mujoco import UNCHANGED, G1Changes
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.proposal_section import read_proposal
from repsq_ros.specification.reader import Section
from repsq_ros.studies.foretold import altered
from repsq_ros.studies.paper.drawing import filled, style
from repsq_ros.studies.paper.face import (
    Asked,
    Finding,
    Found,
    Row,
    Study,
    number,
    row_of,
    seed_of,
    sizes,
)
from repsq_ros.studies.paper.walker import Forms, Walker
from repsq_ros.studies.paper.written import share

FIRST = 'Monte Carlo'  # whose first trial is the initiator, and the source of all pairs
PAPER, ANYTIME, ANCHORED = "paper's rule", 'anytime', 'anytime, anchored'
KEYS = ('friction', 'payload', 'gains', 'latency')


@dataclass(frozen=True)
class HumanoidSetting:
    """What is asked of the study."""

    campaigns: Mapping[str, Specification]  # one for each proposal
    robots: Mapping[str, G1Changes]
    declared_range: float
    trials: int
    pairs: int
    most_tests: int
    seed: int
    model: str

    @property
    def gamma(self) -> float:
        """The accuracy that is asked for."""
        return self.campaigns[FIRST].gamma

    @property
    def c(self) -> float:
        """The probability of a miss."""
        return self.campaigns[FIRST].accuracy.c


@dataclass(frozen=True)
class Piece:
    """One trial of a proposal, or a changed robot."""

    proposal: str = ''
    trial: int = 0
    robot: str = ''


@dataclass(frozen=True)
class Walked:
    """The tests of one trial, in their order."""

    forms: tuple[Forms, ...]
    weights: tuple[float, ...]
    bounds: tuple[float, ...]  # of the weight, known before each draw


def _read(section: Section, asked: Asked) -> HumanoidSetting:
    file = Path(section.file).parent / section.text('campaign')
    trials, pairs, most, gamma = sizes(section, asked, _sizes)
    specification = load(file)
    specification = altered(specification, gamma=gamma or specification.gamma)
    measure = specification.measure
    proposals, campaigns = section.section('proposals'), {}
    for name in proposals.keys():  # noqa: SIM118 (a Section is no dict)
        choice = read_proposal(
            proposals.word_or_section(name, 'type'), specification.target, specification.gamma,
            (measure.lower, measure.upper),
        )  # fmt: skip
        tester = replace(specification.tester, proposal=choice)
        campaigns[name] = replace(specification, tester=tester)
    if FIRST not in campaigns:
        raise section.fail('proposals', ', '.join(campaigns), f'{FIRST!r} among them')
    robots, changed = section.section('robots'), {}
    for name in robots.keys():  # noqa: SIM118
        change = robots.section(name)
        changed[name] = G1Changes(
            change.number('friction', 1.0, above=0), change.number('payload', 0.0, at_least=0),
            change.number('gains', 1.0, above=0), change.number('latency', 0.0, at_least=0),
        )  # fmt: skip
        change.finish()
    return HumanoidSetting(
        campaigns, changed, section.number('declared_range', above=0), trials, pairs, most,
        seed_of(section, asked), asked.model,
    )  # fmt: skip


def _sizes(section: Section) -> tuple[int, int, int, float]:
    found = (
        section.whole('trials', at_least=1), section.whole('pairs', at_least=2),
        section.whole('most_tests', at_least=2), section.number('gamma', 0.0, at_least=0),
    )  # fmt: skip
    section.finish()
    return found


def _pieces(setting: HumanoidSetting) -> Sequence[Piece]:
    """Trial by trial, so that the first trials of all come first."""
    trials = [Piece(name, trial) for trial in range(setting.trials) for name in setting.campaigns]
    robots = [Piece(robot=name) for name in ('', *setting.robots)]
    count = len(setting.campaigns)
    return [*trials[:count], *robots, *trials[count:]]


_walkers: dict[tuple[str, str, G1Changes], Walker] = {}  # of this process: cases walked once


def _walker(setting: HumanoidSetting, changes: G1Changes) -> Walker:
    specification = setting.campaigns[FIRST]
    key = (setting.model, specification.digest, changes)
    if key not in _walkers:
        _walkers[key] = Walker(setting.model, specification, changes)
    return _walkers[key]


def _seed(setting: HumanoidSetting, proposal: str, trial: int) -> int:
    place = list(setting.campaigns).index(proposal)
    return int(generator(setting.seed, RandomStream.STUDY, place, trial).integers(2**31))


def _work(setting: HumanoidSetting, piece: Piece) -> Walked:
    if piece.proposal:
        return _trial(setting, piece.proposal, _seed(setting, piece.proposal, piece.trial))
    walker = _walker(setting, setting.robots.get(piece.robot, UNCHANGED))
    proposal, seed = setting.campaigns[FIRST].make_proposal(), _seed(setting, FIRST, 0)
    draws = [proposal.draw(index, seed) for index in range(setting.pairs)]
    forms = tuple(walker.walk(draw.x) for draw in draws)
    return Walked(forms, (1.0,) * len(forms), (1.0,) * len(forms))


def _trial(setting: HumanoidSetting, name: str, seed: int) -> Walked:
    """Walk until both the paper's rule and `anytime` have stopped."""
    specification = setting.campaigns[name]
    proposal, walker = specification.make_proposal(), _walker(setting, UNCHANGED)
    form = _form(specification)
    rules = list(_rules(setting, name).values())
    forms: list[Forms] = []
    weights, bounds = [], []
    while not all(rule.over for rule in rules) and len(forms) < setting.most_tests:
        draw = proposal.draw(len(forms), seed)
        found = walker.walk(draw.x)
        psi = found.of(form)
        for rule in rules:
            rule.add(psi, draw.weight, draw.weight_bound)
        proposal.tell(draw.x, psi, draw.weight)
        forms.append(found)
        weights.append(draw.weight)
        bounds.append(draw.weight_bound)
    return Walked(tuple(forms), tuple(weights), tuple(bounds))


def _form(specification: Specification) -> str:
    return str(specification.measure.describe()['reduction'])


class _Running:
    """A rule along a trial."""

    def __init__(self, rule: StoppingRule, question: Question, declared: Bounds | None) -> None:
        self._progress: Progress = rule.begin(question)
        self._declared, self._whole = declared, question.bounds
        self.total, self.violations = Accumulator(), 0

    @property
    def over(self) -> bool:
        return self._progress.reached or self._progress.void

    @property
    def reached(self) -> bool:
        return self._progress.reached

    def add(self, psi: float, weight: float, weight_bound: float) -> None:
        if self.over:
            return
        z, bounds = psi * weight, self._declared
        if bounds is None:
            bounds = z_bounds(0.0, 1.0, weight_bound)
        self.violations += not bounds.hold(z)
        self.total.add(z)
        self._progress.add(self.total, z, bounds)


def _rules(setting: HumanoidSetting, name: str) -> dict[str, _Running]:
    """Begin each rule: the paper's with the range that it declares, and `anytime`."""
    specification = setting.campaigns[name]
    gamma, c = specification.gamma, specification.accuracy.c
    declared = Bounds(0.0, setting.declared_range)
    whole = z_bounds(0.0, 1.0, specification.make_proposal().largest_weight_bound)
    return {
        PAPER: _Running(EmpiricalBernstein(), Question(gamma, c, declared), declared),
        ANYTIME: _Running(Anytime(), Question(gamma, c, whole), None),
    }


def _conclude(setting: HumanoidSetting, results: Sequence[Walked]) -> Found:
    pieces = _pieces(setting)
    trials: dict[str, list[Walked]] = {name: [] for name in setting.campaigns}
    robots: dict[str, Walked] = {}
    for piece, walked in zip(pieces, results, strict=True):
        if piece.proposal:
            trials[piece.proposal].append(walked)
        else:
            robots[piece.robot] = walked
    ended = {
        name: {rule: [_again(setting, name, rule, each) for each in walked]
               for rule in (PAPER, ANYTIME)}
        for name, walked in trials.items()
    }  # fmt: skip
    main = _main(setting, ended)
    forms, changed = _forms(setting, trials[FIRST]), _robots(setting, robots)
    return Found({'': main, '_forms': forms, '_robots': changed}, _findings(main, forms), ended)


def _again(setting: HumanoidSetting, name: str, rule: str, walked: Walked) -> _Running:
    running = _rules(setting, name)[rule]
    form = _form(setting.campaigns[name])
    for forms, weight, bound in zip(walked.forms, walked.weights, walked.bounds, strict=True):
        running.add(forms.of(form), weight, bound)
    return running


def _main(
    setting: HumanoidSetting, ended: Mapping[str, Mapping[str, Sequence[_Running]]]
) -> list[Row]:
    partition = setting.campaigns[FIRST].partition
    if partition is None:
        raise ParameterError('campaign', 'an anchored partition', "the paper's, which is fixed")
    initiator = ended[FIRST][ANYTIME][0].total.mean
    anchored = type(partition).anchored(0.0, 1.0, initiator, 2.0 * setting.gamma)
    rows: list[Row] = []
    for name in (*ended, 'all'):
        for method, rule, cells in (
            (PAPER, PAPER, partition), (ANYTIME, ANYTIME, partition),
            (ANCHORED, ANYTIME, anchored),
        ):  # fmt: skip
            several = ended.values() if name == 'all' else [ended[name]]
            each = [running for by_rule in several for running in by_rule[rule]]
            n = [running.total.n for running in each]
            means = [running.total.mean for running in each]
            values = [cells.quantize(mean).value for mean in means]
            usual = max(values, key=values.count)
            rows.append({
                'proposal': name, 'rule': method, 'trials': len(each),
                'reached': sum(running.reached for running in each),
                'tests_mean': float(np.mean(n)), 'tests_least': min(n), 'tests_most': max(n),
                'estimate_mean': float(np.mean(means)), 'estimate_least': min(means),
                'estimate_most': max(means), 'value': usual, 'values': len(set(values)),
                **share('same', values.count(usual), len(values)),
                'outside_bounds': sum(running.violations for running in each),
            })  # fmt: skip
    return rows


def _forms(setting: HumanoidSetting, walked: Sequence[Walked]) -> list[Row]:
    rows: list[Row] = []
    rule, gamma, c = EmpiricalBernstein(), setting.gamma, setting.c
    for form in REDUCTIONS:
        psi = np.array([forms.of(form) for each in walked for forms in each.forms])
        variance = float(psi.var())
        rows.append({
            'form': form, 'tests': psi.size, 'mean': float(psi.mean()), 'sd': float(psi.std()),
            'least': float(psi.min()), 'most': float(psi.max()),
            'paper_tests_declared': smallest_n(rule, gamma, variance, setting.declared_range, c),
            'paper_tests_proven': smallest_n(rule, gamma, variance, 1.0, c),
        })  # fmt: skip
    return rows


def _robots(setting: HumanoidSetting, robots: Mapping[str, Walked]) -> list[Row]:
    form = _form(setting.campaigns[FIRST])
    usual = [forms.of(form) for forms in robots[''].forms]
    rows: list[Row] = []
    for name, walked in robots.items():
        if not name:
            continue
        psi = [forms.of(form) for forms in walked.forms]
        sequence, decided = PairedDifference(Bounds(-1.0, 1.0), setting.gamma, setting.c), 0
        for changed, before in zip(psi, usual, strict=True):
            difference = changed - before
            sequence.add(difference, difference, Bounds(-1.0, 1.0))
            if not decided and not sequence.lower <= 0.0 <= sequence.upper:
                decided = sequence.n
        rows.append({
            'robot': name, 'pairs': sequence.n, 'mean': float(np.mean(psi)),
            'mean_unchanged': float(np.mean(usual)), 'difference': sequence.mean,
            'lower': sequence.lower, 'upper': sequence.upper,
            'verdict': sequence.verdict().value.replace('A', 'changed').replace('B', 'unchanged'),
            'decided_at': decided,
        })  # fmt: skip
    return rows


def _findings(main: Sequence[Row], forms: Sequence[Row]) -> tuple[Finding, ...]:
    anchored = row_of(main, proposal='all', rule=ANCHORED)
    paper = row_of(main, proposal='all', rule=PAPER)
    total = row_of(forms, form='sum')
    return (
        Finding(
            f'{anchored["same_count"]} of {anchored["same_of"]} trials return the value of the '
            'first one on its anchored cells',
            number(anchored, 'same_count') >= 0.9 * number(anchored, 'same_of'),
        ),
        Finding(
            f"anytime takes {number(anchored, 'tests_mean'):.4g} tests in the mean, the paper's "
            f'rule {number(paper, "tests_mean"):.4g}',
            number(anchored, 'tests_mean') < number(paper, 'tests_mean'),
        ),
        Finding(
            f'the sum saturates: mean {number(total, "mean"):.5g}', number(total, 'mean') > 0.99
        ),
    )


def _draw(setting: HumanoidSetting, figure: Any, found: Found) -> None:
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.5, 1.0, 1.0))
    partition = setting.campaigns[FIRST].partition
    assert partition is not None
    place, low, high = 0, math.inf, -math.inf
    for number_of, (name, by_rule) in enumerate(found.shown.items()):
        means = [running.total.mean for running in by_rule[PAPER]]
        places = range(place, place + len(means))
        left.plot(places, means, linestyle='none', label=name, **style(number_of))
        place += len(means)
        low, high = min(low, *means), max(high, *means)
    for edge in partition.edges:
        if low - setting.gamma <= edge <= high + setting.gamma:
            left.axhline(edge, color='0.4', linestyle='--', linewidth=1)
    left.set(xlabel='trial', ylabel='estimate of psi [1]', title="paper's rule and cells (dashed)")
    left.legend(fontsize='x-small')
    width = 0.4
    for number_of, rule in enumerate((PAPER, ANYTIME)):
        tests = [np.mean([r.total.n for r in by_rule[rule]]) for by_rule in found.shown.values()]
        beside = [k + (number_of - 0.5) * width for k in range(len(tests))]
        middle.bar(beside, tests, width, label=rule, **filled(number_of + 1))
    middle.set_xticks(range(len(found.shown)), list(found.shown), rotation=30, ha='right')
    middle.set(ylabel='tests, mean', title='tests to the stop')
    middle.legend(fontsize='x-small')
    robots = found.tables['_robots']
    for y, row in enumerate(robots):
        middle_of = number(row, 'difference')
        bars = [[middle_of - number(row, 'lower')], [number(row, 'upper') - middle_of]]
        right.errorbar(middle_of, y, xerr=bars, capsize=3, linestyle='none', **style(1))
    right.axvline(0.0, color='0.4', linewidth=1)
    right.set_yticks(range(len(robots)), [str(row['robot']) for row in robots])
    right.set(xlabel='psi changed - unchanged [1]', title='same cases, interval of 95 %')


HUMANOID = Study(
    'humanoid', "the G1's walking policy in MuJoCo: four proposals, forms of psi, changed robots",
    _read, _pieces, _work, _conclude, _draw,
    {
        '': ('proposal', 'rule', 'trials', 'tests_mean', 'tests_least', 'tests_most',
             'estimate_least', 'estimate_most', 'values', 'same_count', 'same_low', 'same_high',
             'outside_bounds'),
        '_forms': ('form', 'tests', 'mean', 'sd', 'least', 'most', 'paper_tests_declared',
                   'paper_tests_proven'),
        '_robots': ('robot', 'pairs', 'mean', 'mean_unchanged', 'difference', 'lower', 'upper',
                    'verdict', 'decided_at'),
    },
)  # fmt: skip
