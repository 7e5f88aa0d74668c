"""What the result of a campaign will say, should all go as it should: asked of who writes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from repsq_ros.campaign.promise import agreement, guarantee, objection
from repsq_ros.campaign.result import Outcome
from repsq_ros.estimation.stopping import StoppingRule, Validity
from repsq_ros.specification.model import Specification
from repsq_ros.specification.partition import PartitionChoice

PROMISED = 'With probability'  # how a sentence begins that promises something
CONDITION = ', provided that '


@dataclass(frozen=True)
class Foretold:
    """The sentences of the result."""

    guarantee: str
    agreement: str
    accurate: bool  # the accuracy that is asked for is promised
    agreed: bool  # ... and the agreement of labs

    @property
    def provisos(self) -> str:
        """What nobody has proved of it; '' where there is nothing."""
        _, found, rest = self.guarantee.partition(CONDITION)
        return rest.partition(':')[0] if found else ''


def foretell(specification: Specification) -> Foretold:
    """Return what the result will say where the rule is met and nothing is out of the ordinary."""
    proposal, rule = specification.make_proposal(), specification.tester.stopping
    accuracy = specification.accuracy
    against = objection(specification, proposal, 0)
    if not against and looks_after_every_test(rule):
        against = rule.statement
    if not against and rule.name in ('fixed', 'binomial'):
        against = 'whether the interval is within gamma is seen only when all tests are made'
    if against:
        return Foretold(
            f'Nothing: {against}.',
            'No agreement is promised: the accuracy that it would follow from is not.',
            False, False,
        )  # fmt: skip
    outcome = Outcome.REACHED
    said = guarantee(specification, proposal, outcome, accuracy.gamma, 0)
    agreed = agreement(specification, proposal, outcome, 0)
    return Foretold(said, agreed, said.startswith(PROMISED), agreed.startswith(PROMISED))


def looks_after_every_test(rule: StoppingRule) -> bool:
    """Tell whether a rule that holds for a fixed n lets any test be the last."""
    if rule.name in ('fixed', 'binomial'):
        return False
    return rule.validity not in (Validity.ANY_N, Validity.FIXED_N, Validity.NONE)


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
            accuracy, gamma=accuracy.gamma if gamma is None else gamma,
            c=accuracy.c if c is None else c,
        ),
        tester=replace(tester, stopping=rule or tester.stopping),
        cells=cells or specification.cells,
    )  # fmt: skip
