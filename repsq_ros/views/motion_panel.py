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

"""The robot in the current test: its path, and measured against commanded values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from repsq_ros.protocols.command_space import COMPONENTS, UNITS, Command, CommandKind, CommandSpace
from repsq_ros.views.panels import RIGHT_COLUMN, RIGHT_END, SMALL, Panel
from repsq_ros.views.path_recorder import Array, RecordedPath
from repsq_ros.views.shapes import (
    CYAN,
    DIM,
    GREY,
    ORANGE,
    WHITE,
    Dots,
    Lines,
    Place,
    Shape,
    Text,
    outline,
)
from repsq_ros.views.text_width import fitted
from repsq_ros.views.ticks import around, number

TOP, BOTTOM = -4.0, -168.0
CURVES = Panel(RIGHT_COLUMN + 62.0, BOTTOM, 318.0, TOP)
PATH = Panel(372.0, BOTTOM, RIGHT_END, TOP)
ROW_GAP = 24.0
NARROWEST = 0.1  # [m] smallest width of the path's panel


def motion_still() -> Iterator[Shape]:
    """Yield the static parts."""
    frame = outline(PATH.left, PATH.bottom, PATH.right, PATH.top)
    yield Lines(('motion', 0), frame, 1.5, DIM, 0.02)
    yield Text(
        ('motion', 1), 'commanded (white), measured (blue)', RIGHT_COLUMN, TOP + 12.0, SMALL, GREY
    )
    yield Text(('motion', 2), 'path, x right, y up [m]', PATH.left, TOP + 12.0, SMALL, GREY)


def motion_panel(trail: RecordedPath | None, space: CommandSpace) -> Iterator[Shape]:
    """Yield the curves and the path.

    :param space: what the protocol commands
    """
    if space.kind == CommandKind.VELOCITY:
        yield from _velocities(trail, space)
    else:
        yield from _positions(trail, space)
    if trail is not None and trail.path is not None:
        target = _target(trail.commanded) if space.kind == CommandKind.POSE else None
        yield from _path(trail, target)


def _target(commands: Sequence[Command]) -> Command | None:
    return next((command for command in reversed(commands) if command), None)


def _rows(count: int) -> list[Panel]:
    high = (CURVES.top - CURVES.bottom + ROW_GAP) / count
    return [
        Panel(
            CURVES.left, CURVES.top - (k + 1) * high + ROW_GAP, CURVES.right, CURVES.top - k * high
        )
        for k in range(count)
    ]


def _velocities(trail: RecordedPath | None, space: CommandSpace) -> Iterator[Shape]:
    names, units = COMPONENTS[CommandKind.VELOCITY], UNITS[CommandKind.VELOCITY]
    for k, row in enumerate(_rows(len(names))):
        commanded = None if trail is None else [c[k] if c else 0.0 for c in trail.commanded]
        measured = None
        if trail is not None and trail.velocity is not None:
            measured = trail.velocity[:, k]
        reach = _reach(measured, _largest_command(space, units[k]))
        yield from _curve(
            k, row, f'{names[k]} [{units[k]}]', (-reach, reach), trail, commanded, measured
        )


def _reach(measured: Array | None, largest: float) -> float:
    """Return the end of a velocity axis: a round number above the commands.

    Larger measured values extend it: a clipped curve would look like a square wave.
    """
    if measured is not None and np.isfinite(measured).any():
        largest = max(largest, float(np.nanmax(np.abs(measured))))
    return around(-1.1 * largest, 1.1 * largest)[1]


def _largest_command(space: CommandSpace, unit: str) -> float:
    """Return the largest commanded velocity in a unit.

    Components with one unit share a scale, so that the noise of an uncommanded one looks small.
    """
    ranges = [
        bounds
        for bounds, own in zip(space.ranges, UNITS[CommandKind.VELOCITY], strict=True)
        if own == unit
    ]
    largest = max(abs(end) for bounds in ranges for end in bounds)
    return largest if largest > 0.0 else 0.1


def _positions(trail: RecordedPath | None, space: CommandSpace) -> Iterator[Shape]:
    names, units = COMPONENTS[CommandKind.POSE], UNITS[CommandKind.POSE]
    for k, row in enumerate(_rows(3)):
        # A pushed robot stays within a metre, or has fallen.
        lower, upper = space.ranges[k] if space.kind == CommandKind.POSE else (-1.0, 1.0)
        commanded = measured = None
        if trail is not None:
            to_poses = space.kind == CommandKind.POSE
            commanded = [c[k] if c and to_poses else math.nan for c in trail.commanded]
            if trail.path is not None:
                measured = trail.path[:, k]
                seen = measured[np.isfinite(measured)]
                lower, upper = min(lower, *seen), max(upper, *seen)
        reach = max(0.1 * (upper - lower), 0.01)
        yield from _curve(
            k,
            row,
            f'{names[k]} [{units[k]}]',
            (lower - reach, upper + reach),
            trail,
            commanded,
            measured,
        )


def _curve(
    k: int,
    row: Panel,
    title: str,
    limits: tuple[float, float],
    trail: RecordedPath | None,
    commanded: Sequence[float] | None,
    measured: Array | None,
) -> Iterator[Shape]:
    """Yield one component over the time since the test began."""
    seconds = 1.0 if trail is None else max(float(trail.seconds[-1]), 1.0)
    plot = Panel(row.left, row.bottom, row.right, row.top, (0.0, seconds), limits)
    frame = outline(plot.left, plot.bottom, plot.right, plot.top)
    yield Lines(('motion', 10 + k), frame, 1.5, DIM, 0.02)
    for place, value in enumerate(limits):
        y = (plot.bottom + 6.0, plot.top - 6.0)[place]
        key = ('motion', 20 + 2 * k + place)
        yield Text(key, f'{value:.2g}', plot.left - 5.0, y, SMALL, GREY, 'right')
    under = plot.bottom - 11.0
    name = fitted(title, SMALL, 150.0)
    yield Text(('motion', 30 + k), name, plot.left, under, SMALL, GREY)
    yield Text(('motion', 40 + k), f'{seconds:.1f} s', plot.right, under, SMALL, GREY, 'right')
    if trail is None:
        return
    if commanded is not None:
        steps: list[Place] = []
        for second, value in zip(trail.seconds, commanded, strict=True):
            if not math.isfinite(value):
                continue
            place_ = plot.place(float(second), value)
            if steps and place_[1] != steps[-1][1]:
                steps.append((place_[0], steps[-1][1]))
            steps.append(place_)
        if len(steps) > 1:
            yield Lines(('motion', 50 + k), tuple(steps), 2.0, WHITE, 0.12, strip=True)
    if measured is not None:
        places = [
            plot.place(float(second), float(value))
            for second, value in zip(trail.seconds, measured, strict=True)
            if math.isfinite(value)
        ]
        if len(places) > 1:
            yield Lines(('motion', 60 + k), tuple(places), 2.0, CYAN, 0.14, strip=True)


def _path(trail: RecordedPath, target: Command | None) -> Iterator[Shape]:
    """Yield the path from above, with equal scales, and the target of a pose."""
    assert trail.path is not None
    path = trail.path[:, :2]
    points = path if target is None else np.vstack([path, np.array([target[:2]])])
    low, high = points.min(axis=0), points.max(axis=0)
    wide, tall = PATH.right - PATH.left, PATH.top - PATH.bottom
    metre = min(wide, tall) * 0.84 / max(float((high - low).max()), NARROWEST)  # pixels per metre
    middle = (low + high) / 2.0

    def at(point: Sequence[float]) -> Place:
        return (
            (PATH.left + PATH.right) / 2 + (float(point[0]) - float(middle[0])) * metre,
            (PATH.bottom + PATH.top) / 2 + (float(point[1]) - float(middle[1])) * metre,
        )

    places = tuple(at(point) for point in path)
    yield Lines(('motion', 70), places, 2.0, CYAN, 0.12, strip=True)
    yield Dots(('motion', 71), 9.0, 0.2, False, [places[-1]], [-1])
    if target is not None:
        x, y = at(target)
        cross = ((x - 9.0, y), (x + 9.0, y), (x, y - 9.0), (x, y + 9.0))
        yield Lines(('motion', 72), cross, 2.0, ORANGE, 0.16)
    length = around(0.0, 0.25 * min(wide, tall) / metre, 1)[1]
    if length * metre > wide * 0.6:
        length /= 2.0
    x, y = PATH.left, PATH.bottom - 11.0  # below the path
    yield Lines(('motion', 73), ((x, y), (x + length * metre, y)), 2.0, GREY, 0.1)
    yield Text(('motion', 74), f'{number(length)} m', x + length * metre + 8.0, y, SMALL, GREY)
