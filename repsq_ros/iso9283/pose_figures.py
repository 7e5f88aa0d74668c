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

"""Plots of attained poses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repsq_ros.errors import MissingError
from repsq_ros.iso9283.performance_criteria import pose_repeatability

Array = NDArray[np.float64]

BLUE, RED, BLACK = '#0072b2', '#d55e00', '#000000'  # of Okabe and Ito


def draw(
    folder: Path,
    positions: Array,
    goal: Array | None,
    accuracy: Sequence[float],
    repeatability: Sequence[float],
) -> list[str]:
    """Draw the cycles of one pose from three sides and over time, and AP and RP of all poses.

    :param positions: (n, 3) [mm] of the pose with most cycles
    :param goal: (3,) [mm] commanded
    :param accuracy: AP [mm] of each pose; NaN: not known
    :param repeatability: RP [mm] of each pose; NaN: not known
    :returns: names of the files
    :raises MissingError: matplotlib is not installed
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingError.of_package('--output', 'matplotlib') from None
    centre = positions.mean(axis=0)
    off = positions - centre
    distance = np.linalg.norm(off, axis=1)
    radius = pose_repeatability(positions).position if len(positions) > 1 else 0.0
    figure = Figure(figsize=(9.0, 6.4), layout='constrained')
    axes = figure.subplots(2, 2)
    for panel, (a, b) in zip(axes.flat, ((0, 1), (0, 2), (1, 2)), strict=False):
        _draw_side(panel, off[:, [a, b]], radius)
        near = goal is not None and np.linalg.norm(goal - centre) < 20.0 * max(radius, 1e-3)
        if goal is not None and near:
            x, y = (goal - centre)[[a, b]]
            panel.plot(x, y, 'x', color=RED, markersize=10, label='commanded')
        panel.set_xlabel(f'{"xyz"[a]} from the barycentre [mm]')
        panel.set_ylabel(f'{"xyz"[b]} from the barycentre [mm]')
        panel.set_aspect('equal', 'datalim')
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc='outside upper center', ncols=4)
    last = axes.flat[3]
    last.plot(np.arange(1, len(distance) + 1), distance, '.-', color=BLUE)
    last.axhline(radius, color=BLACK, linestyle='--', linewidth=1.0)
    last.set_ylim(bottom=0.0)
    last.set_xlabel('cycle')
    last.set_ylabel('distance from the barycentre [mm]')
    last.xaxis.get_major_locator().set_params(integer=True)
    figure.savefig(folder / 'cycles.png', dpi=120)
    if len(accuracy) < 2:
        return ['cycles.png']
    figure = Figure(figsize=(max(5.0, 0.5 * len(accuracy) + 2.0), 3.6), layout='constrained')
    draw_bars(figure.subplots(), accuracy, repeatability)
    figure.savefig(folder / 'accuracy.png', dpi=120)
    return ['cycles.png', 'accuracy.png']


def _draw_side(panel: Any, off: Array, radius: float) -> None:
    """Draw attained positions seen along one axis, with the circle of RP around their centre."""
    turn = np.linspace(0.0, 2.0 * np.pi, 90)
    panel.plot(off[:, 0], off[:, 1], '.', color=BLUE, label='attained')
    panel.plot(0.0, 0.0, '+', color=BLACK, markersize=12, label='barycentre')
    panel.plot(
        radius * np.cos(turn),
        radius * np.sin(turn),
        '--',
        color=BLACK,
        linewidth=1.0,
        label=f'RP = {radius:.3g} mm',
    )


def draw_bars(axes: Any, accuracy: Sequence[float], repeatability: Sequence[float]) -> None:
    """Draw a pair of bars for each pose: AP and RP [mm]."""
    places = np.arange(1, len(accuracy) + 1)
    axes.bar(places - 0.2, accuracy, 0.4, color=BLUE, label='accuracy AP')
    axes.bar(
        places + 0.2,
        repeatability,
        0.4,
        color='white',
        edgecolor=BLACK,
        hatch='//',
        label='repeatability RP',
    )
    axes.set_xlabel('pose, in the order of the table')
    axes.set_ylabel('AP, RP [mm]')
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(loc='lower left', bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)
