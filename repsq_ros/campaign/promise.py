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

"""What may be said of a result, in plain sentences."""

from __future__ import annotations

from repsq_ros.campaign.result import Outcome
from repsq_ros.estimation.stopping import Validity
from repsq_ros.sampling.proposals import Dependence, Proposal
from repsq_ros.specification.model import Specification


def objection(specification: Specification, proposal: Proposal, violations: int) -> str:
    """Say why nothing is promised, whatever the rule; '' where nothing speaks against it.

    :param violations: values that lay outside their bounds
    """
    rule = specification.tester.stopping
    if violations:
        return f'{violations} values lay outside the bounds that the rule relies on'
    if rule.validity is Validity.NONE:
        return rule.statement
    if proposal.dependence is Dependence.LOW_DISCREPANCY:
        return (
            'the cases are points of a low-discrepancy sequence, not independent draws, and no '
            'rule holds for them'
        )
    if (
        proposal.dependence is Dependence.ADAPTIVE
        and rule.validity is Validity.FIXED_N_INDEPENDENT
    ):
        return (
            f'{rule.name} holds for independent tests, and the proposal learns from earlier ones; '
            'anytime and hoeffding hold for such proposals'
        )
    return ''


def guarantee(
    specification: Specification,
    proposal: Proposal,
    outcome: Outcome,
    half_width: float,
    violations: int,
) -> str:
    """Say in one plain sentence what is promised, and under which assumption."""
    accuracy, rule = specification.accuracy, specification.tester.stopping
    against = objection(specification, proposal, violations)
    if against:
        return f'Nothing: {against}.'
    if outcome is Outcome.VOID:
        return (
            'Nothing: the tests contradict the assumptions of the rule (see events): the mean '
            'drifts, or a bound is wrong.'
        )
    given = _assumptions(specification, proposal)
    confidence = f'With probability {1 - accuracy.c:g}{rule.sides}'
    if outcome is Outcome.UNRESOLVED:
        return (
            'Nothing about one cell: the budget of tests ran out before the cells that may hold '
            f'the true mean were down to one{given}.'
        )
    if rule.name == 'certified_cell':
        return f'{confidence} the true mean lies in this cell{given}: {rule.statement}.'
    if outcome is Outcome.BUDGET:
        return (
            f'Nothing at gamma = {accuracy.gamma:g}: the budget of tests ran out at a half-width '
            f'of {half_width:.4g}.'
        )
    if half_width > accuracy.gamma:
        return (
            f'{confidence} the true mean is within {half_width:.4g} of the estimate{given}, which '
            f'is wider than gamma = {accuracy.gamma:g}: {rule.statement}.'
        )
    if specification.cells.kind == 'anchored' and specification.partition is None:
        total = accuracy.gamma  # the initiator's value is its estimate
    else:
        total = accuracy.gamma + specification.cells.half_width
    return (
        f'{confidence} the true mean is within {total:.4g} of this result, and within '
        f'{accuracy.gamma:g} of the estimate{given}: {rule.statement}.'
    )


def _assumptions(specification: Specification, proposal: Proposal) -> str:
    parts = []
    if not proposal.proven:
        parts.append(
            f'no weight exceeds {proposal.largest_weight_bound:g}, which is declared and not '
            'proven'
        )
    if specification.tester.proposal.kind == 'external':
        parts.append('the other program drew each case from the q of its weight')
    return f', provided that {" and ".join(parts)}' if parts else ''


def agreement(
    specification: Specification, proposal: Proposal, outcome: Outcome, violations: int
) -> str:
    """Say in one plain sentence what is promised about a second lab's value."""
    accuracy, cells = specification.accuracy, specification.cells
    kept = (1 - accuracy.c) ** accuracy.runs
    runs = 'two runs' if accuracy.runs == 2 else f'{accuracy.runs} runs'
    if outcome is not Outcome.REACHED or objection(specification, proposal, violations):
        return 'No agreement is promised: the accuracy that it would follow from is not.'
    if specification.tester.stopping.name == 'certified_cell':
        return (
            f'With probability {kept:.4g} at least no two of {runs} return different cells, '
            'whatever their algorithms.'
        )
    promising = cells.kind == 'anchored' or (
        cells.random_offset and cells.alpha_rule in ('iid', 'distinct')
    )
    if promising and specification.tester.stopping.validity is Validity.FIXED_N_INDEPENDENT:
        return (
            'Nothing is proved: agreement would follow from an accuracy that holds whenever the '
            'campaign stops; anytime and hoeffding give one.'
        )
    if cells.kind == 'anchored' and cells.half_width < 2.0 * accuracy.gamma * (1.0 - 1e-12):
        return (
            f'Nothing is proved: half a cell is {cells.half_width:.4g}, less than the 2 gamma = '
            f'{2 * accuracy.gamma:.4g} that two labs may differ by.'
        )
    if cells.kind == 'anchored':
        return (
            f'With probability {kept:.4g} at least all of {runs}, one of them the initiator, '
            'return the same value, whatever their algorithms; two initiators share no partition.'
        )
    if cells.random_offset and cells.alpha_rule in ('iid', 'distinct'):
        algorithm = 'of one law' if cells.alpha_rule == 'iid' else 'of any algorithms'
        return (
            f'With probability {1 - accuracy.beta:g} at least {runs} {algorithm} return the same '
            'value, over the offset that was drawn from a published seed before the campaign.'
        )
    if cells.alpha_rule == 'paper':
        return (
            "Nothing is proved: the paper's alpha does not give its probability of agreement "
            '(docs/theory.md); see p_same and edge_distance.'
        )
    return 'Nothing is proved for a fixed partition; see p_same and edge_distance.'
