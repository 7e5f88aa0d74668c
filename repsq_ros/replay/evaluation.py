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
from dataclasses import dataclass, replace
from typing import NamedTuple

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.command_response import COMPARED, CommandResponse
from repsq_ros.campaign.doubts import gauge_doubts
from repsq_ros.campaign.records import EstimateRecord, TestRecord, close, record_of
from repsq_ros.campaign.result import Result
from repsq_ros.measurement.measure import Evaluation
from repsq_ros.measurement.window import Window
from repsq_ros.replay.segments import Segment
from repsq_ros.specification.model import Specification


class EvaluatedSegment(NamedTuple):
    """One segment of a recording with its outcome."""

    segment: Segment
    outcome: Evaluation


def evaluated_by(outcomes: Mapping[Window, Evaluation], segment: Segment) -> EvaluatedSegment:
    """Return the outcome of a segment.

    :param outcomes: by window; not needed for segments that are not measured
    """
    known = without_samples(segment)
    return EvaluatedSegment(segment, outcomes[segment.window] if known is None else known)


def without_samples(segment: Segment) -> Evaluation | None:
    """Return the outcome of a segment that needs no samples; None: it has to be measured."""
    if segment.ended is not None:
        word = 'skipped' if segment.ended.skipped else 'broken off'
        return Evaluation.invalid(f'{word}: {segment.ended.reason}')
    if segment.objection is not None:
        return Evaluation.invalid(segment.objection.text, code=segment.objection.code)
    return None


@dataclass(frozen=True)
class FoldedCampaign:
    """The campaign that results from recorded tests."""

    latest: EstimateRecord | None  # after the last counted test
    result: Result | None
    unfinished: str = ''  # why there is no result


def records_of(evaluated: Sequence[EvaluatedSegment]) -> list[TestRecord]:
    """Return the records that a campaign counts, in their order.

    A case that was measured when it was recorded and cannot be measured now is not repeated: it
    counts as skipped, and its possible values widen the interval.
    """
    records = []
    for place, (segment, outcome) in enumerate(evaluated):
        record = segment.ended or _record_of(segment, outcome)
        follows = evaluated[place + 1].segment if place + 1 < len(evaluated) else None
        lost = not (record.valid or record.skipped)
        if lost and follows is not None and follows.index > segment.index:
            reason = f'{record.reason}; the recording has no other attempt at it'
            record = replace(record, skipped=True, reason=reason)
        records.append(record)
    return records


def _record_of(segment: Segment, outcome: Evaluation) -> TestRecord:
    record, live = record_of(segment.key, segment.draw, segment.window, outcome), segment.live
    if live is not None and not record.valid and (live.valid, live.code) == (False, record.code):
        # The live reason may have more detail, such as how many samples had arrived.
        return replace(record, reason=live.reason)
    return record


def fold_records(
    specification: Specification, records: Sequence[TestRecord], campaign_id: str
) -> FoldedCampaign:
    """Count recorded tests like a campaign, until its rule is met or no test is left."""
    campaign = Campaign(specification, forecasts=False)
    awaited = 0  # index of the next test
    for record in records:
        if campaign.stopped:
            break
        if record.index > awaited:
            return FoldedCampaign(campaign.latest, None, f'the recording lacks test {awaited}')
        if campaign.add(record) is not None:
            awaited = record.follower[0]
    if campaign.stopped:
        return FoldedCampaign(campaign.latest, campaign.result(campaign_id))
    return FoldedCampaign(
        campaign.latest, None, 'the rule is not met by the tests in the recording'
    )


def doubts_about(
    evaluated: Sequence[EvaluatedSegment], specification: Specification
) -> tuple[str, ...]:
    """Return what the tests show of the instruments, in the words of a campaign's events."""
    response, gauge = CommandResponse(specification.protocol.kind), gauge_doubts(specification)
    for segment, outcome in evaluated:
        command = segment.window.command[:COMPARED]
        if len(outcome.measured) == len(command) == COMPARED:
            response.add(command, outcome.measured)
        if gauge is not None and outcome.valid:
            gauge.take(segment.index, outcome.psi, outcome.measured)
    return (
        *(f'measured against commanded: {each}' for each in response.findings),
        *(f'readings of the gauge: {each}' for each in (gauge.findings if gauge else ())),
    )


def differences(evaluated: Sequence[EvaluatedSegment]) -> str:
    """Return how psi differs from the recorded values; '': by rounding at most."""
    pairs = [
        (segment, outcome)
        for segment, outcome in evaluated
        if segment.ended is None and segment.live is not None
    ]
    unlike = [
        (segment, outcome)
        for segment, outcome in pairs
        if outcome.valid != _live_record(segment).valid
        or not close(outcome.psi, _live_record(segment).psi)
    ]
    if not unlike:
        return ''
    segment, outcome = unlike[0]
    before = _live_record(segment)
    return (
        f'{len(unlike)} of {len(pairs)} attempts are not as when they were recorded, the first: '
        f'test {segment.index}, attempt {segment.attempt}, {_outcome_text(outcome)} now, '
        f'{_outcome_text(before)} then'
    )


def _live_record(segment: Segment) -> TestRecord:
    assert segment.live is not None
    return segment.live


def _outcome_text(outcome: Evaluation | TestRecord) -> str:
    return f'psi {outcome.psi!r}' if outcome.valid else f'INVALID ({outcome.reason})'
