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

"""The paper's baselines compared with this package's rules: tests, misses, agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.alpha import paper_alpha, query_alpha
from repsq_ros.estimation.divergence_sized import DivergenceSized
from repsq_ros.estimation.moments import EmpiricalBernstein, Hoeffding, RelativeHalfWidth
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.reproducible_query import ReproducibleQuery
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.paper.compared_figure import draw
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
    number,
    parts,
    row_of,
    seed_of,
    sizes,
)
from repsq_ros.paper.written import share
from repsq_ros.sampling.distributions import Distribution, Product
from repsq_ros.sampling.divergence import divergence
from repsq_ros.sampling.marginals import Beta
from repsq_ros.sampling.weight_bound import largest_ratio
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import RequiredAccuracy, read_accuracy
from repsq_ros.specification.reader import Section
from repsq_ros.studies.case_rules import TARGET, TRUTH, steep
from repsq_ros.studies.laws import read_law

QUERY, SIZED, ISO = 'reproducible_query', 'divergence_sized', 'iso9283'
RELATIVE, PAPER, HOEFFDING = 'relative_half_width', 'empirical_bernstein', 'hoeffding'
ANYTIME, ANCHORED = 'anytime', 'anytime, anchored'
CHUNK = 20  # campaigns per task, an even number
MOST = 4000  # largest number of tests of sequential rules


@dataclass(frozen=True)
class ComparedLaw:
    """A law of psi, and the shapes of the proposal."""

    law: str
    a: tuple[float, ...] = ()  # empty: use the target
    b: tuple[float, ...] = ()

    @property
    def proposal(self) -> Distribution:
        """Return q."""
        if not self.a:
            return TARGET
        shapes = tuple(Beta(a, b) for a, b in zip(self.a, self.b, strict=True))
        return Product(TARGET.box, shapes)

    @property
    def truth(self) -> float:
        """Return r*."""
        mean = read_law(self.law, 0.0, 1.0).mean
        return TRUTH if mean is None else mean

    @property
    def bounds(self) -> Bounds:
        """Return those of z."""
        return Bounds(0.0, largest_ratio(TARGET, self.proposal) if self.a else 1.0)

    def draw(self, random: np.random.Generator, tests: int) -> Numbers:
        """Return z of some tests."""
        many = read_law(self.law, 0.0, 1.0).many
        if many is not None:
            return many(random, tests)
        if not self.a:
            return steep(random.random((tests, 3)), 1.0, random)
        u = np.clip(random.beta(self.a, self.b, (tests, 3)), 1e-12, 1.0 - 1e-12)
        a, b = np.array(self.a), np.array(self.b)
        log_beta = [math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)
                    for x, y in zip(self.a, self.b, strict=True)]  # fmt: skip
        log_q = np.sum((a - 1.0) * np.log(u) + (b - 1.0) * np.log1p(-u) - log_beta, axis=1)
        z: Numbers = steep(u, 1.0, random) * np.exp(-log_q)
        return z


@dataclass(frozen=True)
class BaselinesSetting:
    """The settings of the study."""

    accuracy: RequiredAccuracy
    scenarios: Mapping[str, ComparedLaw]
    cycles: int
    margin: float
    relative: float
    pairs: int
    seed: int


def _read(section: Section, asked: StudyRequest) -> BaselinesSetting:
    scenarios = {}
    for name, each in section.named('scenarios'):
        law, shapes = each.text('law'), {}
        for key in ('a', 'b'):
            shapes[key] = each.numbers(key, 3) if each.has(key) else ()
        found = read_law(law, 0.0, 1.0)
        if len(shapes['a']) != len(shapes['b']) or (shapes['a'] and found.many is not None):
            raise each.fail('a', 'shapes', 'a and b, beside a law that depends on the case')
        scenarios[name] = ComparedLaw(law, shapes['a'], shapes['b'])
    pairs = sizes(section, asked, lambda size: size.whole('pairs', at_least=1))
    return BaselinesSetting(
        read_accuracy(section.section('accuracy'), 1.0), scenarios,
        section.whole('cycles', at_least=2), section.number('margin', at_least=0),
        section.number('relative', above=0), pairs, seed_of(section, asked),
    )  # fmt: skip


def _pieces(setting: BaselinesSetting) -> Sequence[tuple[str, int, int]]:
    return parts(setting.scenarios, 2 * setting.pairs, CHUNK)


def _work(setting: BaselinesSetting, piece: tuple[str, int, int]) -> dict[str, StoppedCampaigns]:
    name, begin, end = piece
    scenario, place = setting.scenarios[name], list(setting.scenarios).index(name)
    question = Question(setting.accuracy.gamma, setting.accuracy.c, scenario.bounds)
    query, sized = _fixed(setting, scenario)
    rows, far = [], []
    for campaign in range(begin, end):
        random = generator(setting.seed, RandomStream.STUDY, place, campaign)
        rows.append(scenario.draw(random, MOST))
        far.append(float(scenario.draw(random, query).mean()))
    z, means = np.stack(rows), np.array(far)
    met = np.ones(len(z), dtype=np.bool_)
    anytime = anytime_stops(z, question)
    return {
        QUERY: StoppedCampaigns(np.full(len(z), query), means, met, means),
        SIZED: fixed_stops(z, sized.tests), ISO: fixed_stops(z, setting.cycles),
        RELATIVE: moment_stops(z, RelativeHalfWidth(setting.relative), question),
        HOEFFDING: moment_stops(z, Hoeffding(), question),
        PAPER: moment_stops(z, EmpiricalBernstein(), question),
        ANYTIME: anytime, ANCHORED: anytime,
    }  # fmt: skip


def _fixed(setting: BaselinesSetting, scenario: ComparedLaw) -> tuple[int, DivergenceSized]:
    """Return the number of tests of the query, and the rule sized by the divergence."""
    asked, width = setting.accuracy, scenario.bounds.width
    near = ReproducibleQuery(asked.beta, asked.runs).reach(asked.gamma, asked.c)
    tests = math.ceil(width**2 * math.log(2.0 / asked.c) / (2.0 * near**2))
    far = divergence(TARGET, scenario.proposal)
    level = far.upper + setting.margin / 2.0
    tail = 0.0 if math.log(width) <= level else far.tail(level)
    return tests, DivergenceSized(far.upper, setting.margin, tail, 1.0)


def _conclude(
    setting: BaselinesSetting, results: Sequence[dict[str, StoppedCampaigns]]
) -> StudyOutcome:
    rows = [
        _row(setting, name, place, rule, stopped)
        for place, (name, own) in enumerate(by_name(_pieces(setting), results).items())
        for rule, stopped in StoppedCampaigns.of_rules(own).items()
    ]
    return StudyOutcome({'': rows}, tuple(_findings(setting, rows)))


def _row(
    setting: BaselinesSetting, name: str, place: int, rule: str, stopped: StoppedCampaigns
) -> Row:
    asked, scenario = setting.accuracy, setting.scenarios[name]
    truth = scenario.truth
    far = np.abs(stopped.mean - truth)
    alpha_of = query_alpha if rule == QUERY else paper_alpha
    alpha = alpha_of(asked.gamma, asked.c, asked.beta)
    if rule == ANCHORED:
        same = edge = stopped.same_as_initiator(0.0, 1.0, 2.0 * asked.gamma)
    else:
        offsets = generator(setting.seed, RandomStream.PARTITION, place).random(setting.pairs)
        agree = 0
        for pair, offset in enumerate(offsets.tolist()):
            cells = Partition.almost_uniform(0.0, 1.0, alpha, alpha * (1.0 - offset))
            first, second = stopped.decided[2 * pair : 2 * pair + 2].tolist()
            agree += cells.quantize(first).cell == cells.quantize(second).cell
        same = agree, setting.pairs
        at_edge = Partition.almost_uniform(0.0, 1.0, alpha, truth % alpha or alpha)
        edge = stopped.same(at_edge)
    half, kept = _half_width(setting, scenario, rule, stopped)
    return {
        'scenario': name, 'rule': rule, 'campaigns': len(stopped.n),
        'tests_mean': float(stopped.n.mean()), 'tests_most': int(stopped.n.max()),
        'promised_half_width': half, 'promised_agreement': kept,
        'error_mean': float(far.mean()), 'error_most': float(far.max()),
        **share('missed', int((far > asked.gamma).sum()), len(far)), **share('same', *same),
        **share('edge', *edge),
    }  # fmt: skip


def _half_width(
    setting: BaselinesSetting, scenario: ComparedLaw, rule: str, stopped: StoppedCampaigns
) -> tuple[float | str, float | str]:
    """Return the rule's promise: the half-width, and the agreement of two labs."""
    asked = setting.accuracy
    if rule == QUERY:
        return ReproducibleQuery(asked.beta).reach(asked.gamma, asked.c), 1.0 - asked.beta
    if rule == SIZED:
        return _fixed(setting, scenario)[1].mean_error / asked.c, ''
    if rule in (HOEFFDING, ANYTIME):
        return asked.gamma, ''
    if rule == ANCHORED:
        return asked.gamma, (1.0 - asked.c) ** 2
    return '', ''


