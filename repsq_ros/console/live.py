"""The live line: tests done, estimate, half-width against gamma, time left."""

from __future__ import annotations

import time
from typing import TextIO

from repsq_ros.campaign.records import EstimateRecord


class LiveLine:
    """Rewrites one line on a terminal; elsewhere, prints a line now and then."""

    def __init__(self, out: TextIO, interval: float = 10.0) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._interval = 0.2 if self._terminal else interval
        self._began = time.monotonic()
        self._shown = -self._interval
        self._first_n: int | None = None

    def show(self, estimate: EstimateRecord) -> None:
        """Show an estimate, unless one was shown a moment ago."""
        now = time.monotonic()
        if self._first_n is None:
            self._first_n, self._began = estimate.n, now
        if now - self._shown < self._interval and not estimate.stopped:
            return
        self._shown = now
        text = self.text(estimate, now - self._began)
        if self._terminal:
            self._out.write(f'\r\x1b[K{text}')
        else:
            self._out.write(f'{text}\n')
        self._out.flush()

    def text(self, estimate: EstimateRecord, elapsed: float) -> str:
        """Return the line for an estimate, `elapsed` s after the first one."""
        done = estimate.n - (self._first_n or 0)
        left = 'time left unknown'
        if estimate.expected_n and done > 0:
            seconds = round((estimate.expected_n - estimate.n) * elapsed / done)
            left = f'about {seconds // 60}:{seconds % 60:02d} min left'
        invalid = f' ({estimate.invalid} INVALID)' if estimate.invalid else ''
        expected = f' of about {estimate.expected_n}' if estimate.expected_n else ''
        note = f' | {estimate.note}' if estimate.note else ''
        return (
            f'tests {estimate.n}{expected}{invalid} | estimate {estimate.mean:.4f} | half-width '
            f'{estimate.half_width:.4f}, to reach {estimate.gamma:g} | {left}{note}'
        )

    def say(self, text: str) -> None:
        """Say something on a line of its own."""
        start = '\r\x1b[K' if self._terminal else ''
        self._out.write(f'{start}{text}\n')
        self._out.flush()

    def say_paused(self, reason: str) -> None:
        """Say that the campaign is held, and how it goes on."""
        self.say(
            f'PAUSED: {reason}\n'
            'To go on: Enter, or ros2 service call /scheduler/resume std_srvs/srv/Trigger'
        )

    def end(self) -> None:
        """Leave the line."""
        if self._terminal and self._first_n is not None:
            self._out.write('\n')
            self._out.flush()
