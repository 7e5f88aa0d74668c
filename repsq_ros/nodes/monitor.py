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


"""Monitor: a campaign as markers for RViz or Foxglove."""

from __future__ import annotations

import sys

from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, ClockType
from visualization_msgs.msg import MarkerArray

from repsq_ros import topics
from repsq_ros.errors import MissingError
from repsq_ros.measurement.catalogue import TF
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import CountedTest, QuantizedResult, TestCommand
from repsq_ros.nodes import qos
from repsq_ros.nodes.campaign_listener import add_counted, case_heard
from repsq_ros.nodes.markers import MarkerSheet
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.phase_subscription import subscribe_to_phases
from repsq_ros.nodes.polling import LatestPose
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.nodes.self_diagnosis import SelfDiagnosis
from repsq_ros.protocols.phases import Span
from repsq_ros.views.board_updates import BoardUpdater
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.health import Level
from repsq_ros.views.path_recorder import PathRecorder

REFRESH = 0.25  # [s] smallest interval between two messages
GLANCE = 0.05  # [s] between two samples of the robot
TF_STATIC = '/tf_static'


class Monitor(CampaignNode):
    """Listens to a campaign and publishes markers."""

    def __init__(self) -> None:
        super().__init__('monitor')
        parameters = Parameters(self)
        self._specification = specification = parameters.specification_if_given()
        frame = parameters.text('frame', 'repsq', 'frame in which everything is drawn')
        parameters.finish()
        self._state, self._show = CampaignState(), BoardUpdater(specification)
        self._sheet = MarkerSheet(frame)
        self._remarks: list[str] = []
        self._pose: LatestPose | None = None
        self._look_for_body()
        self._stale, self._audience = True, 0
        self._markers = self.create_publisher(MarkerArray, '~/markers', qos.MARKERS)
        self._publish_frame(frame)
        for kind, topic, callback, profile in (
            (CountedTest, topics.COUNTED_TEST, self._on_counted, qos.WHOLE),
            (QuantizedResult, topics.QUANTIZED_RESULT, self._on_result, qos.LATCHED),
        ):
            self.create_subscription(
                kind, topic, callback, profile, qos_overriding_options=qos.OVERRIDABLE
            )
        subscribe_to_phases(self, self._on_phase)
        SelfDiagnosis(self, self._health)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(GLANCE, self._look, clock=steady)
        self.create_timer(REFRESH, self._report, clock=steady)

    def _health(self) -> tuple[Level, str]:
        own = '' if self._specification is None else self._specification.digest
        if own and self._state.digest not in ('', own):
            return Level.ERROR, 'its specification differs from that of the campaign'
        return (
            (Level.WARN, self._remarks[0]) if self._remarks else (Level.OK, 'shows all it hears')
        )

    def _look_for_body(self) -> None:
        """Subscribe to the input with the robot's pose."""
        specification = self._specification
        if specification is None:
            return
        source = specification.body_input
        if source is None:
            self._remarks.append('no input shows the position of the robot')
            return
        self._path = PathRecorder(source)
        try:
            self._pose = LatestPose(self, source)
        except MissingError as error:
            self.get_logger().warning(f'the robot is not shown: {error}')
            self._remarks.append(f'the robot is not shown: {source.type} is not installed')

    def _publish_frame(self, frame: str) -> None:
        """Publish the frame on /tf, where RViz looks for it."""
        try:
            kind = message_class(TF)
        except MissingError as error:
            self.get_logger().warning(f'no frame is published for RViz: {error}')
            return
        transform = TransformStamped(child_frame_id=f'{frame}_board')
        transform.header.frame_id = frame
        transform.header.stamp.sec = 1  # a static frame; tf2 never finds a transform stamped 0
        transform.transform.rotation.w = 1.0
        self._frames = self.create_publisher(kind, TF_STATIC, qos.LATCHED)
        self._frames.publish(kind(transforms=[transform]))

    # Messages of different topics may come in any order, especially for a late joiner.

    def _on_phase(self, test: TestCommand, span: Span) -> None:
        self._state.on_phase(test.campaign_id, case_heard(test), span)
        self._stale = True

    def _on_counted(self, message: CountedTest) -> None:
        add_counted(self._state, message)
        self._stale = True

    def _on_result(self, message: QuantizedResult) -> None:
        self._state.on_result(message.campaign_id, campaign_messages.result_of(message))
        self._stale = True

    def _look(self) -> None:
        """Sample the robot's pose during a test."""
        sample = None if self._pose is None else self._pose.newest()
        span = self._state.span
        if sample is None or span is None or self._state.under_test is None:
            return
        assert self._specification is not None
        self._path.begin((span.index, span.attempt))
        rest = self._specification.protocol.rest
        self._path.add(sample, span.command_at(sample.stamp_ns, rest))
        self._stale = True

    def _report(self) -> None:
        """Publish changes, if there are subscribers."""
        audience = self._markers.get_subscription_count()
        if audience > self._audience:
            self._sheet.send_all_again()
            self._stale = True
        self._audience = audience
        if not audience or not (self._stale or self._sheet.owes):
            return
        self._stale = False
        trail = self._path.trail() if self._pose is not None else None
        change = self._show.change(self._state, trail, self._remarks)
        if change.redraw:
            self._sheet.wipe()
        self._sheet.keep(change.still)
        for group in change.grown:
            self._sheet.grow(group)
        self._markers.publish(self._sheet.message(change.moving))


def main() -> int:
    """Run the monitor."""
    return run_node('monitor', Monitor)


if __name__ == '__main__':
    sys.exit(main())
