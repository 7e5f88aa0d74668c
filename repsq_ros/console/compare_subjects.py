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

"""repsq compare --subjects: two robots, or a robot and its twin, on the same cases, in pairs."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from repsq_ros.campaign.folder import SPECIFICATION, read_tests
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.campaign.mean_difference import (
    PairComparison,
    check_comparable,
    difference,
    tests_of_twin,
)
from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.estimation.difference import Verdict
from repsq_ros.estimation.probabilities import confidence_text
from repsq_ros.json_answer import print_json
from repsq_ros.sampling.proposals import Dependence
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification

GAP = {
    Verdict.A_LOWER: 'the robot scores lower than its twin',
    Verdict.B_LOWER: 'the robot scores higher than its twin',
    Verdict.OPEN: 'open: no gap between robot and twin is shown',
}


def add_subject_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of a comparison of two subjects."""
    parser.add_argument(
        '--subjects',
        action='store_true',
        help='two subjects on the same cases: confidence interval of the difference and verdict '
        '(default where two campaigns have one seed and name different robots)',
    )
    parser.add_argument(
        '--twin',
        action='store_true',
        help='one campaign with a twin: interval of its mean less that of the twin on the same '
        'cases, the sim-to-real gap',
    )
    parser.add_argument(
        '--margin',
        type=float,
        help='a difference of at most so much does not matter (unit of psi; default: any does)',
    )
    parser.add_argument('--c', type=float, help='probability of a miss (default: accuracy.c of A)')
    parser.add_argument(
        '--better',
        choices=('lower', 'higher'),
        help='which psi is the better one (default: as measure.direction, else lower)',
    )
    parser.add_argument(
        '--assume-independent',
        action='store_true',
        help='assume that lost tests are unrelated to the score (default: worst case)',
    )


def asks_for_subjects(arguments: argparse.Namespace) -> bool:
    """Tell whether to compare two subjects: requested, or one seed and two robots."""
    asked = arguments.subjects or arguments.twin
    if asked or arguments.margin is not None or arguments.better is not None:
        return True
    files = [path / SPECIFICATION for path in arguments.campaigns]
    if len(files) != 2 or not all(file.is_file() for file in files):
        return False
    first, second = map(load, files)
    robots = {first.about.robot, second.about.robot}
    one_seed = first.tester.seed == second.tester.seed
    return len(robots) == 2 and '' not in robots and one_seed and _on_the_same_cases(first, second)


def _on_the_same_cases(first: Specification, second: Specification) -> bool:
    try:
        check_comparable(first, second)
    except ParameterError:
        return False
    kinds = {each.make_proposal().dependence for each in (first, second)}
    return Dependence.ADAPTIVE not in kinds


def compare_subjects(arguments: argparse.Namespace) -> int:
    """Print the interval of the difference, and the verdict."""
    folders: list[Path] = arguments.campaigns
    if len(folders) != 1 + (not arguments.twin):
        expected = 'one, with a twin' if arguments.twin else 'two: subject A and subject B'
        raise ParameterError('campaigns', f'{len(folders)}', expected)
    first, *others = (load(folder / SPECIFICATION) for folder in folders)
    for other in others:
        check_comparable(first, other)
    c = first.accuracy.c if arguments.c is None else arguments.c
    margin = 0.0 if arguments.margin is None else arguments.margin
    if not 0.0 < c < 1.0:
        raise ParameterError('c', f'{c:g}', 'a number in (0, 1)')
    if not (math.isfinite(margin) and margin >= 0.0):
        raise ParameterError('margin', f'{margin:g}', 'a finite number >= 0')
    sides = [_tests(folder, first.box.names) for folder in folders]
    names = [str(folder) for folder in folders]
    if arguments.twin:
        sides.append(tests_of_twin(first, sides[0]))
        names.append('the twin of A' + (f': {first.twin.file}' if first.twin else ''))
    a, b = sides
    found = difference(first, a, b, c, margin, arguments.assume_independent, same_cases=True)
    if found is None:
        raise BagError(
            f'{" and ".join(names)}: found no case that both have finished, expected at least one'
        )
    better = arguments.better or first.about.direction.partition('_')[0] or 'lower'
    verdict = 'none' if found.broken else verdict_in_words(found.verdict, better, margin)
    if arguments.twin and found.verdict in GAP and not found.broken:
        verdict = GAP[found.verdict]
    if arguments.json:
        print_json({'a': names[0], 'b': names[1], 'c': c, 'difference': found,
                    'better': better, 'verdict': verdict})  # fmt: skip
    else:
        _show(arguments, names, first, found, c, verdict)
    return 0


def _tests(folder: Path, names: tuple[str, ...]) -> Sequence[TestRecord]:
    """Return a campaign's tests, from its journal (with causes of losses) or from tests.csv."""
    journal = folder / JOURNAL
    contents = read_contents(journal) if journal.is_file() else None
    return read_tests(folder, names) if contents is None else contents.tests


def _show(
    arguments: argparse.Namespace,
    names: Sequence[str],
    specification: Specification,
    found: PairComparison,
    c: float,
    verdict: str,
) -> None:
    lost = f', {found.lost} of them counted at their worst' if found.lost else ''
    given = ''
    if arguments.assume_independent:
        given = ', provided that lost tests are unrelated to the score'
    if not specification.make_proposal().proven:
        given += ', provided that the declared bound of the weights holds'
    print(
        f'A           {names[0]}\n'
        f'B           {names[1]}\n'
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
        f'verdict     {verdict}{when}'
    )


def verdict_in_words(verdict: Verdict, better: str, margin: float) -> str:
    """Return the verdict for a reader."""
    if verdict is Verdict.WITHIN:
        return f'equal within the margin of {margin:g}'
    if verdict is Verdict.OPEN:
        return 'open: go on with both, on further cases'
    a_better = (verdict is Verdict.A_LOWER) == (better == 'lower')
    return f'{"A" if a_better else "B"} better ({verdict.value}, and {better} is better)'
