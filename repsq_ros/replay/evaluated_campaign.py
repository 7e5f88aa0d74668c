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

"""The one way from the recordings of a campaign to psi of its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repsq_ros.errors import BagError
from repsq_ros.measurement.inputs import Stamp
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.recordings.recording import Recording
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.evaluation import EvaluatedSegment
from repsq_ros.replay.recorded_campaign import (
    CampaignTests,
    RecordedCampaign,
    check_recorded_contract,
    choose,
)
from repsq_ros.replay.recorded_windows import (
    SENSOR,
    RecordedMeasure,
    measure_in_passing,
    outcomes_of,
)
from repsq_ros.replay.segments import Segment
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import NANOSECONDS, to_nanoseconds, to_seconds

# offset between phases and their recording that proves two clocks
ANOTHER_TIME_NS = 5 * NANOSECONDS


@dataclass(frozen=True)
class EvaluatedRecording:
    """The evaluated tests of a recording.

    :ivar campaign_id: empty: a foreign recording
    :ivar evaluated: by the file of the measure; None: that of the specification
    :ivar notes: notes for the user, one line each
    """

    campaign_id: str
    evaluated: Mapping[Path | None, Sequence[EvaluatedSegment]]
    notes: tuple[str, ...]


def evaluate_campaign(
    recording: Recording,
    own: Specification,
    names: TopicNames,
    campaign_id: str = '',
    measures: Mapping[Path | None, Measure] | None = None,
    sensor_topic: str = '',
    clock_offset: float | None = None,
) -> EvaluatedRecording:
    """Return psi of every test of a campaign, by the same code as online.

    :param own: the specification of the campaign
    :param names: of all topics in the recording
    :param campaign_id: empty: the only one in the recording
    :param measures: by their files; default: the specification's own, under None
    :param sensor_topic: of the specification's own input, if it differs from `names`
    :param clock_offset: [s] added to the stamps of all sensors; None: clocks have to agree
    :raises BagError: damage, another campaign, a topic that is missing, or no test
    """
    offset_ns = to_nanoseconds(clock_offset or 0.0)
    recorded = recorded_measures(names, own.measure, measures or {None: own.measure}, sensor_topic)
    tests = CampaignTests(recording, names, (campaign_id, own.digest))
    known = measure_in_passing(recording, tests, list(recorded.values()), offset_ns)
    campaign = choose(tests.campaigns(), campaign_id, recording.path)
    check_recorded_contract(recording, campaign, own.digest)
    notes = _own_clocks(recording, campaign, own.measure, clock_offset)
    if not campaign.segments:
        raise BagError(f'{recording.path}: found no test, expected at least one')
    own_topic = names(own.measure.input.topic)
    evaluated: dict[Path | None, list[EvaluatedSegment]] = {}
    for (name, measured), outcomes in zip(recorded.items(), known, strict=True):
        evaluated[name] = []
        other = measured.inputs[SENSOR][0] != (sensor_topic or own_topic)
        for found, logs in campaign.sessions:
            segments = found if name is None else _for_another_measure(found, other)
            evaluated[name] += outcomes_of(
                recording, measured, segments, outcomes, offset_ns, logs
            )
        evaluated[name].sort(key=lambda each: each.segment.key)
    return EvaluatedRecording(campaign.campaign_id, evaluated, tuple(notes))


def recorded_measures(
    names: TopicNames,
    own: Measure,
    measures: Mapping[Path | None, Measure],
    sensor_topic: str = '',
) -> dict[Path | None, RecordedMeasure]:
    """Return measures with the topics of their inputs in the recording.

    :param own: the measure whose input is on `sensor_topic`, if given
    """
    found = {}
    for name, measure in measures.items():
        given = sensor_topic if sensor_topic and measure.input == own.input else ''
        inputs = {SENSOR: (given or names(measure.input.topic), measure.input)}
        for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True):
            inputs[condition.name] = (names(source.topic), source)
        found[name] = RecordedMeasure(measure, inputs)
    return found


def _own_clocks(
    recording: Recording, campaign: RecordedCampaign, measure: Measure, offset: float | None
) -> list[str]:
    """Check that sensors stamped at arrival share a clock with the phases."""
    apart_ns = campaign.stamp_lead_ns
    inputs = (measure.input, *measure.condition_inputs)
    arriving = [source.topic for source in inputs if source.stamp == Stamp.RECEIVE]
    if offset is not None:
        return [f'{offset:g} s added to the stamps of all sensors'] if offset else []
    if arriving and abs(apart_ns) > ANOTHER_TIME_NS:
        raise BagError(
            f'{recording.path}: found phases {to_seconds(apart_ns):.3f} s before the time at '
            f'which they were recorded, by which {arriving[0]} is stamped, expected one clock: '
            'was it recorded by the system clock in a simulation? --clock-offset takes the '
            'difference'
        )
    return []


def _for_another_measure(segments: Sequence[Segment], other_sensor: bool) -> list[Segment]:
    """Return segments without the outcomes of the recorded measure.

    :param other_sensor: ignore that the recorded sensor's topic had two publishers
    """
    return [
        replace(
            each,
            live=None,
            objection=(
                None
                if other_sensor and each.objection and each.objection.code is Code.PUBLISHERS
                else each.objection
            ),
        )
        for each in segments
    ]
