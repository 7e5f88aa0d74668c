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

"""The figure of the humanoid: estimates on the cells, tests, changed robots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from repsq_ros.paper.drawing import filled, style
from repsq_ros.paper.humanoid_campaigns import FIRST
from repsq_ros.paper.methods import ANYTIME, PAPER
from repsq_ros.paper.study_interface import StudyOutcome, number


def draw(setting: Any, figure: Any, found: StudyOutcome) -> None:
    """Draw it (see face.Study)."""
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
