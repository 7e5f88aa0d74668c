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

"""From the last estimate of a campaign to its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from repsq_ros.campaign.doubts import Doubts
from repsq_ros.campaign.losses import Losses
from repsq_ros.campaign.promise import facts_of, sentences
from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.campaign.result import Result
from repsq_ros.estimation.acceptance import AcceptanceTest, AcceptanceVerdict
from repsq_ros.estimation.partition import probability_same
from repsq_ros.estimation.portfolio import takes_middle
from repsq_ros.estimation.stopping import Bounds, Outcome, Progress, StoppingRule
from repsq_ros.sampling.proposals import Proposal
from repsq_ros.specification.model import Specification


def centre_of(rule: StoppingRule, lower: float, upper: float, mean: float) -> float:
    """Return the estimate: the mean of the tests, or the midpoint if the rule requires it."""
    return (lower + upper) / 2.0 if takes_middle(rule) else mean


def conclude(
    campaign_id: str,
    specification: Specification,
    proposal: Proposal,
    progress: Progress,
    latest: EstimateRecord,
    standard_error: float,
    violations: int,
    selection_bound: float,
    losses: Losses,
    systematic: float,
    events: Sequence[str],
    doubts: Doubts,
    acceptance: AcceptanceTest | None = None,
    running: Bounds | None = None,
) -> Result:
    """Return the result of a campaign that has stopped.

    :param standard_error: of the mean [unit of psi]
    :param violations: tests with a value outside its bounds
    :param selection_bound: how far lost tests can have shifted the mean [unit of psi]
    :param systematic: how far the instruments may have moved the mean [unit of psi]
    :param events: everything unusual so far
    :param acceptance: the evidence about the limit of `accept`
    :param running: bounds of the mean over the tests, if it was found to change
    :param doubts: what many tests show of the instruments
    """
    rule = specification.tester.stopping
    estimate = centre_of(rule, latest.lower, latest.upper, latest.mean)
    partition = specification.anchored_at(estimate).partition
    if partition is None:
        raise RuntimeError('an anchored partition has no anchor yet')
    outcome, accept = _outcome(progress), specification.accept
    decided_at = 0 if acceptance is None else int(acceptance.decided_at[0])
    verdict = AcceptanceVerdict.UNDECIDED
    if accept is not None and acceptance is not None and decided_at:
        verdict = accept.verdict_of(bool(acceptance.above[0]))
        if outcome is Outcome.BUDGET and specification.tester.until_verdict:
            outcome = Outcome.REACHED
    quantized = partition.quantize(estimate)
    edge_distance, outside = quantized.edge_distance, quantized.outside
    told = list(events)
    if outside:
        told.append(f'the estimate {estimate} lies outside the range of psi')
    if outcome is Outcome.BUDGET:
        told.append(f'stopped by max_tests at a half-width of {latest.half_width:.6g}')
    elif outcome is not Outcome.VOID and progress.cells is not None:
        first, last = progress.cells
        if outcome is Outcome.UNRESOLVED:
            told.append(f'unresolved between cells {first} and {last}')
        else:
            # The cell that holds r*; the mean itself may lie outside it.
            quantized = partition.quantize(
                (partition.edges[first] + partition.edges[last + 1]) / 2
            )
    told_of = replace(
        facts_of(specification, proposal),
        outcome=outcome,
        lower=latest.lower,
        upper=latest.upper,
        half_width=latest.half_width,
        violations=violations,
        lost=losses.total,
        independent=losses.independent,
        bench=losses.bench,
        verdict=verdict,
        decided_at=decided_at,
        running=running,
        systematic=systematic,
        doubts=doubts.findings,
    )
    said = sentences(told_of)
    by_mean = not told_of.cell_decides
    result = Result(
        campaign_id=campaign_id,
        specification_digest=specification.digest,
        replication_digest='',
        value=quantized.value,
        estimate=estimate,
        cell=quantized.cell,
        cell_lower=quantized.lower,
        cell_upper=quantized.upper,
        edge_distance=edge_distance,
        outside=outside,
        n=latest.n,
        invalid=latest.invalid,
        skipped=latest.skipped,
        broken_off=latest.broken_off,
        bench=latest.bench,
        extra_tests=latest.extra_tests,
        lost_time=latest.lost_time,
        selection_bound=selection_bound,
        lower=latest.lower,
        upper=latest.upper,
        half_width=latest.half_width,
        gamma=specification.accuracy.gamma,
        outcome=outcome.value,
        accurate=said.accurate,
        rule=latest.rule,
        guarantee=f'{said.guarantee} {said.acceptance}'.strip(),
        weight_bound=proposal.largest_weight_bound,
        bound_proven=proposal.proven,
        largest_weight=latest.largest_weight,
        effective_sample_size=latest.effective_sample_size,
        truncation_bias=specification.tester.proposal.truncation_bias,
        p_same=probability_same(partition, estimate, standard_error) if by_mean else math.nan,
        agreement=said.agreement,
        events=tuple(told),
        violations=violations,
        objection=said.objection,
        provisos=said.provisos,
        response=doubts.lines,
        verdict='' if accept is None else said.verdict.value,
        decided_at=decided_at if said.verdict is not AcceptanceVerdict.UNDECIDED else 0,
    )
    return replace(result, replication_digest=result.published(specification).digest)


def _outcome(progress: Progress) -> Outcome:
    if progress.void:
        return Outcome.VOID
    if progress.reached:
        return Outcome.REACHED
    return Outcome.BUDGET if progress.cells is None else Outcome.UNRESOLVED
