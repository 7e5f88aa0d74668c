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

"""The table of a round robin: each lab's value, interval and agreement with the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from repsq_ros.certificate.lab import LabResult, drift_between_labs
from repsq_ros.estimation.precision import (
    LabSummary,
    Precision,
    critical_h,
    critical_k,
    mandel_h,
    mandel_k,
    precision,
    zeta_scores,
)
from repsq_ros.specification.proposal_section import ProposalType

LEVEL = 0.05  # significance level of h and k
QUESTIONABLE = 2.0  # of zeta; 3 is an action signal


@dataclass(frozen=True)
class RoundRobin:
    """The statistics of several labs' results."""

    labs: tuple[LabSummary, ...]
    same: tuple[bool, ...]  # whether each returned the most frequent value
    h: tuple[float, ...]
    k: tuple[float, ...]  # empty: spreads cannot be compared
    zeta: tuple[float, ...]
    spread: Precision | None  # None with `k`
    letters: tuple[str, ...] = ()  # labs that share a letter were not told apart


def compare_labs(labs: Sequence[LabResult]) -> RoundRobin | None:
    """Return the statistics of a round robin; None if a lab has fewer than two tests.

    Mandel's k, repeatability and reproducibility describe single tests. They are only given if
    all labs used the same proposal: otherwise the spreads cannot be compared.
    """
    summaries = tuple(lab.summary for lab in labs)
    if any(each.n < 2 for each in summaries):
        return None
    values = [lab.result['value'] for lab in labs]
    usual = max(values, key=values.count)
    alike = {lab.content['campaign']['proposal'] for lab in labs} == {ProposalType.MONTE_CARLO}
    return RoundRobin(
        summaries,
        tuple(value == usual for value in values),
        tuple(mandel_h(summaries)),
        tuple(mandel_k(summaries)) if alike else (),
        tuple(zeta_scores(summaries)),
        precision(summaries) if alike else None,
        tuple(drift_between_labs(labs).letters([each.mean for each in summaries])),
    )


def round_robin(labs: Sequence[LabResult]) -> str:
    """Return the table, and an explanation of its columns."""
    found = compare_labs(labs)
    if found is None:
        return 'labs      no table: a lab has less than two tests'
    header = ['lab', 'value', 'tests', 'estimate', 'interval', 'group', 'h', 'k', 'zeta', 'agrees']
    rows = [_row(lab, place, found) for place, lab in enumerate(labs)]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        '  '.join(f'{cell:{width}s}' for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    return '\n'.join([*lines, *notes(found)])


def _row(lab: LabResult, place: int, found: RoundRobin) -> list[str]:
    mean, result = lab.mean, lab.result
    k = '-'
    if found.k:
        mark = '*' if found.k[place] > critical_k(found.labs, place, LEVEL) else ''
        k = f'{found.k[place]:.2f}{mark}'
    mark = '*' if abs(found.h[place]) > critical_h(len(found.labs), LEVEL) else ''
    zeta = found.zeta[place]
    return [
        str(lab.path),
        f'{result["value"]:.6g}',
        str(mean.n),
        f'{result["estimate"]:.6g}',
        f'[{mean.lower:.4g}, {mean.upper:.4g}]',
        found.letters[place],
        f'{found.h[place]:+.2f}{mark}',
        k,
        f'{zeta:+.2f}{"*" if abs(zeta) > QUESTIONABLE else ""}',
        'yes' if found.same[place] else 'NO',
    ]


def notes(found: RoundRobin) -> list[str]:
    """Explain the columns, and give the values over all labs."""
    limit = critical_h(len(found.labs), LEVEL)
    shown = 'none for two labs' if math.isinf(limit) else f'{limit:.2f}'
    lines = [
        'interval: of the mean, by the betting sequence at c, whatever the rule of the campaign',
        'group     labs that share a letter do not differ detectably; all pairs share c',
        f'h         Mandel (ISO 5725-2:1994, 7.3.1), of the means of psi w; * beyond {shown}, at '
        f'{LEVEL:g}',
        'zeta      (ISO 13528:2015, 9.6) against the median of the other labs; * beyond '
        f'{QUESTIONABLE:g}: questionable, beyond 3: a signal',
    ]
    if found.spread is None:
        return [
            *lines,
            'k         unknown, as are s_r and s_R: the labs drew their cases differently',
        ]
    return [
        *lines,
        f'k         Mandel (the same), of the spread of single tests; * beyond what {LEVEL:g} of '
        'labs exceed',
        f's_r       {found.spread.repeatability:.4g}, s_L {found.spread.between:.4g}, s_R '
        f'{found.spread.reproducibility:.4g}: repeatability, between labs, reproducibility '
        '(ISO 5725-2:1994, 7.4), of single tests, the spread over cases in it',
    ]
