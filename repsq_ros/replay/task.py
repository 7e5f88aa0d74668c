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

"""One recording, evaluated anew: a task of plain values, which any process can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repsq_ros.errors import BagError, RepsqError
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.sensor_columns import sample_columns, sample_times
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.clocks import Clocked
from repsq_ros.replay.evaluation import (
    Evaluated,
    Folded,
    differences,
    fold_records,
    records_of,
)
from repsq_ros.replay.foreign import Marks, foreign_segments
from repsq_ros.replay.one_walk import (
    Measuring,
    NotAtOnceError,
    Outcomes,
    walk_once,
    with_known,
)
from repsq_ros.replay.recorded_campaign import (
    RecordedCampaign,
    campaigns_in,
    check_recorded_contract,
    choose,
)
from repsq_ros.replay.segments import Segment
from repsq_ros.replay.streaming import SENSOR, evaluate_stream
from repsq_ros.replay.what_if import Variant, variants
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import NANOSECONDS, to_nanoseconds, to_seconds

ANOTHER_TIME_NS = 5 * NANOSECONDS  # between a phase and its recording: two clocks


@dataclass(frozen=True)
class Task:
    """What is to be done with one recording; see `repsq reevaluate --help`."""

    bag: Path
    specification: Path
    tester: Path | None = None
    namespace: str = ''
    remap: tuple[str, ...] = ()
    sensor_topic: str = ''
    campaign: str = ''
    marks: Marks | None = None  # where tests are in other people's recordings
    clock_offset: float | None = None
    gammas: tuple[float, ...] = ()
    rules: tuple[str, ...] = ()
    measures: tuple[Path, ...] = ()
    recover: bool = False  # use what can be read of a damaged recording
    more: tuple[Path, ...] = ()  # recordings that are read with it as one

    def anywhere(self) -> Task:
        """Return the same for a process that works in another folder."""
        marks = self.marks
        if marks is not None and marks.segment_table is not None:
            marks = replace(marks, segment_table=marks.segment_table.resolve())
        return replace(
            self,
            bag=self.bag.resolve(),
            specification=self.specification.resolve(),
            tester=None if self.tester is None else self.tester.resolve(),
            marks=marks,
            measures=tuple(each.resolve() for each in self.measures),
            more=tuple(each.resolve() for each in self.more),
        )


@dataclass(frozen=True)
class VariantOutcome:
    """What one variant made of a recording."""

    variant: Variant
    evaluated: Sequence[Evaluated]
    folded: Folded | None  # None: nobody said how the cases were drawn


@dataclass(frozen=True)
class Reevaluation:
    """One recording, evaluated anew."""

    bag: Path
    campaign_id: str = ''  # empty: other people's recording
    rows: tuple[VariantOutcome, ...] = ()
    notes: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()  # what could not be read, or does not fit together
    digests: tuple[tuple[str, str], ...] = ()  # each file and its SHA-256
    error: str = ''  # why it could not be done, and
    exit_code: int = 0  # ... of what kind that is


def reevaluate(task: Task) -> Reevaluation:
    """Evaluate a recording anew: psi once for each measure, then every rule over it.

    :raises RepsqError: it cannot be done; one line says why
    """
    chosen = variants(task.specification, task.tester, task.gammas, task.rules, task.measures)
    own = (
        chosen[0].specification
        if not chosen[0].changed
        else variants(task.specification, task.tester)[0].specification
    )
    if task.marks is None and not task.recover:
        try:
            return _reevaluated(task, own, chosen, at_once=True)
        except NotAtOnceError:
            pass  # two walks tell what is wrong, in their order
    return _reevaluated(task, own, chosen, at_once=False)


def _reevaluated(
    task: Task, own: Specification, chosen: Sequence[Variant], at_once: bool
) -> Reevaluation:
    """Evaluate a recording anew.

    :param own: the specification as it is
    :param at_once: measure what is known in time while the campaign is read, too
    :raises NotAtOnceError: that cannot be done
    """
    names = TopicNames.of(task.namespace, task.remap)
    with Recording([task.bag, *task.more], task.recover) as bag:
        streams = _Streams(bag, names, task.sensor_topic, own.measure)
        known: dict[Path | None, Outcomes] = {}
        if task.marks is not None:
            sensors = streams.clocked([own.measure, *(v.specification.measure for v in chosen)])
            segments, notes, offset_ns = foreign_segments(
                bag, own, task.marks, sensors, task.clock_offset
            )
            campaign_id = ''
        else:
            offset_ns = to_nanoseconds(task.clock_offset or 0.0)
            if at_once and not bag.by_topic:
                measures = {each.measure: each.specification.measure for each in chosen}
                campaigns, outcomes = walk_once(
                    bag,
                    names,
                    (task.campaign, own.digest),
                    [Measuring(each, streams.inputs_of(each)) for each in measures.values()],
                    offset_ns,
                )
                known = dict(zip(measures, outcomes, strict=True))
            else:
                campaigns = campaigns_in(bag, names)
            campaign = choose(campaigns, task.campaign, bag.path)
            check_recorded_contract(bag, campaign, own.digest)
            segments, campaign_id = campaign.segments, campaign.campaign_id
            notes = _own_clocks(bag, campaign, own.measure, task.clock_offset)
        if not segments:
            raise BagError(f'{bag.path}: found no test, expected at least one')
        measured: dict[Path | None, list[Evaluated]] = {}
        rows = []
        for variant in chosen:
            if variant.measure not in measured:
                anew = segments
                if variant.measure is not None:
                    sources = (own.measure.input, variant.specification.measure.input)
                    anew = _unseen(segments, len({streams.topic_of(each) for each in sources}) > 1)
                measured[variant.measure] = streams.evaluate(
                    variant, anew, offset_ns, known.get(variant.measure)
                )
            evaluated = measured[variant.measure]
            rows.append(
                VariantOutcome(variant, evaluated, _fold(variant, evaluated, campaign_id, task))
            )
        losses, digests = tuple(bag.losses), tuple(bag.digests.items())
    notes += [note for note in [differences(measured.get(None, []))] if note]
    return Reevaluation(task.bag, campaign_id, tuple(rows), tuple(notes), losses, digests)


def reevaluate_or_tell(task: Task) -> Reevaluation:
    """Evaluate a recording anew; what goes wrong with it concerns no other one."""
    try:
        return reevaluate(task)
    except RepsqError as error:
        return Reevaluation(task.bag, error=str(error), exit_code=error.exit_code)


class _Streams:
    """The samples of a bag's sensors."""

    def __init__(self, bag: Recording, names: TopicNames, sensor_topic: str, own: Measure) -> None:
        self._bag, self._own, self._topic = bag, own, names
        self._sensor_topic = sensor_topic

    def topic_of(self, source: Input) -> str:
        """Return where the bag has an input."""
        if self._sensor_topic and source == self._own.input:
            return self._sensor_topic
        return self._topic(source.topic)

    def clocked(self, measures: Sequence[Measure]) -> list[Clocked]:
        """Return the times of all sensors of some measures, in their order and each once."""
        inputs = [each for m in measures for each in (m.input, *m.condition_inputs)]
        found = []
        for source in dict.fromkeys(inputs):
            topic = self.topic_of(source)
            times = sample_times(self._bag, topic, source)
            found.append(Clocked(topic, *times, source.stamp == 'header'))
        return found

    def inputs_of(self, measure: Measure) -> dict[str, tuple[str, Input]]:
        """Return topic and input of a measure's sensor (SENSOR) and of its conditions."""
        return {SENSOR: (self.topic_of(measure.input), measure.input)} | {
            condition.name: (self.topic_of(source), source)
            for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True)
        }

    def evaluate(
        self,
        variant: Variant,
        segments: Sequence[Segment],
        offset_ns: int,
        known: Outcomes | None,
    ) -> list[Evaluated]:
        """Return what the measure of a variant gives.

        :param offset_ns: added to all stamps
        :param known: windows that were measured before; None: nobody looked
        """

        def walk(segments: Sequence[Segment]) -> list[Evaluated]:
            inputs = self.inputs_of(variant.specification.measure)
            stream = sample_columns(self._bag, inputs, offset_ns)
            return evaluate_stream(variant.specification, stream, segments)

        return walk(segments) if known is None else with_known(known, segments, walk)


