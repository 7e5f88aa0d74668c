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

"""The figure of the baselines: tests, misses and agreement of each rule."""

from __future__ import annotations

from typing import Any

from repsq_ros.paper.drawing import filled, share_panel
from repsq_ros.paper.study_interface import StudyOutcome, number, row_of


def draw(setting: Any, figure: Any, found: StudyOutcome) -> None:
    """Draw it (see face.Study)."""
    left, middle, right = figure.subplots(1, 3)
    rows, names = found.tables[''], list(setting.scenarios)
    rules = [str(row['rule']) for row in rows if row['scenario'] == names[0]]
    own = [row_of(rows, scenario=names[0], rule=rule) for rule in rules]
    left.barh(range(len(rules)), [number(row, 'tests_mean') for row in own], **filled(1))
    left.set(xscale='log', xlim=(10, None), xlabel='tests, mean', title=names[0])
    series = {name: [row_of(rows, scenario=name, rule=rule) for rule in rules] for name in names}
    share_panel(middle, rules, series, 'missed', 'campaigns that miss gamma', apart=0.18)
    share_panel(right, rules, series, 'same', 'pairs that agree', apart=0.18)
    left.set_yticks(range(len(rules)), rules)
    middle.legend(fontsize='x-small')
