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

"""The measure of each test of a recording, by the same function as online."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import record_of
from repsq_ros.campaign.result import Result
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Evaluation
from repsq_ros.measurement.recorder import Recorder
from repsq_ros.measurement.samples import Sample
from repsq_ros.messages.sensor_messages import reader_of
from repsq_ros.recordings.bag import Bag
from repsq_ros.replay.segments import Segment
from repsq_ros.specification.model import Specification


@dataclass(frozen=True)
class Evaluated:
    """One segment of a recording with what it gave."""

    segment: Segment
    outcome: Evaluation


def read_samples(bag: Bag, topic: str, source: Input) -> list[Sample]:
    """Return the samples of a sensor topic, as the measurement node would make them.

    :raises BagError: the topic is missing, or not of the input's type
    """
    bag.require(topic, source.type)
    read = reader_of(source)
    found = (read(item.message, item.log_ns) for item in bag.messages(topic))
    return [sample for sample in found if sample is not None]


def evaluate(
    specification: Specification,
    samples: Sequence[Sample],
    segments: Sequence[Segment],
    conditions: Mapping[str, Sequence[Sample]] | None = None,
) -> list[Evaluated]:
    """Return psi, or the reason for INVALID, of each segment.

    :param conditions: the readings of each condition of the measure
    """
    recorder = Recorder(specification.measure, keep_ns=2**62)
    for sample in samples:
        recorder.add(sample)
    for name, readings in (conditions or {}).items():
        for reading in readings:
            recorder.add_condition(name, reading)
    return [
        Evaluated(
            segment,
            recorder.measure(segment.window)
            if segment.ended is None
            else Evaluation.invalid(
                f'{"skipped" if segment.ended.skipped else "broken off"}: {segment.ended.reason}'
            ),
        )
        for segment in segments
    ]


def fold(
    specification: Specification, evaluated: Sequence[Evaluated], campaign_id: str
) -> Result | None:
    """Return the result that a recorded campaign gives, or None where it did not get so far."""
    campaign = Campaign(specification)
    for each in evaluated:
        segment, outcome = each.segment, each.outcome
        key = (segment.index, segment.attempt)
        measured = record_of(key, segment.draw, segment.window, outcome)
        campaign.add(segment.ended or measured)
    return campaign.result(campaign_id) if campaign.stopped else None
