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

"""Keys that somebody presses on the terminal: whole lines, or one at a time."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty


class Keyboard:
    """Reads what was typed, without waiting; '' where there is no terminal.

    :param single: each key counts at once, not with the line that Enter ends
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
        """Leave the terminal as it was."""
        if self._before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)
            self._before = None
