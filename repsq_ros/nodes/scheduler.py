"""Scheduler: draws the cases, walks through the phases of each test, commands the robot."""

from __future__ import annotations

import sys
import time

from rclpy.clock import Clock, ClockType
from rclpy.time import Time

from repsq_ros import messages, topics
from repsq_ros.campaign.conductor import Action, Conductor
from repsq_ros.campaign.history import RESUME
from repsq_ros.campaign.logbook import Logbook
from repsq_ros.errors import CampaignError, OutputError
from repsq_ros.measurement.samples import Sample
from repsq_ros.msg import Estimate, TestMeasurement
from repsq_ros.nodes.announcements import Announcements
from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.external_cases import listen_for_cases
from repsq_ros.nodes.guard_watch import GuardWatch
from repsq_ros.nodes.inputs import InputSubscription
from repsq_ros.nodes.operator import Operator
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.peers import Peers
from repsq_ros.nodes.readiness import Readiness
from repsq_ros.nodes.rivals import Rivals
from repsq_ros.nodes.robot_command import make_robot_command
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.timebase import NANOSECONDS, to_nanoseconds, to_seconds, whole_second_after

LINGER = 1.0  # [s] of zero commands after the last test
DISCOVERY = 4.0  # [s] within which DDS shows another scheduler: its second announcement takes 3 s


