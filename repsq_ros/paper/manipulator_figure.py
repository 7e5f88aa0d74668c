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

"""The figure of the manipulator study: means of trials, deviations, agreement."""

from __future__ import annotations

from typing import Any

import numpy as np

from repsq_ros.paper.drawing import filled, share_panel
from repsq_ros.paper.methods import ANCHORED, ANYTIME, CERTIFIED, ISO, PAPER, READOUT
from repsq_ros.paper.study_interface import StudyOutcome, row_of


def draw(setting: Any, figure: Any, found: StudyOutcome) -> None:
    """Draw it (see face.Study)."""
    panels = figure.subplots(1, 4, width_ratios=(1.0, 1.0, 1.0, 1.2))
    names = list(setting.subjects)
    for axes, name in zip(panels[:2], names[:2], strict=True):
        subject, trials = setting.subjects[name], found.shown[name]
        means = [trials.stopped[m].mean for m in (ISO, PAPER)]
        bins = np.histogram_bin_edges(np.concatenate(means), 24)
        for place, (method, each) in enumerate(zip((ISO, PAPER), means, strict=True)):
            axes.hist(each, bins=bins, label=method, **filled(place + 1))
        low, high = axes.get_xlim()
        for edge in subject.cells.edges:
            if low <= edge <= high:
                axes.axvline(edge, color='0.2', linestyle='--', label='edge of a cell')
        axes.axvline(subject.mean, color='black', label='r*')
        axes.set(xlabel='mean of a trial [mm]', ylabel='trials', title=name)
        axes.legend(fontsize='x-small')
    deviations = found.shown[names[1]].deviations
    panels[2].hist(deviations, bins=24, **filled(1))
    panels[2].set(xlabel=f'deviation of a trial of {ISO} [mm]', ylabel='trials', title=names[1])
    for each in panels[:3]:
        each.yaxis.get_major_locator().set_params(integer=True)
    axes, ticks = panels[3], (READOUT, PAPER, ANYTIME, ANCHORED, CERTIFIED)
    series = {
        name: [row_of(found.tables[''], subject=name, method=method) for method in ticks]
        for name in names
    }
    share_panel(axes, ticks, series, 'same', 'pairs that agree, interval of 95 %')
    axes.legend(fontsize='x-small', loc='upper left')
