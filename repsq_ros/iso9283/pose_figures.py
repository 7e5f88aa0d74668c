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

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repsq_ros.errors import MissingError

Array = NDArray[np.float64]


def draw(folder: Path, positions: Array, goal: Array | None, accuracy: list[float]) -> list[str]:
    """Draw the cycles of one pose over time and from three sides, and the accuracy of all poses.

    :param positions: (n, 3) [mm] of the pose with most cycles
    :param goal: (3,) [mm] commanded
    :param accuracy: [mm] of each pose
    :returns: names of the files
    :raises MissingError: matplotlib is not installed
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingError.of_package('--output', 'matplotlib') from None
    centre = positions.mean(axis=0)
    off = positions - centre
    figure = Figure(figsize=(9.0, 6.0), layout='constrained')
    axes = figure.subplots(2, 2)
    for panel, (a, b) in zip(axes.flat, ((0, 1), (0, 2), (1, 2)), strict=False):
        panel.plot(off[:, a], off[:, b], '.', color='#0072b2', label='attained')
        panel.plot(0.0, 0.0, '+', color='black', markersize=12, label='barycentre')
        if goal is not None and np.linalg.norm(goal - centre) < 20.0 * max(
            np.abs(off).max(), 1e-3
        ):
            panel.plot(
                goal[a] - centre[a],
                goal[b] - centre[b],
                'x',
                color='#d55e00',
                markersize=10,
                label='commanded',
            )
        panel.set_xlabel(f'{"xyz"[a]} from the barycentre [mm]')
        panel.set_ylabel(f'{"xyz"[b]} [mm]')
        panel.set_aspect('equal', 'datalim')
    axes.flat[0].legend()
    distance = np.linalg.norm(off, axis=1)
    axes.flat[3].plot(np.arange(1, len(distance) + 1), distance, '.-', color='#0072b2')
    axes.flat[3].set_xlabel('cycle')
    axes.flat[3].set_ylabel('distance from the barycentre [mm]')
    figure.suptitle(f'The pose with most cycles: {len(positions)}')
    figure.savefig(folder / 'cycles.png', dpi=120)
    names = ['cycles.png']
    if len(accuracy) > 1:
        figure = Figure(figsize=(7.0, 4.0), layout='constrained')
        panel = figure.subplots()
        panel.hist(accuracy, bins='auto', color='#0072b2')
        panel.set_xlabel('pose accuracy AP [mm]')
        panel.set_ylabel('poses')
        figure.savefig(folder / 'accuracy.png', dpi=120)
        names.append('accuracy.png')
    return names
