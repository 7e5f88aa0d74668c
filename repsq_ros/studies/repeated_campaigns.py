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

"""Repeated campaigns of initiator and replicator, to count how often they agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.errors import CampaignError
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.studies.executor import in_order
from repsq_ros.studies.laws import Law, read_law
from repsq_ros.studies.many import TOGETHER, EndedCampaign, run_many, side_by_side
from repsq_ros.studies.simulated_twins import LawTwin, asked_beside

INITIATOR, REPLICATOR = 0, 1


@dataclass(frozen=True)
class Plan:
    """The settings of all campaigns, which are sent to worker processes."""

    initiator: str  # file of its specification
    replicator: str
    law: str  # see studies.laws; '' with a subject
    subject: str = ''  # a simulated robot instead of a law
    model: str = ''  # folder of its model
    seed: int = 0
    rho: float | None = None  # of a law's twin; None: no twin
    twin_tests: int = 0  # simulated, of a law's twin
    twin_subjects: tuple[str, ...] = ()  # simulators for the twins of specifications


@dataclass(frozen=True)
class Run:
    """The result of one campaign of a pair."""

    value: float
    estimate: float
    n: int
    outcome: str
    lower: float  # lower end of the interval for r* [unit of psi]
    upper: float
    cell_lower: float  # of the returned cell
    cell_upper: float


def seed_of(plan: Plan, pair: int, role: int) -> int:
    """Return the seed of one campaign, independent of process and order."""
    return int(generator(plan.seed, RandomStream.STUDY, pair, role).integers(2**31))


def run_pairs(plan: Plan, pairs: Sequence[int]) -> list[tuple[Run, Run]]:
    """Run some of the pairs of a plan, each an initiator and its replicator."""
    initiator, replicator = load(plan.initiator), load(plan.replicator)
    first = _campaigns(plan, [initiator], [seed_of(plan, pair, INITIATOR) for pair in pairs])
    seconds = [replicator]
    if initiator.partition is None:
        seconds = [replicator.anchored_at(run.estimate) for run in first]
    second = _campaigns(plan, seconds, [seed_of(plan, pair, REPLICATOR) for pair in pairs])
    return list(zip(first, second, strict=True))


def _campaigns(
    plan: Plan, specifications: Sequence[Specification], seeds: Sequence[int]
) -> list[Run]:
    """Run campaigns with one specification, or with one each that differ only in the cells."""
    one = specifications[0]
    each = list(specifications) if len(specifications) == len(seeds) else [one] * len(seeds)
    if not plan.subject:
        law = read_law(plan.law, one.measure.lower, one.measure.upper)
        if plan.rho is None and side_by_side(one, law):
            ended = run_many(one, law, seeds)
            return [_quantized(s, end) for s, end in zip(each, ended, strict=True)]
    return [_run(_campaign(plan, s, seed)) for s, seed in zip(each, seeds, strict=True)]


def _quantized(specification: Specification, end: EndedCampaign) -> Run:
    partition = specification.anchored_at(end.estimate).partition
    assert partition is not None
    cell = partition.quantize(end.estimate)
    return Run(
        cell.value,
        end.estimate,
        end.n,
        end.outcome.value,
        end.lower,
        end.upper,
        cell.lower,
        cell.upper,
    )


def _run(result: Result) -> Run:
    return Run(
        result.value,
        result.estimate,
        result.n,
        result.outcome,
        result.lower,
        result.upper,
        result.cell_lower,
        result.cell_upper,
    )


def _campaign(plan: Plan, specification: Specification, seed: int) -> Result:
    if plan.subject:
        if plan.twin_subjects:
            twins = [make_subject(each, plan.model) for each in plan.twin_subjects]
            specification = asked_beside(specification, twins, seed)
        return run_in_process(specification, make_subject(plan.subject, plan.model), seed)
    measure = specification.measure
    law = read_law(plan.law, measure.lower, measure.upper)
    return campaign_of_law(specification, law, seed, plan.rho, plan.twin_tests)


def campaign_of_law(
    specification: Specification,
    law: Law,
    seed: int,
    rho: float | None = None,
    twin_tests: int = 0,
) -> Result:
    """Run a campaign on a law of psi.

    :param rho: correlation of psi with a twin's answers; None: no twin
    :raises CampaignError: its cases come from another program
    """
    twin = None
    if rho is not None:
        twin = LawTwin(specification, law, rho, twin_tests, seed)
        specification = twin.specification
    proposal = specification.make_proposal()
    campaign = Campaign(specification, forecasts=False)
    noise = generator(seed, RandomStream.SUBJECT)
    box = specification.box
    if not proposal.ready(0):
        raise CampaignError('cases of another program come by a topic: give a table instead')
    index = 0
    while not campaign.stopped:
        draw = proposal.draw(index, seed)
        psi = law.draw(box.to_unit(draw.x), noise)
        if twin is not None:
            twin.answer(draw.x, psi)
        record = TestRecord(
            index, 0, psi, draw.weight, True, x=draw.x, weight_bound=draw.weight_bound
        )
        campaign.add(record)
        proposal.tell(draw.x, psi, draw.weight)
        index += 1
    return campaign.result(f'{law.text}/{seed}')


def chunk_of(plan: Plan) -> int:
    """Return the number of pairs per task: many if they are simulated together."""
    if plan.subject:
        return 5
    one = load(plan.initiator)
    law = read_law(plan.law, one.measure.lower, one.measure.upper)
    return TOGETHER if plan.rho is None and side_by_side(one, law) else 5


def run_plan(
    plan: Plan,
    count: int,
    executor: Executor | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
    chunk: int | None = None,
) -> list[tuple[Run, Run]]:
    """Run all pairs; return them in the order of their numbers.

    :param executor: of this machine or of a cluster; None: in this process
    :param on_progress: called with the number of pairs just completed
    :param chunk: pairs per task
    """
    chunk = chunk or chunk_of(plan)
    parts = [range(k, min(k + chunk, count)) for k in range(0, count, chunk)]
    done: list[tuple[Run, Run]] = []
    for part in in_order(executor, partial(run_pairs, plan), parts):
        done += part
        on_progress(len(part))
    return done
