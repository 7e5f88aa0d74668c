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

"""The paper's humanoid: one policy, four proposals, all forms of psi, and changed robots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from repsq_ros.errors import ParameterError
from repsq_ros.estimation.difference import MeanDifference
from repsq_ros.estimation.moments import EmpiricalBernstein, smallest_n
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.measurement.tracking_loss import Reduction
from repsq_ros.paper.humanoid_campaigns import (
    FIRST,
    HumanoidSetting,
    Running,
    WalkedTrial,
    form_of,
    pieces_of,
    read_setting,
    rules_of,
    work,
)
from repsq_ros.paper.humanoid_figure import draw
from repsq_ros.paper.methods import ANCHORED, ANYTIME, PAPER
from repsq_ros.paper.study_interface import (
    Finding,
    Row,
    Study,
    StudyOutcome,
    number,
    row_of,
)
from repsq_ros.paper.written import share


def _conclude(setting: HumanoidSetting, results: Sequence[WalkedTrial]) -> StudyOutcome:
    pieces = pieces_of(setting)
    trials: dict[str, list[WalkedTrial]] = {name: [] for name in setting.campaigns}
    robots: dict[str, WalkedTrial] = {}
    for piece, walked in zip(pieces, results, strict=True):
        if piece.proposal:
            trials[piece.proposal].append(walked)
        else:
            robots[piece.robot] = walked
    ended = {
        name: {rule: [_rerun(setting, name, rule, each) for each in walked]
               for rule in (PAPER, ANYTIME)}
        for name, walked in trials.items()
    }  # fmt: skip
    main = _main(setting, ended)
    forms, changed = _forms(setting, trials[FIRST]), _robots(setting, robots)
    return StudyOutcome(
        {'': main, '_forms': forms, '_robots': changed}, _findings(main, forms), ended
    )


def _rerun(setting: HumanoidSetting, name: str, rule: str, walked: WalkedTrial) -> Running:
    running = rules_of(setting, name)[rule]
    form = form_of(setting.campaigns[name])
    for forms, weight, bound in zip(walked.forms, walked.weights, walked.bounds, strict=True):
        running.add(forms.of(form), weight, bound)
    return running


def _main(
    setting: HumanoidSetting, ended: Mapping[str, Mapping[str, Sequence[Running]]]
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


def _forms(setting: HumanoidSetting, walked: Sequence[WalkedTrial]) -> list[Row]:
    rows: list[Row] = []
    rule, gamma, c = EmpiricalBernstein(), setting.gamma, setting.c
    for form in Reduction:
        psi = np.array([forms.of(form) for each in walked for forms in each.forms])
        variance = float(psi.var())
        rows.append({
            'form': form, 'tests': psi.size, 'mean': float(psi.mean()), 'sd': float(psi.std()),
            'least': float(psi.min()), 'most': float(psi.max()),
            'paper_tests_declared': smallest_n(rule, gamma, variance, setting.declared_range, c),
            'paper_tests_proven': smallest_n(rule, gamma, variance, 1.0, c),
        })  # fmt: skip
    return rows


def _robots(setting: HumanoidSetting, robots: Mapping[str, WalkedTrial]) -> list[Row]:
    form = form_of(setting.campaigns[FIRST])
    usual = [forms.of(form) for forms in robots[''].forms]
    rows: list[Row] = []
    for name, walked in robots.items():
        if not name:
            continue
        psi = [forms.of(form) for forms in walked.forms]
        sequence, decided = MeanDifference(Bounds(-1.0, 1.0), setting.gamma, setting.c), 0
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


HUMANOID = Study(
    'humanoid', read_setting, pieces_of, work, _conclude, draw,
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
