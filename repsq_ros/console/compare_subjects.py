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

"""repsq compare-subjects: which of two subjects does better, from their campaigns, in pairs."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from repsq_ros.campaign.folder import read_tests
from repsq_ros.campaign.promise import confidence_text
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.estimation.difference import Verdict
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.studies.pairs import Compared, check_comparable, paired_difference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('a', type=Path, help='folder of the campaign of subject A')
    parser.add_argument('b', type=Path, help='folder of that of B, with the same tester.seed')
    parser.add_argument(
        '--margin',
        type=float,
        default=0.0,
        help='a difference of at most so much does not matter (unit of psi; default: any does)',
    )
    parser.add_argument('--c', type=float, help='probability of a miss (default: accuracy.c of A)')
    parser.add_argument(
        '--better',
        choices=('lower', 'higher'),
        default='lower',
        help='which psi is the better one (default: lower, as for every error)',
    )
    parser.add_argument(
        '--assume-independent',
        action='store_true',
        help='attempts were lost whatever psi would have been; else they count at their worst',
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the interval of the difference, and the verdict."""
    first, second = (load(folder / 'specification.yaml') for folder in (arguments.a, arguments.b))
    check_comparable(first, second)
    c = first.accuracy.c if arguments.c is None else arguments.c
    if not 0.0 < c < 1.0:
        raise ParameterError('c', f'{c:g}', 'a number in (0, 1)')
    if not (math.isfinite(arguments.margin) and arguments.margin >= 0.0):
        raise ParameterError('margin', f'{arguments.margin:g}', 'a finite number >= 0')
    names = first.box.names
    a, b = (read_tests(folder, names) for folder in (arguments.a, arguments.b))
    found = paired_difference(first, a, b, c, arguments.margin, arguments.assume_independent)
    if found is None:
        raise BagError(
            f'{arguments.a}, {arguments.b}: found no case that both are over with, expected one '
            'at least'
        )
    _show(arguments, first, found, c)
    return 0


def _show(
    arguments: argparse.Namespace, specification: Specification, found: Compared, c: float
) -> None:
    lost = f', {found.lost} of them counted at their worst' if found.lost else ''
    given = ''
    if arguments.assume_independent:
        given = ', provided that attempts were lost whatever psi would have been'
    if not specification.make_proposal().proven:
        given += ', provided that the declared bound of the weights holds'
    print(
        f'A           {arguments.a}\n'
        f'B           {arguments.b}\n'
        f'pairs       {found.pairs}{lost}\n'
        f'A - B       {found.mean:.4g} (mean of the pairs)'
    )
    if found.broken:
        print(f'interval    none: {found.broken}\nverdict     none')
        return
    when = f', since pair {found.decided_at}' if found.decided_at else ''
    print(
        f'interval    [{found.lower:.4g}, {found.upper:.4g}]: with probability '
        f'{confidence_text(c)} the mean of A less that of B lies in it, at this and at every '
        f'number of pairs{given}\n'
        f'verdict     {verdict_in_words(found.verdict, arguments.better, arguments.margin)}{when}'
    )


def verdict_in_words(verdict: Verdict, better: str, margin: float) -> str:
    """Return the verdict for a reader."""
    if verdict is Verdict.WITHIN:
        return f'equal within the margin of {margin:g}'
    if verdict is Verdict.OPEN:
        return 'open: go on with both, on further cases'
    a_better = (verdict is Verdict.A_LOWER) == (better == 'lower')
    return f'{"A" if a_better else "B"} better ({verdict.value}, and {better} is better)'
