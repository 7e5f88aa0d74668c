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

"""Figures of one campaign: its estimate, its tests, its weights, its cell."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from repsq_ros.report.campaign_data import Array, CampaignData
from repsq_ros.report.facts import mean_text
from repsq_ros.report.figure_style import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, RED, figure

MOST_BINS = 40
CELLS_BESIDE = 2.5  # cells shown on either side of the result


def _limits(values: Array, least: float) -> tuple[float, float]:
    """Return the ends of an axis for these values, with a minimum length."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    room = max(0.05 * (high - low), (least - (high - low)) / 2, 1e-9 * max(abs(high), 1.0))
    return low - room, high + room


def _nothing(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, ha='center', va='center', transform=axes.transAxes, color=GREY)
    axes.set_xticks([])
    axes.set_yticks([])


def chart_of_estimate(campaign: CampaignData, beside: Sequence[CampaignData] = ()) -> str:
    """Draw the estimate with its interval over the tests, and where it stopped.

    :param beside: all campaigns of the page, which share the axis of the mean
    """

    def draw(made: Any) -> None:
        axes = made.subplots()
        kept = [each for each in campaign.estimates if each.n]
        if not kept:
            _nothing(axes, 'no test has been counted')
            return
        measure = campaign.specification.measure
        n = np.array([each.n for each in kept])
        mean = np.array([each.mean for each in kept])
        low = np.clip([each.lower for each in kept], measure.lower, None)
        high = np.clip([each.upper for each in kept], None, _highest(campaign))
        axes.fill_between(
            n, low, high, color=PALE, step='post', label='interval', edgecolor=GREY, linewidth=0.6
        )
        marker = 'o' if len(kept) < 5 else ''
        axes.plot(n, mean, color=BLUE, linewidth=1.8, marker=marker, label='estimate')
        last = kept[-1]
        gamma = campaign.specification.gamma
        axes.errorbar(
            [last.n],
            [last.mean],
            yerr=gamma,
            color=RED,
            capsize=4,
            linewidth=1.6,
            marker='s',
            markersize=4,
            label=f'\u00b1 gamma = {gamma:g}',
        )
        axes.axvline(last.n, color=BLACK, linestyle=':', linewidth=1.0)
        axes.set_ylim(*_span_of_estimates(beside or [campaign]))
        axes.set_xlim(min(n[0], last.n - 1), last.n + max(0.03 * last.n, 0.5))
        axes.set_xlabel('tests, stopped here' if last.stopped else 'tests so far')
        axes.set_ylabel('mean of ' + campaign.specification.axis_of_psi)
        beside_the_data(axes, 3)

    return figure(draw)


