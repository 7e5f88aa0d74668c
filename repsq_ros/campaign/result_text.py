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

"""The text that is printed when a campaign has ended."""

from __future__ import annotations

import math

from repsq_ros.campaign.progress import price_text
from repsq_ros.campaign.result import Result
from repsq_ros.estimation.probabilities import plug_in_text


def result_text(result: Result) -> str:
    """Return a result as text: value, estimate, promise, agreement, events; one line each."""
    price = price_text(result)
    lines = [
        f'result    {result.value:.6g}  (cell {result.cell}: {result.cell_lower:.6g} to '
        f'{result.cell_upper:.6g})',
        f'estimate  {result.estimate:.6g} +- {result.half_width:.4g} from {result.n} tests, '
        f'{result.invalid} INVALID, {result.broken_off} broken off, {result.skipped} skipped',
        *([f'losses    {price}'] * bool(price)),
        f'promise   {result.guarantee}',
        *([f'accept    {_verdict(result)}'] * bool(result.verdict)),
        f'agreement {result.agreement}',
    ]
    if not math.isnan(result.p_same):
        lines.append(
            f'p_same    A second lab would return the same value with probability '
            f'{plug_in_text(result.p_same)} (plug-in estimate, no guarantee).'
        )
    if result.largest_weight != 1.0:
        origin = 'computed' if result.bound_proven else 'declared, not proven'
        lines.append(
            f'weights   largest {result.largest_weight:.4g}, bound {result.weight_bound:.4g} '
            f'({origin}); worth {result.effective_sample_size:.1f} tests of equal weight'
        )
    lines += [f'response  {line}' for line in result.response]
    return '\n'.join([*lines, *(f'event     {event}' for event in result.events)])


def _verdict(result: Result) -> str:
    """Return the verdict in capitals, and when it fell."""
    fell = f', decided by the first {result.decided_at} tests' if result.decided_at else ''
    return f'{result.verdict.upper()}{fell}'
