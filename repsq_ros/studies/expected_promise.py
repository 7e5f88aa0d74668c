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

"""The promise of a future campaign without incidents, by the code that writes real promises."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repsq_ros.campaign.promise import facts_of, sentences
from repsq_ros.estimation.binomial import Binomial
from repsq_ros.estimation.divergence_sized import DivergenceSized
from repsq_ros.estimation.moments import FixedN
from repsq_ros.estimation.stopping import StoppingRule
from repsq_ros.specification.model import Specification
from repsq_ros.specification.partition_section import PartitionChoice

PROMISED = 'With probability'  # start of each sentence with a promise
# Rules with a fixed number of tests, whatever the half-width.
FIXED = (FixedN, Binomial, DivergenceSized)


@dataclass(frozen=True)
class ExpectedPromise:
    """The sentences of the result."""

    guarantee: str
    agreement: str
    accurate: bool  # the requested accuracy is promised
    agreed: bool  # ... and the agreement of labs
    provisos: tuple[str, ...] = ()  # unproven assumptions of the promise


def expected_promise(specification: Specification) -> ExpectedPromise:
    """Return the result's sentences if the rule is met without incidents."""
    said = sentences(facts_of(specification, specification.make_proposal()))
    rule = specification.tester.stopping
    open_ = isinstance(rule, FIXED) and not (
        isinstance(rule, Binomial) and rule.widest(specification.accuracy.c) <= specification.gamma
    )
    if open_ and not said.objection:
        return ExpectedPromise(
            'Nothing yet: whether the interval is within gamma is seen when all tests are made.',
            'No agreement is promised: the accuracy that it would follow from is not.',
            False,
            False,
        )
    return ExpectedPromise(
        f'{said.guarantee} {said.acceptance}'.strip(),
        said.agreement,
        said.accurate,
        said.agreement.startswith(PROMISED),
        said.provisos,
    )


def altered(
    specification: Specification,
    rule: StoppingRule | None = None,
    gamma: float | None = None,
    c: float | None = None,
    cells: PartitionChoice | None = None,
) -> Specification:
    """Return the specification with another rule, accuracy or partition."""
    accuracy, tester = specification.accuracy, specification.tester
    return replace(
        specification,
        accuracy=replace(
            accuracy,
            gamma=accuracy.gamma if gamma is None else gamma,
            c=accuracy.c if c is None else c,
        ),
        tester=replace(
            tester,
            stopping=rule or tester.stopping,
            gamma=tester.gamma if gamma is None else gamma,
        ),
        cells=cells or specification.cells,
    )
