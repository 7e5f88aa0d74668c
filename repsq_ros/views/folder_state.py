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

"""The state of a campaign from its folder, during the campaign or later."""

from __future__ import annotations

from pathlib import Path

from repsq_ros.campaign import journal_contents
from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.contract import check_contract
from repsq_ros.campaign.folder import SPECIFICATION
from repsq_ros.campaign.journal import JOURNAL, Entry, read_journal
from repsq_ros.campaign.records import CountedAttempt
from repsq_ros.errors import JournalError, ParameterError
from repsq_ros.specification.load import load
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.health import Health, Level

STANDINGS = {
    journal_contents.BEGIN: (Level.OK, 'begun'),
    journal_contents.SESSION: (Level.OK, 'a session has begun'),
    journal_contents.RESUME: (Level.OK, 'goes on'),
    journal_contents.DONE: (Level.OK, 'done'),
}


class FolderState:
    """Reads the journal of a folder repeatedly; only new lines are counted.

    :raises SpecificationError, JournalError: the folder holds no campaign, or a damaged one
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / JOURNAL
        if not self._file.is_file():
            if not folder.is_dir():
                raise ParameterError(str(folder), 'nothing', 'the folder of a campaign')
            raise JournalError(f'{folder}: found no {JOURNAL}, expected the folder of a campaign')
        self._specification = load(folder / SPECIFICATION)
        self.state = CampaignState()
        self._campaign = Campaign(self._specification)
        self._size = self._read = 0  # bytes seen, lines read
        self._last: Entry | None = None
        self.look()

    def look(self) -> bool:
        """Read new lines; return false if there are none.

        :raises JournalError: the journal is damaged
        """
        size = self._file.stat().st_size
        if size == self._size:
            return False
        entries = read_journal(self._file)[0]
        self._size = size
        if not entries:
            return False
        told = journal_contents.fold(str(self._file), entries)
        assert told is not None
        if not self._read:
            check_contract(told, self._file, self._specification)
        for entry in entries[self._read :]:
            self._take(told.campaign_id, entry)
        self._read = len(entries)
        if self._campaign.stopped and self.state.result is None:
            self.state.on_result(told.campaign_id, self._campaign.result(told.campaign_id))
        return True

    def _take(self, campaign_id: str, entry: Entry) -> None:
        self._last = entry
        if entry.event != journal_contents.TEST:
            return
        record = journal_contents.record_of_line(entry)
        estimate = self._campaign.add(record)
        if estimate is not None:
            box, digest = self._specification.box, self._specification.digest
            self.state.on_counted(
                campaign_id, CountedAttempt(record, estimate), box.names, box.units, digest
            )

    @property
    def standing(self) -> Health:
        """Whether the campaign runs, by the last line of its journal and by its lock."""
        if self._last is None:
            return Health('campaign', Level.WARN, 'nothing written yet')
        event, content = self._last.event, self._last.content
        level, text = STANDINGS.get(event, (Level.OK, event))
        if event in (journal_contents.CASE, journal_contents.TEST):
            under_way = 'is under way' if event == journal_contents.CASE else 'is over'
            text = f'test {content["index"]}, attempt {content["attempt"]} {under_way}'
        elif event in (journal_contents.PAUSE, journal_contents.SKIP, journal_contents.ABORT):
            level = Level.ERROR if event == journal_contents.ABORT else Level.WARN
            text = f'{event}: {content.get("reason", "")}'
        if event not in (journal_contents.DONE, journal_contents.ABORT) and not is_held(
            self._file
        ):
            return Health(
                'campaign', Level.STALE, f'{text}; no scheduler is at it: repsq run --resume'
            )
        return Health('campaign', level, text)


def is_held(file: Path) -> bool:
    """Tell whether a process holds a file's lock (Linux), without locking it."""
    try:
        held = Path('/proc/locks').read_text(encoding='ascii')
    except OSError:
        return True  # not known
    inode = file.stat().st_ino
    return any(line.split()[-3].endswith(f':{inode}') for line in held.splitlines() if line)
