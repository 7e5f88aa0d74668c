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

"""Whether a number can be a gauge's reading."""

from __future__ import annotations

import numpy as np

from repsq_ros.measurement.inputs import LENGTHS, Input
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.samples import Array, Flags, Samples
from repsq_ros.measurement.window import Window

# Below the smallest normal number of single precision: an integer or a flag written into the
# message without a cast (Float64(data=1) arrives as 5e-324).
NOT_CAST = 1.17e-38
LONGEST = 100.0  # [m] largest plausible distance
# Values that gauges and their drivers send instead of a reading.
ERROR_CODES = (
    9999.0,
    99999.0,
    999999.0,
    -9999.0,
    -99999.0,
    -999999.0,
    32767.0,
    -32768.0,
    65535.0,
    2147483647.0,
    -2147483648.0,
    4294967295.0,
)


def implausible_fault(raw: Samples, source: Input, window: Window) -> Fault | None:
    """Return a fault if a number is not a reading.

    :param raw: in the input's unit
    """
    values = raw.value
    assert values is not None
    codes = ERROR_CODES if source.error_codes is None else source.error_codes
    for bad, what in (
        ((values != 0.0) & (np.abs(values) < NOT_CAST), 'is no number that was meant: not cast?'),
        (np.isin(values, codes), 'is an error code (error_codes of the input says which are)'),
        (_too_long(values, source), f'is beyond {LONGEST:g} m: another unit than {source.unit}?'),
    ):
        at = np.flatnonzero(bad)
        if len(at):
            return Fault(
                Code.READING,
                f'reading {values[at[0]]:g} at {window.at(raw.stamps[at[0]])} {what}',
            )
    return None


def _too_long(values: Array, source: Input) -> Flags:
    if source.unit not in LENGTHS:
        return np.zeros(len(values), dtype=np.bool_)
    found: Flags = np.abs(source.to_si(values)) > LONGEST
    return found
