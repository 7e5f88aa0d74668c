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

"""One test in a recording, from any source of times."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.campaign.records import TestRecord
from repsq_ros.measurement.reasons import Fault
from repsq_ros.measurement.recorder import Key, Window
from repsq_ros.sampling.proposals import Draw


@dataclass(frozen=True)
class Segment:
    """One attempt at one test."""

    index: int
    attempt: int
    label: str
    draw: Draw
    window: Window
    ended: TestRecord | None = None  # it was skipped or broken off, and is not measured
    objection: Fault | None = None  # why it is INVALID, regardless of its samples
    live: TestRecord | None = None  # the outcome at the time of recording

    @property
    def key(self) -> Key:
        """(index, attempt) of the test."""
        return (self.index, self.attempt)
