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
from pathlib import Path

from repsq_ros.campaign.folder import read_tests
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.studies.plan import Budget, Spread, asked_for, budget_of, cheapest, offers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')
    known = parser.add_mutually_exclusive_group(required=True)
    known.add_argument('--sd', type=float, help='expected standard deviation of psi w')
    known.add_argument('--pilot', type=Path, help='folder of an earlier campaign, or a tests.csv')
    parser.add_argument(
        '--mean', type=float, help='with --sd: expected mean (default: the middle of the range)'
    )
    parser.add_argument('--battery-minutes', type=float, help='minutes that one battery lasts')
    parser.add_argument(
        '--change-minutes', type=float, default=0.0, help='minutes to change it (default 0)'
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what each way costs, and the cheapest that proves what was asked for."""
    specification = load(arguments.specification)
    for name in ('sd', 'mean', 'battery_minutes', 'change_minutes'):
        value = getattr(arguments, name)
        negative = value is not None and value < 0 and name != 'mean'
        if value is not None and (not math.isfinite(value) or negative):
            raise ParameterError(name.replace('_', '-'), f'{value}', 'a finite number >= 0')
    budget = budget_of(specification, arguments.battery_minutes, arguments.change_minutes)
    if arguments.battery_minutes is not None and (
        arguments.battery_minutes * 60 < budget.test_seconds
    ):
        raise ParameterError(
            'battery-minutes', f'{arguments.battery_minutes:g}',
            f'enough for one test of {budget.test_seconds:g} s',
        )  # fmt: skip
    spread = _spread(arguments, specification)
    accuracy = specification.accuracy
    print(
        f'asked for   a value within {asked_for(specification):.4g} of the true mean (c '
        f'{accuracy.c:g}), the same in {accuracy.runs} labs with probability '
        f'{1 - accuracy.beta:g}\n'
        f'expected    mean {spread.mean:.4g}, standard deviation {spread.sd:.4g}; '
        f'{budget.test_seconds:g} s a test\n'
    )
    found = offers(specification, spread)
    print('tests    hours  changes  accuracy  agreement  P(same)  gamma     partition, rule')
    for offer in found:
        tests = f'{offer.tests}' if offer.tests else '> 10^6'
        print(
            f'{tests:>7} {_hours(offer.tests, budget)}  '
            f'{"proven  " if offer.accurate else "no proof"}  '
            f'{"proven   " if offer.agreed else "no proof "}  {offer.p_same:7.2f}  '
            f'{offer.gamma:<8.4g}  {offer.partition}, {offer.rule}'
        )
    best = cheapest(found)
    if best is None:
        print('\nNo rule proves all that was asked for with this proposal.')
    else:
        print(
            f'\ncheapest that proves it: {best.partition}, {best.rule}: about {best.tests} tests, '
            f'{budget.hours(best.tests):.2f} h, {budget.battery_changes(best.tests)} battery '
            'changes'
        )
    print('P(same) is a plug-in for two runs, over all places of the mean in its cell.')
    return 0


def _hours(tests: int, budget: Budget) -> str:
    if not tests:
        return '       -        -'
    return f'{budget.hours(tests):8.2f}  {budget.battery_changes(tests):7d}'


def _spread(arguments: argparse.Namespace, specification: Specification) -> Spread:
    measure = specification.measure
    if arguments.pilot is None:
        middle = (measure.lower + measure.upper) / 2
        mean = middle if arguments.mean is None else arguments.mean
        if not measure.lower <= mean <= measure.upper:
            raise ParameterError(
                'mean', f'{mean:g}', f'within the range of psi, {measure.lower:g} to '
                f'{measure.upper:g}'
            )  # fmt: skip
        return Spread(mean, arguments.sd)
    total = Accumulator()
    for record in read_tests(arguments.pilot, specification.box.names):
        z = record.psi * record.weight
        if record.valid and math.isfinite(z):
            total.add(z)
    if total.n < 2:
        raise BagError(f'{arguments.pilot}: found {total.n} valid tests, expected at least 2')
    return Spread(total.mean, math.sqrt(total.unbiased_variance))
