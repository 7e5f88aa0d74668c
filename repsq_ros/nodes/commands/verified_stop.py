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

"""Stops that are repeated until the robot is seen at rest, with an alarm if it is not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from repsq_ros.campaign.rest import RestBounds, RestDetector, RestJudgement, RestState
from repsq_ros.nodes.body_input import BodyInput
from repsq_ros.nodes.commands.command_publisher import CommandPublisher, OtherStop
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.command_space import CommandKind, CommandType

BOUNDS = {
    CommandKind.VELOCITY: RestBounds(0.05, 0.1, 1.0),
    CommandKind.POSE: RestBounds(0.005, 0.02, 0.5),
    CommandKind.PUSH: RestBounds(0.05, 0.1, 1.0),
}
# Services on the robot's side, e.g. of the UR driver's dashboard client.
SERVICES = {CommandType.URSCRIPT: ('/dashboard_client/stop', '/dashboard_client/pause')}
LATE = 5.0  # [s] after rest in which a delayed command may still move the robot
BETWEEN = 1.0  # [s] between two other ways of stopping, for the first one to take effect
ROUNDS = 2  # rounds through all other ways, after which an ending node stops waiting
LOOK = 0.05  # [s] between two looks while a node ends


@dataclass(frozen=True)
class StopSettings:
    """How stops are verified, and what is tried if the robot does not come to rest."""

    bounds: RestBounds
    wanted: bool  # false: stops are sent, but not verified
    timeout: float  # [s] within which the robot has to come to rest
    services: tuple[str, ...]  # std_srvs/Trigger, tried in this order


def read_stop_settings(
    parameters: Parameters, kind: CommandKind, command_type: CommandType
) -> StopSettings:
    """Read the parameters of stops.

    :raises ParameterError: an invalid value
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

    After the alarm, it continues to repeat the stop, and tries the other ways in turn, round after
    round, until the robot is at rest: the services, then the command's last resort.

    :param body: the reader of the robot's motion; None: stops cannot be verified
    :param always: `state` is needed without a stop, too
    """

    def __init__(
        self,
        node: Node,
        command: CommandPublisher,
        settings: StopSettings,
        body: BodyInput | None,
        always: bool = False,
    ) -> None:
        self._node, self._command, self._settings = node, command, settings
        self._body: BodyInput | None = None
        if not settings.wanted:
            node.get_logger().warning('stops are not verified: verify_stops is false')
        elif body is None:
            node.get_logger().warning(
                'stops cannot be verified: no input shows the motion of the robot'
            )
        else:
            self._body = body
            self._detector = RestDetector(settings.bounds, body.source)
            body.pass_to(self._detector.add, lambda: always or self._since is not None)
            bounds = settings.bounds
            node.get_logger().info(
                f'stops are repeated until {self._body.topic} shows at most {bounds.speed:g} m/s '
                f'and {bounds.turn:g} rad/s for {bounds.time:g} s; alarm after '
                f'{settings.timeout:g} s'
            )
        self._since: float | None = None  # start of the current stop, steady [s]
        self._rested_at: float | None = None  # when the robot was first seen at rest
        self.alarm = ''  # why the robot counts as out of control; '': it is under control
        services = (_TriggerStop(node, name) for name in settings.services)
        self._ways: list[OtherStop] = [*services, *command.other_stops]
        # number of other ways tried; time of the last one, steady
        self._tries, self._tried_at = 0, -math.inf

    # Commands ------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop the robot; to be called repeatedly while it has to stand."""
        now = time.monotonic()
        first = self._since is None
        if first:
            self._since, self._rested_at = now, None
            self._tries = 0
        if self._command.streams or self._must_repeat(now):
            self._command.stop()
        if first and self._body is not None:
            self._body.look()  # samples that wait are from before the stop
            self._detector.restart(now)

    def _must_repeat(self, now: float) -> bool:
        assert self._since is not None
        if self._body is None:
            return now - self._since <= self._settings.timeout
        if self._rested_at is None:
            return True
        late = now - self._rested_at <= LATE
        return late and self._detector.judge(now).state is RestState.MOVING

    def release(self) -> None:
        """Allow the robot to move again."""
        self._since, self._rested_at, self.alarm = None, None, ''

    # State ---------------------------------------------------------------------------------------

    @property
    def verifiable(self) -> bool:
        """True if an input with the robot's motion has a publisher."""
        return self._body is not None and self._body.publishers > 0

    @property
    def pending(self) -> bool:
        """True while the effect of the current stop has not been seen, but can be."""
        return self._since is not None and self._rested_at is None and self.verifiable

    @property
    def state(self) -> RestState:
        """The state by the newest samples, while it stops; without a stop with `always`."""
        if self._body is None:
            return RestState.UNKNOWN
        return self._detector.judge(time.monotonic()).state

    def blockers(self) -> list[str]:
        """Return why the robot must not be commanded yet."""
        if not self.pending:
            return []
        judgement = self._detector.judge(time.monotonic())
        return [f'the robot has not been seen at rest: {self._describe(judgement)}']

    def look(self) -> None:
        """Take the samples that wait and judge the current stop; called with each heartbeat."""
        if self._body is None:
            return
        self._body.look()
        now = time.monotonic()
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
        # Ways are tried again: a request may get lost, a service may appear later.
        way = self._ways[self._tries % len(self._ways)]
        self._tries, self._tried_at = self._tries + 1, now
        tried = way.try_it(judgement.state is RestState.MOVING)
        self._node.get_logger().fatal(f'another way to stop the robot: {tried}')

    def _describe(self, judgement: RestJudgement) -> str:
        assert self._body is not None
        bounds = self._settings.bounds
        if judgement.state is RestState.UNKNOWN:
            return f'too little is heard on {self._body.topic}'
        return (
            f'it moves at {judgement.speed:.3g} m/s, {judgement.turn:.3g} rad/s; at most '
            f'{bounds.speed:g} m/s and {bounds.turn:g} rad/s are rest'
        )

    # The end -------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """True once the robot is at rest, cannot be seen, or all ways were tried repeatedly."""
        tried_all = bool(self.alarm) and self._tries >= ROUNDS * len(self._ways)
        waited = time.monotonic() - self._tried_at >= BETWEEN
        return not self.pending or (tried_all and waited)

    def finish(self, beat: Callable[[], None] = lambda: None) -> bool:
        """Stop and wait until the robot is at rest, or the alarm has tried all ways.

        For a node whose executor no longer runs.

        :param beat: called in every round, so that other nodes see that this one still stops
        :returns: whether the robot can be left alone
        """
        self.stop()
        while not self.over:
            self.look()
            self.stop()
            beat()
            time.sleep(LOOK)
        if self._body is not None and self._rested_at is None and not self.alarm:
            self._node.get_logger().warning(
                f'the last stop cannot be verified: nobody publishes on {self._body.topic}'
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
        self._client.call_async(Trigger.Request()).add_done_callback(self._on_message)
        return f'called {self._name}'

    def _on_message(self, answer: Future[Trigger.Response]) -> None:
        error = answer.exception()
        response = None if error else answer.result()
        if response is None or not response.success:
            why = response.message if response else error
            self._node.get_logger().fatal(
                f'{self._name} did not stop the robot: {why or "no reason given"}'
            )
