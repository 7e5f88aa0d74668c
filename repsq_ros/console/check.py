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

"""repsq check: whether a test specification is valid, and what it promises."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.console.live import folded
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.forecast import expected_tests
from repsq_ros.estimation.stopping import Validity
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.specification.advice import hints, phase_lines, warnings
from repsq_ros.specification.copies import own_classes
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.reach import require_within_reach
from repsq_ros.studies.expected_promise import FIXED, expected_promise
from repsq_ros.timebase import to_seconds

PLACES = 20  # number of psi values tried over its range
# assumed standard deviation of psi, as a share of its range, for the check of the budget
USUAL = 0.125


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')
    parser.add_argument(
        '--allow-code',
        action='store_true',
        help='run the classes that the specification names (module:Class): for files you trust',
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the contents of the specification, or one line about what is wrong with it."""
    file: Path = arguments.specification
    if not arguments.allow_code:
        _refuse_code(file)
    specification = load(file)
    require_within_reach(specification)
    if arguments.json:
        print_json(answer(specification))
    else:
        print(report(specification))
    return 0


def _refuse_code(file: Path) -> None:
    """Refuse a specification with classes of its own: reading would run them.

    :raises SpecificationError: the specification names one
    """
    classes = own_classes(file)
    if classes:
        raise SpecificationError(
            str(file),
            '',
            f'the class {classes[0]!r}, which is run to check it',
            '--allow-code, if you trust this file',
        )


def report(specification: Specification) -> str:
    """Return contents, promise and missing parts of a specification as text."""
    accuracy, tester = specification.accuracy, specification.tester
    proposal, promise = specification.make_proposal(), expected_promise(specification)
    origin = 'computed from p and q' if proposal.proven else 'declared, not proven'
    duration = to_seconds(specification.protocol.duration_ns(specification.box))
    counts = tests_of_equal_psi(specification)
    count = max(counts, default=0)
    least = f'{count} if all gave the same psi, the worst: {count * duration / 3600:.2f} h, '
    kind: str = tester.proposal.kind
    if tester.proposal.sobol:
        kind = 'monte_carlo on a Sobol sequence'
    control = f'\ncontrol     {tester.control.words}' if tester.control is not None else ''
    lines = [
        f'{specification.file}: valid',
        f'name        {specification.name}',
        f'digest      {specification.digest}',
        f'accuracy    gamma {accuracy.gamma:g}, c {accuracy.c:g}, beta {accuracy.beta:g}',
        f'partition   {_partition(specification)}',
        f'proposal    {kind}, weights up to {proposal.largest_weight_bound:.6g} ({origin})',
        f'rule        {tester.stopping.name}{control}',
        f'promised    {promise.guarantee}',
        f'agreement   {promise.agreement}',
        f'tests       {least if count else ""}{duration:.3g} s each; repsq plan says how many to '
        'expect',
        'one test',
        *(f'  {line}' for line in phase_lines(specification)),
        *(f'warning     {each}' for each in _warnings(specification, counts)),
        *(f'hint        {each}' for each in hints(specification)),
    ]
    return '\n'.join(
        [lines[0], *(folded(each) for line in lines[1:] for each in line.split('\n'))]
    )


def answer(specification: Specification) -> dict[str, object]:
    """Return contents, promise and missing parts of a specification for programs."""
    accuracy, proposal = specification.accuracy, specification.make_proposal()
    promise, counts = expected_promise(specification), tests_of_equal_psi(specification)
    return {
        'file': specification.file,
        'valid': True,
        'name': specification.name,
        'digest': specification.digest,
        'about': specification.about,
        'gamma': accuracy.gamma,
        'c': accuracy.c,
        'beta': accuracy.beta,
        'alpha': specification.alpha,
        'cells': None
        if specification.partition is None
        else len(specification.partition.edges) - 1,
        'proposal': specification.tester.proposal.kind.value,
        'weight_bound': proposal.largest_weight_bound,
        'weight_bound_proven': proposal.proven,
        'rule': specification.tester.stopping.name,
        'guarantee': promise.guarantee,
        'agreement': promise.agreement,
        'tests_of_equal_psi': max(counts, default=None),
        'seconds_per_test': to_seconds(specification.protocol.duration_ns(specification.box)),
        'phases': phase_lines(specification),
        'warnings': _warnings(specification, counts),
        'hints': hints(specification),
    }


def budget_warning(specification: Specification) -> str:
    """Warn of a budget that is too small for a usual spread of psi; '' if it is enough.

    For comparison: a uniform distribution has a standard deviation of .289 of its range.
    """
    measure, question = specification.measure, Campaign(specification).question
    tester, width = specification.tester, measure.upper - measure.lower
    rule, mean = tester.stopping, (measure.lower + measure.upper) / 2.0
    if question.gamma <= 0.0 or isinstance(rule, FIXED) or rule.validity is Validity.NONE:
        return ''

    def within(sd: float) -> bool:
        return 0 < expected_tests(rule, question, mean, sd * sd) <= tester.max_tests

    high = USUAL * width
    if not within(0.0) or within(high):
        return ''  # another warning covers a budget that is always too small
    low = 0.0
    for _ in range(10):
        middle = (low + high) / 2.0
        low, high = (middle, high) if within(middle) else (low, middle)
    return (
        f'tester.max_tests: {tester.max_tests} tests reach gamma {specification.gamma:g} where '
        f'the standard deviation of psi is at most about {low:.2g}; else the campaign ends with '
        'an interval and without that accuracy, and the few that reach it are a selection '
        '(repsq plan shows the probability)'
    )


def _warnings(specification: Specification, counts: list[int]) -> list[str]:
    found = list(warnings(specification, min(counts, default=0)))
    budget = budget_warning(specification)
    return [*found, *([budget] if budget else [])]


def tests_of_equal_psi(specification: Specification) -> list[int]:
    """Return the number of tests if all psi are equal, for values over the whole range.

    Empty if it is not known for one of them.
    """
    measure, question = specification.measure, Campaign(specification).question
    rule = specification.tester.stopping
    if question.gamma <= 0.0:
        return []
    values = [
        measure.lower + place / PLACES * (measure.upper - measure.lower)
        for place in range(PLACES + 1)
    ]
    counts = [expected_tests(rule, question, value, 0.0) for value in values]
    return [count for count in counts if count] if all(counts) else []


def _partition(specification: Specification) -> str:
    cells, partition = specification.cells, specification.partition
    if partition is None:
        return (
            f'cells {cells.alpha:.6g} wide, placed around the estimate; replicators use the '
            'replication.yaml of the campaign folder'
        )
    return f'{len(partition.edges) - 1} cells, alpha {cells.alpha:.6g}'