def _own_clocks(
    bag: Recording, campaign: RecordedCampaign, measure: Measure, offset: float | None
) -> list[str]:
    """Look whether sensors that are stamped when they arrive share a clock with the phases."""
    apart_ns = campaign.stamp_lead_ns
    inputs = (measure.input, *measure.condition_inputs)
    arriving = [source.topic for source in inputs if source.stamp == 'receive']
    if offset is not None:
        return [f'{offset:g} s added to the stamps of all sensors'] if offset else []
    if arriving and abs(apart_ns) > ANOTHER_TIME_NS:
        raise BagError(
            f'{bag.path}: found phases {to_seconds(apart_ns):.3f} s before the time at which they '
            f'were recorded, by which {arriving[0]} is stamped, expected one clock: was it '
            'recorded by the system clock in a simulation? --clock-offset takes the difference'
        )
    return []


def _unseen(segments: Sequence[Segment], other_sensor: bool) -> list[Segment]:
    """Return segments for another measure, without what was measured by the recorded one.

    :param other_sensor: two publishers on the topic of the recorded one's sensor are not its own
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


def _fold(
    variant: Variant, evaluated: Sequence[Evaluated], campaign_id: str, task: Task
) -> Folded | None:
    if task.marks is not None:
        return None
    folded = fold_records(variant.specification, records_of(evaluated), campaign_id)
    if folded.result is None:
        return folded
    return replace(folded, result=variant.mark(folded.result))
