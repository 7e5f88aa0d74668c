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

"""Text on a terminal: the live line of a campaign, and folded lines."""

from __future__ import annotations

import textwrap
import time
from typing import TextIO

from repsq_ros.campaign.progress import ProgressLines, pause_text
from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.protocols.phases import Span

COLUMNS = 80  # of a terminal
INDENT = 12  # width of a line's name


def folded(line: str) -> str:
    """Fold a line that begins with its name to the width of a terminal."""
    return textwrap.fill(line, COLUMNS, subsequent_indent=' ' * INDENT, break_long_words=False)


class LiveLine:
    """Rewrites one line on a terminal; elsewhere, prints a line from time to time."""

    def __init__(self, out: TextIO, interval: float = 10.0) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._interval = 0.2 if self._terminal else interval
        self._shown = -self._interval
        self._progress = ProgressLines()
        self._used = False

    def show(self, estimate: EstimateRecord) -> None:
        """Show an estimate, unless one was just shown."""
        now = time.monotonic()
        if now - self._shown < self._interval and not estimate.stopped:
            return
        self._shown, self._used = now, True
        text = self._progress.standing(estimate, now)
        if self._terminal:
            self._out.write(f'\r\x1b[K{text}')
        else:
            self._out.write(f'{text}\n')
        self._out.flush()

    def print_line(self, text: str) -> None:
        """Print text on a line of its own."""
        start = '\r\x1b[K' if self._terminal else ''
        self._out.write(f'{start}{text}\n')
        self._out.flush()

    def print_paused(self, span: Span) -> None:
        """Print that the campaign is paused, and what makes it resume."""
        how = 'To go on: Enter, or ros2 service call /scheduler/resume std_srvs/srv/Trigger'
        self.print_line(pause_text(span, how))

    def end(self) -> None:
        """End the line."""
        if self._terminal and self._used:
            self._out.write('\n')
            self._out.flush()
