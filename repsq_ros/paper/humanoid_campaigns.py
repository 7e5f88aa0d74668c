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

"""The walks of the humanoid study: one policy with four proposals, and changed robots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.moments import EmpiricalBernstein
from repsq_ros.estimation.stopping import Bounds, Progress, Question, StoppingRule
from repsq_ros.estimation.weights import z_bounds
from repsq_ros.paper.methods import ANYTIME, PAPER
from repsq_ros.paper.study_interface import (
    StudyRequest,
    seed_of,
    sizes,
)
from repsq_ros.paper.walker import Forms, Walker
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.simulation.g1_mujoco import UNCHANGED, G1Changes
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.proposal_section import read_proposal
from repsq_ros.specification.reader import Section
from repsq_ros.studies.expected_promise import altered

FIRST = 'Monte Carlo'  # its first trial is the initiator of all pairs


@dataclass(frozen=True)
class HumanoidSetting:
    """The settings of the study."""

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
        """The requested accuracy."""
        return self.campaigns[FIRST].gamma

    @property
    def c(self) -> float:
        """The probability of a miss."""
        return self.campaigns[FIRST].accuracy.c


@dataclass(frozen=True)
class Trial:
    """One trial of a proposal, or a changed robot."""

    proposal: str = ''
    trial: int = 0
    robot: str = ''


@dataclass(frozen=True)
class WalkedTrial:
    """The tests of one trial, in their order."""

    forms: tuple[Forms, ...]
    weights: tuple[float, ...]
    bounds: tuple[float, ...]  # weight bound of each test, known before its draw


def read_setting(section: Section, asked: StudyRequest) -> HumanoidSetting:
    """Return the setting (see face.Study)."""
    file = Path(section.file).parent / section.text('campaign')
    trials, pairs, most, gamma = sizes(section, asked, _sizes)
    specification = load(file)
    specification = altered(specification, gamma=gamma or specification.gamma)
    measure = specification.measure
    proposals, campaigns = section.section('proposals'), {}
    for name in proposals.keys():  # noqa: SIM118 (a Section is no dict)
        choice = read_proposal(
            proposals.word_or_section(name),
            specification.target,
            specification.gamma,
            (measure.lower, measure.upper),
        )
        tester = replace(specification.tester, proposal=choice)
        campaigns[name] = replace(specification, tester=tester)
    if FIRST not in campaigns:
        raise section.fail('proposals', ', '.join(campaigns), f'{FIRST!r} among them')
    changed = {
        name: G1Changes(
            change.number('friction', 1.0, above=0),
            change.number('payload', 0.0, at_least=0),
            change.number('gains', 1.0, above=0),
            change.number('latency', 0.0, at_least=0),
        )
        for name, change in section.named('robots')
    }
    return HumanoidSetting(
        campaigns,
        changed,
        section.number('declared_range', above=0),
        trials,
        pairs,
        most,
        seed_of(section, asked),
        asked.model,
    )


def _sizes(section: Section) -> tuple[int, int, int, float]:
    return (
        section.whole('trials', at_least=1),
        section.whole('pairs', at_least=2),
        section.whole('most_tests', at_least=2),
        section.number('gamma', 0.0, at_least=0),
    )


def pieces_of(setting: HumanoidSetting) -> Sequence[Trial]:
    """Trial by trial, so that the first trials of all come first."""
    trials = [Trial(name, trial) for trial in range(setting.trials) for name in setting.campaigns]
    robots = [Trial(robot=name) for name in ('', *setting.robots)]
    count = len(setting.campaigns)
    return [*trials[:count], *robots, *trials[count:]]


# cached in this process, so that each case is walked once
_walkers: dict[tuple[str, str, G1Changes], Walker] = {}


def _walker(setting: HumanoidSetting, changes: G1Changes) -> Walker:
    specification = setting.campaigns[FIRST]
    key = (setting.model, specification.digest, changes)
    if key not in _walkers:
        _walkers[key] = Walker(setting.model, specification, changes)
    return _walkers[key]


def _seed(setting: HumanoidSetting, proposal: str, trial: int) -> int:
    place = list(setting.campaigns).index(proposal)
    return int(generator(setting.seed, RandomStream.STUDY, place, trial).integers(2**31))


def work(setting: HumanoidSetting, piece: Trial) -> WalkedTrial:
    """Walk one piece (see face.Study)."""
    if piece.proposal:
        return _trial(setting, piece.proposal, _seed(setting, piece.proposal, piece.trial))
    walker = _walker(setting, setting.robots.get(piece.robot, UNCHANGED))
    proposal, seed = setting.campaigns[FIRST].make_proposal(), _seed(setting, FIRST, 0)
    draws = [proposal.draw(index, seed) for index in range(setting.pairs)]
    forms = tuple(walker.walk(draw.x) for draw in draws)
    return WalkedTrial(forms, (1.0,) * len(forms), (1.0,) * len(forms))


def _trial(setting: HumanoidSetting, name: str, seed: int) -> WalkedTrial:
    """Walk until both the paper's rule and `anytime` have stopped."""
    specification = setting.campaigns[name]
    proposal, walker = specification.make_proposal(), _walker(setting, UNCHANGED)
    form = form_of(specification)
    rules = list(rules_of(setting, name).values())
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
    return WalkedTrial(tuple(forms), tuple(weights), tuple(bounds))


def form_of(specification: Specification) -> str:
    """Return the form of psi in a specification."""
    return str(specification.measure.describe()['reduction'])


class Running:
    """The state of a rule during a trial."""

    def __init__(self, rule: StoppingRule, question: Question, declared: Bounds | None) -> None:
        self._progress: Progress = rule.begin(question)
        self._declared, self._whole = declared, question.bounds
        self.total, self.violations = Accumulator(), 0

    @property
    def over(self) -> bool:
        """Tell whether the rule takes no further test."""
        return self._progress.reached or self._progress.void

    @property
    def reached(self) -> bool:
        """Tell whether the rule has been met."""
        return self._progress.reached

    def add(self, psi: float, weight: float, weight_bound: float) -> None:
        """Add one test; without a declared range, use the bound of its weight."""
        if self.over:
            return
        z, bounds = psi * weight, self._declared
        if bounds is None:
            bounds = z_bounds(0.0, 1.0, weight_bound)
        self.violations += not bounds.hold(z)
        self.total.add(z)
        self._progress.add(self.total, z, bounds)


def rules_of(setting: HumanoidSetting, name: str) -> dict[str, Running]:
    """Start each rule: the paper's with its declared range, and `anytime`."""
    specification = setting.campaigns[name]
    gamma, c = specification.gamma, specification.accuracy.c
    declared = Bounds(0.0, setting.declared_range)
    whole = z_bounds(0.0, 1.0, specification.make_proposal().largest_weight_bound)
    return {
        PAPER: Running(EmpiricalBernstein(), Question(gamma, c, declared), declared),
        ANYTIME: Running(Anytime(), Question(gamma, c, whole), None),
    }
