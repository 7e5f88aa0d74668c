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

from repsq_ros.campaign.records import CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.protocols.phases import Span

LONGEST = 119  # characters of the line of an attempt


def price_text(of: EstimateRecord | Result) -> str:
    """Return the losses and their cost in tests and minutes; '' without loss."""
    bench = f' ({of.bench} by the bench)' if of.bench else ''
    lost = [
        f'{count} {word}'
        for count, word in (
            (of.invalid, 'INVALID'),
            (of.broken_off, f'broken off{bench}'),
            (of.skipped, 'skipped'),
        )
        if count
    ]
    if not lost:
        return ''
    tests = 'test' if of.extra_tests == 1 else 'tests'
    return f'{", ".join(lost)}: cost {of.extra_tests} {tests}, {of.lost_time / 60:.1f} min'


class ProgressLines:
    """Formats tests and estimates as lines."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None  # (tests, [s]) at the first one

    def line(self, counted: CountedAttempt, now: float) -> str:
        """Return the line of one attempt, at most 119 characters.

        :param now: [s], steady
        """
        record = counted.record
        again = f', attempt {record.attempt}' if record.attempt else ''
        line = f'test {record.index}{again}: {self._outcome(record)}'
        if record.valid:
            line = f'{line} | {self.standing(counted.estimate, now)}'
        return line if len(line) <= LONGEST else f'{line[: LONGEST - 3]}...'

    @staticmethod
    def _outcome(record: TestRecord) -> str:
        if record.valid:
            weight = '' if record.weight == 1.0 else f', weight {record.weight:.3g}'
            note = record.code and f' ({record.code})'
            return f'psi {record.psi:.4g}{note}{weight}'
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
        parts = (
            f'tests {estimate.n}{expected}',
            f'{estimate.mean:.4f} +- {estimate.half_width:.4f}, to reach {estimate.gamma:g}',
            self._left(estimate, now),
            price_text(estimate),
            estimate.note,
        )
        return ' | '.join(part for part in parts if part)

    def _left(self, estimate: EstimateRecord, now: float) -> str:
        first_n, began = self._first or (0, now)
        done = estimate.n - first_n
        if not estimate.expected_n or done <= 0:
            return 'time left unknown'
        tests = max(estimate.expected_n - estimate.n, 0)
        seconds = 0 if estimate.stopped else round(tests * (now - began) / done)
        return f'about {seconds // 60}:{seconds % 60:02d} min left'


def pause_text(span: Span, how: str) -> str:
    """Return the message of a paused campaign.

    :param how: what somebody has to do so that it continues
    """
    goes_on = 'It goes on by itself once that is over.'
    return f'PAUSED: {span.reason}\n{goes_on if span.goes_on else how}'
