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

"""The contents of a report in words and numbers, as rows of two or more cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from repsq_ros.campaign.folder import REPLICATION, SPECIFICATION
from repsq_ros.campaign.progress import price_text
from repsq_ros.estimation.probabilities import confidence_text, plug_in_text
from repsq_ros.report.campaign_data import CampaignData

Row = tuple[str, ...]
ROUNDED_UP = 1.1  # an error gets one digit if rounding it up to that adds at most this factor


def number(value: float, digits: int = 6) -> str:
    """Return a number for readers."""
    if math.isnan(value):
        return 'not known'
    if math.isinf(value):
        return 'no bound' if value > 0 else 'no bound below'
    return f'{value:.{digits}g}'


def rounded(value: float, error: float) -> tuple[str, str]:
    """Return a value and its error with as many digits as the error warrants.

    The error is rounded up to one digit, or to two where one would add more than a tenth; the
    value is rounded to the same decimal place.
    """
    if not (math.isfinite(error) and error > 0.0):
        return number(value), number(error)
    decimals = _decimals(error)
    return _fixed(value, decimals), _fixed(_up(error, decimals), decimals)


def _decimals(error: float) -> int:
    """Return the decimal place that an error warrants; negative: tens, hundreds, ..."""
    decimals = -math.floor(math.log10(error))
    return decimals + (_up(error, decimals) > ROUNDED_UP * error)


def _fixed(value: float, decimals: int) -> str:
    return f'{round(value, decimals):.{max(decimals, 0)}f}'


def mean_text(campaign: CampaignData, value: float, more: int = 0) -> str:
    """Return a mean with the digits that the page's largest error warrants.

    :param more: additional decimal places
    """
    error = campaign.page_error if math.isfinite(campaign.page_error) else campaign.error
    if not (math.isfinite(error) and error > 0.0 and math.isfinite(value)):
        return number(value, 4)
    return _fixed(value, _decimals(error) + more)


def end_text(campaign: CampaignData, value: float) -> str:
    """Return the end of an interval or a cell, with one digit more than a mean."""
    return mean_text(campaign, value, 1)


def ends_text(campaign: CampaignData, lower: float, upper: float) -> str:
    """Return an interval or a cell."""
    return f'{end_text(campaign, lower)} to {end_text(campaign, upper)}'


def plus_minus(campaign: CampaignData, value: float, error: float) -> str:
    """Return a mean and its error, which is rounded up, with the unit."""
    return f'{mean_text(campaign, value)} \u00b1 {rounded(value, error)[1]}{unit_text(campaign)}'


def _up(error: float, decimals: int) -> float:
    """Return an error rounded up, ignoring floating point noise."""
    scale = 10.0**decimals
    return math.ceil(error * scale - 1e-9) / scale


def unit_text(campaign: CampaignData) -> str:
    """Return a blank and the unit of psi; nothing where psi has no unit."""
    unit = campaign.specification.measure.unit
    return '' if unit in ('', '1') else f' {unit}'


def headline(campaign: CampaignData) -> tuple[str, str]:
    """Return the value, and the line below it."""
    result, latest = campaign.result, campaign.latest
    unit = unit_text(campaign)
    if result is not None:
        return (
            f'{mean_text(campaign, result.value)}{unit}',
            f'cell {result.cell}, from {ends_text(campaign, result.cell_lower, result.cell_upper)}'
            f'; {result.n} tests, outcome: {result.outcome}',
        )
    if latest is None or not latest.n:
        lost = len(campaign.lost)
        return 'no result', f'no test has been counted; {lost} attempts were lost'
    found = plus_minus(campaign, latest.mean, latest.half_width)
    return 'no result yet', f'the estimate stands at {found} after {latest.n} tests'


def promise(campaign: CampaignData) -> list[str]:
    """Return the promises, one sentence each."""
    result = campaign.result
    if result is None:
        return ['Nothing is promised: the campaign has not come to its end.']
    told = [f'Promised: {result.guarantee}', result.agreement]
    if result.accurate:
        _, error = rounded(result.value, campaign.error)
        low, high = end_text(campaign, result.lower), end_text(campaign, result.upper)
        told.insert(
            0,
            f'With probability {confidence_text(campaign.specification.accuracy.c)} the true mean '
            f'lies in [{low}, {high}], within {error} of this value.',
        )
    if not math.isnan(result.p_same):
        told.append(
            f'A second lab would return the same value with probability '
            f'{plug_in_text(result.p_same)}: an estimate from these tests, no guarantee.'
        )
    return told


def counts(campaign: CampaignData) -> list[Row]:
    """Return the numbers of the campaign."""
    latest, specification = campaign.latest, campaign.specification
    lost = len(campaign.lost)
    rows: list[Row] = [('tests counted', str(len(campaign.counted)))]
    if latest is not None:
        rows += [
            (
                'INVALID, broken off, skipped',
                f'{latest.invalid}, {latest.broken_off}, {latest.skipped}',
            ),
            ('estimate', mean_text(campaign, latest.mean)),
            ('interval', ends_text(campaign, latest.lower, latest.upper)),
            ('half-width, asked for', f'{number(latest.half_width, 2)}, {latest.gamma:g}'),
            ('rule', latest.rule),
        ]
    elif lost:
        rows.append(('attempts lost', str(lost)))
    accuracy = specification.accuracy
    rows += [
        ('c, beta', f'{accuracy.c:g}, {accuracy.beta:g}'),
        (
            'proposal, seed',
            f'{specification.tester.proposal.kind}, {campaign.recomputed.contents.seed}',
        ),
    ]
    rows.append(('registration', registration(campaign)))
    result = campaign.result
    if result is not None:
        rows += [
            *([('accept', acceptance(campaign))] * bool(result.verdict)),
            ('distance to the nearest edge', number(result.edge_distance, 2)),
            ('what lost tests can hide', number(result.selection_bound, 2)),
            ('what they cost', price_text(result) or 'nothing'),
        ]
    return rows


def registration(campaign: CampaignData) -> str:
    """Return the registration before the first test, and other campaigns of the ledger."""
    found = campaign.registration
    if found.problems:
        return f'DOES NOT FIT: {"; ".join(found.problems)}'
    return found.note or found.not_checked


def acceptance(campaign: CampaignData) -> str:
    """Return the limit, the verdict, and when it fell."""
    accept, result = campaign.specification.accept, campaign.result
    if accept is None or result is None:
        return ''
    fell = f' by the first {result.decided_at} tests' if result.decided_at else ''
    return f'mean {accept.words}: {result.verdict.upper()}{fell}'


def weights(campaign: CampaignData) -> list[Row]:
    """Return the facts about the weights."""
    latest = campaign.latest
    if latest is None or not latest.n:
        return []
    if campaign.specification.make_proposal().unweighted:
        return [('weights', 'all 1: cases were drawn from the target itself')]
    proposal = campaign.specification.make_proposal()
    origin = 'computed from p and q' if proposal.proven else 'declared, not proven'
    return [
        ('largest weight', number(latest.largest_weight, 4)),
        ('bound', f'{number(proposal.largest_weight_bound, 4)} ({origin})'),
        ('effective sample size', f'{latest.effective_sample_size:.1f} of {latest.n}'),
    ]


def sessions(campaign: CampaignData) -> list[Row]:
    """Return a row for each session: when, tests, mean, interval, clock, software, note."""
    rows: list[Row] = []
    for each, mean in zip(campaign.sessions, campaign.of_sessions, strict=True):
        clock = each.content.get('clock', {}).get('synchronized')
        words = {True: 'synchronized', False: 'NOT synchronized'}
        began = str(each.content.get('date', 'not recorded'))[:16].replace('T', ' ')
        rows.append(
            (
                began,
                str(mean.n),
                mean_text(campaign, mean.mean),
                ends_text(campaign, mean.lower, mean.upper),
                words.get(clock, 'not known'),
                str(each.content.get('software', '')),
                str(each.content.get('note', '')),
            )
        )
    return rows


def events(campaign: CampaignData) -> Sequence[str]:
    """Return everything unusual that the result lists."""
    return campaign.result.events if campaign.result is not None else ()


def needed(campaign: CampaignData) -> list[Row]:
    """Return what a second lab needs to repeat the campaign."""
    specification, result = campaign.specification, campaign.result
    folder = campaign.recomputed.folder
    file = REPLICATION if (folder / REPLICATION).exists() else SPECIFICATION
    digest = result.replication_digest if result is not None else specification.digest
    return [
        (
            'specification',
            f'{file} in {campaign.name}/, or the folder that repsq certify --publish makes',
        ),
        ('its digest', digest),
        ('journal', f'{len(campaign.recomputed.entries)} lines, head {campaign.recomputed.head}'),
        ('the second lab', f'repsq run {file} --tester tester.yaml --output second'),
        ('then', f'repsq compare {campaign.name} second'),
        ('to check this campaign', f'repsq verify {campaign.name}'),
    ]


def cells(campaign: CampaignData) -> list[Row]:
    """Return the cell of the result and its neighbours."""
    result = campaign.result
    if result is None:
        return []
    partition = result.published(campaign.specification).partition
    if partition is None:
        return []
    edges = partition.edges
    rows: list[Row] = []
    for cell in range(max(result.cell - 1, 0), min(result.cell + 2, len(edges) - 1)):
        value = partition.quantize((edges[cell] + edges[cell + 1]) / 2).value
        word = 'result' if cell == result.cell else 'neighbour'
        ends = (end_text(campaign, edge) for edge in edges[cell : cell + 2])
        rows.append((str(cell), *ends, mean_text(campaign, value), word))
    return rows
