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

"""How fast campaigns are simulated side by side, against the same campaigns one by one.

    .venv/bin/python benchmarks/simulated_campaigns.py [--pairs 1000] [--reference-pairs 50]

Pairs of `anytime` campaigns of about 327 tests (psi Beta of mean 0.47 and sd 0.28, gamma 0.04).
Prints seconds of processor, and the ratio to campaigns one by one in the same run; exits with 1
where a number differs or what is wanted is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from repsq_ros.studies import repeated_campaigns
from repsq_ros.studies.repeated_campaigns import Plan, Run, run_plan

SPECIFICATION = Path(__file__).parents[1] / 'config' / 'paper' / 'g1_locomotion.yaml'
RULE = 'stopping: {rule: empirical_bernstein, range_power: 1, form: paper}'
WANTED_SECONDS, WANTED_RATIO = 7.0, 5.0  # of 1000 pairs; against one by one

Runs = list[tuple[Run, Run]]


def processor_seconds(work: Callable[[], Runs]) -> tuple[float, Runs]:
    """Return the processor's time that a piece of work takes [s], and what it returns."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def main() -> None:
    """Measure, print, and tell by the exit code whether everything wanted is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--pairs', type=int, default=1000)
    parser.add_argument('--reference-pairs', type=int, default=50, help='one by one')
    arguments = parser.parse_args()
    text = SPECIFICATION.read_text(encoding='utf-8')
    if RULE not in text:
        raise SystemExit(f'{SPECIFICATION}: expected {RULE}')
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'specification.yaml'
        file.write_text(text.replace(RULE, 'stopping: {rule: anytime}'), encoding='utf-8')
        plan = Plan(str(file), str(file), 'beta:0.47,0.28', seed=1)
        few = arguments.reference_pairs
        seconds, found = processor_seconds(lambda: run_plan(plan, arguments.pairs))
        with mock.patch.object(
            repeated_campaigns, 'side_by_side', lambda specification, law: False
        ):
            reference, alone = processor_seconds(lambda: run_plan(plan, few))
    each, its = seconds / arguments.pairs, reference / few
    tests = sum(run.n for pair in found for run in pair) / (2 * len(found))
    same = found[:few] == alone[: len(found)]
    results = [
        (f'{arguments.pairs} pairs of campaigns of {tests:.0f} tests: {seconds:.2f} s of '
         f'processor ({WANTED_SECONDS:g} for 1000)', 1000 * each <= WANTED_SECONDS),
        (f'a pair {1e3 * each:.2f} ms, one by one {1e3 * its:.2f} ms: {its / each:.1f} x as fast '
         f'({WANTED_RATIO:g})', its / each >= WANTED_RATIO),
        (f'their numbers {"are" if same else "are NOT"} those of campaigns one by one', same),
    ]  # fmt: skip
    for line, reached in results:
        print(line if reached else f'{line}  MISSED')
    sys.exit(0 if all(reached for _, reached in results) else 1)


if __name__ == '__main__':
    main()
