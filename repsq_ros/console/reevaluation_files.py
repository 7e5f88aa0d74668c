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

"""Output files of a re-evaluation: results, psi of all tests, and JSON with everything."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from repsq_ros import __version__
from repsq_ros.console.outputs import write_text
from repsq_ros.console.reevaluation_text import spread_of
from repsq_ros.errors import OutputError
from repsq_ros.json_answer import plain
from repsq_ros.replay.evaluation import EvaluatedSegment
from repsq_ros.replay.task import Reevaluation, VariantOutcome

# Columns of the table of results, from the last estimate and from the result.
OF_ESTIMATE = ('n', 'invalid', 'skipped', 'broken_off', 'mean', 'half_width', 'lower', 'upper')
OF_TESTS = ('attempts', 'valid', 'mean_psi', 'sd_psi')
OF_TEST = (
    'index',
    'attempt',
    'label',
    'x',
    'command',
    'start_ns',
    'end_ns',
    'samples',
    'psi',
    'psi_error',
    'weight',
    'valid',
    'code',
    'reason',
)
OF_RESULT = ('value', 'cell', 'outcome', 'accurate', 'specification_digest')
RESULTS_HEADER = (
    'bag',
    'campaign',
    'measure',
    *OF_TESTS,
    'gamma',
    'rule',
    *OF_ESTIMATE,
    *OF_RESULT,
    'changed',
    'unfinished',
    'sha256',
)
TESTS_HEADER = ('bag', 'measure', *OF_TEST, 'sha256')
REEVALUATIONS = 'reevaluations'  # key of the JSON


def write_results(file: Path, done: Sequence[Reevaluation]) -> None:
    """Write one row for each recording and variant.

    :raises OutputError: it cannot be written
    """
    _write_rows(file, RESULTS_HEADER, (line for each in done for line in _results_of(each)))


def _results_of(done: Reevaluation) -> Iterator[tuple[object, ...]]:
    if done.error:
        empty = ('',) * (3 + len(OF_TESTS) + len(OF_ESTIMATE) + len(OF_RESULT) + 1)
        yield (done.bag, done.campaign_id, *empty, done.error, '')
    for row in done.rows:
        specification, folded = row.variant.specification, row.folded
        latest = result = None
        unfinished = 'it is unknown how the cases were drawn'
        if folded is not None:
            latest, result, unfinished = folded.latest, folded.result, folded.unfinished
        yield (
            done.bag,
            done.campaign_id,
            row.variant.measure or '',
            *_tests_in_short(row.evaluated),
            specification.gamma,
            specification.tester.stopping.name,
            *(getattr(latest, name, '') for name in OF_ESTIMATE),
            *(getattr(result, name, '') for name in OF_RESULT),
            '; '.join(row.variant.changed),
            unfinished,
            _digests_of(done),
        )


def _tests_in_short(evaluated: Sequence[EvaluatedSegment]) -> tuple[object, ...]:
    total = spread_of(evaluated)
    some = (total.mean, total.variance**0.5) if total.n else ('', '')
    return (len(evaluated), total.n, *some)


def write_tests(file: Path, done: Sequence[Reevaluation]) -> None:
    """Write one row for each recording, measure and attempt.

    :raises OutputError: it cannot be written
    """
    lines = (
        (each.bag, row.variant.measure or '', *map(_cell, line), _digests_of(each))
        for each in done
        for row in _one_of_each_measure(each)
        for line in _tests_of(row)
    )
    _write_rows(file, TESTS_HEADER, lines)


def _digests_of(done: Reevaluation) -> str:
    return ' '.join(digest for _, digest in done.digests)


def _cell(value: object) -> object:
    """Return a value for a CSV cell: vectors as numbers separated by spaces."""
    if isinstance(value, tuple):
        return ' '.join(map(repr, value))
    return int(value) if isinstance(value, bool) else value


def _one_of_each_measure(done: Reevaluation) -> list[VariantOutcome]:
    return list({row.variant.measure: row for row in reversed(done.rows)}.values())[::-1]


def _tests_of(row: VariantOutcome) -> Iterator[tuple[object, ...]]:
    for segment, outcome in row.evaluated:
        window, draw = segment.window, segment.draw
        yield (
            segment.index,
            segment.attempt,
            segment.label,
            draw.x,
            window.command,
            window.start_ns,
            window.end_ns,
            outcome.samples,
            outcome.psi if outcome.valid else None,
            outcome.psi_error if outcome.valid else None,
            draw.weight,
            outcome.valid,
            '' if outcome.code is None else outcome.code.key,
            outcome.reason,
        )


def write_json(file: Path, done: Sequence[Reevaluation]) -> None:
    """Write every test and every result, with its differences from the recording.

    :raises OutputError: it cannot be written
    """
    content = {
        'software': f'repsq_ros {__version__}',
        REEVALUATIONS: [_document(each) for each in done],
    }
    write_text(file, json.dumps(plain(content), indent=1, allow_nan=False))


def _document(done: Reevaluation) -> dict[str, object]:
    measures = [
        {
            'measure': str(row.variant.measure or ''),
            'tests': [dict(zip(OF_TEST, line, strict=True)) for line in _tests_of(row)],
        }
        for row in _one_of_each_measure(done)
    ]
    results = [
        {
            're-evaluation': True,
            'changed': list(row.variant.changed),
            'gamma': row.variant.specification.gamma,
            'rule': row.variant.specification.tester.stopping.name,
            'measure': str(row.variant.measure or ''),
            'unfinished': '' if row.folded is None else row.folded.unfinished,
            'result': (
                None
                if row.folded is None or row.folded.result is None
                else row.folded.result.document(row.variant.specification)
            ),
        }
        for row in done.rows
    ]
    return {
        'bag': str(done.bag),
        'campaign': done.campaign_id,
        'notes': list(done.notes),
        'losses': list(done.losses),
        'files': [{'file': file, 'sha256': digest} for file, digest in done.digests],
        'error': done.error,
        'measures': measures,
        'results': results,
    }


def _write_rows(file: Path, header: Sequence[str], lines: Iterator[tuple[object, ...]]) -> None:
    try:
        with file.open('w', encoding='utf-8', newline='') as opened:
            writer = csv.writer(opened)
            writer.writerow(header)
            writer.writerows(lines)
    except OSError as error:
        raise OutputError.unwritable(file, error) from None
