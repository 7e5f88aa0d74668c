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

"""Which attempts are to be measured, derived from a campaign's phases (online and in replay)."""

from __future__ import annotations

from typing import NamedTuple

from repsq_ros.campaign.records import Case, TestRecord
from repsq_ros.campaign.windows import window_of
from repsq_ros.measurement.recorder import Key
from repsq_ros.measurement.window import Window
from repsq_ros.protocols.phases import Phase, Span


class Attempt(NamedTuple):
    """One attempt that is to be measured."""

    case: Case
    window: Window


class Attempts:
    """Follows the phases of one campaign, in the order in which they were announced."""

    def __init__(self) -> None:
        self._open: dict[Key, Attempt] = {}
        self._over: set[Key] = set()
        self._ended: Key = (0, -1)  # (index, attempt) of the last attempt with an outcome

    @property
    def windows(self) -> dict[Key, Window]:
        """Return the windows of the attempts, in the order in which they were announced."""
        return {key: attempt.window for key, attempt in self._open.items()}

    @property
    def over(self) -> tuple[Key, ...]:
        """Return the attempts whose phases are over, and which can be measured.

        The end of the window is too early: a pause just before it may arrive after the window's
        last sample.
        """
        return tuple(key for key in self._open if key in self._over)

    def on_phase(self, case: Case, span: Span) -> TestRecord | None:
        """Follow a phase.

        :param case: the attempt that it belongs to
        :returns: the record of an attempt that ends with this phase without being measured
        """
        key = (case.index, case.attempt)
        if key <= self._ended:
            return None
        if span.phase is Phase.SKIPPED or span.broken_off:
            self.close(key)
            return _ended_record(case, span)
        window = window_of(span)
        if window is not None:
            attempt = Attempt(case, window)
            if self._open.get(key) != attempt:
                self._open[key] = attempt
                self._over.discard(key)
        elif span.phase is Phase.IDLE and key in self._open:
            self._over.add(key)
        elif span.phase in (Phase.PAUSED, Phase.ABORTED):
            self._open = {each: self._open[each] for each in self.over}
        return None

    def close(self, key: Key) -> Attempt | None:
        """Remove an attempt that has its outcome; later phases of it are ignored."""
        self._ended = max(self._ended, key)
        self._over.discard(key)
        return self._open.pop(key, None)


def _ended_record(case: Case, span: Span) -> TestRecord:
    draw = case.draw
    return TestRecord(
        case.index,
        case.attempt,
        0.0,
        draw.weight,
        False,
        span.reason,
        window_start_ns=span.start_ns,
        window_end_ns=span.start_ns,
        x=draw.x,
        weight_bound=draw.weight_bound,
        skipped=span.phase is Phase.SKIPPED,
        broken_off=span.broken_off,
        cause=span.cause,
    )
