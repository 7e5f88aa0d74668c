"""The velocity command: checked against its limits, then published; zero on every way out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.errors import CampaignError, ParameterError
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.slew import SlewLimiter

Command = tuple[float, ...]


class VelocityCommand:
    """Publishes Twist or TwistStamped on cmd_vel.

    :param limits: largest magnitude of (v_x, v_y, yaw rate) [m/s, m/s, rad/s]
    :param now_ns: time for the stamps
    :param longest_ramp: after this the largest command must be reached [s]
    :raises ParameterError: with its acceleration it would not
    """

    def __init__(
        self,
        node: Node,
        parameters: Parameters,
        limits: Command,
        now_ns: Callable[[], int],
        longest_ramp: float = math.inf,
    ) -> None:
        self._stamped = (
            parameters.choice(
                'command_type', ('twist', 'twist_stamped'), 'twist', 'message on cmd_vel'
            )
            == 'twist_stamped'
        )
        self._frame = parameters.text(
            'command_frame', 'base_link', 'frame_id of a stamped command'
        )
        self._limits, self._now_ns = limits, now_ns
        linear = parameters.number(
            'acceleration_linear', 0.0, 'm/s^2 within which cmd_vel is ramped; 0: steps',
            at_least=0,
        )  # fmt: skip
        angular = parameters.number('acceleration_angular', 0.0, 'rad/s^2, likewise', at_least=0)
        self._slew = SlewLimiter((linear, linear, angular))
        ramp = self._slew.seconds_to(limits)
        if ramp > longest_ramp:
            raise ParameterError(
                'acceleration_linear, acceleration_angular', f'a ramp of {ramp:.3g} s',
                f'one of {longest_ramp:g} s at most, after which the window is measured',
            )  # fmt: skip
        self._sent = time.monotonic()
        self._publisher = node.create_publisher(
            TwistStamped if self._stamped else Twist, topics.COMMAND_VELOCITY, qos.COMMAND
        )

    @property
    def topic(self) -> str:
        """Name of the topic, as resolved."""
        return str(self._publisher.topic_name)

    @property
    def listeners(self) -> int:
        """How many take the command."""
        return int(self._publisher.get_subscription_count())

    def publish(self, command: Command) -> None:
        """Publish a command, or the next step toward it; zero is sent at once by `stop`.

        :raises CampaignError: not finite, or beyond the limits: zero is published in its place
        """
        within = all(
            math.isfinite(value) and abs(value) <= limit
            for value, limit in zip(command, self._limits, strict=True)
        )
        if not within:
            self.stop()
            raise CampaignError(
                f'command {command} is beyond the limits {self._limits}: zero was sent instead'
            )
        now = time.monotonic()
        self._send(self._slew.step(command, now - self._sent))
        self._sent = now

    def stop(self) -> None:
        """Publish zero, at once."""
        self._sent = time.monotonic()
        self._send(self._slew.stop())

    def _send(self, command: Command) -> None:
        if self._stamped:
            self._publisher.publish(
                translate.twist_stamped_of(command, self._now_ns(), self._frame)
            )
        else:
            self._publisher.publish(translate.twist_of(command))

    def wait_for_all_acked(self) -> None:
        """Wait until the last command has arrived, for a moment."""
        self._publisher.wait_for_all_acked(qos.PEER_LEASE)
