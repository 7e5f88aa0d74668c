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

"""repsq check: whether a test specification is sound, and what it promises."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.estimation.forecast import expected_tests
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.studies.foretold import foretell
from repsq_ros.timebase import to_seconds

PLACES = 20  # of psi in its range that are tried


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')


def run(arguments: argparse.Namespace) -> int:
    """Print what the specification says, or one line about what is wrong with it."""
    specification = load(arguments.specification)
    accuracy, tester = specification.accuracy, specification.tester
    proposal, foretold = specification.make_proposal(), foretell(specification)
    origin = 'computed from p and q' if proposal.proven else 'declared, not proven'
    duration = to_seconds(specification.protocol.duration_ns(specification.box))
    count = fewest(specification)
    least = f'{count} even if all psi were alike: {count * duration / 3600:.2f} h, '
    kind = tester.proposal.kind
    if tester.proposal.sobol:
        kind = 'monte_carlo on a Sobol sequence'
    control = f'\ncontrol     {tester.control.words}' if tester.control is not None else ''
    print(
        f'{specification.file}: sound\n'
        f'name        {specification.name}\n'
        f'digest      {specification.digest}\n'
        f'accuracy    gamma {accuracy.gamma:g}, c {accuracy.c:g}, beta {accuracy.beta:g}\n'
        f'partition   {_partition(specification)}\n'
        f'proposal    {kind}, weights up to {proposal.largest_weight_bound:.6g} ({origin})\n'
        f'rule        {tester.stopping.name}{control}\n'
        f'promised    {foretold.guarantee}\n'
        f'agreement   {foretold.agreement}\n'
        f'tests       {least if count else ""}{duration:g} s each; repsq plan says how many to '
        'expect'
    )
    return 0


def fewest(specification: Specification) -> int:
    """Return how many tests it takes where all psi are alike, for the worst such psi."""
    measure, question = specification.measure, Campaign(specification).question
    rule = specification.tester.stopping
    if question.gamma <= 0.0:
        return 0
    values = [
        measure.lower + place / PLACES * (measure.upper - measure.lower)
        for place in range(PLACES + 1)
    ]
    counts = [expected_tests(rule, question, value, 0.0) for value in values]
    return max(counts) if all(counts) else 0


def _partition(specification: Specification) -> str:
    cells, partition = specification.cells, specification.partition
    if partition is None:
        return (
            f'cells {cells.alpha:.6g} wide, to be laid around the estimate; replicators use the '
            'replication.yaml of the campaign folder'
        )
    return f'{len(partition.edges) - 1} cells, alpha {cells.alpha:.6g}'
