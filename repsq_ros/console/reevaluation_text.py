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

"""The printed text of a re-evaluation."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from repsq_ros.campaign.result_text import result_text
from repsq_ros.console.recorded_inputs import print_digests, print_losses
from repsq_ros.errors import BagError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.replay.evaluation import EvaluatedSegment
from repsq_ros.replay.task import Reevaluation, VariantOutcome
from repsq_ros.timebase import to_seconds

HEADER = 'rule                  gamma     tests  estimate   half-width  value      outcome'


def show(done: Reevaluation) -> None:
    """Print one recording: every test, and the results.

    :raises BagError: there is no valid test
    """
    first = done.rows[0]
    campaign = f', campaign {done.campaign_id}' if done.campaign_id else ''
    print(f're-evaluation of {done.bag}{campaign}')
    shown = []
    for row in done.rows:
        if row.variant.measure not in shown:
            shown.append(row.variant.measure)
            if row.variant.measure is not None:
                print(f'measure of {row.variant.measure}')
            _show_tests(row.evaluated)
    for note in done.notes:
        print(f'note      {note}')
    print_losses(done.losses)
    if not any(each.outcome.valid for row in done.rows for each in row.evaluated):
        raise BagError(f'{done.bag}: found no valid test of {len(first.evaluated)}, expected one')
    if first.folded is None:
        print('No estimate of r*: the recording does not say how its cases were drawn.')
    elif len(done.rows) == 1 and not first.variant.changed:
        if first.folded.result is None:
            print(f'No result: {first.folded.unfinished}.')
        else:
            print(result_text(first.folded.result))
    else:
        _show_table(done.rows)
    print_digests(done.digests)


def spread_of(evaluated: Sequence[EvaluatedSegment]) -> Accumulator:
    """Return mean and spread of psi over the valid tests, unweighted."""
    total = Accumulator()
    for _, outcome in evaluated:
        if outcome.valid:
            total.add(outcome.psi)
    return total


def _show_tests(evaluated: Sequence[EvaluatedSegment]) -> None:
    """Print a line for each test."""
    print('test  attempt  window [s]  samples  psi       label')
    for segment, outcome in evaluated:
        length = to_seconds(segment.window.end_ns - segment.window.start_ns)
        psi = f'{outcome.psi:.6f}' if outcome.valid else 'INVALID '
        note = segment.label if outcome.valid else f'{segment.label} {outcome.reason}'.strip()
        print(
            f'{segment.index:4d}  {segment.attempt:7d}  {length:10.3f}  {outcome.samples:7d}  '
            f'{psi}  {note}'
        )
    total = spread_of(evaluated)
    if total.n:
        print(
            f'{total.n} valid of {len(evaluated)}: mean psi {total.mean:.6f}, '
            f'standard deviation {total.variance**0.5:.6f}'
        )


def _line_of(row: VariantOutcome) -> str:
    """Return a row of the table of results."""
    specification, folded = row.variant.specification, row.folded
    tester = specification.tester
    measure = '' if row.variant.measure is None else f'  measure of {row.variant.measure}'
    if folded is None:
        total = spread_of(row.evaluated)
        mean = total.mean if total.n else math.nan
        return f'{total.n} valid of {len(row.evaluated)}, mean psi {mean:.6f}{measure}'
    latest, result = folded.latest, folded.result
    estimate = (
        '    0  -          -         '
        if latest is None
        else f'{latest.n:5d}  {latest.mean:<9.6f}  {latest.half_width:<10.5f}'
    )
    value = '-' if result is None else f'{result.value:.6g}'
    outcome = folded.unfinished if result is None else result.outcome
    return (
        f'{tester.stopping.name:<20}  {specification.gamma:<8g}  {estimate}  {value:<9}  '
        f'{outcome}{measure}'
    )


def _show_table(rows: Sequence[VariantOutcome]) -> None:
    print(HEADER)
    for row in rows:
        print(_line_of(row))
    if any(row.variant.changed for row in rows):
        print(
            'The guarantees hold for choices made before the tests were seen; each result lists '
            'what was changed (--json).'
        )


def show_all(done: Sequence[Reevaluation]) -> None:
    """Print the rows of many recordings; errors take the place of unreadable ones."""
    print(HEADER)
    for each in done:
        print(f'{each.bag}{f", campaign {each.campaign_id}" if each.campaign_id else ""}')
        for row in each.rows:
            print(f'  {_line_of(row)}')
        for note in each.notes:
            print(f'  note: {note}')
        print_digests(each.digests)
        print_losses(each.losses)
        if each.error:
            sys.stdout.flush()
            print(f'repsq: {each.error}', file=sys.stderr)
    failed = sum(bool(each.error) for each in done)
    if failed:
        print(f'{failed} of {len(done)} recordings could not be evaluated')
