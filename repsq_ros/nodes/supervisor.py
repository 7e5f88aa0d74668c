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

"""Pauses a campaign while something prevents it, and resumes it afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable

from repsq_ros.campaign.conductor import Conductor
from repsq_ros.campaign.machine_load import machine_text
from repsq_ros.campaign.recovery import Recovery
from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.watches.peers import SILENT
from repsq_ros.nodes.watches.readiness import Readiness
from repsq_ros.protocols.phases import Cause
from repsq_ros.timebase import to_seconds

STILL = 1.0  # [s] of standing simulated time during a test that is unusual


class Supervisor:
    """Checks with each heartbeat whether everything that a test needs is there.

    A loss, real or apparent, costs the current attempt but not the campaign.

    :param hold: stops the robot and pauses the campaign; takes the reason, whether the campaign
        will resume by itself, and the cause
    :param ask: stops the robot and pauses the campaign until somebody resumes it; aborts the
        campaign if nobody attends it
    :param log: logs why the campaign still waits
    :param resume: resumes the campaign; returns an objection, or ''
    :param wait: called with what simulated time waits for during a test; None: time does not
        wait
    """

    def __init__(
        self,
        readiness: Readiness,
        conductor: Conductor,
        clock: CampaignClock,
        hold: Callable[[str, bool, Cause], object],
        ask: Callable[[str, Cause], None],
        log: Callable[[str], None],
        resume: Callable[[], str],
        wait: Callable[[str], None] | None = None,
    ) -> None:
        self._wait = wait
        self._readiness, self._recovery, self._log = readiness, Recovery(), log
        self._conductor, self._clock = conductor, clock
        self._hold, self._ask, self._resume = hold, ask, resume

    @property
    def recovers(self) -> bool:
        """True while the campaign is paused and will resume by itself."""
        return self._recovery.under_way

    def take_over(self) -> None:
        """Note that a person decides when to resume: nothing resumes by itself any more."""
        self._recovery.end()

    def look(self) -> None:
        """Pause the campaign if something is lost or wrong, or resume it if all is well again."""
        conductor, seconds = self._conductor, self._readiness.look()
        if conductor.span is None or conductor.finished or self._notice_stall(seconds):
            return
        if not conductor.paused:
            lost, cause = self._readiness.lost()
            trouble = self._readiness.trouble()
            if lost:
                self.suspect('; '.join(lost), cause)
            elif trouble:
                self._ask('; '.join(trouble), Cause.INSTRUMENT)
        elif self.recovers:
            self._recover()
        if self._wait is not None and conductor.walking and self._clock.stands_still > STILL:
            self._wait('; '.join(self._readiness.missing()))

    @property
    def stalled(self) -> bool:
        """True if this process was stalled for so long that the guard has stopped the robot."""
        return self._wait is None and self._readiness.peers.since_look() > SILENT

    def time_was_lost(self) -> bool:
        """Break off the attempt if this process was stalled or its clock was set; true if so."""
        return self._notice_step() or self._notice_stall(self._readiness.peers.since_look())

    def _notice_stall(self, seconds: float) -> bool:
        stalled = self._wait is None and seconds > SILENT and self._conductor.walking
        if stalled:
            self.suspect(f'the scheduler did not run for {seconds:.1f} s')
        return stalled

    def _notice_step(self) -> bool:
        stepped_ns = self._clock.stepped_ns()
        if stepped_ns and self._conductor.walking:
            self.suspect(f'the clock was set by {to_seconds(stepped_ns):+.3f} s')
        return stepped_ns != 0

    def suspect(self, reason: str, cause: Cause = Cause.BENCH) -> None:
        """Pause the campaign until everything is there again, unless a person has paused it."""
        if self._conductor.paused and not self.recovers:
            return
        wait, machine = self._recovery.begin(time.monotonic()), machine_text()
        reasons = [reason, *([machine] * bool(machine and cause is Cause.BENCH))]
        if wait:
            reasons.append(f'pause {self._recovery.count} of this kind: it waits {wait:g} s')
        self._hold('; '.join(reasons), True, cause)

    def _recover(self) -> None:
        now = time.monotonic()
        blockers = self._resume() if self._recovery.may_go_on(now) else ''
        lasts = self._recovery.lasts(now)
        if blockers and lasts:
            machine = machine_text()
            self._log(f'has waited {lasts:.0f} s: {blockers}{machine and f"; {machine}"}')
