"""repsq check: whether a test specification is sound, and what it promises."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.campaign.build import make_proposal
from repsq_ros.estimation.stopping import smallest_n
from repsq_ros.specification.load import load
from repsq_ros.timebase import to_seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')


def run(arguments: argparse.Namespace) -> int:
    """Print what the specification says, or one line about what is wrong with it."""
    specification = load(arguments.specification)
    accuracy, tester = specification.accuracy, specification.tester
    z_range = specification.measure.upper * make_proposal(specification).weight_bound
    least = smallest_n(tester.stopping, accuracy.gamma, 0.0, z_range, accuracy.c)
    duration = to_seconds(specification.protocol.duration_ns)
    print(
        f'{specification.file}: sound\n'
        f'name        {specification.name}\n'
        f'digest      {specification.digest}\n'
        f'accuracy    gamma {accuracy.gamma:g}, c {accuracy.c:g}, beta {accuracy.beta:g}\n'
        f'partition   {len(specification.partition.edges) - 1} cells, alpha '
        f'{specification.alpha:.6g}; a quantized value is within '
        f'{accuracy.gamma + specification.alpha / 2:.4g} of the true mean\n'
        f'rule        {tester.stopping.name}: {tester.stopping.statement}\n'
        f'tests       at least {least}, of {duration:g} s '
        f'each: {least * duration / 3600:.2f} h of robot time'
    )
    return 0
