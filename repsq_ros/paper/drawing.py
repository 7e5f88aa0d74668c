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

"""The style of the studies' figures: colours that work in grey and for the colour-blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repsq_ros.paper.study_interface import Row, Study, StudyOutcome, number
from repsq_ros.studies.figures import load_pyplot, save_figure

# Okabe and Ito's palette, from dark to light, distinguishable in grey print.
COLOURS = ('#000000', '#0072b2', '#d55e00', '#009e73', '#e69f00', '#56b4e9', '#cc79a7')
MARKS = ('o', 's', '^', 'D', 'v', 'P', 'X')
HATCHES = ('', '//', '..', '\\\\', 'xx', '--', 'oo')


def style(place: int) -> dict[str, Any]:
    """Return colour and mark of a series of points, by its index."""
    return {'color': COLOURS[place % len(COLOURS)], 'marker': MARKS[place % len(MARKS)]}


def filled(place: int) -> dict[str, Any]:
    """Return colour and hatch of an area, by its index."""
    return {
        'facecolor': COLOURS[place % len(COLOURS)],
        'hatch': HATCHES[place % len(HATCHES)],
        'edgecolor': 'white',
        'alpha': 0.75,
    }


def interval_bars(axes: Any, y: float, row: Row, column: str, **look: Any) -> None:
    """Draw a share with its interval, as a horizontal bar.

    :param column: of the share; its interval is from COLUMN_low to COLUMN_high
    """
    share, low, high = (number(row, f'{column}{end}') for end in ('', '_low', '_high'))
    axes.errorbar(
        share,
        y,
        xerr=[[max(share - low, 0.0)], [max(high - share, 0.0)]],
        capsize=3,
        linestyle='none',
        **look,
    )


def share_panel(
    axes: Any,
    ticks: Sequence[str],
    series: Mapping[str, Sequence[Row]],
    column: str,
    label: str,
    first: int = 0,
    apart: float = 0.2,
) -> None:
    """Draw a share with its interval at each tick, for several series side by side.

    :param series: for each, one row per tick
    :param column: of the share; rows without it are not drawn
    :param label: of the axis
    :param first: index of the first series' style
    :param apart: distance between two series
    """
    middle = (len(series) - 1) / 2
    for place, (name, rows) in enumerate(series.items()):
        for k, row in enumerate(rows):
            if row[f'{column}_of']:
                look = {'label': name if k == 0 else None, **style(place + first)}
                interval_bars(axes, k + (place - middle) * apart, row, column, **look)
    axes.set_yticks(range(len(ticks)), ticks)
    axes.set(xlabel=label, xlim=(-0.03, 1.03))


def _legend_above(axes: Any) -> None:
    """Put a legend between the axes and their title, outside of the data."""
    count = len(axes.get_legend_handles_labels()[0])
    axes.legend(fontsize='x-small', loc='lower center', bbox_to_anchor=(0.5, 1.0), ncols=2)
    axes.set_title(axes.get_title(), pad=12.0 + 12.0 * ((count + 1) // 2))


def draw_study(file: Path, study: Study, setting: Any, found: StudyOutcome) -> None:
    """Draw a study's figure.

    :raises MissingError: matplotlib is not installed
    :raises OutputError: the file cannot be written
    """
    pyplot = load_pyplot('a figure')
    figure = pyplot.figure(figsize=(12.0, 4.0), layout='constrained')
    study.draw(setting, figure, found)
    for axes in figure.axes:
        if axes.get_legend() is not None:
            _legend_above(axes)
    try:
        save_figure(figure, file, 'a .png file', dpi=110)
    finally:
        pyplot.close(figure)
