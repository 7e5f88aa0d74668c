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

"""Several campaigns in one figure: estimates with intervals, and the cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from repsq_ros.campaign.drift import MeanInterval
from repsq_ros.report.campaign_data import CampaignData
from repsq_ros.report.charts import beside_the_data
from repsq_ros.report.figure_style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    RED,
    figure,
)

# Distinguishable in grey, too.
LINES = ((BLUE, '-'), (RED, '--'), (GREEN, '-.'), (ORANGE, ':'), (GREY, '-'))


def chart_of_campaigns(
    campaigns: Sequence[CampaignData], intervals: Sequence[MeanInterval]
) -> str:
    """Draw the campaigns one below the other.

    :param intervals: of the mean of each campaign
    """
    trend = len({each.specification.about.robot for each in campaigns}) > 1  # several versions

    def draw(made: Any) -> None:
        axes = made.subplots()
        low, high = _ends(campaigns, intervals)
        edges = {edge for each in campaigns for edge in _edges(each)}
        for place, edge in enumerate(sorted(edge for edge in edges if low <= edge <= high)):
            axes.axvline(
                edge,
                color=GREY,
                linewidth=0.8,
                linestyle='--',
                label='edge of a cell' if place == 0 else '',
            )
        for place, (each, interval) in enumerate(zip(campaigns, intervals, strict=True)):
            lower, upper = max(interval.lower, low), min(interval.upper, high)
            axes.plot(
                [lower, upper],
                [-place] * 2,
                color=BLUE,
                linewidth=3.0,
                label='interval of the mean' if place == 0 else '',
            )
            axes.plot(
                [interval.mean],
                [-place],
                'D',
                color=RED,
                markersize=6,
                label='mean' if place == 0 else '',
            )
            if each.result is not None:
                axes.plot(
                    [each.result.value],
                    [-place],
                    '|',
                    color=BLACK,
                    markersize=18,
                    markeredgewidth=2.0,
                    label='result' if place == 0 else '',
                )
        if trend:
            axes.plot(
                [interval.mean for interval in intervals],
                [-place for place in range(len(intervals))],
                color=RED,
                linewidth=0.8,
                label='trend',
            )
        axes.set_xlim(low, high)
        axes.set_ylim(-len(campaigns) + 0.4, 0.6)
        axes.set_yticks([-k for k in range(len(campaigns))])
        axes.set_yticklabels([_label(each, trend) for each in campaigns])
        axes.set_xlabel(f'mean of {campaigns[0].specification.axis_of_psi}')
        beside_the_data(axes, 4)

    return figure(draw, 1.3 + 0.5 * len(campaigns), 6.0)


def chart_of_running_estimates(campaigns: Sequence[CampaignData]) -> str:
    """Draw the estimates of all campaigns over their tests, the cells, and gamma + alpha/2."""

    def draw(made: Any) -> None:
        axes = made.subplots()
        shown: list[float] = []
        for place, each in enumerate(campaigns):
            kept = [estimate for estimate in each.estimates if estimate.n]
            means = [estimate.mean for estimate in kept]
            shown += means[len(means) // 4 :]
            colour, dashes = LINES[place % len(LINES)]
            axes.plot(
                [estimate.n for estimate in kept],
                means,
                color=colour,
                linestyle=dashes,
                label=each.name[:16],
            )
        first = campaigns[0]
        result, alpha = first.result, first.specification.alpha
        if result is not None:
            reach = first.specification.gamma + alpha / 2
            axes.axhline(result.value, color=BLACK, linewidth=1.4, label='result')
            axes.axhspan(
                result.value - reach,
                result.value + reach,
                facecolor=PALE,
                edgecolor=GREY,  # the band alone is hardly visible in dark mode
                alpha=0.5,
                label='\u00b1 (gamma + alpha/2)',
            )
            shown += [result.value - 1.1 * reach, result.value + 1.1 * reach]
        low, high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        for edge in {edge for each in campaigns for edge in _edges(each) if low <= edge <= high}:
            axes.axhline(edge, color=GREY, linestyle='--', linewidth=0.8)
        axes.set_ylim(low, high)
        axes.set_xlabel('tests')
        axes.set_ylabel(f'mean of {first.specification.axis_of_psi}')
        beside_the_data(axes, 4)

    return figure(draw, 3.2, 6.0)


def _label(campaign: CampaignData, with_robot: bool) -> str:
    """Return the name of a campaign, and below it that of the robot and its software."""
    lines = [campaign.name, campaign.specification.about.robot] if with_robot else [campaign.name]
    return '\n'.join(each[:24] for each in lines)


def _edges(campaign: CampaignData) -> tuple[float, ...]:
    """Return the edges of the partition of a campaign's result."""
    result, specification = campaign.result, campaign.specification
    published = specification if result is None else result.published(specification)
    return () if published.partition is None else published.partition.edges


def _ends(
    campaigns: Sequence[CampaignData], intervals: Sequence[MeanInterval]
) -> tuple[float, float]:
    values = [each.result.value for each in campaigns if each.result is not None]
    measure = campaigns[0].specification.measure
    for interval in intervals:
        values += [interval.mean, max(interval.lower, measure.lower)]
        values.append(min(interval.upper, measure.upper))
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    room = 0.15 * (max(finite) - min(finite)) or 0.5
    return min(finite) - room, max(finite) + room
