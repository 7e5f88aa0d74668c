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

from pathlib import Path

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.conductor import Conductor, Counted
from repsq_ros.campaign.history import (
    BEGIN,
    CASE,
    SESSION,
    TEST,
    History,
    beginning,
    case_line,
    check_contract,
    fold,
    line_of_test,
    session,
)
from repsq_ros.campaign.journal import JOURNAL, Journal
from repsq_ros.campaign.records import Case
from repsq_ros.errors import JournalError, OutputError
from repsq_ros.sampling.external import External
from repsq_ros.sampling.proposals import Draw, Proposal
from repsq_ros.specification.model import Specification


class Logbook:
    """Writes lines in their order; what could not be written is kept and written first next time.

    :param folder: of the campaign; None: no journal is kept
    :param resume: go on with the journal that is there
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
    ) -> None:
        self._specification = specification
        self.campaign_id = campaign_id
        self.history: History | None = None
        self.recovered = ''
        self._waiting: list[tuple[str, dict[str, object]]] = []
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
        self.history = fold(str(file), journal.entries)
        if self.history is None:
            self.write(BEGIN, beginning(specification, campaign_id, seed))
            return
        if not resume:
            journal.close()
            raise JournalError(f'{file}: found an earlier campaign, expected none (or resume)')
        check_contract(self.history, file, specification)
        if self.history.seed != seed:
            raise JournalError(f'{file}: found seed {self.history.seed}, expected {seed}')
        self.campaign_id = self.history.campaign_id

    def begin_session(self, note: str, parameters: dict[str, object]) -> None:
        """Say that the scheduler has started."""
        self.write(SESSION, session(note, parameters))

    def restore(self, conductor: Conductor, proposal: Proposal) -> None:
        """Bring a conductor to where the journal ends."""
        if self.history is None:
            return
        if isinstance(proposal, External):
            for case in self.history.cases:
                proposal.offer(int(str(case['index'])), _draw_of(case))
        campaign = Campaign(self._specification)
        for test in self.history.tests:
            campaign.add(test)
        conductor.restore(self.history.tests, campaign.stopped)

    def write(self, event: str, content: dict[str, object]) -> None:
        """Write a line, after those that wait.

        :raises OutputError: it waits, too
        """
        if self._journal is None:
            return
        self._waiting.append((event, content))
        self.flush()

    def write_case(self, case: Case) -> None:
        """Write a case, before it is commanded."""
        self.write(CASE, case_line(case))

    def write_test(self, counted: Counted) -> None:
        """Write a test, before the next one is issued."""
        self.write(TEST, line_of_test(counted.record))

    def flush(self) -> None:
        """Write what waits.

        :raises OutputError: it still waits
        """
        while self._waiting and self._journal is not None:
            event, content = self._waiting[0]
            self._journal.append(event, **content)
            self._waiting.pop(0)

    def close(self) -> None:
        """Let go of the journal."""
        if self._journal is not None:
            self._journal.close()


def _draw_of(case: dict[str, object]) -> Draw:
    x = case['x']
    if not isinstance(x, list):
        raise JournalError(f'found x = {x} in the journal, expected a list')
    log_p, log_q, bound = (float(str(case[name])) for name in ('log_p', 'log_q', 'weight_bound'))
    return Draw(tuple(map(float, x)), log_p, log_q, bound)