class Scheduler(CampaignNode):
    """Publishes TestCommand, TestPhase and the robot's command; obeys the core's conductor."""

    def __init__(self) -> None:
        super().__init__('scheduler')
        parameters = Parameters(self)
        self._specification = specification = parameters.specification()
        seed = parameters.seed(specification)
        campaign_id = parameters.text('campaign_id', '', 'name of the campaign') or (
            f'{specification.name}-{time.strftime("%Y%m%d-%H%M%S")}'
        )
        output = parameters.folder('output', "the campaign's folder, for its journal; empty: none")
        resume = parameters.flag('resume', False, 'go on with the journal in the folder')
        note = parameters.text('session_note', '', 'kept with this session: a calibration, ...')
        self._attended = parameters.flag(
            'attended', True, 'somebody can resume: trouble with peers and INVALID tests pauses'
        )
        guarded = parameters.flag('guard', True, 'nothing moves without the guard node')
        self._time = CampaignClock(self, self._step)
        protocol = specification.protocol
        self._command = make_robot_command(
            self, parameters, protocol.command_space(specification.box), self._time.now_ns
        )
        rate = parameters.number('command_rate', 20.0, 'Hz of cmd_vel', at_least=10)
        self._lead_ns = to_nanoseconds(
            parameters.number('start_lead', 2.0, 's of rest before the first test', at_least=0)
        )
        self._look_around = parameters.number(
            'look_around', DISCOVERY, 's to look for another scheduler', at_least=0
        )
        self._peer_timeout = parameters.number('peer_timeout', 30.0, 's for peers', above=0)
        sensor_timeout = parameters.number(
            'sensor_timeout', 1.0, 's of silence of a body after which it is lost', above=0
        )
        self._answer_timeout = parameters.number(
            'measurement_timeout', 30.0, 's to wait for a measurement and its estimate', above=0
        )
        self._operator = Operator(
            self, parameters, self._resume, self._pause, self._skip, self._abort, self._confirm
        )
        parameters.finish()

        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._lost, self._again = '', False
        self._began = self._phase_since = self._steady.now()
        self._last_ns = 0
        proposal = specification.make_proposal()
        self._logbook = Logbook(output, specification, campaign_id, seed, resume)
        self._campaign_id = self._logbook.campaign_id
        self._conductor = Conductor(specification, proposal, seed, self._attended)
        self._logbook.restore(self._conductor, proposal)
        self._logbook.begin_session(note, parameters.in_force)
        if self._logbook.recovered:
            self.get_logger().warning(self._logbook.recovered)
        self._external = listen_for_cases(self, proposal, specification, self._campaign_id)
        self._announcements = Announcements(self, specification, self._logbook, self._time.now_ns)
        self._peers = peers = Peers(self, lambda peer: self._lose(f'lost node: {peer} is gone'))
        peers.watch(
            TestMeasurement, topics.TEST_MEASUREMENT, self._hear_measurement, 'measurement'
        )
        peers.watch(Estimate, topics.ESTIMATE, self._hear_estimate, 'estimator')
        if specification.feedback is not None:
            self._body = InputSubscription(self, specification.feedback, self._hear_body, False)
        stopped_by = str(self.get_parameter('command_type').value) if guarded else ''
        self._readiness = Readiness(
            self, specification, self._command, self._time, self._conductor, peers,
            GuardWatch(peers, stopped_by, self._yield), sensor_timeout, self._lose,
        )  # fmt: skip
        self._rivals = Rivals(self, self._campaign_id, lambda: self._conductor.span is not None)
        self.create_timer(1.0 / rate, self._tick, clock=self._steady)

    # Events --------------------------------------------------------------------------------------

    def _hear_measurement(self, message: TestMeasurement) -> None:
        if message.campaign_id == self._campaign_id:
            self._conductor.hear_measurement(messages.test_record_of(message))
            self._step(self._time.now_ns())

    def _hear_estimate(self, message: Estimate) -> None:
        if message.campaign_id == self._campaign_id:
            self._conductor.hear_estimate(messages.estimate_record_of(message))
            self._step(self._time.now_ns())

    def _hear_body(self, sample: Sample, _: int) -> None:
        """Take in where the body is; a phase may be over by it."""
        self._conductor.hear_body(sample)
        span, now_ns = self._conductor.span, self._time.now_ns()
        if span is not None and span.end_ns is not None and now_ns >= span.end_ns:
            self._step(now_ns)

    def _lose(self, reason: str) -> None:
        """Hold for what a test needs, and has no more."""
        if self._conductor.span is not None and not self._conductor.finished:
            self._ask(reason)

    def _yield(self, reason: str) -> None:
        """Hold for the guard, which has sent zero; go on by itself where nobody is there."""
        self._again = self._pause(reason) and not self._attended

    def _ask(self, reason: str) -> None:
        self._carry_out(self._conductor.ask(self._latest_ns(), reason))

    def _tick(self) -> None:
        """Steady heartbeat: look at the peers, stream the command, move on."""
        self._readiness.look()
        if self._conductor.span is None:
            self._try_to_begin()
        elif missing := self._command.missing():
            self._lost = f'lost robot: missing {missing}'
        elif self._time.fault:
            self._lost = self._time.fault
        self._again = self._again and bool(self._resume())
        self._step(self._time.now_ns())
        self._publish_command()
        if self._conductor.finished and self._seconds_since(self._phase_since) > LINGER:
            self.finished = True

    def _seconds_since(self, instant: Time) -> float:
        return to_seconds((self._steady.now() - instant).nanoseconds)

    def _try_to_begin(self) -> None:
        self._rivals.refuse()
        if self._seconds_since(self._began) < self._look_around or not self._operator.may_start:
            return
        missing, now_ns = self._readiness.missing(), self._time.now_ns()
        if not missing:
            self.get_logger().info(f'campaign {self._campaign_id}: all peers are there')
            self._carry_out(self._conductor.start(whole_second_after(now_ns + self._lead_ns)))
            return
        self.get_logger().info(f'waiting for {"; ".join(missing)}', throttle_duration_sec=5.0)
        if self._seconds_since(self._began) > self._peer_timeout and self._operator.autostart:
            raise CampaignError(
                f'nothing was commanded: after {self._peer_timeout:g} s still missing '
                f'{"; ".join(missing)}'
            )

    def _latest_ns(self) -> int:
        return max(self._time.now_ns(), self._last_ns)

    def _step(self, now_ns: int) -> None:
        """Let the conductor decide what is due, and carry it out."""
        if self._conductor.span is None or self._conductor.finished:
            return
        if now_ns < self._last_ns - NANOSECONDS:
            back = to_seconds(self._last_ns - now_ns)
            self._carry_out(self._conductor.abort(now_ns, f'time jumped back by {back:.3f} s'))
            return
        self._last_ns = max(now_ns, self._last_ns)
        self._lost = self._lost or self._external.fault or self._rivals.fault
        if self._lost:
            self._carry_out(self._conductor.abort(self._last_ns, self._lost))
        elif (
            self._conductor.waiting
            and self._seconds_since(self._phase_since) > self._answer_timeout
        ):
            self._ask(self._no_answer())
        else:
            self._carry_out(self._conductor.advance(self._last_ns))

    def _no_answer(self) -> str:
        span = self._conductor.span
        if self._conductor.awaits_case:
            topic = self.resolve_topic_name(topics.EXTERNAL_CASE)
            return f'no case came on {topic} within {self._answer_timeout:g} s'
        return (
            f'test {span.index if span else "?"}: no measurement with its estimate came within '
            f'{self._answer_timeout:g} s; see the output of the measurement and estimator nodes'
        )

    # The operator --------------------------------------------------------------------------------

    def _pause(self, reason: str) -> bool:
        return self._carry_out(self._conductor.pause(self._latest_ns(), reason))

    def _resume(self) -> str:
        """Go on after a pause; returns what is against it, or ''."""
        if not self._conductor.paused:
            return 'the campaign is not paused'
        missing = self._readiness.missing()
        if missing:
            return f'still missing {"; ".join(missing)}'
        try:
            self._logbook.write(RESUME, {})
        except OutputError as error:
            return str(error)
        now_ns = self._latest_ns()
        start_ns = whole_second_after(now_ns + self._lead_ns)
        self._carry_out(self._conductor.resume(now_ns, start_ns))
        return ''

    def _confirm(self) -> bool:
        confirmed = self._conductor.confirm()
        self._step(self._time.now_ns())
        return confirmed

    def _skip(self, reason: str) -> bool:
        skipped = self._carry_out(self._conductor.skip(self._latest_ns(), reason))
        self._time.wake_at(None)
        return skipped

    def _abort(self, reason: str) -> None:
        if self._conductor.span is None:
            raise CampaignError(f'aborted before the first test: {reason}')
        self._lost = reason
        self._step(self._latest_ns())

    # What is done --------------------------------------------------------------------------------

    def _carry_out(self, actions: list[Action]) -> bool:
        """Write, command and say what has been decided; false where it was nothing."""
        for action in actions:
            try:
                self._announcements.write(action)
            except OutputError as error:
                # The robot does not move on before what was measured is on the disk.
                self.get_logger().error(str(error))
                return self._carry_out(self._conductor.pause(self._time.now_ns(), str(error)))
            if isinstance(action, Span):
                self._phase_since = self._steady.now()
                self._time.wake_at(action.end_ns)
                # The command goes first: a phase that is announced is already in force.
                self._publish_command()
                self._tell(action)
            self._announcements.publish(action)
        return bool(actions)

    def _tell(self, span: Span) -> None:
        name = f'campaign {self._campaign_id}'
        if span.phase is Phase.ABORTED:
            self.get_logger().error(f'{name} aborted: {span.reason}')
            self.exit_code = CampaignError.exit_code
        elif span.phase is Phase.PAUSED:
            self.get_logger().warning(f'paused: {span.reason}. {self._operator.how_to_resume}')
        elif span.phase is Phase.DONE:
            self.get_logger().info(f'{name} done')

    def _publish_command(self) -> None:
        if self._conductor.paused or self._conductor.finished:
            self._command.stop()
        else:
            self._command.publish(self._conductor.command(self._latest_ns()))

    def shut_down(self, reason: str) -> None:
        """Zero on every way out, whatever state the campaign is in."""
        if self._conductor.span is not None:
            self._carry_out(self._conductor.abort(self._time.now_ns(), reason))
        for _ in range(3):
            self._command.stop()
            time.sleep(0.02)
        self._command.wait_for_all_acked()
        self._announcements.wait_for_all_acked()
        self._logbook.close()


def main() -> int:
    """Run the scheduler."""
    return run_node('scheduler', Scheduler)


if __name__ == '__main__':
    sys.exit(main())
