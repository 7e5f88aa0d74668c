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

"""What may be claimed of a result, or of a campaign before it begins, in plain sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from repsq_ros.estimation.acceptance import Acceptance, AcceptanceVerdict, AcceptedSide
from repsq_ros.estimation.alpha import OVER_OFFSET, AlphaRule
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.probabilities import confidence_text, probability_text, written
from repsq_ros.estimation.reproducible_query import ReproducibleQuery
from repsq_ros.estimation.stopping import Bounds, Outcome, StoppingRule, Validity
from repsq_ros.estimation.twin_control import TwinAnytime
from repsq_ros.sampling.proposals import Dependence, Proposal
from repsq_ros.specification.accuracy_section import RequiredAccuracy, SelectionBias
from repsq_ros.specification.model import Specification
from repsq_ros.specification.partition_section import PartitionChoice, PartitionType
from repsq_ros.specification.proposal_section import ProposalType

ROUNDING = 1.0 - 1e-12  # tolerance for rounding when 2 gamma is computed differently
NEGLIGIBLE = 0.01  # share of gamma: a smaller instrument error is not mentioned
INDEPENDENT = 'lost whatever psi would have been, which is assumed and not proven'
STATIONARY = 'robot and set-up did not change during the tests'
SENSORS = 'the sensors are right (their errors may have moved the mean by '


def lost_text(lost: int) -> str:
    """Return a number of lost attempts and cases in words."""
    return 'the 1 attempt or case' if lost == 1 else f'the {lost} attempts and cases'


def bench_text(lost: int) -> str:
    """Return a number of attempts that the bench broke off in words."""
    attempts = 'the 1 attempt' if lost == 1 else f'the {lost} attempts'
    return f'{attempts} that the bench broke off (stall, lost node, disk or clock)'


@dataclass(frozen=True)
class Facts:
    """All facts that the sentences depend on. Defaults: a campaign without incidents."""

    rule: StoppingRule
    accuracy: RequiredAccuracy  # with the tester's own gamma
    cells: PartitionChoice
    dependence: Dependence = Dependence.INDEPENDENT
    weight_bound: float = 1.0
    proven: bool = True  # the weight bound follows from p and q
    external: bool = False  # an external program draws the cases
    outcome: Outcome = Outcome.REACHED
    lower: float = math.nan  # lower end of the interval [unit of psi]; NaN: not known yet
    upper: float = math.nan
    half_width: float = math.nan
    violations: int = 0  # tests with a value outside its bounds
    lost: int | None = None  # attempts and cases; None: not known yet
    independent: int | None = None  # those among them that are assumed to be independent of psi
    bench: int = 0  # those among them that the bench itself caused
    accept: Acceptance | None = None  # the limit for the mean
    verdict: AcceptanceVerdict = AcceptanceVerdict.UNDECIDED
    decided_at: int = 0  # number of tests at the verdict; 0: none yet
    running: Bounds | None = None  # bounds of the mean over the tests, if it was found to change
    systematic: float = 0.0  # how far the instruments may have moved the mean [unit of psi]
    doubts: tuple[str, ...] = ()  # inconsistencies between commands and measurements

    @property
    def cell_decides(self) -> bool:
        """True if the rule declares a cell instead of an interval around the mean."""
        return isinstance(self.rule, CertifiedCell)

    @property
    def reach(self) -> float:
        """Return the largest distance between estimate and true mean: gamma or less."""
        gamma, c = self.accuracy.gamma, self.accuracy.c
        return self.rule.reach(gamma, c) if isinstance(self.rule, ReproducibleQuery) else gamma


@dataclass(frozen=True)
class Sentences:
    """The sentences about a result that the facts justify."""

    objection: str  # why no accuracy is promised; '': it is promised
    provisos: tuple[str, ...]  # unproven assumptions of the promise
    guarantee: str
    agreement: str
    acceptance: str = ''  # '': no limit was set
    verdict: AcceptanceVerdict = AcceptanceVerdict.UNDECIDED  # the verdict that may be claimed

    @property
    def accurate(self) -> bool:
        """True if the requested accuracy is promised."""
        return not self.objection


def facts_of(specification: Specification, proposal: Proposal) -> Facts:
    """Return what is known of a campaign before it begins."""
    return Facts(
        specification.tester.stopping,
        replace(specification.accuracy, gamma=specification.gamma),
        specification.cells,
        proposal.dependence,
        proposal.largest_weight_bound,
        proposal.proven,
        specification.tester.proposal.kind == ProposalType.EXTERNAL,
        accept=specification.accept,
    )


def sentences(facts: Facts) -> Sentences:
    """Return the sentences that the facts justify."""
    broken, short = _why_interval_is_invalid(facts), _why_less_than_asked(facts)
    provisos = _provisos(facts)
    objection = broken or short
    if broken:
        guarantee = _no_promise(facts, broken)
    elif short:
        guarantee = _still_valid(facts, provisos)
    else:
        guarantee = _guarantee(facts, provisos)
    agreement = _agreement(facts, objection, provisos)
    acceptance, verdict = _acceptance(facts, provisos)
    return Sentences(objection, provisos, guarantee, agreement, acceptance, verdict)


def _acceptance(facts: Facts, provisos: tuple[str, ...]) -> tuple[str, AcceptanceVerdict]:
    """Return the acceptance sentence, and the verdict that may be claimed."""
    accept, verdict = facts.accept, facts.verdict
    if accept is None:
        return '', AcceptanceVerdict.UNDECIDED
    likely, given = confidence_text(facts.accuracy.c), _assuming(provisos)
    against = _contradicted(facts) or _why_cases_are_not_random(facts)
    asked = f'whether the true mean is {accept.words}'
    if against:
        return f'UNDECIDED: no test tells {asked}, since {against}.', AcceptanceVerdict.UNDECIDED
    if math.isnan(facts.lower):  # before the campaign
        return (
            f'Accepted is a true mean of {accept.words}; the verdict, whenever it falls, is right '
            f'with probability {likely}{given}.',
            verdict,
        )
    if verdict is AcceptanceVerdict.UNDECIDED:
        return f'UNDECIDED: the tests do not tell {asked}.', verdict
    found = accept.words
    if verdict is AcceptanceVerdict.FAIL:
        found = f'{"above" if accept.side == AcceptedSide.BELOW else "below"} {accept.limit:g}'
    return (
        f'{verdict.name}: with probability {likely} the true mean is {found}, decided by the '
        f'first {facts.decided_at} tests{given}.',
        verdict,
    )


def _why_interval_is_invalid(facts: Facts) -> str:
    """Return why the rule's interval is not valid; '' if it is."""
    rule, against = facts.rule, _contradicted(facts)
    if against:
        return against
    if rule.validity is Validity.NONE:
        return rule.statement
    if _why_cases_are_not_random(facts):
        return _why_cases_are_not_random(facts)
    independent = rule.validity in (Validity.FIXED_N_INDEPENDENT, Validity.APPROXIMATE)
    if facts.dependence is Dependence.ADAPTIVE and independent:
        return (
            f'{rule.name} holds for independent tests, and the proposal learns from earlier ones; '
            'anytime and hoeffding hold for such proposals'
        )
    if rule.validity is not Validity.APPROXIMATE:
        return ''
    # Without losses, a campaign that ends by its budget has n = max_tests, fixed beforehand.
    fixed = facts.outcome is Outcome.BUDGET and facts.lost == 0 and not rule.sides
    return '' if fixed else rule.statement


