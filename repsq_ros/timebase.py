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

"""Time as plain integers: nanoseconds everywhere, seconds only where a person writes or reads."""

from __future__ import annotations

import time
from typing import Any

NANOSECONDS = 1_000_000_000


def date_now() -> str:
    """Return the date with its time and zone, as files name it (ISO 8601)."""
    return time.strftime('%Y-%m-%dT%H:%M:%S%z')


def to_nanoseconds(seconds: float) -> int:
    """Round a duration in s to whole ns, so that sums of phases are exact."""
    return round(seconds * NANOSECONDS)


def to_seconds(nanoseconds: int) -> float:
    """Turn ns into s (only differences of stamps: an absolute stamp would lose digits)."""
    return nanoseconds / NANOSECONDS


def whole_second_after(nanoseconds: int) -> int:
    """Return the next whole second: sensors that tick with it see the same again after it."""
    return -(-nanoseconds // NANOSECONDS) * NANOSECONDS


def from_time(stamp: Any) -> int:
    """Turn the stamp of a message, of rclpy or of a bag reader, into ns since the epoch.

    Of many messages at once: their columns of 64 bits into one.
    """
    seconds, rest = stamp.sec, stamp.nanosec
    if getattr(seconds, 'ndim', 0):
        return seconds * NANOSECONDS + rest  # type: ignore[no-any-return]
    return int(seconds) * NANOSECONDS + int(rest)
