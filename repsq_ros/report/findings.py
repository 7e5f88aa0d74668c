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

"""The findings of a campaign, in sentences: summary, captions, blind spots."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from repsq_ros.campaign.drift import DriftFinding, MeanInterval
from repsq_ros.estimation.probabilities import confidence_text
from repsq_ros.report.campaign_data import CampaignData
from repsq_ros.report.facts import mean_text, number, plus_minus, rounded, unit_text

COUNTS = ('no', 'one', 'two', 'three', 'four', 'five', 'six')
ARTICLES = ('the ', 'a ', 'an ', 'my ', 'our ')


def subject(campaign: CampaignData) -> str:
    """Return what was measured of which robot, its range, and which end is better."""
    specification, about = campaign.specification, campaign.specification.about
    what = about.measure or specification.name
    if about.robot:
        article = '' if about.robot.lower().startswith(ARTICLES) else 'the '
        what += f' of {article}{about.robot}'
    measure = specification.measure
    better = f', {about.direction.replace("_", " ")}' if about.direction else ''
    return (
        f'{what[0].upper() if about.measure else what[0]}{what[1:]}, '
        f'{number(measure.lower)} to {number(measure.upper)}{unit_text(campaign)}{better}'
    )


def summary(campaign: CampaignData) -> str:
    """Return what was measured and found, in one sentence."""
    latest, result = campaign.latest, campaign.result
    if latest is None or not latest.n:
        return f'{subject(campaign)}: no test has been counted.'
    value = latest.mean if result is None else result.value
    end = 'not finished' if result is None else accuracy(campaign)
    return (
        f'{subject(campaign)}: {plus_minus(campaign, value, campaign.error)} from {latest.n} tests'
        f'{duration([campaign])}; {end}.'
    )


def accuracy(campaign: CampaignData) -> str:
    """Return whether the requested accuracy is promised."""
    accurate = campaign.result is not None and campaign.result.accurate
    return f'accuracy {"" if accurate else "NOT "}promised{_verdict(campaign)}'


def _verdict(campaign: CampaignData) -> str:
    verdict = '' if campaign.result is None else campaign.result.verdict
    return f'; accept: {verdict.upper()}' if verdict else ''


def summary_of_all(campaigns: Sequence[CampaignData]) -> str:
    """Return the summary of several campaigns of one contract; '' if contracts differ."""
    results = [each.result for each in campaigns]
    if any(result is None for result in results) or len(set(map(contract, campaigns))) > 1:
        return ''
    values = sorted({result.value for result in results if result is not None})
    error = max(each.error for each in campaigns)
    found = ' and '.join(plus_minus(campaigns[0], value, error) for value in values)
    tests = ' + '.join(str(each.latest.n) for each in campaigns if each.latest is not None)
    return (
        f'{subject(campaigns[0])}: {found} from {tests} tests{duration(campaigns)}; '
        f'{agreement(campaigns)}.'
    )


def values_text(campaigns: Sequence[CampaignData]) -> str:
    """Return the different values of campaigns, with as many digits as tell them apart."""
    values = sorted({each.result.value for each in campaigns if each.result is not None})
    for more in range(len(values) > 1, 17):
        told = [mean_text(campaigns[0], value, more) for value in values]
        if len(set(told)) == len(values):
            break
    return ', '.join(told)


def agreement(campaigns: Sequence[CampaignData]) -> str:
    """Return whether finished campaigns of one contract returned the same value."""
    count = len(campaigns)
    number_of = COUNTS[count] if count < len(COUNTS) else str(count)
    same = len({each.result.value for each in campaigns if each.result is not None}) == 1
    if len({each.recomputed.contents.seed for each in campaigns}) < count:
        verb = 'return the same value' if same else 'disagree'
        return f'{number_of} campaigns {verb}, some from one seed: no independent replication'
    return f'{number_of} labs {"agree" if same else "disagree"}'


def contract(campaign: CampaignData) -> str:
    """Return the digest that has to be equal for values to be comparable."""
    result = campaign.result
    return campaign.specification.digest if result is None else result.replication_digest


def duration(campaigns: Sequence[CampaignData]) -> str:
    """Return the time from the first to the last window of all sessions, in words."""
    seconds = 0.0
    for session in (session for each in campaigns for session in each.sessions):
        ends = [test.window_end_ns for test in session.tests if test.window_end_ns]
        starts = [test.window_start_ns for test in session.tests if test.window_start_ns]
        if ends and starts:
            seconds += (max(ends) - min(starts)) / 1e9
    if seconds <= 0.0:
        return ''
    if seconds < 90.0:
        return f' in {seconds:.0f} s'
    if seconds < 5400.0:
        return f' in {seconds / 60.0:.0f} minutes'
    return f' in {seconds / 3600.0:.1f} hours'


def badge(campaign: CampaignData) -> str:
    """Return whether the accuracy is promised, and which."""
    result = campaign.result
    if result is None:
        return 'not finished'
    if not result.accurate:
        return accuracy(campaign)
    _, error = rounded(result.value, campaign.error)
    likely = confidence_text(campaign.specification.accuracy.c)
    within = f'within {error}{unit_text(campaign)} with probability {likely}'
    return f'accuracy promised: {within}{_verdict(campaign)}'


# Constant faults that no check within a single campaign can find.
UNSEEN = (
    'a sensor whose scale is off by a few per cent, or a clock that runs a few per cent fast',
    'a low pass in the sensor (0.15 s), a wheel or foot that slips evenly',
    'a lever arm between the tracked point and the point that was meant',
    'whether the robot, the floor or the set-up is another one tomorrow',
)


def unseen(campaign: CampaignData) -> list[str]:
    """Return what this campaign could not detect, specific things first."""
    result = campaign.result
    found = [] if result is None else [f'assumed: {each}' for each in result.provisos]
    lost = len(campaign.lost)
    if lost and result is not None:
        hidden = number(result.selection_bound, 3)
        tests = '1 attempt was' if lost == 1 else f'{lost} attempts were'
        found.append(f'{tests} lost: they can have shifted the mean by at most {hidden}')
    elif lost:
        found.append(f'what the {lost} lost attempts would have given')
    if len(campaign.sessions) < 2:
        found.append('drift from day to day: all tests are of one session')
    if not campaign.recomputed.contents.ledger:
        found.append('other campaigns of which this may be the best: it was not registered')
    return [*found, *UNSEEN]


# Captions ----------------------------------------------------------------------------------------


def of_estimate(campaign: CampaignData) -> str:
    """Return the estimate, and how much it changed at the end."""
    kept = [each for each in campaign.estimates if each.n]
    if not kept:
        return 'No test has been counted.'
    last = kept[-1]
    found = f'After {last.n} tests the estimate is ' + plus_minus(
        campaign, last.mean, last.half_width
    )
    if len(kept) < 4:
        return f'{found}.'
    moved = max(abs(each.mean - last.mean) for each in kept[len(kept) // 2 :])
    return f'{found}. In the second half it stayed within {number(moved, 2)} of that.'


def of_partition(campaign: CampaignData) -> str:
    """Return how far the estimate is from the edge of its cell."""
    result = campaign.result
    if result is None:
        return 'No result, so no cell.'
    far = result.edge_distance / result.half_width if result.half_width > 0.0 else math.inf
    times = f', {far:.1f} half-widths' if math.isfinite(far) and far > 0.0 else ''
    return (
        f'The estimate lies in cell {result.cell} (dotted), {number(result.edge_distance, 2)}'
        f'{unit_text(campaign)} from the nearest edge{times}.'
    )


def of_psi(campaign: CampaignData) -> str:
    """Return how psi is distributed."""
    psi = campaign.psi
    if not psi.size:
        return 'No test has been counted.'
    deviation = float(psi.std(ddof=1)) if psi.size > 1 else math.nan
    return (
        f'psi lies between {number(psi.min(), 3)} and {number(psi.max(), 3)}'
        f'{unit_text(campaign)}; its standard deviation is {number(deviation, 2)}.'
        f'{_of_errors(campaign)}'
    )


def _of_errors(campaign: CampaignData) -> str:
    errors = [test.psi_error for test in campaign.counted]
    if not any(errors):
        return ''
    unit = unit_text(campaign)
    return (
        f' The instruments may have moved it by {number(sum(errors) / len(errors), 2)}{unit} on '
        f'average, and by {number(max(errors), 2)}{unit} at most (psi_error).'
    )


def of_sessions(campaign: CampaignData) -> str:
    """Return whether sessions differ, or that there is one."""
    count = len(campaign.sessions)
    if count > 1:
        return drift(campaign)
    tests = len(campaign.counted)
    return f'One session of {tests} tests: drift between days cannot be seen.' if count else ''


def drift(campaign: CampaignData) -> str:
    """Say whether sessions differ."""
    if len(campaign.sessions) < 2:
        return ''
    found = campaign.drift
    if found.apart:
        pairs = ', '.join(f'{i + 1} and {j + 1}' for i, j in found.apart)
        return f'Drift: sessions {pairs} have different means (tested at level {found.level:.3g}).'
    return f'No drift was found between sessions (tested at level {found.level:.3g}).'


def of_cases(campaign: CampaignData) -> str:
    """Return where psi was highest and lowest."""
    psi = campaign.psi
    if not psi.size or not np.isfinite(campaign.x).all():
        return 'No test has been counted.' if not psi.size else ''
    ends = []
    for word, place in (('highest', int(psi.argmax())), ('lowest', int(psi.argmin()))):
        case = ', '.join(
            f'{dimension.name} {value:.2g} {dimension.unit}'
            for dimension, value in zip(
                campaign.specification.box.dimensions, campaign.x[place], strict=True
            )
        )
        ends.append(f'{word} ({number(psi[place], 3)}) at {case}')
    return f'psi was {"; ".join(ends)}.'


def of_weights(campaign: CampaignData) -> str:
    """Return how much the weights reduce the information."""
    weight = campaign.weight
    if not weight.size or not weight.any():
        return ''
    assert campaign.latest is not None
    return (
        f'The {weight.size} weighted tests are worth '
        f'{campaign.latest.effective_sample_size:.1f} tests of equal weight. '
        f'The largest weight is {weight.max():.3g}.'
    )


def of_all(
    campaigns: Sequence[CampaignData], intervals: Sequence[MeanInterval], found: DriftFinding
) -> str:
    """Return whether means differ; for software versions, from the first to the last."""
    level = f'tested at level {found.level:.3g}'
    apart = ', '.join(f'{campaigns[i].name} and {campaigns[j].name}' for i, j in found.apart)
    told = (
        f'Different means: {apart} ({level}).'
        if apart
        else f'No difference between the means was found ({level}).'
    )
    versions = list(dict.fromkeys(each.specification.about.robot for each in campaigns))
    if len(versions) < 2:
        return told
    first, last = intervals[0], intervals[-1]
    return (
        f'{told} From {campaigns[0].specification.about.robot or campaigns[0].name} to '
        f'{campaigns[-1].specification.about.robot or campaigns[-1].name} the mean changed by '
        f'{change(first, last)}.'
    )


def change(first: MeanInterval, other: MeanInterval) -> str:
    """Return the difference of two means, with the ends that both intervals allow."""
    difference = other.mean - first.mean
    low, high = other.lower - first.upper, other.upper - first.lower
    if not (math.isfinite(low) and math.isfinite(high)):
        return f'{difference:+.2g}'
    return f'{difference:+.2g} ({low:+.2g} to {high:+.2g})'
