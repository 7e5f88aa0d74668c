"""Whether poses can be those of one body: no step faster than anything moves, none out of line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.frames import continuous, product
from repsq_ros.measurement.limits import Commanded, Limits
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.track import Track
from repsq_ros.measurement.window import Window

Array = NDArray[np.float64]

# Of the median deviation: so far out is no noise. In three dimensions 3.6 is passed by one step of
# a million where the noise is Gaussian.
FAR = 8.0
SHAKEN = 25.0  # [m/s^2] a foot that hits the ground; an eighth of it is what a period may bend
SHAKEN_TURN = 50.0  # [rad/s^2] the same of its rotation
NOISE = 5.0  # times the least deviation: more than that is not taken for noise


def jump_fault(track: Track, period: float, window: Window, limits: Limits) -> Fault | None:
    """Return where the body moves or turns faster than anything can.

    Two messages that came together are given a whole period for their step.

    :param track: in SI units
    :param period: [s]
    """
    if len(track) < 2:
        return None
    steps = np.diff(track.stamps).astype(np.float64) * 1e-9
    time = np.maximum(steps, period)
    if track.position is not None:
        moved = np.linalg.norm(np.diff(track.position, axis=0), axis=1)
        excess = moved - np.maximum(limits.fastest * time, limits.step)
        at = int(np.argmax(excess))
        if excess[at] > 0:
            return Fault(
                Code.JUMP,
                f'jump: {moved[at]:.3f} m within {steps[at]:.4f} s at '
                f'{window.at(track.stamps[at + 1])}, at most {limits.fastest:g} m/s is believed',
            )
    if track.orientation is not None:
        angle = np.linalg.norm(_turns(track.orientation), axis=1)
        excess = angle - limits.fastest_turn * time
        at = int(np.argmax(excess))
        if excess[at] > 0:
            return Fault(
                Code.JUMP,
                f'jump: a turn by {angle[at]:.3f} rad within {steps[at]:.4f} s at '
                f'{window.at(track.stamps[at + 1])}, at most {limits.fastest_turn:g} rad/s is '
                'believed',
            )
    return None


def outlier_fault(
    track: Track, period: float, window: Window, limits: Limits, commanded: Commanded | None
) -> Fault | None:
    """Return where a step leaves the path that its neighbours are on: another body, a wrong frame.

    A step is held against the median of the two before and the two after it. What it may differ
    is the noise of the track, the bend that a shaken body makes within a period, and for the time
    that was longer than a period what the commanded speeds explain.

    :param track: in SI units
    :param period: [s]
    """
    if len(track) < 6:
        return None
    longer = np.maximum(np.diff(track.stamps).astype(np.float64) * 1e-9 - period, 0.0)
    speed, turn = limits.fastest, limits.fastest_turn
    if commanded is not None:
        speed = min(speed, 1.0 + 3.0 * commanded.speed)
        turn = min(turn, 3.0 + 3.0 * commanded.turn)
    if track.position is not None:
        off, allowed = _off(np.diff(track.position, axis=0), limits.outlier)
        at, by = _worst(off, allowed + SHAKEN * period**2 + speed * longer)
        if by > 0:
            return Fault(
                Code.JUMP,
                f'jump: a step at {window.at(track.stamps[at + 1])} leaves the path of its '
                f'neighbours by {off[at]:.4f} m, at most {off[at] - by:.4f} m is believed',
            )
    if track.orientation is not None:
        off, allowed = _off(_turns(track.orientation), limits.outlier_turn)
        at, by = _worst(off, allowed + SHAKEN_TURN * period**2 + turn * longer)
        if by > 0:
            return Fault(
                Code.JUMP,
                f'jump: a turn at {window.at(track.stamps[at + 1])} leaves that of its '
                f'neighbours by {off[at]:.4f} rad, at most {off[at] - by:.4f} rad is believed',
            )
    return None


def _worst(off: Array, allowed: Array) -> tuple[int, float]:
    excess = off - allowed
    at = int(np.argmax(excess))
    return at, float(excess[at])


def _off(steps: Array, least: float) -> tuple[Array, float]:
    """Return how far each step is from the median of its neighbours, and what noise explains.

    :param steps: (n, 3), n >= 5
    """
    padded = np.pad(steps, ((2, 2), (0, 0)), mode='reflect')
    around = np.sort(np.stack([padded[k : k + len(steps)] for k in (0, 1, 3, 4)]), axis=0)
    off = np.linalg.norm(steps - (around[1] + around[2]) / 2.0, axis=1)
    # Two bodies that take turns make every step as wide: that is no noise either.
    return off, max(least, min(FAR * float(np.median(off)), NOISE * least))


def _turns(orientation: Array) -> Array:
    """Return the turns between successive quaternions as vectors, axis times angle [rad]."""
    unit = continuous(orientation / np.linalg.norm(orientation, axis=1, keepdims=True))
    # |a - b| = 2 sin(angle / 4): exact for small angles, where the inner product is not.
    half = np.linalg.norm(np.diff(unit, axis=0), axis=1) / 2.0
    angle: Array = 4.0 * np.arcsin(np.minimum(half, 1.0))
    back = unit[:-1] * np.array([-1.0, -1.0, -1.0, 1.0])
    axis = product(back, unit[1:])[:, :3]
    size = np.linalg.norm(axis, axis=1)
    along: Array = axis * (angle / np.where(size > 0, size, 1.0))[:, None]
    return np.where((size > 0)[:, None], along, np.column_stack([angle, 0 * angle, 0 * angle]))