def _span_of_estimates(campaigns: Sequence[CampaignData]) -> tuple[float, float]:
    """Return the ends of an axis for estimates, ignoring the wide early intervals."""
    shown: list[float] = []
    for each in campaigns:
        kept = [one for one in each.estimates if one.n]
        shown += [one.mean for one in kept]
        for one in kept[len(kept) // 3 :]:
            shown += [max(one.lower, each.specification.measure.lower)]
            shown += [min(one.upper, _highest(each))]
    gamma = max(each.specification.gamma for each in campaigns)
    return _limits(np.array(shown), 4 * gamma)


def beside_the_data(axes: Any, columns: int) -> None:
    """Put the legend above the axes, outside of the data."""
    axes.legend(loc='lower left', bbox_to_anchor=(0.0, 1.0), ncols=columns, columnspacing=1.2)


def whole_numbers(axis: Any) -> None:
    """Let the ticks of an axis of counts be whole numbers."""
    axis.get_major_locator().set_params(integer=True)


def _highest(campaign: CampaignData) -> float:
    """Return the largest possible mean."""
    highest = campaign.specification.measure.upper
    return highest if math.isfinite(highest) else np.inf


def chart_of_psi(campaign: CampaignData) -> str:
    """Draw how psi is distributed."""

    def draw(made: Any) -> None:
        axes = made.subplots()
        psi = campaign.psi
        if not psi.size:
            _nothing(axes, 'no test has been counted')
            return
        axes.hist(psi, bins=_bins(psi), color=BLUE, edgecolor='white', linewidth=0.5)
        mean = float(psi.mean())
        axes.axvline(mean, color=BLACK, linewidth=1.4)
        same = ', all of them equal' if np.ptp(psi) == 0 else ''
        plain = '' if np.all(campaign.weight == 1.0) else ', not weighted'
        axes.set_title(
            f'mean {mean_text(campaign, mean)}{plain}, n = {psi.size}{same}', loc='right'
        )
        axes.set_xlabel(campaign.specification.axis_of_psi)
        axes.set_ylabel('tests')
        whole_numbers(axes.yaxis)

    return figure(draw, 2.8)


def _bins(values: Array) -> Array:
    low, high = float(values.min()), float(values.max())
    if not high - low > 1e-12 * max(abs(low), abs(high), 1e-12):
        room = 0.05 * abs(low) or 0.5
        return np.array([low - 3 * room, low - room, low + room, low + 3 * room])
    found = np.unique(values)
    if found.size == 2:  # an indicator: one bar for each of two values
        width = (high - low) / 4
        return np.array([low - width, low + width, high - width, high + width])
    count = min(max(int(math.sqrt(values.size)), 5), MOST_BINS)
    return np.asarray(np.linspace(low, high, count + 1), dtype=np.float64)


def chart_of_sessions(campaign: CampaignData) -> str:
    """Draw psi over the tests, and the mean of each session with its interval."""

    def draw(made: Any) -> None:
        axes = made.subplots()
        psi = campaign.psi
        if not psi.size:
            _nothing(axes, 'no test has been counted')
            return
        axes.plot(
            np.arange(1, psi.size + 1),
            psi,
            'o' if psi.size < 500 else '.',
            color=BLUE,
            markersize=3 if psi.size < 500 else 2,
            alpha=0.6,
            label='test',
            rasterized=psi.size > 1000,
        )
        start, kept = 0, campaign.specification.measure
        for number, mean in enumerate(campaign.of_sessions):
            end = start + mean.n
            if mean.n:
                low, high = max(mean.lower, kept.lower), min(mean.upper, _highest(campaign))
                axes.fill_between(
                    [start + 0.5, end + 0.5],
                    low,
                    high,
                    facecolor='none',
                    edgecolor=GREY,
                    hatch='////',
                    linewidth=0.8,
                    label='' if number else "session's interval",
                )
                axes.plot(
                    [start + 0.5, end + 0.5],
                    [mean.mean] * 2,
                    color=RED,
                    linewidth=2.0,
                    label='' if number else "session's mean of psi w",
                )
            if number:
                axes.axvline(start + 0.5, color=BLACK, linestyle='--', linewidth=0.9)
            start = end
        axes.set_ylim(*_limits(psi, 2 * campaign.specification.gamma))
        axes.set_xlabel('test')
        axes.set_ylabel(campaign.specification.axis_of_psi)
        beside_the_data(axes, 2)

    return figure(draw)


def chart_of_weights(campaign: CampaignData) -> str:
    """Draw the importance weights against their bound; '' where every weight is 1."""
    weight = campaign.weight
    if not weight.size or np.all(weight == 1.0):
        return ''

    def draw(made: Any) -> None:
        axes = made.subplots()
        axes.hist(weight, bins=_bins(weight), color=GREEN, edgecolor='white', linewidth=0.5)
        bound = campaign.specification.make_proposal().largest_weight_bound
        if math.isfinite(bound):
            axes.axvline(bound, color=RED, linestyle='--', label=f'bound {bound:.4g}')
        axes.axvline(
            float(weight.max()), color=BLACK, linestyle=':', label=f'largest {weight.max():.4g}'
        )
        axes.set_xlabel('importance weight w = p/q')
        axes.set_ylabel('tests')
        whole_numbers(axes.yaxis)
        beside_the_data(axes, 2)

    return figure(draw, 2.8)


def chart_of_partition(campaign: CampaignData) -> str:
    """Draw the cells around the result, the estimate and its interval; '' without a result."""
    result = campaign.result
    if result is None:
        return ''
    partition = result.published(campaign.specification).partition
    if partition is None:
        return ''

    def draw(made: Any) -> None:
        axes, edges = made.subplots(), partition.edges
        width = max(result.cell_upper - result.cell_lower, 1e-12)
        ends = [result.cell_lower, result.cell_upper, result.estimate, result.value]
        low, high = min(ends) - CELLS_BESIDE * width, max(ends) + CELLS_BESIDE * width
        low, high = max(low, edges[0] - 0.1 * width), min(high, edges[-1] + 0.1 * width)
        for cell, (left, right) in enumerate(itertools.pairwise(edges)):
            if right <= low or left >= high:
                continue
            own = cell == result.cell
            axes.axvspan(
                left,
                right,
                facecolor=ORANGE if own else 'none',
                alpha=0.45 if own else 1.0,
                edgecolor=GREY,
                linewidth=1.0,
                hatch='..' if own else '',
            )
            place = max(left, low) + 0.06 * width
            axes.text(place, 0.92, f'{cell}', color=BLACK, fontsize=9, clip_on=True)
        value = mean_text(campaign, result.value)
        axes.axvline(result.value, color=BLACK, linewidth=2.0, label=f'result {value}')
        lower, upper = max(result.lower, low), min(result.upper, high)
        if lower <= upper:
            axes.plot([lower, upper], [0.3, 0.3], color=BLUE, linewidth=3.0, label='interval')
        axes.plot(
            [result.estimate],
            [0.3],
            'D',
            color=RED,
            markersize=7,
            label=f'estimate {mean_text(campaign, result.estimate)}',
        )
        axes.set_xlim(low, high)
        axes.set_ylim(0.0, 1.05)
        axes.set_yticks([])
        axes.set_xlabel(campaign.specification.axis_of_psi + '; numbers: cells')
        axes.legend(loc='upper center', bbox_to_anchor=(0.5, -0.28), ncols=3, fontsize=8.5)

    return figure(draw, 2.4)
