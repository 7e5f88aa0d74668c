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

"""Stops that are repeated until the robot is seen at rest, and the alarm where it is not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from repsq_ros.campaign.rest import RestBounds, RestDetector, RestJudgement, RestState
from repsq_ros.measurement.inputs import Input
from repsq_ros.nodes.commands.command_publisher import CommandPublisher, OtherStop
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.polling import LatestPose
from repsq_ros.nodes.rclpy_versions import publisher_count
from repsq_ros.protocols.command_space import CommandKind, CommandType

BOUNDS = {
    CommandKind.VELOCITY: RestBounds(0.05, 0.1, 1.0),
    CommandKind.POSE: RestBounds(0.005, 0.02, 0.5),
    CommandKind.PUSH: RestBounds(0.05, 0.1, 1.0),
}
# Programs on the robot's side, e.g. the UR driver's dashboard client.
SERVICES = {CommandType.URSCRIPT: ('/dashboard_client/stop', '/dashboard_client/pause')}
LATE = 5.0  # [s] after rest in which a delayed command may still set the robot in motion
BETWEEN = 1.0  # [s] between two other ways of stopping, so that the first one can take effect
ROUNDS = 2  # of all other ways, after which a node that ends need not wait any longer
LOOK = 0.05  # [s] between two looks while a node ends


@dataclass(frozen=True)
class StopSettings:
    """How stops are verified, and what is tried where the robot does not come to rest."""

    bounds: RestBounds
    wanted: bool  # false: stops are sent and not verified
    timeout: float  # [s] within which the robot has to come to rest
    services: tuple[str, ...]  # std_srvs/Trigger, tried in this order


def read_stop_settings(
    parameters: Parameters, kind: CommandKind, command_type: CommandType
) -> StopSettings:
    """Read the parameters of stops.

    :raises ParameterError: one is not usable
    """
    usual = BOUNDS[kind]
    return StopSettings(
        RestBounds(
            parameters.number(
                'rest_speed', usual.speed, 'm/s below which the robot is at rest', above=0
            ),
            parameters.number(
                'rest_turn', usual.turn, 'rad/s below which the robot is at rest', above=0
            ),
            parameters.number('rest_time', usual.time, 's for which it has to be so', above=0),
        ),
        parameters.flag('verify_stops', True, 'repeat a stop until the robot is at rest'),
        parameters.number('stop_timeout', 3.0, 's to come to rest before the alarm', above=0),
        parameters.texts(
            'stop_services',
            SERVICES.get(command_type, ()),
            'services (std_srvs/Trigger) that stop the robot if it does not obey, in this order',
        ),
    )


class VerifiedStop:
    """Repeats a stop until the feedback shows rest; raises an alarm if that takes too long.

    After the alarm it goes on repeating the stop, and tries the other ways one after the other,
    round after round, until the robot is at rest: the services, then the command's last resort.

    :param body: the input that shows the robot's motion; None: stops cannot be verified
    """

    def __init__(
        self, node: Node, command: CommandPublisher, settings: StopSettings, body: Input | None
    ) -> None:
        self._node, self._command, self._settings = node, command, settings
        self._pose: LatestPose | None = None
        if not settings.wanted:
            node.get_logger().warning('stops are not verified: verify_stops is false')
        elif body is None:
            node.get_logger().warning(
                'stops cannot be verified: no input shows the motion of the robot'
            )
        else:
            self._pose = LatestPose(node, body)
            self._detector = RestDetector(settings.bounds, body)
            bounds = settings.bounds
            node.get_logger().info(
                f'stops are repeated until {self._pose.topic} shows at most {bounds.speed:g} m/s '
                f'and {bounds.turn:g} rad/s for {bounds.time:g} s; alarm after '
                f'{settings.timeout:g} s'
            )
        self._since: float | None = None  # when the stop in force began, steady [s]
        self._rested_at: float | None = None  # when it was first seen to be obeyed
        self.alarm = ''  # why the robot counts as out of control; '': it does not
        services = (_TriggerStop(node, name) for name in settings.services)
        self._ways: list[OtherStop] = [*services, *command.other_stops]
        self._tries, self._tried_at = 0, -math.inf  # of other ways; when the last one was, steady

    # Commands ------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop the robot; to be called again and again for as long as it has to stand."""
        now = time.monotonic()
        if self._since is None:
            self._since, self._rested_at = now, None
            self._tries = 0
            if self._pose is not None:
                self._detector.restart()
        if self._command.streams or self._must_repeat(now):
            self._command.stop()

    def _must_repeat(self, now: float) -> bool:
        assert self._since is not None
        if self._pose is None:
            return now - self._since <= self._settings.timeout
        if self._rested_at is None:
            return True
        late = now - self._rested_at <= LATE
        return late and self._detector.judge(now).state is RestState.MOVING

    def release(self) -> None:
        """Note that the robot may move again."""
        self._since, self._rested_at, self.alarm = None, None, ''

    # State ---------------------------------------------------------------------------------------

    @property
    def verifiable(self) -> bool:
        """True if an input shows the robot's motion, and somebody publishes it."""
        pose = self._pose
        return pose is not None and publisher_count(self._node, pose.subscription) > 0

    @property
    def pending(self) -> bool:
        """True while a stop is in force whose effect has not been seen, but can be."""
        return self._since is not None and self._rested_at is None and self.verifiable

    @property
    def state(self) -> RestState:
        """What the newest samples show, whatever is commanded."""
        if self._pose is None:
            return RestState.UNKNOWN
        return self._detector.judge(time.monotonic()).state

    def blockers(self) -> list[str]:
        """Return why the robot must not be commanded yet."""
        if not self.pending:
            return []
        judgement = self._detector.judge(time.monotonic())
        return [f'the robot has not been seen at rest: {self._describe(judgement)}']

    def look(self) -> None:
        """Take in the newest sample and judge the stop in force; called with each heartbeat."""
        if self._pose is None:
            return
        sample, now = self._pose.newest(), time.monotonic()
        if sample is not None:
            self._detector.add(sample, now)
        if self._since is None or self._rested_at is not None:
            return
        judgement = self._detector.judge(now)
        if judgement.state is RestState.AT_REST:
            self._rested_at = now
            if self.alarm:
                self.alarm = ''
                took = now - self._since
                self._node.get_logger().warning(f'the robot came to rest after {took:.1f} s')
        elif now - self._since > self._settings.timeout:
            self._raise_alarm(now, judgement)

    def _raise_alarm(self, now: float, judgement: RestJudgement) -> None:
        assert self._since is not None
        self.alarm = (
            f'ALARM: the robot was not seen at rest {now - self._since:.1f} s after it was '
            f'stopped: {self._describe(judgement)}'
        )
        self._node.get_logger().fatal(self.alarm, throttle_duration_sec=1.0)
        if not self._ways or now - self._tried_at < BETWEEN:
            return
        # A request may get lost, a service may come later: no way counts as used up.
        way = self._ways[self._tries % len(self._ways)]
        self._tries, self._tried_at = self._tries + 1, now
        tried = way.try_it(judgement.state is RestState.MOVING)
        self._node.get_logger().fatal(f'another way to stop the robot: {tried}')

    def _describe(self, judgement: RestJudgement) -> str:
        assert self._pose is not None
        bounds = self._settings.bounds
        if judgement.state is RestState.UNKNOWN:
            return f'too little is heard on {self._pose.topic}'
        return (
            f'it moves at {judgement.speed:.3g} m/s, {judgement.turn:.3g} rad/s; at most '
            f'{bounds.speed:g} m/s and {bounds.turn:g} rad/s are rest'
        )

    # The end -------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """True once the robot was seen at rest, cannot be seen, or all was tried repeatedly."""
        tried_all = bool(self.alarm) and self._tries >= ROUNDS * len(self._ways)
        waited = time.monotonic() - self._tried_at >= BETWEEN
        return not self.pending or (tried_all and waited)

    def finish(self, beat: Callable[[], None] = lambda: None) -> bool:
        """Stop and wait until the robot is at rest, or the alarm has tried all ways.

        For a node whose executor does not run any more.

        :param beat: called in every round: who watches this node sees that it still stops
        :returns: whether the robot may be left alone
        """
        self.stop()
        while not self.over:
            self.look()
            self.stop()
            beat()
            time.sleep(LOOK)
        if self._pose is not None and self._rested_at is None and not self.alarm:
            self._node.get_logger().warning(
                f'the last stop cannot be verified: nobody publishes on {self._pose.topic}'
            )
        return not self.alarm


class _TriggerStop:
    """A service that stops the robot."""

    def __init__(self, node: Node, name: str) -> None:
        self._node, self._name = node, name
        self._client = node.create_client(Trigger, name)

    def try_it(self, moving: bool) -> str:
        """Call the service, if it is there."""
        if not self._client.service_is_ready():
            return f'{self._name} is not there'
        self._client.call_async(Trigger.Request()).add_done_callback(self._hear)
        return f'called {self._name}'

    def _hear(self, answer: Future[Trigger.Response]) -> None:
        error = answer.exception()
        response = None if error else answer.result()
        if response is None or not response.success:
            why = response.message if response else error
            self._node.get_logger().fatal(
                f'{self._name} did not stop the robot: {why or "no reason given"}'
            )
