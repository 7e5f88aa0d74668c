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

"""The checked samples of a test's window, with the earlier ones that its velocity needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repsq_ros.measurement.checks import checked, fault
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.fall import fallen, lost_falling
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.limits import Fall
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.retime import retimed
from repsq_ros.measurement.velocity import lead_of
from repsq_ros.measurement.window import UnmeasurableError

# Codes of faults that occur when a body falls out of sight.
OUT_OF_SIGHT = {
    Code.SILENT,
    Code.GAP,
    Code.COVERAGE,
    Code.FROZEN,
    Code.NOT_FINITE,
    Code.ORIENTATION,
    Code.JUMP,
}


def checked_window(wide: Cut, fall: Fall | None, history: bool) -> tuple[Cut, str]:
    """Return the checked samples of a window, and how the subject fell ('': it did not).

    :param wide: the window with everything before it
    :param history: include all valid samples since the last gap before the window
    :raises UnmeasurableError: with the named reason
    """
    if wide.needs == Need.READING:
        return checked(wide), ''
    whole, first, source = wide.samples, wide.first, wide.source
    window, limits = wide.window, wide.limits
    if fall is not None:
        on_command = whole.since(int(whole.stamps.searchsorted(window.command_ns)))
        note = fallen(on_command, fall, wide.period, window, limits)
        if note:
            return wide, note
    # An earlier sample with a gap to the window is useless: the body may have moved anywhere.
    near = first > 0 and window.start_ns - whole.stamps[first - 1] <= limits.largest_gap_ns
    begin = 0 if near else first
    stamps = whole.stamps[begin:]
    even = retimed(stamps, source.rate) if source.retime and source.rate > 0 else stamps
    lead = 0
    if wide.needs == Need.VELOCITY and not wide.by_twist and first < len(whole):
        lead = lead_of(even, source, first - begin)
    # One more sample, to check whether the first ones are late or outliers.
    leads = [min(lead + 1, first - begin)]
    if history and near:
        gaps = np.flatnonzero(np.diff(whole.stamps[: first + 1]) > limits.largest_gap_ns)
        leads.insert(0, first - (int(gaps[-1]) + 1 if len(gaps) else 0))
    cut, found = wide, None
    for rows in leads:
        cut = wide.with_lead(rows)
        found = fault(cut)
        if found is None:
            break
    if found is not None:
        if fall is not None and found.code in OUT_OF_SIGHT:
            found = lost_falling(on_command, fall, window, limits) or found
        raise UnmeasurableError(found.text, found.code)
    if even is not stamps:
        cut = replace(cut, even_stamps=even[first - cut.first - begin :])
    return cut, ''
