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
from repsq_ros.timebase import to_seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')


def run(arguments: argparse.Namespace) -> int:
    """Print what the specification says, or one line about what is wrong with it."""
    specification = load(arguments.specification)
    accuracy, tester = specification.accuracy, specification.tester
    proposal = specification.make_proposal()
    origin = 'computed from p and q' if proposal.proven else 'declared, not proven'
    duration = to_seconds(specification.protocol.duration_ns(specification.box))
    campaign = Campaign(specification)
    middle = (specification.measure.lower + specification.measure.upper) / 2
    count = expected_tests(tester.stopping, campaign.question, middle, 0.0)
    least = f'{count} if all were alike: {count * duration / 3600:.2f} h, ' if count else ''
    print(
        f'{specification.file}: sound\n'
        f'name        {specification.name}\n'
        f'digest      {specification.digest}\n'
        f'accuracy    gamma {accuracy.gamma:g}, c {accuracy.c:g}, beta {accuracy.beta:g}\n'
        f'partition   {_partition(specification)}\n'
        f'proposal    {tester.proposal.kind}, weights up to '
        f'{proposal.largest_weight_bound:.6g} ({origin})\n'
        f'rule        {tester.stopping.name}: {tester.stopping.statement} '
        f'(holds for: {tester.stopping.validity.value})\n'
        f'tests       {least}{duration:g} s each; repsq plan says how many to expect'
    )
    return 0


def _partition(specification: Specification) -> str:
    cells, partition = specification.cells, specification.partition
    if partition is None:
        return (
            f'cells {cells.alpha:.6g} wide, to be laid around the estimate; replicators use the '
            'replication.yaml of the campaign folder'
        )
    within = specification.accuracy.gamma + cells.half_width
    return (
        f'{len(partition.edges) - 1} cells, alpha {cells.alpha:.6g}; a quantized value is within '
        f'{within:.4g} of the true mean'
    )
