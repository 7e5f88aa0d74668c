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

"""The re-evaluation of one recording: a task of plain values, for any process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repsq_ros.errors import RepsqError
from repsq_ros.measurement.measure import Measure
from repsq_ros.recordings.recording import Recording
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.evaluated_campaign import (
    EvaluatedRecording,
    evaluate_campaign,
    recorded_measures,
)
from repsq_ros.replay.evaluation import (
    EvaluatedSegment,
    FoldedCampaign,
    differences,
    doubts_about,
    fold_records,
    records_of,
)
from repsq_ros.replay.foreign import ForeignTests, Marks
from repsq_ros.replay.recorded_windows import measure_in_passing, outcomes_of
from repsq_ros.replay.what_if import Variant, variants
from repsq_ros.specification.model import Specification


@dataclass(frozen=True)
class Task:
    """What to do with one recording; see `repsq reevaluate --help`."""

    bag: Path
    specification: Path
    tester: Path | None = None
    namespace: str = ''
    remap: tuple[str, ...] = ()
    sensor_topic: str = ''
    campaign: str = ''
    marks: Marks | None = None  # where the tests of a foreign recording are
    clock_offset: float | None = None
    gammas: tuple[float, ...] = ()
    rules: tuple[str, ...] = ()
    measures: tuple[Path, ...] = ()
    recover: bool = False  # read as much as possible of a damaged recording
    more: tuple[Path, ...] = ()  # recordings that are read together with it

    def anywhere(self) -> Task:
        """Return the task with absolute paths, for a process in another folder."""
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
    """The result of one variant for a recording."""

    variant: Variant
    evaluated: Sequence[EvaluatedSegment]
    folded: FoldedCampaign | None  # None: how the cases were drawn is not known


@dataclass(frozen=True)
class Reevaluation:
    """The result for one recording."""

    bag: Path
    campaign_id: str = ''  # empty: a foreign recording
    rows: tuple[VariantOutcome, ...] = ()
    notes: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()  # what could not be read, or is inconsistent
    digests: tuple[tuple[str, str], ...] = ()  # each file with its SHA-256
    error: str = ''  # why it failed, and
    exit_code: int = 0  # ... its exit code


def reevaluate(task: Task) -> Reevaluation:
    """Re-evaluate a recording: psi once per measure, then every rule on it.

    :raises RepsqError: it failed; one line says why
    """
    chosen = variants(task.specification, task.tester, task.gammas, task.rules, task.measures)
    own = (
        chosen[0].specification
        if not chosen[0].changed
        else variants(task.specification, task.tester)[0].specification
    )
    names = TopicNames.of(task.namespace, task.remap)
    # The limit of psi_error is a share of the contract's gamma, also under other settings.
    gamma = own.measure.gamma
    measures = {each.measure: replace(each.specification.measure, gamma=gamma) for each in chosen}
    with Recording([task.bag, *task.more], task.recover) as recording:
        if task.marks is None:
            found = evaluate_campaign(
                recording,
                own,
                names,
                task.campaign,
                measures,
                task.sensor_topic,
                task.clock_offset,
            )
        else:
            found = _foreign(task, recording, own, names, measures)
        rows = [
            VariantOutcome(
                each,
                found.evaluated[each.measure],
                _fold(each, found.evaluated[each.measure], found.campaign_id, task),
            )
            for each in chosen
        ]
        losses, digests = tuple(recording.losses), tuple(recording.digests.items())
    first = next(iter(found.evaluated.values()), [])
    notes = [
        *found.notes,
        *filter(None, [differences(found.evaluated.get(None, []))]),
        *doubts_about(first, own),
    ]
    return Reevaluation(task.bag, found.campaign_id, tuple(rows), tuple(notes), losses, digests)


def _foreign(
    task: Task,
    recording: Recording,
    own: Specification,
    names: TopicNames,
    measures: Mapping[Path | None, Measure],
) -> EvaluatedRecording:
    assert task.marks is not None
    recorded = recorded_measures(names, own.measure, measures, task.sensor_topic)
    inputs = [each for measured in recorded.values() for each in measured.inputs.values()]
    tests = ForeignTests(recording, own, task.marks, inputs, task.clock_offset)
    known = measure_in_passing(recording, tests, list(recorded.values()), tests.offset_ns)
    segments, notes = tests.segments()
    evaluated = {
        name: outcomes_of(recording, measured, segments, outcomes, tests.offset_ns)
        for (name, measured), outcomes in zip(recorded.items(), known, strict=True)
    }
    return EvaluatedRecording('', evaluated, tuple(notes))


def reevaluate_or_tell(task: Task) -> Reevaluation:
    """Re-evaluate a recording; an error is returned, so that other recordings are not affected."""
    try:
        return reevaluate(task)
    except RepsqError as error:
        return Reevaluation(task.bag, error=str(error), exit_code=error.exit_code)


def _fold(
    variant: Variant, evaluated: Sequence[EvaluatedSegment], campaign_id: str, task: Task
) -> FoldedCampaign | None:
    if task.marks is not None:
        return None
    folded = fold_records(variant.specification, records_of(evaluated), campaign_id)
    if folded.result is None:
        return folded
    return replace(folded, result=variant.mark(folded.result))
