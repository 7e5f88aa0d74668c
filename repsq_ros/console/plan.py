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

"""repsq plan: expected tests, robot hours and battery changes, before the robot moves."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, fields
from pathlib import Path

from repsq_ros.campaign.folder import read_tests
from repsq_ros.console.command_line import add_executor_arguments
from repsq_ros.console.live import folded
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.estimation.acceptance import AcceptanceVerdict
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.binomial import Binomial
from repsq_ros.estimation.probabilities import plug_in_text
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.proposal_section import ProposalType
from repsq_ros.studies.costs import (
    Budget,
    Known,
    Offer,
    asked_for,
    budget_of,
    cheapest,
    offers,
    question_of,
    reachable_gamma,
    rules_of,
)
from repsq_ros.studies.counts import Count, count_tests, count_verdict
from repsq_ros.studies.expected_promise import altered, expected_promise
from repsq_ros.studies.spread import (
    AT_LEAST_FOR_CONTROL,
    FEW,
    Pilot,
    Spread,
    largest_sd,
    starting_bounds,
)

SHORTER = {  # names of partitions in the table
    'anchored, each lab within': 'third',
    'random offset, iid': 'iid',
    'random offset, distinct': 'distinct',
    'any fixed': 'any',
    'as specified': 'own',
}


@dataclass(frozen=True)
class GammaOfRule:
    """The half-width that most campaigns reach with a given number of tests."""

    gamma: float  # [unit of psi]; infinite: none
    proven: bool  # the rule guarantees it
    rule: str


@dataclass(frozen=True)
class TestsOfVerdict:
    """Number of tests until the verdict of `accept` for one mean; 0: not reached."""

    mean: float  # [unit of psi]
    verdict: AcceptanceVerdict
    tests: int  # expected
    most: int  # 95 % of campaigns take at most this many


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')
    known = parser.add_mutually_exclusive_group(required=True)
    known.add_argument('--sd', type=float, help='expected standard deviation of psi w')
    known.add_argument('--pilot', type=Path, help='folder of an earlier campaign, or a tests.csv')
    parser.add_argument(
        '--mean', type=float, help='with --sd: expected mean (default: the middle of the range)'
    )
    parser.add_argument(
        '--tests', type=int, help='a budget: say which gamma it is good for, not what gamma costs'
    )
    parser.add_argument(
        '--twin',
        type=float,
        nargs='?',
        const=math.nan,
        metavar='RHO',
        help='plan with a simulator beside the robot; RHO is the correlation of psi with what the '
        "simulator's answer and the case predict (without RHO: as the --pilot and its twin show)",
    )
    parser.add_argument('--battery-minutes', type=float, help='minutes that one battery lasts')
    parser.add_argument(
        '--change-minutes', type=float, default=0.0, help='minutes to change it (default 0)'
    )
    add_executor_arguments(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the cost of each option, and the cheapest one that gives the requested promise."""
    specification = load(arguments.specification)
    _check(arguments)
    budget = budget_of(specification, arguments.battery_minutes, arguments.change_minutes)
    if arguments.battery_minutes is not None and (
        arguments.battery_minutes * 60 < budget.test_seconds
    ):
        raise ParameterError(
            'battery-minutes',
            f'{arguments.battery_minutes:g}',
            f'enough for one test of {budget.test_seconds:g} s',
        )
    notes: list[str] = []
    spread, bounds, controlled = _spread(arguments, specification, notes)
    known = spread, bounds
    if arguments.tests is not None:
        if arguments.twin is not None:
            raise ParameterError('twin', 'beside --tests', 'one of the two')
        gammas = _gammas(specification, known, controlled, arguments.tests)
        if arguments.json:
            print_json({'tests': arguments.tests, 'expected': spread, 'rules': gammas})
        else:
            _show_gammas(arguments.tests, spread, gammas, specification.accuracy.c, budget)
        _print_notes(notes, arguments.json)
        return 0
    found = offers(specification, spread, bounds, controlled)
    verdicts, best = _verdicts(specification, controlled or known), cheapest(found)
    twin = None
    if arguments.twin is not None:
        # Imported here: only this option needs simulated campaigns.
        from repsq_ros.console.plan_twin import plan_twin, recommend_twin, show_twin

        twin = plan_twin(arguments, specification, known, controlled, best)
    if arguments.json:
        print_json(
            {
                'asked_for': asked_for(specification),
                'expected': spread,
                'cheapest': None if best is None else _row(best, budget),
                'offers': [_row(offer, budget) for offer in found],
                **({'accept': verdicts} if verdicts else {}),
                **({'twin': twin} if twin else {}),
            }
        )
    else:
        if twin is not None:
            recommend_twin(twin, budget)
        _recommend(specification, best, budget)
        _show_verdicts(specification, verdicts)
        _show(specification, found, known, budget)
        if twin is not None:
            show_twin(twin)
    _print_notes(notes, arguments.json)
    return 0


def _print_notes(notes: list[str], json: bool) -> None:
    """Print the assumptions; with JSON, on standard error."""
    for each in notes:
        print(folded(each), file=sys.stderr if json else sys.stdout)