def _findings(setting: BaselinesSetting, rows: Sequence[Row]) -> Iterator[Finding]:
    for name in setting.scenarios:
        query, anchored = (row_of(rows, scenario=name, rule=rule) for rule in (QUERY, ANCHORED))
        for row in (query, anchored):
            promised = number(row, 'promised_agreement')
            yield Finding(
                f'{name}: {row["same_count"]} of {row["same_of"]} pairs of {row["rule"]} agree, '
                f'promised are {promised:.4g}',
                number(row, 'same_high') >= promised,
            )
        ratio = number(query, 'tests_mean') / number(anchored, 'tests_mean')
        yield Finding(
            f'{name}: the reproducible query takes {ratio:.3g} times the tests of anytime',
            ratio > 10.0,
        )
        iso = row_of(rows, scenario=name, rule=ISO)
        if not setting.scenarios[name].a:
            yield Finding(
                f'{name}: {iso["tests_most"]} cycles of ISO 9283, which promise nothing, are more '
                f'than gamma off in {iso["missed_count"]} of {iso["missed_of"]} campaigns',
                number(iso, 'missed_high') > setting.accuracy.c,
            )


BASELINES = Study(
    'baselines', _read, _pieces, _work, _conclude, draw,
    {'': ('scenario', 'rule', 'tests_mean', 'promised_half_width', 'promised_agreement',
          'error_mean', 'missed_count', 'same_count', 'same_of', 'same_low', 'same_high',
          'edge_count', 'edge_of')},
)  # fmt: skip
