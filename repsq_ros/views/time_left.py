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

"""The speed of a campaign and its remaining time, by the robot's clock."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from repsq_ros.campaign.records import CountedAttempt

LOOKED_AT = 50  # attempts


def seconds_per_test(counted: Sequence[CountedAttempt]) -> float:
    """Return the duration of a test with its lost attempts [s]; NaN: not known.

    The median distance between the ends of recent windows ignores breaks, and a late listener
    has it at once. Attempts without a window (broken off) have no time.
    """
    ends = [c.record.window_end_ns for c in counted[-LOOKED_AT:] if c.record.window_end_ns > 0]
    steps = [later - sooner for sooner, later in itertools.pairwise(ends)]
    steps = [step for step in steps if step > 0]
    if not steps:
        return math.nan
    valid = sum(c.record.valid for c in counted[-LOOKED_AT:])
    return float(np.median(steps)) * 1e-9 * len(counted[-LOOKED_AT:]) / max(valid, 1)


def tests_left(counted: Sequence[CountedAttempt]) -> int | None:
    """Return the expected number of remaining tests; None: not known."""
    if not counted:
        return None
    e = counted[-1].estimate
    if e.stopped:
        return 0
    return max(e.expected_n - e.n, 0) if e.expected_n else None


def seconds_left(counted: Sequence[CountedAttempt]) -> float:
    """Return the remaining time [s]; NaN: not known."""
    tests = tests_left(counted)
    if tests is None:
        return math.nan
    return tests * seconds_per_test(counted) if tests else 0.0


def duration_text(seconds: float) -> str:
    """Return a duration in two units at most."""
    whole = round(seconds)
    if whole < 60:
        return f'{whole} s'
    if whole < 3600:
        return f'{whole // 60} min {whole % 60:02d} s'
    return f'{whole // 3600} h {whole % 3600 // 60:02d} min'


def time_left_text(counted: Sequence[CountedAttempt]) -> str:
    """Return the remaining time in words."""
    seconds = seconds_left(counted)
    return 'time left unknown' if math.isnan(seconds) else f'about {duration_text(seconds)} left'
