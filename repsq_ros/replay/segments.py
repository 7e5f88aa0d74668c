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

"""Where the tests are in a recording: by the package's own topics, or by changes of command."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from repsq_ros import topics
from repsq_ros.campaign.attempts import Attempts
from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import BagError
from repsq_ros.measurement.recorder import Window
from repsq_ros.measurement.samples import Sample
from repsq_ros.messages import campaign_messages
from repsq_ros.recordings.bag import Bag
from repsq_ros.sampling.proposals import Draw
from repsq_ros.timebase import NANOSECONDS, from_time

PAUSE_NS = NANOSECONDS  # a sensor that is silent for so long separates two segments


@dataclass(frozen=True)
class Segment:
    """One test in a recording."""

    index: int
    attempt: int
    label: str
    draw: Draw
    window: Window
    ended: TestRecord | None = None  # it was skipped or broken off: there is nothing to measure


def own_segments(bag: Bag, prefix: str, specification_digest: str) -> list[Segment]:
    """Return the tests of a campaign that was recorded with the package's own topics.

    :param prefix: namespace of the topics, e.g. '' or '/lab'
    :raises BagError: the topics are missing, or the campaign had another specification
    """
    command_topic = f'{prefix}/{topics.TEST_COMMAND}'
    phase_topic = f'{prefix}/{topics.TEST_PHASE}'
    measurement_topic = f'{prefix}/{topics.TEST_MEASUREMENT}'
    bag.require(command_topic, 'repsq_ros/msg/TestCommand')
    bag.require(phase_topic, 'repsq_ros/msg/TestPhase')
    for item in bag.messages(command_topic):
        digest = item.message.specification_digest
        if digest != specification_digest:
            raise BagError(
                f'{bag.path}: found a campaign with specification digest {digest[:12]}, '
                f'expected {specification_digest[:12]}'
            )
    # Recordings of version 0.1.0 have the cases on a topic of their own alone, and skipped ones
    # among the measurements.
    cases = {
        (item.message.index, item.message.attempt): campaign_messages.case_of(item.message)
        for item in bag.messages(command_topic)
    }
    attempts, segments = Attempts(), {}
    for item in bag.messages(phase_topic, measurement_topic):
        if item.topic == measurement_topic:
            record = (
                campaign_messages.test_record_of(item.message) if item.message.skipped else None
            )
        else:
            test = campaign_messages.test_of(item.message)
            case = campaign_messages.case_of(test) if test is not item.message else None
            case = case or cases.get((test.index, test.attempt))
            record = attempts.hear(case, campaign_messages.span_of(item.message)) if case else None
        if record is not None:
            key, instant = (record.index, record.attempt), record.window_end_ns
            draw = Draw(record.x, math.nan, math.nan, record.weight_bound, record.weight)
            window = Window(instant, instant, (), instant)
            segments[key] = Segment(*key, '', draw, window, record)
            attempts.close(key)
        for key in attempts.over:
            attempt = attempts.close(key)
            if attempt is not None:
                segments[key] = Segment(*key, '', attempt.case.draw, attempt.window)
    return [segments[key] for key in sorted(segments)]


def command_segments(
    bag: Bag, command_topic: str, label_topic: str, samples: Sequence[Sample], settle_ns: int
) -> list[Segment]:
    """Return one segment for each message on a Twist topic.

    A segment ends where the next command comes, or where the sensor pauses for a second; it is
    measured from `settle_ns` after the command to its end. Weights are 1: the recording does not
    say how its cases were drawn.
    """
    bag.require(command_topic, 'geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped')
    labels: dict[int, str] = {}
    if label_topic:
        bag.require(label_topic, 'std_msgs/msg/String')
        labels = {item.log_ns: item.message.data for item in bag.messages(label_topic)}
    commands = []
    for item in bag.messages(command_topic):
        stamped = hasattr(item.message, 'twist')
        at_ns = from_time(item.message.header.stamp) if stamped else item.log_ns
        twist = item.message.twist if stamped else item.message
        label = max(((t, text) for t, text in labels.items() if t <= item.log_ns), default=(0, ''))
        commands.append((at_ns, label[1], campaign_messages.command_of_twist(twist)))
    if not commands:
        raise BagError(f'{bag.path}: found no message on {command_topic}, expected commands')
    ends = [at_ns for at_ns, _, _ in commands[1:]] + [2**63 - 1]
    return [
        Segment(
            index, 0, label, Draw((), 0.0, 0.0),
            Window(at_ns + settle_ns, _end_of_motion(samples, at_ns, end_ns), command, at_ns),
        )
        for index, ((at_ns, label, command), end_ns) in enumerate(zip(commands, ends, strict=True))
    ]  # fmt: skip


def _end_of_motion(samples: Sequence[Sample], start_ns: int, end_ns: int) -> int:
    """Return the instant just after the last sample before a pause or the given end."""
    stamps = sorted(s.stamp_ns for s in samples if start_ns <= s.stamp_ns < end_ns)
    if not stamps:
        return end_ns if end_ns < 2**63 - 1 else start_ns
    for sooner, later in pairwise(stamps):
        if later - sooner > PAUSE_NS:
            return sooner + 1
    return stamps[-1] + 1
