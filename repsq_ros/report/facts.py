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

"""What a report says of a campaign in words and numbers, as rows of two or more cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from repsq_ros.campaign.folder import REPLICATION, SPECIFICATION
from repsq_ros.campaign.progress import price_text
from repsq_ros.campaign.promise import plug_in_text
from repsq_ros.report.campaign_data import CampaignData

Row = tuple[str, ...]


def number(value: float, digits: int = 6) -> str:
    """Return a number for readers."""
    if math.isnan(value):
        return 'not known'
    if math.isinf(value):
        return 'no bound' if value > 0 else 'no bound below'
    return f'{value:.{digits}g}'


def rounded(value: float, error: float) -> tuple[str, str]:
    """Return a value and its error with as many digits as the error warrants.

    The error is rounded up to two digits, the value to the same decimal place.
    """
    if not (math.isfinite(error) and error > 0.0):
        return number(value), number(error)
    decimals = 1 - math.floor(math.log10(error))
    scale = 10.0**decimals
    shown = math.ceil(error * scale - 1e-9) / scale
    places = max(decimals, 0)
    return f'{round(value, decimals):.{places}f}', f'{shown:.{places}f}'


def unit_text(campaign: CampaignData) -> str:
    """Return a blank and the unit of psi; nothing where psi has no unit."""
    unit = campaign.specification.measure.unit
    return '' if unit in ('', '1') else f' {unit}'


def error_of_value(campaign: CampaignData) -> float:
    """Return how far the true mean may be from the value, by the interval of the result."""
    result = campaign.result
    if result is None:
        return math.nan
    return max(result.upper - result.value, result.value - result.lower)


def summary(campaign: CampaignData) -> str:
    """Return what was measured and found, in one sentence."""
    specification = campaign.specification
    measure, latest = specification.measure, campaign.latest
    what = specification.name
    span = f'{number(measure.lower)} to {number(measure.upper)}{unit_text(campaign)}'
    if latest is None or not latest.n:
        return f'{what} ({span}): no test has been counted.'
    result = campaign.result
    value = latest.mean if result is None else result.value
    error = latest.half_width if result is None else error_of_value(campaign)
    found, plus_minus = rounded(value, error)
    so_far = '' if result is not None else ' so far'
    return (
        f'{what} ({span}): {found} \u00b1 {plus_minus}{unit_text(campaign)}{so_far} from '
        f'{latest.n} tests{_duration(campaign)}.'
    )


def _duration(campaign: CampaignData) -> str:
    """Return the time from the first to the last window of each session, in words."""
    seconds = 0.0
    for session in campaign.sessions:
        ends = [test.window_end_ns for test in session.tests if test.window_end_ns]
        starts = [test.window_start_ns for test in session.tests if test.window_start_ns]
        if ends and starts:
            seconds += (max(ends) - min(starts)) / 1e9
    if seconds <= 0.0:
        return ''
    if seconds < 90.0:
        return f' in {seconds:.0f} s'
    return f' in {seconds / 60.0:.0f} min' if seconds < 5400.0 else f' in {seconds / 3600.0:.1f} h'


def badge(campaign: CampaignData) -> str:
    """Return whether the accuracy is promised, and which."""
    result = campaign.result
    if result is None:
        return 'not finished'
    _, error = rounded(result.value, error_of_value(campaign))
    within = f'within {error}{unit_text(campaign)}'
    return f'accuracy promised: {within}' if result.accurate else 'accuracy NOT promised'


# Steady faults that no check of a single campaign can find.
UNSEEN = (
    'a sensor whose scale is off by a few per cent, or a clock that runs a few per cent fast',
    'a low pass in the sensor (0.15 s), a wheel or foot that slips evenly',
    'a lever arm between the tracked point and the point that was meant',
    'whether the robot, the floor or the set-up is another one tomorrow',
)


def unseen(campaign: CampaignData) -> list[str]:
    """Return what this campaign could not see, the particular things first."""
    result = campaign.result
    found = [] if result is None else [str(each) for each in result.provisos]
    lost = len(campaign.lost)
    if lost and result is not None:
        hidden = number(result.selection_bound, 3)
        tests = '1 attempt was' if lost == 1 else f'{lost} attempts were'
        found.append(f'{tests} lost: they can have shifted the mean by at most {hidden}')
    elif lost:
        found.append(f'what the {lost} lost attempts would have given')
    if len(campaign.sessions) < 2:
        found.append('drift from day to day: all tests are of one session')
    return [*found, *UNSEEN]


def headline(campaign: CampaignData) -> tuple[str, str]:
    """Return the value, large, and one line below it."""
    result, latest = campaign.result, campaign.latest
    unit = unit_text(campaign)
    if result is not None:
        return (
            f'{rounded(result.value, error_of_value(campaign))[0]}{unit}',
            f'cell {result.cell}, from {result.cell_lower:.6g} to {result.cell_upper:.6g}; '
            f'{result.n} tests, outcome: {result.outcome}',
        )
    if latest is None or not latest.n:
        lost = len(campaign.lost)
        return 'no result', f'no test has been counted; {lost} attempts were lost'
    return (
        'no result yet',
        f'the estimate stands at {latest.mean:.6g}{unit} +- {number(latest.half_width, 4)} after '
        f'{latest.n} tests',
    )


def promise(campaign: CampaignData) -> list[str]:
    """Return what is promised, a sentence each."""
    result = campaign.result
    if result is None:
        return ['Nothing is promised: the campaign has not come to its end.']
    told = [result.guarantee, result.agreement]
    if not math.isnan(result.p_same):
        told.append(
            f'A second lab would return the same value with probability '
            f'{plug_in_text(result.p_same)}: an estimate from these tests, no guarantee.'
        )
    return told


def spread(campaign: CampaignData) -> str:
    """Return how psi is distributed, in one sentence."""
    psi = campaign.psi
    if not psi.size:
        return 'No test has been counted.'
    deviation = float(psi.std(ddof=1)) if psi.size > 1 else math.nan
    return (
        f'psi from {number(psi.min(), 3)} to {number(psi.max(), 3)}{unit_text(campaign)}, '
        f'standard deviation {number(deviation, 2)}.'
    )


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
            ('estimate', number(latest.mean)),
            ('interval', f'{number(latest.lower)} to {number(latest.upper)}'),
            ('half-width, asked for', f'{number(latest.half_width, 4)}, {latest.gamma:g}'),
            ('rule', latest.rule),
        ]
    elif lost:
        rows.append(('attempts lost', str(lost)))
    accuracy = specification.accuracy
    rows += [
        ('c, beta', f'{accuracy.c:g}, {accuracy.beta:g}'),
        (
            'proposal, seed',
            f'{specification.tester.proposal.kind}, {campaign.recounted.history.seed}',
        ),
    ]
    result = campaign.result
    if result is not None:
        rows += [
            ('distance to the nearest edge', number(result.edge_distance, 4)),
            ('what lost tests can hide', number(result.selection_bound, 4)),
            ('what they cost', price_text(result) or 'nothing'),
        ]
    return rows


def weights(campaign: CampaignData) -> list[Row]:
    """Return what is to be said of the weights."""
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
                number(mean.mean, 4),
                f'{number(mean.lower, 4)} to {number(mean.upper, 4)}',
                words.get(clock, 'not known'),
                str(each.content.get('software', '')),
                str(each.content.get('note', '')),
            )
        )
    return rows


def drift(campaign: CampaignData) -> str:
    """Say whether sessions differ."""
    if len(campaign.sessions) < 2:
        return ''
    found = campaign.drift
    if found.apart:
        pairs = ', '.join(f'{i + 1} and {j + 1}' for i, j in found.apart)
        return f'Drift: sessions {pairs} have different means (tested at level {found.level:.3g}).'
    return f'No drift was found between sessions (tested at level {found.level:.3g}).'


def events(campaign: CampaignData) -> Sequence[str]:
    """Return everything out of the ordinary that stands on the result."""
    return campaign.result.events if campaign.result is not None else ()


def needed(campaign: CampaignData) -> list[Row]:
    """Return what a second lab needs to repeat the campaign."""
    specification, result = campaign.specification, campaign.result
    folder = campaign.recounted.folder
    file = REPLICATION if (folder / REPLICATION).exists() else SPECIFICATION
    digest = result.replication_digest if result is not None else specification.digest
    return [
        ('specification', f'{file} in {campaign.name}/, or the folder that repsq publish makes'),
        ('its digest', digest),
        ('journal', f'{len(campaign.recounted.entries)} lines, head {campaign.recounted.head}'),
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
        rows.append((str(cell), number(edges[cell]), number(edges[cell + 1]), repr(value), word))
    return rows
