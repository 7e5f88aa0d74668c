"""The measure of each test of a recording, by the same function as online."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repsq_ros import messages
from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import record_of
from repsq_ros.campaign.result import Result
from repsq_ros.measurement.measure import Outcome
from repsq_ros.measurement.samples import BodySample, SampleBuffer
from repsq_ros.replay.bag import Bag
from repsq_ros.replay.segments import Segment
from repsq_ros.specification.model import Specification

TYPES = {'odometry': 'nav_msgs/msg/Odometry', 'mocap': 'geometry_msgs/msg/PoseStamped'}


@dataclass(frozen=True)
class Evaluated:
    """One segment of a recording with what it gave."""

    segment: Segment
    outcome: Outcome


def read_samples(bag: Bag, topic: str, source: str) -> list[BodySample]:
    """Return the samples of a sensor topic, as the measurement node would make them."""
    bag.require(topic, TYPES[source])
    to_sample = messages.SAMPLE_OF[source]
    return [to_sample(item.message) for item in bag.messages(topic)]


def evaluate(
    specification: Specification, samples: Sequence[BodySample], segments: Sequence[Segment]
) -> list[Evaluated]:
    """Return psi, or the reason for INVALID, of each segment."""
    buffer = SampleBuffer(keep_ns=2**62)
    buffer.extend(samples)
    done = []
    for segment in segments:
        window = segment.window
        before, inside = buffer.cut(window.start_ns, window.end_ns)
        outcome = specification.measure.evaluate(
            before, inside, window.start_ns, window.end_ns, window.command
        )
        done.append(Evaluated(segment, outcome))
    return done


def fold(
    specification: Specification, evaluated: Sequence[Evaluated], campaign_id: str
) -> Result | None:
    """Return the result that a recorded campaign gives, or None where it did not get so far."""
    campaign = Campaign(specification)
    for each in evaluated:
        segment, outcome = each.segment, each.outcome
        key = (segment.index, segment.attempt)
        campaign.add(record_of(key, segment.draw, segment.window, outcome))
    return campaign.result(campaign_id) if campaign.stopped else None
