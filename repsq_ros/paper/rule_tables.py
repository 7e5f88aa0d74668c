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

"""Tests and agreement of each stopping rule on laws with known means, for docs/theory.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from repsq_ros.paper.drawing import filled
from repsq_ros.paper.study_interface import (
    Finding,
    Row,
    Study,
    StudyOutcome,
    StudyRequest,
    number,
    paired,
    seed_of,
    sizes,
)
from repsq_ros.specification.reader import Section
from repsq_ros.specification.twin_section import LEAST
from repsq_ros.studies.case_rules import (
    CASES,
    GAINS,
    CaseRow,
    PairRow,
    TestsToStop,
    study_cases,
    study_pairs,
)
from repsq_ros.studies.case_twins import SteepTwin, TwinRow, study_twins
from repsq_ros.studies.rules import SCENARIOS, C, study_scenario
from repsq_ros.studies.rules import Row as ScenarioRow

Work = tuple[str, int]
Found = ScenarioRow | CaseRow | PairRow | TwinRow
TWINS = 'twins'
PLACES: dict[str, Any] = {
    'scenario': (study_scenario, len(SCENARIOS)), 'cases': (study_cases, len(CASES)),
    'pairs': (study_pairs, len(GAINS)), TWINS: (study_twins, len(CASES)),
}  # fmt: skip


@dataclass(frozen=True)
class RulesSetting:
    """The settings of the study."""

    runs: int  # for each law
    twin: SteepTwin
    twin_runs: int  # for each law, beside a simulator
    seed: int


def _read(section: Section, asked: StudyRequest) -> RulesSetting:
    runs, twin_runs, tests = sizes(section, asked, _sizes)
    twin = SteepTwin(section.number('twin_gain', above=0), tests)
    return RulesSetting(runs, twin, twin_runs, seed_of(section, asked))


def _sizes(section: Section) -> tuple[int, int, int]:
    return (
        paired(section, 'runs', at_least=10),
        section.whole('twin_runs', at_least=2),
        section.whole('twin_tests', at_least=LEAST),
    )


def _pieces(setting: RulesSetting) -> Sequence[Work]:
    return [(what, place) for what, (_, count) in PLACES.items() for place in range(count)]


def _work(setting: RulesSetting, piece: Work) -> Found:
    what, place = piece
    if what == TWINS:
        return study_twins(place, setting.twin_runs, setting.seed, setting.twin)
    found: Found = PLACES[what][0](place, setting.runs, setting.seed)
    return found


def _conclude(setting: RulesSetting, results: Sequence[Found]) -> StudyOutcome:
    rules = [_of_rules(row) for row in results if isinstance(row, ScenarioRow)]
    cases: list[Row] = [
        {'law': row.law, 'gamma': row.gamma, **_taken('monte_carlo', row.monte_carlo),
         **_taken('adaptive', row.adaptive), **_taken('control', row.control),
         **_taken('both', row.both)}
        for row in results if isinstance(row, CaseRow)
    ]  # fmt: skip
    pairs: list[Row] = [
        {'gain': row.gain, 'difference': row.difference, **_taken('pairs', row.pairs),
         **_taken('apart', row.apart)}
        for row in results if isinstance(row, PairRow)
    ]  # fmt: skip
    twins: list[Row] = [
        {'law': row.law, 'gamma': row.gamma, 'gain': row.twin.gain, 'simulated': row.twin.tests,
         **_taken('without', row.without), **_taken('regression', row.regression),
         **_taken('twin', row.beside)}
        for row in results if isinstance(row, TwinRow)
    ]  # fmt: skip
    limit = C + 4.0 * math.sqrt(C * (1.0 - C) / setting.runs)
    worst = max(number(row, 'anytime_missed') for row in rules)
    findings = (
        Finding(
            "anytime takes fewer tests than the paper's rule for every law",
            all(number(row, 'anytime_tests') < number(row, 'paper_tests') for row in rules),
        ),
        Finding(
            f'beside a simulator whose loss is {setting.twin.gain:g} times that of the robot '
            'anytime takes fewer tests than alone, for every law and gamma',
            all(number(row, 'twin') < number(row, 'without') for row in twins),
        ),
        Finding(f'anytime misses {worst:.3g} at most, promised is {C:g}', worst <= limit),
    )
    tables = {'': rules, '_cases': cases, '_pairs': pairs, '_twins': twins}
    return StudyOutcome(tables, findings)


def _of_rules(row: ScenarioRow) -> Row:
    found: Row = {'law': row.scenario.name, 'gamma': row.scenario.gamma}
    for name, value in asdict(row).items():
        if name == 'scenario':
            continue
        if isinstance(value, tuple):
            found[name], found[f'{name}_error'] = value
        else:
            found[name] = value
    return found


def _taken(name: str, taken: TestsToStop) -> Row:
    return {name: taken.tests, f'{name}_error': taken.error, f'{name}_missed': taken.missed}


def _draw(setting: RulesSetting, figure: Any, found: StudyOutcome) -> None:
    axes, rows = figure.subplots(), found.tables['']
    columns = ('paper_tests', 'anytime_tests', 'anchored_tests', 'certified_median')
    width = 0.8 / len(columns)
    for place, column in enumerate(columns):
        beside = [k + (place - 1.5) * width for k in range(len(rows))]
        axes.bar(beside, [number(row, column) for row in rows], width,
                 label=column.replace('_', ' '), **filled(place + 1))  # fmt: skip
    names = [f'{row["law"]}, {row["gamma"]:g}' for row in rows]
    axes.set_xticks(range(len(rows)), names, rotation=15, ha='right')
    axes.set(ylabel='tests', yscale='log')
    axes.legend()


RULES = Study(
    'rules', _read, _pieces, _work, _conclude, _draw,
    {
        '': ('law', 'gamma', 'paper_tests', 'paper_missed', 'paper_same', 'anytime_tests',
             'anytime_missed', 'anytime_same', 'anchored_tests', 'anchored_same_and_close',
             'certified_median', 'certified_wrong', 'certified_unresolved'),
        '_cases': ('law', 'gamma', 'monte_carlo', 'monte_carlo_missed', 'adaptive',
                   'adaptive_missed', 'control', 'control_missed', 'both', 'both_missed'),
        '_pairs': ('gain', 'difference', 'pairs', 'pairs_missed', 'apart', 'apart_missed'),
        '_twins': ('law', 'gamma', 'gain', 'simulated', 'without', 'without_missed',
                   'regression', 'regression_missed', 'twin', 'twin_missed'),
    },
)  # fmt: skip
