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

"""The cases of a campaign in their space, and what psi was there."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from repsq_ros.report.campaign_data import Array, CampaignData
from repsq_ros.report.charts import unit_of_psi
from repsq_ros.report.figure_style import BLACK, GREY, RED, SHADES, WIDTH, figure

SMALLEST, LARGEST = 6.0, 42.0  # [points^2] of a mark: it grows with psi as its shade does
MANY = 1500  # marks from which on they are pixels, not lines


def chart_of_cases(campaign: CampaignData) -> str:
    """Draw psi over the one dimension, or the cases in each pair of two or more."""
    dimensions = campaign.specification.box.dimensions
    labels = [f'{d.name} [{d.unit}]' for d in dimensions]
    if len(dimensions) == 1:
        return figure(lambda made: _one(made, campaign, labels[0]))
    pairs = list(itertools.combinations(range(len(dimensions)), 2))
    columns = min(len(pairs), 3)
    rows = math.ceil(len(pairs) / columns)
    width = max(WIDTH, 3.1 * columns)
    return figure(
        lambda made: _pairs(made, campaign, labels, pairs, (rows, columns)),
        2.7 * rows + 0.4,
        width,
    )


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
    axes.set_ylabel(unit_of_psi(campaign))
    if len(campaign.x_lost):
        axes.set_title(f'strokes below: {len(campaign.x_lost)} attempts lost', loc='right')


def _pairs(
    made: Any,
    campaign: CampaignData,
    labels: list[str],
    pairs: list[tuple[int, int]],
    shape: tuple[int, int],
) -> None:
    panels = np.atleast_1d(made.subplots(*shape, squeeze=False)).ravel()
    psi, marks = campaign.psi, None
    order = np.argsort(psi, kind='stable')  # what is large is not hidden
    low, high = (float(psi.min()), float(psi.max())) if psi.size else (0.0, 1.0)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    for axes, (i, j) in zip(panels, pairs, strict=False):
        if psi.size:
            marks = axes.scatter(
                campaign.x[order, i],
                campaign.x[order, j],
                c=psi[order],
                s=_sizes(psi[order]),
                cmap=SHADES,
                vmin=low,
                vmax=high,
                edgecolors=BLACK,
                linewidths=0.25 if psi.size < MANY else 0.0,
                rasterized=psi.size * len(pairs) > MANY,
            )
        if len(campaign.x_lost):
            axes.scatter(
                campaign.x_lost[:, i],
                campaign.x_lost[:, j],
                marker='x',
                color=RED,
                s=22,
                linewidths=1.2,
            )
        for k, setter in ((i, axes.set_xlim), (j, axes.set_ylim)):
            dimension = campaign.specification.box.dimensions[k]
            setter(*_room(dimension.lower, dimension.upper))
        axes.set_xlabel(labels[i])
        axes.set_ylabel(labels[j])
    for axes in panels[len(pairs) :]:
        axes.axis('off')
    if marks is not None:
        used = list(panels[: len(pairs)])
        made.colorbar(
            marks,
            ax=used,
            label=f'{unit_of_psi(campaign)}: larger marks are higher',
            shrink=1.0 / shape[0],
            aspect=15,
            anchor=(0.0, 1.0),
        )
    else:
        panels[0].text(
            0.5,
            0.5,
            'no test has been counted',
            ha='center',
            color=GREY,
            transform=panels[0].transAxes,
        )


def _sizes(psi: Array) -> Array:
    """Return the area of each mark."""
    low, span = float(psi.min()), float(np.ptp(psi))
    share = (psi - low) / span if span > 0.0 else np.full(psi.shape, 0.5)
    crowd = min(max(250.0 / psi.size, 0.08), 1.0)
    return crowd * (SMALLEST + (LARGEST - SMALLEST) * share)


def _room(lower: float, upper: float) -> tuple[float, float]:
    room = 0.04 * (upper - lower)
    return lower - room, upper + room
