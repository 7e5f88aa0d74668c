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

"""Figures of a campaign's cases, with psi at each."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from repsq_ros.report.campaign_data import Array, CampaignData
from repsq_ros.report.figure_style import BLACK, GREY, RED, SHADES, figure

SMALLEST, LARGEST = 6.0, 42.0  # [points^2] area of a mark, which grows with psi
MANY = 1500  # number of marks above which they are drawn as pixels
SMALL, BAR = (2.9, 3.3), (0.9, 3.3)  # [inches] height and width: stacked on a phone
AXIS_WORDS = {
    'linear_x': 'forward velocity',
    'linear_y': 'velocity to the left',
    'angular_z': 'turning rate',
}


def charts_of_cases(campaign: CampaignData) -> list[str]:
    """Draw psi over a single dimension; with more, the cases of each pair, and the scale."""
    dimensions = campaign.specification.box.dimensions
    labels = [f'{AXIS_WORDS.get(d.name, d.name)} [{d.unit}]' for d in dimensions]
    if len(dimensions) == 1:
        return [figure(lambda made: _one(made, campaign, labels[0]))]
    pairs = list(itertools.combinations(range(len(dimensions)), 2))
    found = [
        figure(partial(_pair, campaign=campaign, labels=labels, pair=pair), *SMALL)
        for pair in pairs
    ]
    if campaign.psi.size:
        found.append(figure(lambda made: _shades(made, campaign), *BAR))
    return found


def _one(made: Any, campaign: CampaignData, label: str) -> None:
    axes, dimension = made.subplots(), campaign.specification.box.dimensions[0]
    if campaign.psi.size:
        axes.scatter(
            campaign.x[:, 0],
            campaign.psi,
            c=campaign.psi,
            s=_sizes(campaign.psi),
            cmap=SHADES,
            edgecolors=BLACK,
            linewidths=0.3,
            rasterized=campaign.psi.size > MANY,
        )
    for case in campaign.x_lost:
        axes.axvline(case[0], 0.0, 0.05, color=RED)
    axes.set_xlim(*_room(dimension.lower, dimension.upper))
    axes.set_xlabel(label)
    axes.set_ylabel(campaign.specification.axis_of_psi)
    if len(campaign.x_lost):
        axes.set_title(f'strokes below: {len(campaign.x_lost)} attempts lost', loc='right')


def _pair(made: Any, campaign: CampaignData, labels: list[str], pair: tuple[int, int]) -> None:
    axes, psi = made.subplots(), campaign.psi
    if psi.size:
        order = np.argsort(psi, kind='stable')  # large values are drawn on top
        low, high = _span(psi)
        axes.scatter(
            campaign.x[order, pair[0]],
            campaign.x[order, pair[1]],
            c=psi[order],
            s=_sizes(psi[order]),
            cmap=SHADES,
            vmin=low,
            vmax=high,
            edgecolors=BLACK,
            linewidths=0.25 if psi.size < MANY else 0.0,
            rasterized=psi.size > MANY / 3,
        )
    else:
        axes.text(
            0.5, 0.5, 'no test has been counted', ha='center', color=GREY, transform=axes.transAxes
        )
    if len(campaign.x_lost):
        lost = campaign.x_lost[:, list(pair)].T
        axes.scatter(*lost, marker='x', color=RED, s=22, linewidths=1.2)
    for k, setter in zip(pair, (axes.set_xlim, axes.set_ylim), strict=True):
        dimension = campaign.specification.box.dimensions[k]
        setter(*_room(dimension.lower, dimension.upper))
    axes.set_xlabel(labels[pair[0]])
    axes.set_ylabel(labels[pair[1]])


def _shades(made: Any, campaign: CampaignData) -> None:
    """Draw the scale of shades and sizes."""
    low, high = _span(campaign.psi)
    axes, psi = made.subplots(), np.linspace(low, high, 9, dtype=np.float64)
    axes.scatter(
        psi,
        np.zeros(9),
        c=psi,
        s=2 * _sizes(psi),
        cmap=SHADES,
        edgecolors=BLACK,
        linewidths=0.3,
        clip_on=False,
    )
    axes.set_yticks([])
    axes.spines['left'].set_visible(False)
    axes.set_xlabel(f'{campaign.specification.axis_of_psi}: larger marks are higher')


def _span(psi: Array) -> tuple[float, float]:
    low, high = float(psi.min()), float(psi.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _sizes(psi: Array) -> Array:
    """Return the area of each mark."""
    low, span = float(psi.min()), float(np.ptp(psi))
    share = (psi - low) / span if span > 0.0 else np.full(psi.shape, 0.5)
    crowd = min(max(250.0 / psi.size, 0.08), 1.0)
    return crowd * (SMALLEST + (LARGEST - SMALLEST) * share)


def _room(lower: float, upper: float) -> tuple[float, float]:
    room = 0.04 * (upper - lower)
    return lower - room, upper + room
