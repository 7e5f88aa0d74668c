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

"""Scheduler: draws the cases, walks through the phases of each test, commands the robot."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from rclpy.clock import Clock, ClockType

from repsq_ros import topics
from repsq_ros.campaign.conductor import Action, Conductor
from repsq_ros.campaign.journal_contents import RESUME
from repsq_ros.campaign.journal_queue import PATIENCE, STOPS, JournalQueue
from repsq_ros.campaign.obedience import ObedienceCheck, did_not_move
from repsq_ros.campaign.progress import ProgressLines, pause_text
from repsq_ros.campaign.records import CountedAttempt
from repsq_ros.errors import CampaignError, OutputError, OutputLateError
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import Estimate, TestMeasurement
from repsq_ros.nodes import qos
from repsq_ros.nodes.announcements import Announcements
from repsq_ros.nodes.body_input import body_input_of
from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.commands.robot_command import make_robot_command
from repsq_ros.nodes.commands.verified_stop import VerifiedStop, read_stop_settings
from repsq_ros.nodes.deferred_messages import DeferredMessages
from repsq_ros.nodes.external_cases import listen_for_cases
from repsq_ros.nodes.heartbeat import STOPPING, HeartbeatPublisher
from repsq_ros.nodes.operator import Operator
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.nodes.scheduler_settings import SchedulerSettings
from repsq_ros.nodes.self_diagnosis import SelfDiagnosis
from repsq_ros.nodes.supervisor import Supervisor
from repsq_ros.nodes.watches.readiness import Readiness
from repsq_ros.protocols.command_space import CommandType
from repsq_ros.protocols.phases import Cause, Phase, Span
from repsq_ros.timebase import whole_second_after
from repsq_ros.views.health import Level, scheduler_health

ASK_AGAIN = 2.0  # [s] without an answer, after which it asks again
LOCKSTEP_PATIENCE = 600.0  # [s] for the disk to write a line while simulated time waits
LINGER = 1.0  # [s] of zero commands after the last test; simulated time waits for no robot


class Scheduler(CampaignNode):
    """Publishes TestCommand, TestPhase and the robot's command, as the conductor decides."""

    def __init__(self) -> None:
        super().__init__('scheduler')
        parameters = Parameters(self)
        self._specification = specification = parameters.specification()
        settings = self._settings = SchedulerSettings(parameters, specification)
        self._time = CampaignClock(self, self._step, settings.speed)
        space = specification.protocol.command_space(specification.box)
        self._command = make_robot_command(self, parameters, space, self._time.now_ns)
        self._operator = Operator(
            self, parameters, self._resume, self._pause, self._skip, self._abort, self._confirm,
            lambda: self._conductor.span is not None,
        )  # fmt: skip
        command_type = CommandType(self.get_parameter('command_type').value)
        stops = read_stop_settings(parameters, space.kind, command_type)
        parameters.finish()
        settles = specification.feedback is not None
        self._body = body_input_of(self, specification, settles or stops.wanted)
        self._fault = ''  # error that ends the campaign
        self._alarmed = False  # the alarm of a stop was already reported
        # a measure of a body itself detects that the body did not move
        measure = specification.measure
        self._obeys = measure.limits.obeys if measure.of_readings else 0
        self._obedience = ObedienceCheck(stops.bounds, self._obeys)
        self._stops = VerifiedStop(self, self._command, stops, self._body, self._obeys > 0)
        self._began = self._phase_since = time.monotonic()
        self._blockers: list[str] = []  # what kept it from beginning, and since when [s]
        self._unchanged = self._began
        self._asked = 0.0  # [s], steady: when it last asked for an answer again
        self._last_ns = 0
        specification.tester.proposal.load()
        proposal = specification.make_proposal()
        self._journal = JournalQueue(
            settings.output, specification, settings.campaign_id, settings.seed, settings.resume,
            # Simulated time waits for the disk, too.
            LOCKSTEP_PATIENCE if settings.lockstep else PATIENCE,
        )  # fmt: skip
        self._campaign_id = self._journal.campaign_id
        self._conductor = Conductor(specification, proposal, settings.seed, settings.attended)
        self._journal.restore(self._conductor, proposal)
        self._journal.contents = None  # free the memory of a long journal
        self._journal.begin_session(settings.session_note, parameters.in_force)
        if self._journal.recovered:
            self.get_logger().warning(self._journal.recovered)
        self._progress = ProgressLines()
        self._external = listen_for_cases(self, proposal, specification, self._campaign_id)
        self._announcements = Announcements(self, specification, self._journal, self._time.now_ns)
        stopped_by = command_type if settings.guard else ''
        self._readiness = Readiness(
            self, specification, self._command, self._time, self._conductor, settings, stopped_by,
            self._body,
        )  # fmt: skip
        self._supervisor = Supervisor(
            self._readiness, self._conductor, self._time, self._hold, self._ask,
            self.get_logger().warning, self._resume, self._wait if settings.lockstep else None,
        )  # fmt: skip
        for kind, topic, callback in (
            (TestMeasurement, topics.TEST_MEASUREMENT, self._on_measurement),
            (Estimate, topics.ESTIMATE, self._on_estimate),
        ):
            deferred = DeferredMessages(self, self._readiness.publishers, topic, callback)
            self.create_subscription(kind, topic, deferred.take, qos.RECORD)
        if self._body is not None and settles:
            self._body.pass_to(lambda samples, _: self._conductor.on_body(samples))
        self._heartbeat = HeartbeatPublisher(self, 'scheduler', self._beat)
        self._heartbeat.set_status(True, '')
        SelfDiagnosis(self, self._health)
        period, steady = 1.0 / settings.command_rate, Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(period, self._tick, clock=steady)

    def _health(self) -> tuple[Level, str]:
        if self._stops.alarm:
            return Level.ERROR, self._stops.alarm
        return scheduler_health(self._conductor.span, self._readiness.blockers)

    # Events --------------------------------------------------------------------------------------

    def _beat(self) -> None:
        """Poll everything that does not come as a message."""
        self._stops.look()
        self._heartbeat.set_status(True, STOPPING if self._stops.pending else '')
        self._notice_alarm()
        self._notice_disobedience()
        self._operator.look()
        self._supervisor.look()

    def _notice_alarm(self) -> None:
        """Pause until somebody has checked why the robot did not stop."""
        alarm, before = self._stops.alarm, self._alarmed
        self._alarmed = bool(alarm)
        if not alarm or before:
            return
        self.exit_code = CampaignError.exit_code
        if not self._conductor.finished:
            self._supervisor.take_over()
            actions = self._conductor.ask(self._latest_ns(), alarm, Cause.INSTRUMENT)
            self._carry_out([replace(a, alarm=True) for a in actions if isinstance(a, Span)])

    def _notice_disobedience(self) -> None:
        """Pause if the robot ignores its commands."""
        span, attempt = self._conductor.span, None
        if span is not None and span.phase is Phase.COMMAND and self._conductor.walking:
            attempt = (span.index, span.attempt)
        command = self._conductor.command(self._latest_ns()) if attempt is not None else ()
        if self._obedience.look(attempt, command, self._stops.state, time.monotonic()):
            self._supervisor.take_over()
            self._ask(did_not_move(self._obeys), Cause.INSTRUMENT)

    def _on_measurement(self, message: TestMeasurement) -> None:
        if message.campaign_id == self._campaign_id:
            self._conductor.on_measurement(campaign_messages.test_record_of(message))
            self._step(self._time.now_ns())

    def _on_estimate(self, message: Estimate) -> None:
        if message.campaign_id == self._campaign_id:
            self._conductor.on_estimate(campaign_messages.estimate_record_of(message))
            self._step(self._time.now_ns())

    def _tick(self) -> None:
        """Send the current command, and take the next step."""
        if self._conductor.span is None:
            self._try_to_begin()
        self._step(self._time.now_ns())
        self._publish_command()
        linger = 0.0 if self._settings.lockstep else LINGER
        lingered = time.monotonic() - self._phase_since > linger
        self.finished = self._conductor.finished and lingered and self._stops.over

    # Progress ------------------------------------------------------------------------------------

    def _try_to_begin(self) -> None:
        self._readiness.refuse_other_scheduler()
        waited = time.monotonic() - self._began
        if waited < self._settings.look_around or not self._operator.may_start:
            return
        self._operator.emergency_stop.announce()
        blockers = [*self._readiness.blockers(), *self._operator.blockers()]
        now_ns = self._time.now_ns()
        if not blockers:
            self.get_logger().info(f'campaign {self._campaign_id}: everything is there')
            self._carry_out(self._conductor.start(self._start_ns(now_ns)))
            return
        self.get_logger().info(f'not yet: {"; ".join(blockers)}', throttle_duration_sec=5.0)
        if blockers != self._blockers:  # something is in progress, such as counting a long journal
            self._blockers, self._unchanged = blockers, time.monotonic()
        waited = time.monotonic() - self._unchanged
        if waited > self._settings.peer_timeout and self._operator.autostart:
            raise CampaignError(
                f'nothing was commanded: after {self._settings.peer_timeout:g} s still '
                f'{"; ".join(blockers)}'
            )

    def _start_ns(self, now_ns: int) -> int:
        return whole_second_after(now_ns + self._settings.lead_ns)

    def _latest_ns(self) -> int:
        return max(self._time.now_ns(), self._last_ns)

    def _step(self, now_ns: int) -> None:
        """Let the conductor decide what is due, and do it."""
        if self._body is not None:
            self._body.look(self._heartbeat.beat)
        if self._conductor.span is None or self._conductor.finished:
            return
        if self._supervisor.time_was_lost():
            self._last_ns = now_ns
            return
        self._last_ns = max(now_ns, self._last_ns)
        self._fault = self._fault or self._external.fault
        waited = time.monotonic() - self._phase_since
        if self._fault:
            self._carry_out(self._conductor.abort(self._last_ns, self._fault))
        elif self._answer_is_due and waited > self._settings.measurement_timeout:
            self._ask(self._no_answer(), Cause.BENCH)
        else:
            self._carry_out(self._conductor.advance(self._last_ns))
            self._ask_again()

    @property
    def _answer_is_due(self) -> bool:
        """True while an answer may be late; simulated time waits for answers of our own nodes."""
        conductor = self._conductor
        return conductor.waiting and (conductor.awaits_case or not self._settings.lockstep)

    def _wait(self, waits_for: str) -> None:
        """Help simulated time to continue: the guard may have stopped the robot."""
        self._command.repeat()
        self.get_logger().warning(
            f'simulated time stands still{waits_for and f": {waits_for}"}',
            throttle_duration_sec=5.0,
        )

    def _ask_again(self) -> None:
        """Ask again for an answer that may be lost; a measurement may just take long."""
        waits = self._conductor.waiting and not self._conductor.awaits_case
        now = time.monotonic()
        if waits and now - max(self._phase_since, self._asked) > ASK_AGAIN:
            self._asked = now
            self._announcements.repeat()

    def _no_answer(self) -> str:
        span, within = self._conductor.span, f'within {self._settings.measurement_timeout:g} s'
        if self._conductor.awaits_case:
            return f'no case came on {self.resolve_topic_name(topics.EXTERNAL_CASE)} {within}'
        return (
            f'test {span.index if span else "?"}: no measurement with its estimate came {within}; '
            'see the output of the measurement and estimator nodes'
        )

    # The operator --------------------------------------------------------------------------------

    def _pause(self, reason: str) -> bool:
        self._supervisor.take_over()
        return self._hold(reason)

    def _hold(self, reason: str, goes_on: bool = False, cause: Cause = Cause.OPERATOR) -> bool:
        actions = self._conductor.pause(self._latest_ns(), reason, goes_on, cause)
        return self._carry_out(actions)

    def _ask(self, reason: str, cause: Cause) -> None:
        self._carry_out(self._conductor.ask(self._latest_ns(), reason, cause))

    def _resume(self) -> str:
        """Resume after a pause; return an objection, or ''."""
        if not self._conductor.paused:
            return 'the campaign is not paused'
        reasons = (self._readiness.blockers(), self._operator.blockers(), self._stops.blockers())
        blockers = '; '.join(reason for each in reasons for reason in each)
        if blockers:
            return f'still {blockers}'
        try:
            self._journal.flush()
            # Only the next case waits for this line.
            self._journal.write(RESUME, {}, patience=0.0)
        except OutputError as error:
            return str(error)
        self._supervisor.take_over()
        now_ns = self._latest_ns()
        self._carry_out(self._conductor.resume(now_ns, self._start_ns(now_ns)))
        return ''

    def _confirm(self) -> bool:
        confirmed = self._conductor.confirm()
        self._step(self._time.now_ns())
        return confirmed

    def _skip(self, reason: str) -> bool:
        return self._carry_out(self._conductor.skip(self._latest_ns(), reason))

    def _abort(self, reason: str) -> None:
        if self._conductor.span is None:
            raise CampaignError(f'aborted before the first test: {reason}')
        self._fault = reason
        self._step(self._latest_ns())

    # Actions -------------------------------------------------------------------------------------

    def _carry_out(self, actions: list[Action]) -> bool:
        """Carry out and publish the actions; return false if there are none."""
        for action in actions:
            if isinstance(action, Span) and action.phase in STOPS:
                self._stops.stop()  # first: a stop waits for nothing
            if not isinstance(action, Span):  # the disk may take long to write it
                self._heartbeat.beat()
            try:
                self._announcements.write(action, self._conductor.outcome_awaited)
            except OutputError as error:
                # The robot does not move before the measurement is on the disk.
                self._wait_for_disk(error)
                return True
            if isinstance(action, Span):
                self._phase_since = time.monotonic()
                self._time.wake_at(action.end_ns)
                # The command first: an announced phase is already in force.
                self._publish_command()
            self._announcements.publish(action)
            self._report(action)
        return bool(actions)

    def _wait_for_disk(self, error: OutputError) -> None:
        if isinstance(error, OutputLateError):
            self._supervisor.suspect(str(error))
            return
        self.get_logger().error(str(error))
        self._supervisor.take_over()
        self._hold(str(error), cause=Cause.BENCH)

    def _report(self, action: Action) -> None:
        """Log what happens."""
        logger, name = self.get_logger(), f'campaign {self._campaign_id}'
        if isinstance(action, CountedAttempt):
            logger.info(self._progress.line(action, time.monotonic()))
        elif not isinstance(action, Span):
            return
        elif action.phase is Phase.ABORTED:
            logger.error(f'{name} aborted: {action.reason}')
            self.exit_code = CampaignError.exit_code
        elif action.phase is Phase.PAUSED:
            logger.warning(pause_text(action, self._operator.how_to_resume))
        elif action.phase is Phase.DONE:
            logger.info(f'{name} done')

    def _publish_command(self) -> None:
        held = self._conductor.paused or self._conductor.finished
        if held or self._supervisor.stalled:
            self._stops.stop()
        else:
            self._stops.release()
            self._command.publish(self._conductor.command(self._latest_ns()))

    def shut_down(self, reason: str) -> None:
        """Send zero at every kind of end, in any state of the campaign."""
        self._stops.stop()
        if self._conductor.span is not None:
            code = self.exit_code
            self._carry_out(self._conductor.abort(self._time.now_ns(), reason))
            self.exit_code = code  # a node that was told to end exits with 0
        for _ in range(3):
            self._command.stop()
            time.sleep(0.02)
        if self._conductor.span is not None:
            self._heartbeat.set_status(True, STOPPING if self._stops.pending else '')
            if not self._stops.finish(self._heartbeat.beat):
                self.exit_code = CampaignError.exit_code
            self._heartbeat.set_status(True, '')
        self._command.wait_for_all_acked()
        self._announcements.wait_for_all_acked()
        self._journal.close()


def main() -> int:
    """Run the scheduler."""
    return run_node('scheduler', Scheduler)


if __name__ == '__main__':
    sys.exit(main())
