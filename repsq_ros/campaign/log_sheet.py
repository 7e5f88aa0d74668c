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

"""The log sheet of an attended campaign: for each test one key that names its outcome."""

from __future__ import annotations

import csv
from pathlib import Path

from repsq_ros.errors import OutputError
from repsq_ros.measurement.manual_outcome import ManualOutcome
from repsq_ros.protocols.phases import BEGUN, Phase, Span

LOG_SHEET = 'log_sheet.csv'  # in the folder of a campaign
HEADER = ('index', 'attempt', 'outcome', 'psi')


class LogSheet:
    """Turns keys into outcomes of the current test, and writes each to the sheet.

    :ivar told: index of this attempt's outcome; None: no key pressed yet
    :raises OutputError: the file cannot be written
    """

    def __init__(self, measure: ManualOutcome, folder: Path) -> None:
        self._measure, self._file = measure, folder / LOG_SHEET
        self._keys = measure.keys
        self._attempt: tuple[int, int] | None = None  # the current attempt
        self._paused = False
        self.told: int | None = None
        if not self._file.exists():
            self._write(HEADER, 'x')

    def on_phase(self, span: Span) -> str:
        """Follow a phase; return the question to ask where a case begins, else ''."""
        self._paused = span.phase is Phase.PAUSED
        if self._paused or span.phase is Phase.IDLE:
            return ''
        attempt = (span.index, span.attempt)
        if span.phase not in BEGUN:
            if attempt != self._attempt:
                self._attempt = self.told = None
            return ''
        if attempt == self._attempt:
            return ''
        self._attempt, self.told = attempt, None
        keys = ', '.join(
            f'{key} {self._measure.outcomes[place]}' for key, place in self._keys.items()
        )
        return f'test {span.index}: how did it end? {keys}'

    def press(self, key: str) -> str:
        """Accept a key; return the text that was written, or '' if the key is not an outcome."""
        place = self._keys.get(key.lower())
        if place is None or self._attempt is None or self._paused:
            return ''
        self.told = place
        index, attempt = self._attempt
        name, psi = self._measure.outcomes[place], self._measure.worth[place]
        self._write((index, attempt, name, psi), 'a')
        return f'test {index}: {name}'

    def _write(self, row: tuple[object, ...], mode: str) -> None:
        try:
            with self._file.open(mode, encoding='utf-8', newline='') as opened:
                csv.writer(opened).writerow(row)
        except OSError as error:
            raise OutputError.unwritable(self._file, error) from None