def _contradicted(facts: Facts) -> str:
    """Return which measurements contradict the assumptions of every bet; '' for none."""
    if facts.violations:
        one = facts.violations == 1
        return (
            f'{facts.violations} {"value" if one else "values"} lay outside the bounds that the '
            'rule relies on'
        )
    if facts.outcome is Outcome.VOID:
        return (
            'the tests contradict the assumptions of the rule (see events): the mean drifts, or a '
            'bound is wrong'
        )
    if facts.running is not None:
        return 'the mean changed while the campaign ran (see events)'
    return ''


def _why_cases_are_not_random(facts: Facts) -> str:
    """Return why no bet is valid for the cases; '' if they were drawn at random."""
    if facts.dependence is not Dependence.LOW_DISCREPANCY:
        return ''
    return (
        'the cases are points of a low-discrepancy sequence, not independent draws, and no '
        'rule holds for them'
    )


def _why_less_than_asked(facts: Facts) -> str:
    """Return why a valid interval is less than what was asked for; '' if it is not."""
    if facts.outcome is Outcome.UNRESOLVED:
        return (
            'the budget of tests ran out before the cells that may hold the true mean were down '
            'to one'
        )
    if facts.outcome is Outcome.BUDGET:
        return f'the budget of tests ran out at a half-width of {facts.half_width:.4g}'
    if not facts.cell_decides and facts.half_width * ROUNDING > facts.accuracy.gamma:
        return (
            f'the half-width is {facts.half_width:.4g}, which is wider than gamma = '
            f'{facts.accuracy.gamma:g}'
        )
    return ''


