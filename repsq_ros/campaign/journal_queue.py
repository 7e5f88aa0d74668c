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

"""The scheduler's side of a campaign's journal: opened, resumed, written ahead of the robot."""

from __future__ import annotations

import math
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.conductor import Action, Conductor
from repsq_ros.campaign.contract import check_contract
from repsq_ros.campaign.journal import JOURNAL, LEDGER, Journal, read_journal
from repsq_ros.campaign.journal_contents import (
    ABORT,
    BEGIN,
    CASE,
    DONE,
    PAUSE,
    SESSION,
    SKIP,
    TEST,
    JournalContents,
    beginning,
    case_line,
    fold,
    line_of_test,
    session,
    stop_line,
)
from repsq_ros.campaign.records import Case, CountedAttempt
from repsq_ros.errors import JournalError, OutputError, OutputLateError
from repsq_ros.protocols.phases import Phase
from repsq_ros.sampling.external import External
from repsq_ros.sampling.proposals import Draw, Proposal
from repsq_ros.specification.model import Specification

PATIENCE = 0.1  # [s] a disk usually needs for one line
FIRST_PATIENCE = 60.0  # [s] before anything moves
LAST_PATIENCE = 10.0  # [s] to wait at the end
STOPS = {Phase.PAUSED: PAUSE, Phase.SKIPPED: SKIP, Phase.ABORTED: ABORT}  # events of the journal


class JournalQueue:
    """Writes lines in their order; a line that failed is kept and written first next time.

    :param folder: of the campaign; None: no journal is kept
    :param resume: continue the existing journal
    :param patience: [s] to wait for the disk to write a line
    :raises JournalError: damaged, in use, of another contract or seed; there without `resume`, or
        `resume` without one
    :raises OutputError: the folder cannot be written
    """

    def __init__(
        self,
        folder: Path | None,
        specification: Specification,
        campaign_id: str,
        seed: int,
        resume: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        self._specification, self._patience = specification, patience
        self.campaign_id = campaign_id
        self.contents: JournalContents | None = None
        self.recovered = ''
        self._waiting: deque[tuple[str, dict[str, object]]] = deque()
        # A disk may take seconds; the thread that commands the robot must not wait for it.
        self._writer = ThreadPoolExecutor(max_workers=1)
        self._writing: Future[None] | None = None
        self._journal: Journal | None = None
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError.unwritable(folder, error) from None
        file = folder / JOURNAL
        if resume and not file.exists():
            raise JournalError(f'{file}: found nothing, expected the journal of a campaign')
        self._journal = journal = Journal(file)
        self.recovered = journal.recovered
        self.contents = fold(str(file), journal.entries)
        journal.entries.clear()
        if self.contents is None:
            registered = folder / LEDGER
            line = read_journal(registered)[1] if registered.exists() else ''
            self.write(BEGIN, beginning(specification, campaign_id, seed, line), FIRST_PATIENCE)
            return
        if not resume:
            journal.close()
            raise JournalError(f'{file}: found an earlier campaign, expected none (or resume)')
        check_contract(self.contents, file, specification)
        if self.contents.seed != seed:
            raise JournalError(f'{file}: found seed {self.contents.seed}, expected {seed}')
        self.campaign_id = self.contents.campaign_id

    @property
    def head(self) -> str:
        """Digest of the last written line; '' if no journal is kept."""
        return '' if self._journal is None else self._journal.head

    def begin_session(self, note: str, parameters: dict[str, object]) -> None:
        """Write that the scheduler has started."""
        self.write(SESSION, session(note, parameters), LAST_PATIENCE)

    def restore(self, conductor: Conductor, proposal: Proposal) -> None:
        """Bring a conductor to where the journal ends."""
        if self.contents is None:
            return
        if isinstance(proposal, External):
            for case in self.contents.cases:
                proposal.offer(int(str(case['index'])), _draw_of(case))
        campaign = Campaign(self._specification, forecasts=False)
        for test in self.contents.tests:
            campaign.add(test)
        conductor.restore(self.contents.tests, campaign.stopped, self.contents.cut_short)

    def write(self, event: str, content: dict[str, object], patience: float | None = None) -> None:
        """Write a line, after those still waiting, and wait until it is on the disk.

        :param patience: [s] to wait; 0: write in the background; None: the default
        :raises OutputLateError: it is still being written
        :raises OutputError: it cannot be written now, and is kept for later
        """
        if self._journal is None:
            return
        self._waiting.append((event, content))
        self.flush(patience)

    def write_action(self, action: Action, awaited: bool = False) -> None:
        """Write a decision of the conductor, if it belongs into the journal.

        A case is written before it is commanded, a test before the next one is issued. Lines of
        stops are written in the background.

        :param awaited: the phases of an attempt are over, but it has not been counted yet
        :raises OutputError: it cannot be written now, and is kept for later
        """
        if isinstance(action, CountedAttempt):
            self.write(TEST, line_of_test(action.record))
        elif isinstance(action, Case):
            self.write(CASE, case_line(action))
        elif action.phase is Phase.DONE:
            self.write(DONE, {})
        elif action.phase in STOPS:
            self.write(STOPS[action.phase], stop_line(action, awaited), patience=0.0)

    def flush(self, patience: float | None = None) -> None:
        """Write all waiting lines.

        :param patience: [s] to wait for it; None: the default
        :raises OutputLateError: it is still being written
        :raises OutputError: it cannot be written now, and is kept for later
        """
        patience = self._patience if patience is None else patience
        until = time.monotonic() + patience
        while self._waiting or self._writing is not None:
            if self._writing is None:
                self._writing = self._writer.submit(self._write_waiting)
            try:
                self._writing.result(max(until - time.monotonic(), 0.0))
            except FutureTimeoutError:
                if patience == 0.0:
                    return
                file = self._journal.file if self._journal is not None else ''
                raise OutputLateError(
                    f'journal {file}: a line is being written for more than {patience:g} s'
                ) from None
            except OutputError:
                self._writing = None
                raise
            self._writing = None

    def _write_waiting(self) -> None:
        while self._waiting and self._journal is not None:
            event, content = self._waiting[0]
            self._journal.append(event, **content)
            self._waiting.popleft()

    def close(self) -> None:
        """Write all waiting lines and close the journal.

        :raises OutputError: something could not be written
        """
        try:
            self.flush(LAST_PATIENCE)
        finally:
            self._writer.shutdown(wait=False)
            if self._journal is not None:
                self._journal.close()


def _draw_of(case: dict[str, object]) -> Draw:
    x = case['x']
    if not isinstance(x, list):
        raise JournalError(f'found x = {x} in the journal, expected a list')
    # Version 0.1.0 did not write the weight: compute it.
    log_p, log_q, bound, weight = (
        float(str(case.get(name, math.nan)))
        for name in ('log_p', 'log_q', 'weight_bound', 'weight')
    )
    return Draw(tuple(map(float, x)), log_p, log_q, bound, weight)
