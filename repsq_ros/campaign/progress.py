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

"""What people read while a campaign runs: each test, the estimate, the time left."""

from __future__ import annotations

from repsq_ros.campaign.records import Counted, EstimateRecord, TestRecord
from repsq_ros.protocols.phases import Span


class ProgressLines:
    """Puts tests and estimates into lines.

    :param names: of the dimensions of a case
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._first: tuple[int, float] | None = None  # (tests, [s]) when the first one was heard

    def line(self, counted: Counted, now: float) -> str:
        """Return the line of one attempt.

        :param now: [s], steady
        """
        record, estimate = counted.record, counted.estimate
        return f'{self._attempt(record)} | {self.standing(estimate, now)}'

    def _attempt(self, record: TestRecord) -> str:
        case = ', '.join(
            f'{name} {value:.3g}' for name, value in zip(self._names, record.x, strict=False)
        )
        again = f', attempt {record.attempt}' if record.attempt else ''
        return f'test {record.index}{again} ({case}): {self._outcome(record)}'

    @staticmethod
    def _outcome(record: TestRecord) -> str:
        if record.valid:
            weight = '' if record.weight == 1.0 else f', weight {record.weight:.4g}'
            return f'psi {record.psi:.6g}{weight}'
        word = 'INVALID'
        if record.skipped:
            word = 'skipped'
        elif record.broken_off:
            word = 'broken off'
        return f'{word}: {record.reason}'

    def standing(self, estimate: EstimateRecord, now: float) -> str:
        """Return where a campaign stands.

        :param now: [s], steady
        """
        if self._first is None:
            self._first = (estimate.n, now)
        expected = f' of about {estimate.expected_n}' if estimate.expected_n else ''
        counts = (
            (estimate.invalid, 'INVALID'),
            (estimate.broken_off, 'broken off'),
            (estimate.skipped, 'skipped'),
        )
        note = f' | {estimate.note}' if estimate.note else ''
        lost = ', '.join(f'{count} {word}' for count, word in counts if count)
        return (
            f'tests {estimate.n}{expected}{f" ({lost})" if lost else ""} | estimate '
            f'{estimate.mean:.4f} | half-width {estimate.half_width:.4f}, to reach '
            f'{estimate.gamma:g} | {self._left(estimate, now)}{note}'
        )

    def _left(self, estimate: EstimateRecord, now: float) -> str:
        first_n, began = self._first or (0, now)
        done = estimate.n - first_n
        if not estimate.expected_n or done <= 0:
            return 'time left unknown'
        tests = max(estimate.expected_n - estimate.n, 0)
        seconds = 0 if estimate.stopped else round(tests * (now - began) / done)
        return f'about {seconds // 60}:{seconds % 60:02d} min left'


def pause_text(span: Span, how: str) -> str:
    """Return what is said when a campaign is held.

    :param how: what somebody has to do for it to go on
    """
    goes_on = 'It goes on by itself once that is over.'
    return f'PAUSED: {span.reason}\n{goes_on if span.goes_on else how}'
