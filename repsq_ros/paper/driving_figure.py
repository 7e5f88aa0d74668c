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

"""The figure of the driving study: tests, misses and agreement of each rule."""

from __future__ import annotations

from typing import Any

from repsq_ros.paper.drawing import filled, share_panel
from repsq_ros.paper.study_interface import StudyOutcome, number, row_of


def draw(setting: Any, figure: Any, found: StudyOutcome) -> None:
    """Draw it (see face.Study)."""
    left, middle, right = figure.subplots(1, 3)
    names, rows = list(setting.scenarios), found.tables['']
    methods = [str(row['method']) for row in rows if row['scenario'] == names[0]]
    # Methods that were only computed have no agreement.
    driven = [str(row['method']) for row in rows if row['scenario'] == names[0] and row['same_of']]
    width, series = 0.8 / len(names), {}
    for place, name in enumerate(names):
        own = [row_of(rows, scenario=name, method=method) for method in methods]
        beside = [k + (place - (len(names) - 1) / 2) * width for k in range(len(own))]
        left.bar(
            beside,
            [number(row, 'tests_mean') for row in own],
            width,
            label=name,
            **filled(place + 1),
        )
        series[name] = [row for row in own if row['same_of']]
    left.set_xticks(range(len(methods)), methods, rotation=30, ha='right')
    left.set(yscale='log', ylabel='tests, mean')
    left.legend(fontsize='x-small')
    for axes, column, label in (
        (middle, 'missed', 'campaigns that miss by more than gamma'),
        (right, 'same', 'pairs that agree'),
    ):
        share_panel(axes, driven, series, column, label, first=1, apart=0.25)
    c = next(iter(setting.scenarios.values()))[1].accuracy.c
    middle.axvline(c, color='0.4', linestyle='--', label=f'c = {c:g}')
    middle.legend(fontsize='x-small')