def _provisos(facts: Facts) -> tuple[str, ...]:
    found = []
    if not facts.proven:
        found.append(f'no weight exceeds {facts.weight_bound:g}, which is declared and not proven')
    if facts.external:
        found.append('the other program drew each case from the q of its weight')
    if isinstance(facts.rule, TwinAnytime):
        found.append("the simulator answered the robot's cases as it answered its own")
    lost = facts.independent
    if lost is None and facts.accuracy.selection == SelectionBias.ASSUME_INDEPENDENT:
        found.append(f'tests were {INDEPENDENT}')
    elif lost:
        what = bench_text(lost) if facts.bench == lost else lost_text(lost)
        found.append(f'{what} {"was" if lost == 1 else "were"} {INDEPENDENT}')
    if facts.systematic > NEGLIGIBLE * facts.accuracy.gamma:
        found.append(f'{SENSORS}{facts.systematic:.1g}, the mean of psi_error)')
    found += [f'this is in order: "{doubt}"' for doubt in facts.doubts]
    return tuple(found)


def _of_both(initiator: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """Join two labs' provisos; where both doubt their sensors, keep the larger doubt."""
    both = tuple(dict.fromkeys((*initiator, *own)))
    sensors = [each for each in both if each.startswith(SENSORS)]
    less = sorted(sensors, key=lambda each: float(each.removeprefix(SENSORS).split(',')[0]))[:-1]
    return tuple(each for each in both if each not in less)


def _assuming(provisos: tuple[str, ...]) -> str:
    return f', provided that {" and ".join((STATIONARY, *provisos))}'


def _confidence(facts: Facts) -> str:
    return f'With probability {confidence_text(facts.accuracy.c)}{facts.rule.sides}'


def _no_promise(facts: Facts, reason: str) -> str:
    if facts.rule.validity is Validity.APPROXIMATE and reason == facts.rule.statement:
        within = (
            '' if math.isnan(facts.half_width) else f' within {facts.half_width:.4g} of the mean'
        )
        return (
            f'Nothing exactly: {reason}. Were their number fixed, its interval{within} would hold '
            f'with probability {confidence_text(facts.accuracy.c)}{facts.rule.sides}'
            f'{_assuming(_provisos(facts))}.'
        )
    return f'Nothing: {reason}.{_changing_mean(facts)}'


def _changing_mean(facts: Facts) -> str:
    """Return the bounds of the mean over the tests, if it was found to change."""
    running, provisos = facts.running, _provisos(facts)
    if running is None or facts.violations or _why_cases_are_not_random(facts):
        return ''
    given = f', provided that {" and ".join(provisos)}' if provisos else ''
    return (
        f' With probability {confidence_text(facts.accuracy.c)} the average over these tests of a '
        f'mean that changes lies in [{running.lower:.4g}, {running.upper:.4g}]{given}; the robot '
        'as it is now may be elsewhere.'
    )


def _still_valid(facts: Facts, provisos: tuple[str, ...]) -> str:
    """Return what is still valid though it is less than what was asked for."""
    if facts.lower <= facts.cells.lower and facts.upper >= facts.cells.upper:
        return f'Nothing: {_why_less_than_asked(facts)}.'
    return (
        f'{_confidence(facts)} the true mean lies in [{facts.lower:.4g}, {facts.upper:.4g}]'
        f'{_assuming(provisos)}. That is not what was asked for: {_why_less_than_asked(facts)}.'
    )


def _guarantee(facts: Facts, provisos: tuple[str, ...]) -> str:
    gamma, given, why = facts.reach, _assuming(provisos), _sentence(facts.rule.statement)
    if facts.cell_decides:
        return f'{_confidence(facts)} the true mean lies in this cell{given}. {why}'
    total = gamma + facts.cells.half_width
    if facts.cells.kind == PartitionType.ANCHORED and facts.cells.partition is None:
        total = gamma  # the initiator's value is its estimate
    return (
        f'{_confidence(facts)} the true mean is within {total:.4g} of this result, and within '
        f'{gamma:g} of the estimate{given}. {why} The probability '
        'counts all campaigns, those that end at max_tests included.'
    )


def _sentence(words: str) -> str:
    return f'{words[0].upper()}{words[1:]}.'


def _agreement(facts: Facts, objection: str, provisos: tuple[str, ...]) -> str:
    accuracy, cells = facts.accuracy, facts.cells
    kept = (1 - written(accuracy.c)) ** accuracy.runs
    runs = 'two runs' if accuracy.runs == 2 else f'{accuracy.runs} runs'
    if objection:
        return 'No agreement is promised: the accuracy that it would follow from is not.'
    given = _assuming(provisos)
    if cells.kind == PartitionType.ANCHORED:
        return _anchored_agreement(facts, provisos)
    if facts.cell_decides:
        return (
            f'With probability at least {probability_text(kept)}, {runs} do not return different '
            f'cells, whichever algorithms they use{given}.'
        )
    if cells.alpha_rule == AlphaRule.QUERY:
        # Runs this close to each other agree with 1 - beta (estimation/reproducible_query.py).
        near = cells.alpha / 2.0 * (accuracy.beta - accuracy.runs * accuracy.c)
        if facts.reach * ROUNDING > near:
            return (
                f'Nothing is proved: alpha: query supposes runs within {near:.4g} of the true '
                f'mean (rule reproducible_query, or tester.gamma), not {facts.reach:.4g}.'
            )
    offset = cells.random_offset and cells.alpha_rule in OVER_OFFSET
    if offset:
        algorithm = 'of one law' if cells.alpha_rule == AlphaRule.IID else 'of any algorithms'
        return (
            f'With probability {confidence_text(accuracy.beta)} at least {runs} {algorithm} '
            'return the same value, over the offset that was drawn from a published seed before '
            f'the campaign{given}.'
        )
    if cells.alpha_rule == AlphaRule.PAPER:
        return (
            "Nothing is proved: the paper's alpha does not give its probability of agreement "
            '(docs/theory.md); see p_same and edge_distance.'
        )
    return 'Nothing is proved for a fixed partition; see p_same and edge_distance.'


def _anchored_agreement(facts: Facts, provisos: tuple[str, ...]) -> str:
    """Return what the initiator and its replicators may expect; derived from all facts."""
    accuracy, cells = facts.accuracy, facts.cells
    first, own, c_first = accuracy.gamma, accuracy.gamma, accuracy.c
    if cells.partition is None:
        # What replication.yaml asks of a replicator.
        left = cells.half_width - first
        own = first if left >= first * ROUNDING else left
    else:
        initiator = cells.initiator
        if initiator is None:
            return (
                'Nothing is proved: the specification does not say what its anchor is worth; the '
                "replication.yaml of an initiator's campaign does."
            )
        if initiator.objection:
            return (
                'No agreement is promised: the initiator promises no accuracy: '
                f'{initiator.objection}.'
            )
        first, c_first = initiator.gamma, initiator.c
        provisos = _of_both(initiator.provisos, provisos)
    if own <= first * (1.0 - ROUNDING):
        return (
            f'Nothing is proved: half a cell is {cells.half_width:.4g}, which the gamma of the '
            'initiator alone takes up.'
        )
    if facts.cell_decides:
        own = 0.0  # if r* is within half a cell of the anchor, its cell is the anchor's
    if cells.half_width < (first + own) * ROUNDING:
        return (
            f'Nothing is proved: half a cell is {cells.half_width:.4g}, less than the '
            f'{first:.4g} + {own:.4g} that two labs may differ by.'
        )
    kept = (1 - written(c_first)) * (1 - written(accuracy.c)) ** (accuracy.runs - 1)
    others = accuracy.runs - 1
    repeat = 'one lab that repeats' if others == 1 else f'{others} labs that repeat'
    within = '' if own in (0.0, first) else f' (each replicator within {own:.4g} of the true mean)'
    return (
        f'With probability at least {probability_text(kept)}, the first lab and {repeat} its test '
        f'return the same value, whichever algorithms they use{within}{_assuming(provisos)}.'
    )
