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

"""The results of a station's self-test: three moves from rest, judged by the recording."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from repsq_ros.auditing.body_audit import audit_body
from repsq_ros.auditing.stream_audit import CLOCK_TOLERANCE, audit, clock_fault
from repsq_ros.auditing.verdicts import body_verdicts, stream_verdicts
from repsq_ros.campaign.command_response import NAMES, CommandResponse
from repsq_ros.campaign.records import TestRecord
from repsq_ros.measurement.cut import Cut, SampleRun
from repsq_ros.measurement.inputs import LENGTHS, Input, Need, Stamp, Velocity
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.window import UnmeasurableError, Window
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.protocols.phases import Cause, Phase, Span
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import to_nanoseconds

Array = NDArray[np.float64]

SETTLE = 2.0  # [s] after a move that do not count as rest
BY_CHANCE = 0.15  # random error of a gain over a few strides: far below the effect of a wrong axis
CROSSED = 0.2  # [rad] angle between axes that points to wrong extrinsics
LATE = 0.06  # [s] dead time above which the sensor is late, or the robot waits
LEVER = 0.05  # [m] smallest lever arm that is reported
OFF_SCALE = 0.02  # relative difference from a taped length
OFF_RATE = 0.2  # relative difference from the declared rate
NEAR = 0.005  # [m] from a commanded pose
BEFORE = 2.0  # [s] of rest before a response
STEP = 0.01  # [s] between two instants of a response
STRIDES = range(30, 130, 2)  # possible durations of a stride, in steps of STEP
STEADY = 0.4  # share of a move after which the walk is steady
# [s]; negative values: a centred estimator responds before the step.
DEAD_TIMES = np.arange(-0.1, 0.6, 0.005)
TIME_CONSTANTS = np.array([0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8])  # [s]


@dataclass(frozen=True)
class StationCheck:
    """One check; green if nothing is wrong.

    :ivar fault: what is wrong and what to do; '': nothing
    """

    name: str
    value: str
    fault: str = ''


@dataclass(frozen=True)
class SelfTestRecord:
    """Commands and samples of a self-test.

    :ivar samples: of each input in the order of arrival, with the times of arrival (`logs`)
    :ivar spans: phases in their order
    :ivar attempts: outcomes of all attempts
    :ivar ended: why it ended before its last move; '': it did not
    """

    samples: Mapping[Input, Samples]
    spans: Sequence[Span]
    attempts: Sequence[TestRecord]
    ended: str = ''

    @property
    def moves(self) -> list[Span]:
        """Return the phases with a commanded velocity."""
        return [span for span in self.spans if span.phase is Phase.COMMAND]

    @property
    def places(self) -> list[Span]:
        """Return the phases in which the body rests at a pose."""
        kinds = (Phase.DWELL, Phase.RECORD)
        return [each for each in self.spans if each.phase in kinds and len(each.command) == 6]

    def rests(self) -> list[tuple[int, int]]:
        """Return the intervals at rest, (start, end) [ns]."""
        found = []
        for span in self.spans:
            start_ns = span.start_ns + to_nanoseconds(SETTLE)
            if span.phase is Phase.DWELL and span.end_ns is not None and span.end_ns > start_ns:
                found.append((start_ns, span.end_ns))
        return found


def judge(
    specification: Specification, record: SelfTestRecord, taped: float | None = None
) -> list[StationCheck]:
    """Return the checks of a self-test.

    :param taped: tape-measured length of the first move, from rest to rest [m]; None: not given
    """
    measure, kind = specification.measure, specification.protocol.kind
    # In these attempts the robot was stopped before its move was over.
    broken_off = {(each.index, each.attempt) for each in record.attempts if each.broken_off}
    whole = [each for each in record.spans if (each.index, each.attempt) not in broken_off]
    record = replace(record, spans=whole)
    found = [StationCheck('moves', f'{len({span.index for span in record.spans})}')]
    found += _check_attempts(record)
    for source in dict.fromkeys([measure.input, specification.feedback]):
        if source is None:
            continue
        raw = record.samples.get(source)
        if raw is None or not len(raw):
            found.append(StationCheck(source.topic, 'no message', 'start the driver, or remap it'))
            continue
        seen = SampleRun(_in_order(raw), source).samples  # SI units, z up
        found += _check_stream(source, raw, seen, kind == CommandKind.VELOCITY)
        if kind == CommandKind.POSE and seen.position is not None:
            found += _check_places(source, seen, record)
        if (
            kind == CommandKind.VELOCITY
            and source == measure.input
            and measure.quantity.needs == Need.VELOCITY
        ):
            found += _check_velocities(source, raw, record)
            found.append(_check_scale(seen, record, taped))
    return found


def _check_attempts(record: SelfTestRecord) -> list[StationCheck]:
    """Return a check for each attempt that gave no psi.

    A move that this computer broke off, and that was made again, is no fault of the station.
    """
    counted = {each.index for each in record.attempts if each.valid}
    found = []
    for each in record.attempts:
        reason = f'test {each.index}: {each.reason}'
        if each.loss is Cause.BENCH and each.index in counted:
            found.append(StationCheck('test', f'made again, {reason}'))
        elif each.reason:
            found.append(StationCheck('test', 'failed', reason))
    if record.ended and not any(each.fault for each in found):
        found.append(StationCheck('test', 'failed', record.ended))
    return found


def _between(samples: Samples, start_ns: int, end_ns: int) -> Samples:
    first, after = np.searchsorted(samples.stamps, [start_ns, end_ns])
    return samples.take(slice(int(first), int(after)))


def _check_stream(source: Input, raw: Samples, seen: Samples, walks: bool) -> list[StationCheck]:
    """Return the checks of rate, clock, noise, tilt and frozen parts.

    :param walks: a walking robot: upright at rest, but never exactly still
    """
    stream, topic = audit(raw.stamps, raw.logs, source.rate), source.topic
    rate = f'{1.0 / stream.period:.1f} Hz' if stream.period > 0 else 'not known'
    off = source.rate > 0 and abs(stream.period * source.rate - 1.0) > OFF_RATE
    found = [StationCheck(f'{topic} rate', rate, f'{source.rate:g} Hz are declared' * off)]
    if source.stamp == Stamp.HEADER and raw.logs is not None:
        fault = clock_fault(raw.stamps, raw.logs, CLOCK_TOLERANCE)
        advice = fault and f'stamps are {fault}: NTP or PTP on both, or stamp: receive'
        found.append(StationCheck(f'{topic} clock', f'{stream.delay:+.3f} s to arrival', advice))
    if seen.value is not None:
        spread = float(np.ptp(seen.value))
        advice = 'it never changed: stuck, or another topic?' * (spread == 0.0)
        told = f'{1e3 * spread:.4g} mm' if source.unit in LENGTHS else f'{spread:.4g}'
        found.append(StationCheck(f'{topic} range', told, advice))
    if seen.position is None:
        return found
    body = audit_body(seen)
    noise = ', '.join(f'{1e3 * each:.3g}' for each in body.noise)
    found.append(StationCheck(f'{topic} noise', f'{noise} mm in x, y, z'))
    if math.isfinite(body.tilt[0]):
        tilt = f'{math.degrees(body.tilt[0]):.1f} degrees'
        found.append(StationCheck(f'{topic} tilt', tilt))
    faults = stream_verdicts(stream, False) + body_verdicts(body, stream) * walks
    return [*found, *(StationCheck(topic, each.partition(':')[0], each) for each in faults)]


def _in_order(samples: Samples) -> Samples:
    return samples.take(np.argsort(samples.stamps, kind='stable'))


def _velocity(source: Input, samples: Samples, start_ns: int, end_ns: int) -> tuple[Array, Array]:
    """Return times since `start_ns` [s], (n,), and velocities, (n, 3), by the input's estimator.

    :raises UnmeasurableError: there are none
    """
    part = _in_order(_between(samples, start_ns, end_ns))
    window = Window(start_ns, end_ns, (0.0, 0.0, 0.0), start_ns)
    fitted = (
        replace(source, velocity=Velocity.SLOPE) if source.velocity == Velocity.AUTO else source
    )
    run = SampleRun(part, fitted)
    cut = Cut(run, slice(0, len(part)), window, start_ns, end_ns, Need.VELOCITY, lead_ns=0)
    times: Array = (cut.measured.stamps - start_ns).astype(np.float64) * 1e-9
    return times, cut.velocity


def _check_velocities(
    source: Input, samples: Samples, record: SelfTestRecord
) -> list[StationCheck]:
    """Return the checks of axes, sign, scale, lever arm and latency of the velocities."""
    gain, delays, varied = np.zeros((3, 3)), [], []
    try:
        still = [_velocity(source, samples, *rest)[1].mean(axis=0) for rest in record.rests()]
        rest = np.median(still, axis=0) if still else np.zeros(3)
        for move in record.moves:
            assert move.end_ns is not None
            k = int(np.argmax(np.abs(move.command)))
            begin_ns = move.start_ns - to_nanoseconds(BEFORE)
            times, seen = _velocity(source, samples, begin_ns, move.end_ns)
            times = times - BEFORE
            late = seen[times > 0.5 * times[-1]].mean(axis=0)
            gain[:, k] = (late - rest) / move.command[k]
            varied.append(k)
            delays.append(_misfit(times, (seen[:, k] - rest[k]) / move.command[k]))
    except UnmeasurableError as error:
        return [StationCheck('velocity', 'none', str(error))]
    names = NAMES[CommandKind.VELOCITY]
    told = ', '.join(f'{names[k]} {gain[k, k]:.2f}' for k in varied)
    sure = np.full((3, 3), math.inf)
    sure[:, varied] = BY_CHANCE
    faults = CommandResponse(CommandKind.VELOCITY).judge(gain, sure, varied)
    found = [StationCheck('measured of what is commanded', told, '; '.join(faults))]
    if {0, 1} <= set(varied) and not faults:
        angle = math.atan2(gain[1, 0] - gain[0, 1], gain[0, 0] + gain[1, 1])
        advice = 'extrinsics: the body is turned against the robot' * (abs(angle) > CROSSED)
        found.append(StationCheck('axes', f'turned by {math.degrees(angle):+.0f} degrees', advice))
    if 2 in varied and not faults:
        arm = float(np.hypot(*gain[:2, 2]) / max(abs(gain[2, 2]), BY_CHANCE))
        advice = f'{1e3 * arm:.0f} mm from the axis of the turn: extrinsics.translation?'
        found.append(StationCheck('lever arm', f'{1e3 * arm:.0f} mm', advice * (arm > LEVER)))
    return [*found, _check_latency(delays)]


def _misfit(times: Array, response: Array) -> Array:
    """Return the misfit of each dead time for the response to a step, (len(DEAD_TIMES),).

    The response is correlated with a first-order lag with dead time, for the best time constant.
    Both are averaged over one stride, the duration that leaves the smallest variation of a steady
    walk: sway would change the delay by more than 0.1 s. The result is the sum of squared
    residuals divided by that of the best dead time.
    """
    grid = np.arange(times[0], times[-1], STEP)
    seen = np.interp(grid, times, response)[:, None]
    steady = seen[grid > STEADY * grid[-1]]
    strides = [each for each in STRIDES if 2 * each < len(steady)] or [1]
    stride = min(strides, key=lambda each: float(_averaged(steady, each).var()))
    seen = _averaged(seen, stride)[:, 0]
    misfit = np.empty(len(DEAD_TIMES))
    for place, dead in enumerate(DEAD_TIMES):
        since = np.maximum(grid - dead, 0.0)
        model = _averaged(1.0 - np.exp(-since[:, None] / TIME_CONSTANTS), stride)
        explained = (model.T @ seen) ** 2 / np.maximum(np.sum(model * model, axis=0), 1e-12)
        misfit[place] = float(seen @ seen - explained.max())
    return misfit / max(float(misfit.min()), 1e-12)


def _averaged(rows: Array, count: int) -> Array:
    """Return moving averages over `count` rows, (n - count + 1, k)."""
    summed = np.vstack([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    mean: Array = (summed[count:] - summed[:-count]) / count
    return mean


def _check_latency(misfits: Sequence[Array]) -> StationCheck:
    if not misfits:
        return StationCheck('latency', 'not measured')
    latency = float(DEAD_TIMES[int(np.argmin(np.sum(misfits, axis=0)))])
    advice = (
        'the response begins late: stamps of arrival behind a slow driver or network, or a robot '
        'that waits. Compare with another sensor'
    )
    return StationCheck(
        'latency', f'{latency:.3f} s from command to response', advice * (latency > LATE)
    )


def _check_scale(samples: Samples, record: SelfTestRecord, taped: float | None) -> StationCheck:
    """Return the check of scale: measured length of the first move over its taped length."""
    if taped is None or samples.position is None or not record.moves:
        return StationCheck('scale', 'not measured: --taped LENGTH')
    move = record.moves[0]
    assert move.end_ns is not None
    second = to_nanoseconds(1.0)
    before = _between(samples, move.start_ns - second, move.start_ns).position
    after = [rest for rest in record.rests() if rest[0] > move.end_ns]
    there = _between(samples, after[0][1] - second, after[0][1]).position if after else None
    if before is None or there is None or not (len(before) and len(there)):
        return StationCheck('scale', 'not measured: no rest after the move')
    way = float(np.linalg.norm(np.median(there, axis=0) - np.median(before, axis=0)))
    scale = way / taped
    advice = 'unit, calibration of the cameras, or diameter of the wheels'
    off = abs(scale - 1.0) > OFF_SCALE
    return StationCheck('scale', f'{scale:.3f} ({way:.3f} of {taped:.3f} m)', advice * off)


def _check_places(source: Input, samples: Samples, record: SelfTestRecord) -> list[StationCheck]:
    """Return the check of distances between commanded poses and poses at rest."""
    away = []
    for rest in record.places:
        if rest.end_ns is None:
            continue
        there = _between(samples, rest.end_ns - to_nanoseconds(0.5), rest.end_ns).position
        if there is not None and len(there):
            goal = np.array(rest.command[:3])
            away.append(float(np.linalg.norm(np.median(there, axis=0) - goal)))
    if not away:
        return [StationCheck(f'{source.topic} places', 'not measured')]
    advice = 'frame, unit, or extrinsics: it is not where it was sent' * (max(away) > NEAR)
    told = f'{1e3 * max(away):.1f} mm from the goal at most'
    return [StationCheck(f'{source.topic} places', told, advice)]
