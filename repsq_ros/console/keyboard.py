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

"""Keys pressed on the terminal: whole lines, or one at a time."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from pathlib import Path

from repsq_ros.campaign.log_sheet import LogSheet
from repsq_ros.console.live import LiveLine
from repsq_ros.measurement.manual_outcome import ManualOutcome
from repsq_ros.specification.model import Specification

BY_KEY = 'std_msgs/msg/Float64'  # message type of the input that carries keys


class Keyboard:
    """Reads typed text without waiting; '' if there is no terminal.

    :param single: return each key at once, without waiting for Enter
    """

    def __init__(self, single: bool) -> None:
        self.there = sys.stdin.isatty()
        self._before = None
        if self.there and single:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)

    def typed(self) -> str:
        """Return what was typed since the last call."""
        if not (self.there and select.select([sys.stdin], [], [], 0.0)[0]):
            return ''
        return os.read(sys.stdin.fileno(), 1024).decode(errors='ignore')

    def close(self) -> None:
        """Restore the terminal."""
        if self._before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)
            self._before = None


def log_sheet_of(
    specification: Specification, folder: Path, line: LiveLine
) -> tuple[LogSheet | None, Keyboard]:
    """Return log sheet and keyboard of a campaign that a person scores."""
    quantity, source = specification.measure.quantity, specification.measure.input
    if not isinstance(quantity, ManualOutcome) or source.type != BY_KEY:
        return None, Keyboard(single=False)
    keyboard = Keyboard(single=True)
    if keyboard.there:
        return LogSheet(quantity, folder), keyboard
    line.print_line(f'no terminal: outcomes have to be published on {source.topic}')
    return None, keyboard