def _row(offer: Offer, budget: Budget) -> dict[str, object]:
    """Return an offer for programs; hours are missing if its number of tests is unknown."""
    hours = budget.hours(offer.tests) if offer.tests else None
    return {
        **{each.name: getattr(offer, each.name) for each in fields(offer)},
        'hours': hours,
        'battery_changes': budget.battery_changes(offer.tests) if offer.tests else None,
    }


def _show(specification: Specification, found: list[Offer], known: Known, budget: Budget) -> None:
    """Print the cost of each option."""
    accuracy, (spread, bounds) = specification.accuracy, known
    print(
        folded(
            f'asked for   a value within {asked_for(specification):.4g} of the true mean (c '
            f'{accuracy.c:g}), the same in {accuracy.runs} labs with probability '
            f'{1 - accuracy.beta:g}'
        )
    )
    print(
        folded(
            f'expected    mean {spread.mean:.4g}, standard deviation {spread.sd:.4g}, each value '
            f'in [{bounds.lower:.4g}, {bounds.upper:.4g}]; {budget.test_seconds:g} s a test'
        )
    )
    print('\n  tests   95 %  hours near    agree      P gamma  partition, rule')
    for offer in found:
        name = f'{SHORTER.get(offer.partition, offer.partition)}, {offer.rule}'
        print(
            f'{_tests(offer.count)} {_hours(offer.tests, budget)} '
            f'{_promised(offer.accurate, offer)} {_promised(offer.agreed, offer)} '
            f'{_two_digits(offer.p_same):>4} {_known(offer.gamma, ".2g"):<6} {name}'
        )
    print(
        '\nnear, agree: whether accuracy and agreement are proven.\n'
        'tests: expected; 95 %: of campaigns need at most that; certified_cell: median.\n'
        'P: chance that two labs return the same value, estimated, not guaranteed.\n'
        'third: anchored, each lab within a third; iid, distinct: a random offset.'
    )


def _recommend(specification: Specification, best: Offer | None, budget: Budget) -> None:
    """Print the cheapest option with the requested promise, and whether it is affordable."""
    if best is None:
        print('advice      No rule promises all that was asked for with this proposal.\n')
        return
    changes = budget.battery_changes(best.tests)
    battery = f', {changes} battery changes' if changes else ''
    print(
        folded(
            f'advice      {best.partition}, {best.rule}: about {best.tests} tests, '
            f'{budget.hours(best.tests):.2f} h{battery}. No other way that promises it is cheaper.'
        )
    )
    limit = specification.tester.max_tests
    short = best.count.share_beyond(limit)
    if short > 0.0 or best.tests > limit:
        likely = 'below 0.01' if short < 0.01 else plug_in_text(short)
        likely = '' if math.isnan(short) else f' with probability {likely}'
        print(
            folded(
                f'warning     max_tests = {limit} ends such a campaign first{likely}; it then '
                'promises an interval, and not gamma'
            )
        )
    print(folded(f'promised    {best.promise.guarantee}'))
    print(folded(f'agreement   {best.promise.agreement}') + '\n')


def _verdicts(specification: Specification, known: Known) -> list[TestsOfVerdict]:
    """Return the tests until a verdict, for the expected mean and for means at the margin."""
    accept, margin = specification.accept, specification.accept_margin
    if accept is None:
        return []
    spread, bounds = known
    c, bias = specification.accuracy.c, specification.tester.proposal.truncation_bias
    near = [
        Spread(mean, min(spread.sd, largest_sd(mean, bounds)))
        for mean in (accept.limit - margin, accept.limit + margin)
        if bounds.lower <= mean <= bounds.upper and not math.isclose(mean, spread.mean)
    ]
    found = []
    for each in (spread, *near):
        count = count_verdict(accept.limit, margin, c, bias, bounds, each)
        above = each.mean > accept.limit
        found.append(TestsOfVerdict(each.mean, accept.verdict_of(above), count.mean, count.most))
    return found


def _show_verdicts(specification: Specification, verdicts: list[TestsOfVerdict]) -> None:
    accept = specification.accept
    if accept is None:
        return
    print(f'accept      mean {accept.words}, wrong with probability {specification.accuracy.c:g}')
    for each in verdicts:
        told = f'{each.verdict.name} after about {each.tests} tests (95 %: {each.most})'
        told = told if each.tests else 'no verdict within reach'
        print(f'            a mean of {each.mean:.4g}: {told}')
    if not specification.tester.until_verdict:
        print('            tester.until: verdict ends the campaign there')
    print()


def _two_digits(p_same: float) -> str:
    return '-' if math.isnan(p_same) else f'{math.floor(100.0 * min(p_same, 0.99)) / 100.0:.2f}'


def _known(value: float, form: str) -> str:
    return '-' if math.isnan(value) else f'{value:{form}}'


