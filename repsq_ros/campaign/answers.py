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

"""The answers to an attempt: its measurement, and the estimate after it."""

from __future__ import annotations

from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.measurement.recorder import Key


class Answers:
    """Keeps both answers to the current attempt, and ignores answers to other attempts.

    Before the campaign begins, all answers are kept: after a restart of the scheduler, the other
    nodes repeat theirs.
    """

    def __init__(self) -> None:
        self._key: Key | None = None
        self._measured: dict[Key, TestRecord] = {}
        self._estimated: dict[Key, EstimateRecord] = {}
        self.due = False  # the attempt is over: its phases have ended, or it was broken off
        self.told = False  # the proposal has received the measurement

    def await_answers(self, key: Key) -> None:
        """Wait for the answers to an attempt; answers to other attempts are dropped."""
        self._key = key
        self.due = self.told = False
        self._measured = {each: self._measured[each] for each in (key,) if each in self._measured}
        self._estimated = {
            each: self._estimated[each] for each in (key,) if each in self._estimated
        }

    def on_measurement(self, record: TestRecord) -> None:
        """Accept a measurement; if there are several of one attempt, the first one counts."""
        key = (record.index, record.attempt)
        if self._key in (None, key):
            self._measured.setdefault(key, record)

    def on_estimate(self, estimate: EstimateRecord) -> None:
        """Accept an estimate; if there are several of one attempt, the last one counts."""
        key = (estimate.index, estimate.attempt)
        if self._key in (None, key):
            self._estimated[key] = estimate

    @property
    def measured(self) -> TestRecord | None:
        """Return the measurement of the attempt under way."""
        return None if self._key is None else self._measured.get(self._key)

    @property
    def estimated(self) -> EstimateRecord | None:
        """Return the estimate after the attempt under way."""
        return None if self._key is None else self._estimated.get(self._key)
