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

"""What is wrong with a stream, in the words of the reasons that make a test INVALID."""

from __future__ import annotations

import math

from repsq_ros.auditing.body_audit import BodyAudit
from repsq_ros.auditing.stream_audit import CLOCK_TOLERANCE, StreamAudit
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Limits
from repsq_ros.timebase import to_seconds

USUAL, INPUT = Limits(), Input('', '')
DRIFT = 1e-3  # [s/s] no computer clock drifts as much
REPEATED, FEWEST = 0.3, 20  # share of steps that are followed by an equal position; steps
STILL, MOVED = 1e-12, 0.02  # [m] range of one axis that stands still while another one moved


def stream_verdicts(found: StreamAudit, stamped: bool) -> list[str]:
    """Return what is wrong with the stamps, one sentence each.

    :param stamped: by a header; else the stamps are the times of arrival
    """
    told = []
    gap = to_seconds(USUAL.largest_gap_ns)
    if found.largest_gap > gap:
        told.append(f'gap: {found.largest_gap:.3f} s without a sample, at most {gap:g} s allowed')
    if not stamped or found.all_zero:
        return told
    if abs(found.delay) > CLOCK_TOLERANCE:
        told.append(
            f'stamps: {found.delay:+.3f} s from stamp to arrival, at most '
            f'{CLOCK_TOLERANCE:g} s is usual: another clock (NTP or PTP?), or a late network, '
            'which is no fault'
        )
    if found.count > 2 and abs(found.drift) > DRIFT:
        told.append(f'stamps: their clock runs {found.drift:+.4f} s a second apart from arrival')
    return told


def body_verdicts(found: BodyAudit, stamps: StreamAudit | None) -> list[str]:
    """Return what is wrong with a body's poses, when used for velocities; one sentence each."""
    told = []
    if found.broken:
        told.append(f'not finite: {found.broken} broken poses')
    if found.odd_norm:
        told.append(f'quaternion: {found.odd_norm} of another norm than 1')
    if found.frozen > USUAL.frozen:
        told.append(
            f'frozen: bit-identical poses for {found.frozen:.3f} s, at most {USUAL.frozen:g} s '
            'allowed where the body moves'
        )
    if found.repetitions > REPEATED * found.steps and found.steps >= FEWEST:
        told.append(
            f'frozen: of {found.steps} steps, {found.repetitions} are followed by the same '
            'position again: rounded, held at a lower rate, or sent twice?'
        )
    x, y, _ = found.extent
    if not found.turned and math.hypot(x, y) > MOVED:
        told.append('frozen: orientation never changes while the body moves')
    for name, one, other in (('x', x, y), ('y', y, x)):
        if one < STILL and other > MOVED:
            told.append(f'frozen: {name} never changes while the body moves')
    if math.isfinite(found.tilt[0]) and found.tilt[0] > USUAL.rest_tilt:
        told.append(
            f'tilt: the body leans by {found.tilt[0]:.3f} rad, at most {USUAL.rest_tilt:g} rad '
            'allowed: up_axis, extrinsics, or w first?'
        )
    span = INPUT.velocity_span
    if stamps is not None and stamps.period > 1.01 * span:
        told.append(
            f'coverage: a pose every {stamps.period:.3f} s, at least one in {span:g} s is needed '
            'for a velocity over that span'
        )
    return told
