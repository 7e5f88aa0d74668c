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

"""The axes of a campaign's display: names, units and ranges of cases and psi, and cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from repsq_ros.sampling.box import Dimension
from repsq_ros.specification.model import Specification
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.ticks import around


@dataclass(frozen=True)
class BoardAxes:
    """Axes of a specification; without one, of the messages so far."""

    title: str
    dimensions: tuple[Dimension, ...]
    psi: tuple[float, float]  # range [unit of psi]
    unit: str
    edges: tuple[float, ...]  # of the cells; empty: not known
    weighted: bool  # whether importance weights differ from 1
    digest: str = ''  # of the specification; '': none
    remark: str = ''  # what is not known, as a short line

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Range of each dimension."""
        return tuple((d.lower, d.upper) for d in self.dimensions)


def axes_of(specification: Specification) -> BoardAxes:
    """Return the axes that a specification sets."""
    cells, measure = specification.partition, specification.measure
    return BoardAxes(
        specification.name,
        specification.box.dimensions,
        (measure.lower, measure.upper),
        measure.unit,
        () if cells is None else tuple(cells.edges),
        not specification.make_proposal().unweighted,
        specification.digest,
        '' if cells is not None else 'cells: around the result of this campaign',
    )


def axes_heard(state: CampaignState) -> BoardAxes | None:
    """Return axes derived from the messages; None before the first test."""
    points = [c.record.x for c in state.counted]
    if state.case is not None:
        points.append(state.case.x)
    points = [x for x in points if x and all(map(math.isfinite, x))]
    if not points:
        return None
    points = [x for x in points if len(x) == len(points[-1])]
    count = len(points[-1])
    names = state.names if len(state.names) == count else [f'x{k + 1}' for k in range(count)]
    units = state.units if len(state.units) == count else ['?'] * count
    dimensions = tuple(
        Dimension(name, unit, *around(min(values), max(values)))
        for name, unit, values in zip(names, units, zip(*points, strict=True), strict=True)
    )
    psi = [c.record.psi for c in state.counted if c.record.valid]
    weights = [c.record.weight for c in state.counted]
    weights += [] if state.case is None else [state.case.weight]
    return BoardAxes(
        state.campaign_id,
        dimensions,
        _reach(psi, state),
        '',
        (),
        any(w != 1.0 for w in weights),
        remark='no specification given: ranges are those seen; no cells, no density',
    )


def _reach(psi: Sequence[float], state: CampaignState) -> tuple[float, float]:
    """Return a range that contains all psi, and the result with its cell."""
    values = list(psi)
    if state.result is not None:
        values += [state.result.cell_lower, state.result.cell_upper]
    return around(min(values, default=0.0), max(values, default=1.0))
