"""Scheduler: draws the cases, walks through the phases of each test, commands the robot."""

from __future__ import annotations

import sys
import time

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import QoSLivelinessChangedInfo, SubscriptionEventCallbacks
from rclpy.time import Time
from rosgraph_msgs.msg import Clock as ClockMessage

from repsq_ros import messages, topics
from repsq_ros.campaign.conductor import Action, Conductor
from repsq_ros.campaign.records import Case
from repsq_ros.errors import CampaignError
from repsq_ros.msg import Estimate, TestCommand, TestMeasurement, TestPhase
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.external_cases import listen_for_cases
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.protocols.phases import Phase
from repsq_ros.timebase import NANOSECONDS, to_nanoseconds, to_seconds

LINGER = 1.0  # [s] of zero commands after the last test
DISCOVERY = 4.0  # [s] within which DDS shows another scheduler: its second announcement takes 3 s
SETTLED = 1.0  # [s] of signs of life from a peer before it is relied on; two of its leases
CLOCK_TIMEOUT = 2.0  # [s] without a message on /clock after which a simulated clock is lost


class Scheduler(CampaignNode):
    """Publishes TestCommand, TestPhase and the robot's command; obeys the core's conductor."""

    def __init__(self) -> None:
        super().__init__('scheduler')
        parameters = Parameters(self)
        self._specification = specification = parameters.specification()
        seed = parameters.seed(specification)
        self._campaign_id = parameters.text('campaign_id', '', 'name of the campaign') or (
            f'{specification.name}-{time.strftime("%Y%m%d-%H%M%S")}'
        )
        stamped = (
            parameters.choice(
                'command_type', ('twist', 'twist_stamped'), 'twist', 'message on cmd_vel'
            )
            == 'twist_stamped'
        )
        self._command_frame = parameters.text(
            'command_frame', 'base_link', 'frame_id of a stamped command'
        )
        rate = parameters.number('command_rate', 20.0, 'Hz of cmd_vel', at_least=10)
        self._lead_ns = to_nanoseconds(
            parameters.number('start_lead', 2.0, 's of rest before the first test', at_least=0)
        )
        self._look_around = parameters.number(
            'look_around', DISCOVERY, 's to look for another scheduler', at_least=0
        )
        self._peer_timeout = parameters.number(
            'peer_timeout', 30.0, 's to wait for peers', above=0
        )
        self._answer_timeout = parameters.number(
            'measurement_timeout', 30.0, 's to wait for a measurement and its estimate', above=0
        )
        parameters.finish()

        proposal = specification.make_proposal()
        self._conductor = Conductor(specification, proposal, seed)
        self._external = listen_for_cases(self, proposal, specification, self._campaign_id)
        self._stamped = stamped
        self._commands = self.create_publisher(
            TwistStamped if stamped else Twist, topics.COMMAND_VELOCITY, qos.COMMAND
        )
        self._cases = self.create_publisher(TestCommand, topics.TEST_COMMAND, qos.RECORD)
        self._phases = self.create_publisher(TestPhase, topics.TEST_PHASE, qos.WATCHED_RECORD)
        self._lost = ''
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._alive_since: dict[str, Time] = {}  # the watched peers that show signs of life
        self._watch(
            TestMeasurement, topics.TEST_MEASUREMENT, self._hear_measurement, 'measurement'
        )
        self._watch(Estimate, topics.ESTIMATE, self._hear_estimate, 'estimator')
        self.create_subscription(TestPhase, topics.TEST_PHASE, self._hear_phase, qos.RECORD)
        self._began = self._steady.now()
        self._phase_since = self._steady.now()
        self._clock_heard = self._steady.now()
        self._last_ns = 0
        self._simulated_ns = 0 if self.get_parameter('use_sim_time').value else None
        self.create_timer(1.0 / rate, self._tick, clock=self._steady)
        if self._simulated_ns is not None:
            # A timer would fire between the ticks of a simulated clock that stands still at the
            # end of a phase: only the clock itself tells that the end is there.
            self.create_subscription(ClockMessage, '/clock', self._hear_clock, qos.CLOCK)

    def _watch(self, kind: type, topic: str, callback: object, peer: str) -> None:
        def changed(event: QoSLivelinessChangedInfo) -> None:
            if event.alive_count > 0:
                self._alive_since.setdefault(peer, self._steady.now())
                return
            self._alive_since.pop(peer, None)
            if self._conductor.span is not None:
                self._lost = f'lost node: {peer} is gone'

        self.create_subscription(
            kind, topic, callback, qos.WATCHING,
            event_callbacks=SubscriptionEventCallbacks(liveliness=changed),
        )  # fmt: skip

    # Events --------------------------------------------------------------------------------------

    def _hear_clock(self, message: ClockMessage) -> None:
        self._simulated_ns = messages.from_time(message.clock)
        self._clock_heard = self._steady.now()
        self._step(self._simulated_ns)

    def _hear_measurement(self, message: TestMeasurement) -> None:
        if message.campaign_id == self._campaign_id:
            self._conductor.hear_measurement(messages.test_record_of(message))
            self._step(self._now_ns())

    def _hear_estimate(self, message: Estimate) -> None:
        if message.campaign_id == self._campaign_id:
            self._conductor.hear_estimate(messages.estimate_record_of(message))
            self._step(self._now_ns())

    def _hear_phase(self, message: TestPhase) -> None:
        """Stop if another scheduler moves the robot, whoever came first."""
        running = self._conductor.span is not None
        if message.campaign_id != self._campaign_id and message.phase == Phase.COMMAND and running:
            self._lost = f'another scheduler commands the robot: campaign {message.campaign_id}'

    def _now_ns(self) -> int:
        # One source of time: rclpy's own hears /clock apart, and may be ahead or behind.
        if self._simulated_ns is not None:
            return self._simulated_ns
        return int(self.get_clock().now().nanoseconds)

    def _tick(self) -> None:
        """Steady heartbeat: look at the peers, stream the command, move on."""
        if self._conductor.span is None:
            self._try_to_begin()
        elif self._commands.get_subscription_count() == 0:
            self._lost = f'lost robot: nobody takes commands on {self._commands.topic_name}'
        elif (
            self._simulated_ns is not None
            and self._seconds_since(self._clock_heard) > CLOCK_TIMEOUT
        ):
            self._lost = f'lost clock: nothing on /clock for {CLOCK_TIMEOUT:g} s'
        self._step(self._now_ns())
        self._publish_command()
        if self._conductor.finished and self._seconds_since(self._phase_since) > LINGER:
            self.finished = True

    def _seconds_since(self, instant: Time) -> float:
        return to_seconds((self._steady.now() - instant).nanoseconds)

    def _missing_peers(self) -> list[str]:
        source = self._specification.measure.input.topic
        wanted = {
            f'a robot that takes commands on {self._commands.topic_name}': (
                self._commands.get_subscription_count()
            ),
            f'a sensor on {self.resolve_topic_name(source)}': self._publishers_on(source),
            'the measurement node (does it run, and hear the sensor?)': (
                self._lives('measurement')
            ),
            'the estimator node': self._lives('estimator'),
        }
        return [name for name, count in wanted.items() if count == 0]

    def _lives(self, peer: str) -> bool:
        """Tell whether a peer has shown signs of life for a while.

        On a busy machine the first ones may be late, and a peer that has just been found is then
        taken for lost for a moment.
        """
        since = self._alive_since.get(peer)
        return since is not None and self._seconds_since(since) > SETTLED

    def _publishers_on(self, topic: str) -> int:
        return int(self.count_publishers(self.resolve_topic_name(topic)))

    def _try_to_begin(self) -> None:
        if self._publishers_on(topics.TEST_PHASE) > 1:
            raise CampaignError(
                f'another scheduler publishes on {self._phases.topic_name}: two must not command '
                'one robot. Stop it, or use another namespace or ROS_DOMAIN_ID'
            )
        if self._seconds_since(self._began) < self._look_around:
            return
        missing = self._missing_peers()
        now_ns = self._now_ns()
        if now_ns == 0:
            missing.append('a publisher of /clock (use_sim_time is set)')
        if not self._conductor.can_start:
            topic = self.resolve_topic_name(topics.EXTERNAL_CASE)
            missing.append(f'the first case of another program on {topic}')
        if not missing:
            self.get_logger().info(f'campaign {self._campaign_id}: all peers are there')
            self._carry_out(self._conductor.start(now_ns + self._lead_ns))
        elif self._seconds_since(self._began) > self._peer_timeout:
            raise CampaignError(
                f'nothing was commanded: after {self._peer_timeout:g} s still missing '
                f'{"; ".join(missing)}'
            )

    def _step(self, now_ns: int) -> None:
        """Let the conductor decide what is due, and carry it out."""
        if self._conductor.span is None or self._conductor.finished:
            return
        if now_ns < self._last_ns - NANOSECONDS:
            back = to_seconds(self._last_ns - now_ns)
            self._carry_out(self._conductor.abort(now_ns, f'time jumped back by {back:.3f} s'))
            return
        self._last_ns = max(now_ns, self._last_ns)
        self._lost = self._lost or self._external.fault
        if self._lost:
            self._carry_out(self._conductor.abort(self._last_ns, self._lost))
        elif (
            self._conductor.waiting
            and self._seconds_since(self._phase_since) > self._answer_timeout
        ):
            self._carry_out(self._conductor.abort(self._last_ns, self._no_answer()))
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

    # What is published ---------------------------------------------------------------------------

    def _carry_out(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Case):
                self._cases.publish(
                    translate.test_command_of(
                        action, self._specification, self._campaign_id, self._now_ns()
                    )
                )
                continue
            self._phase_since = self._steady.now()
            # The command goes first: a phase that is announced is already in force.
            self._publish_command()
            self._phases.publish(
                translate.test_phase_of(
                    action, self._specification.protocol.command_names, self._campaign_id
                )
            )
            if action.phase is Phase.ABORTED:
                self.get_logger().error(f'campaign {self._campaign_id} aborted: {action.reason}')
                self.exit_code = CampaignError.exit_code
            elif action.phase is Phase.DONE:
                self.get_logger().info(f'campaign {self._campaign_id} done')

    def _publish_command(self) -> None:
        self._publish_velocity(self._conductor.command(max(self._now_ns(), self._last_ns)))

    def _publish_velocity(self, command: tuple[float, ...]) -> None:
        if self._stamped:
            self._commands.publish(
                translate.twist_stamped_of(command, self._now_ns(), self._command_frame)
            )
        else:
            self._commands.publish(translate.twist_of(command))

    def shut_down(self, reason: str) -> None:
        """Zero on every way out, whatever state the campaign is in."""
        if self._conductor.span is not None:
            self._carry_out(self._conductor.abort(self._now_ns(), reason))
        for _ in range(3):
            self._publish_velocity(self._specification.protocol.rest)
            time.sleep(0.02)
        for publisher in (self._commands, self._phases):
            publisher.wait_for_all_acked(qos.PEER_LEASE)


def main() -> int:
    """Run the scheduler."""
    return run_node('scheduler', Scheduler)


if __name__ == '__main__':
    sys.exit(main())