def _check(arguments: argparse.Namespace) -> None:
    for name in ('sd', 'mean', 'battery_minutes', 'change_minutes'):
        value = getattr(arguments, name)
        negative = value is not None and value < 0 and name != 'mean'
        if value is not None and (not math.isfinite(value) or negative):
            raise ParameterError(name.replace('_', '-'), f'{value}', 'a finite number >= 0')
    if arguments.tests is not None and arguments.tests < 2:
        raise ParameterError('tests', f'{arguments.tests}', 'a whole number >= 2')


def _promised(promised: bool, offer: Offer) -> str:
    if not promised:
        return 'no     '
    return 'assumed' if offer.promise.provisos else 'proven '


def _tests(count: Count) -> str:
    if not count.mean:
        return f'{"> 10^6":>14}'
    return f'{count.mean:>7}{count.most or "-":>7}'


def _hours(tests: int, budget: Budget) -> str:
    return f'{budget.hours(tests):7.2f}' if tests else '      -'


def _spread(
    arguments: argparse.Namespace, specification: Specification, notes: list[str]
) -> tuple[Spread, Bounds, Known | None]:
    measure, kind = specification.measure, specification.tester.proposal.kind
    bounds = starting_bounds(specification)
    if arguments.pilot is not None:
        return _of_pilot(arguments.pilot, specification, notes)
    middle = (measure.lower + measure.upper) / 2
    mean = middle if arguments.mean is None else arguments.mean
    if not measure.lower <= mean <= measure.upper:
        raise ParameterError(
            'mean', f'{mean:g}', f'within the range of psi, {measure.lower:g} to {measure.upper:g}'
        )
    largest = largest_sd(mean, bounds)
    if arguments.sd > largest * 1.01:  # tolerate a rounded value slightly above it
        raise ParameterError(
            'sd',
            f'{arguments.sd:g}',
            f'at most {largest:.4g}, the largest that psi w in '
            f'[{bounds.lower:g}, {bounds.upper:.4g}] can have with a mean of {mean:g}',
        )
    if kind == ProposalType.ADAPTIVE:
        notes.append(
            'note        computed for the proposal as it starts; only a --pilot shows what it '
            'learns, and its bounds'
        )
    if specification.tester.control is not None:
        notes.append('note        only a --pilot shows what the control variate saves')
    return Spread(mean, min(arguments.sd, largest)), bounds, None


def _of_pilot(
    folder: Path, specification: Specification, notes: list[str]
) -> tuple[Spread, Bounds, Known | None]:
    pilot = Pilot(specification, read_tests(folder, specification.box.names))
    count = len(pilot.tests)
    if count < 2:
        raise BagError(f'{folder}: found {count} valid tests, expected at least 2')
    # An adaptive proposal depends on how long it learns.
    tests, c = specification.tester.max_tests, specification.accuracy.c
    for _ in range(4 if specification.tester.proposal.kind == ProposalType.ADAPTIVE else 1):
        spread, bounds, size = pilot.planned(tests)
        question = question_of(specification, bounds, specification.gamma, c)
        tests = count_tests(Anytime(), question, spread).mean or tests
    low, high = pilot.sd_interval()
    notes.append(
        f'pilot       {count} tests; their standard deviation is between {low:.4g} and {high:.4g} '
        f'(95 %, resampled); worth {size:.0f} of the proposal that is planned'
    )
    if size < FEW:
        notes.append(
            f'warning     fewer than {FEW}: the spread is hardly known, and rare large values may '
            'not have been seen at all'
        )
    controlled = pilot.controlled()
    if specification.tester.control is not None:
        told = 'what the control variate saves is not known: it takes a pilot by Monte Carlo of '
        told += f'{AT_LEAST_FOR_CONTROL} tests'
        if controlled is not None:
            told = f'with the control variate the standard deviation is {controlled[0].sd:.4g}'
            if specification.twin is not None:
                told += f', with {len(specification.twin.simulated)} simulated tests'
        notes.append(f'note        {told}')
    return spread, bounds, controlled


def _gammas(
    specification: Specification, known: Known, controlled: Known | None, tests: int
) -> list[GammaOfRule]:
    """Return by rule the gamma that a number of tests is enough for."""
    found = []
    for rule in reversed(rules_of(specification, known[0])):
        if isinstance(rule, Binomial):
            successes = round(tests * known[0].mean)
            gamma = Binomial(tests).half_width(successes, specification.accuracy.c)
        else:
            gamma = reachable_gamma(specification, rule, tests, known, controlled)
        proven = expected_promise(altered(specification, rule, gamma)).accurate
        found.append(GammaOfRule(gamma, proven, rule.name))
    return found


def _show_gammas(
    tests: int, spread: Spread, gammas: list[GammaOfRule], c: float, budget: Budget
) -> None:
    print(
        f'{tests} tests, {budget.hours(tests):.2f} h, {budget.battery_changes(tests)} battery '
        f'changes; expected mean {spread.mean:.4g}, sd {spread.sd:.4g}\n'
        f'gamma that 95 % of campaigns reach with them (c {c:g}):'
    )
    for each in gammas:
        shown = f'{each.gamma:.4g}' if math.isfinite(each.gamma) else '-'
        print(f'{shown:>9}  {"proven" if each.proven else "no proof":8}  {each.rule}')
