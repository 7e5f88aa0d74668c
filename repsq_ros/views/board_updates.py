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

"""Updates of the board during a campaign."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from repsq_ros.protocols.command_space import CommandSpace
from repsq_ros.sampling.proposals import Proposal
from repsq_ros.specification.model import Specification
from repsq_ros.views.board import Board
from repsq_ros.views.board_axes import BoardAxes, axes_heard, axes_of
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.case_dots import CaseDots
from repsq_ros.views.motion_panel import motion_panel, motion_still
from repsq_ros.views.path_recorder import RecordedPath
from repsq_ros.views.psi_axis import psi_axis
from repsq_ros.views.shapes import Dots, Lines, Shape
from repsq_ros.views.text_panel import text_panel, title
from repsq_ros.views.ticks import around


@dataclass
class BoardUpdate:
    """The shapes to draw now."""

    redraw: bool = False  # remove all shapes drawn before
    still: list[Shape] = field(default_factory=list)
    grown: list[Dots | Lines] = field(default_factory=list)
    moving: list[Shape] = field(default_factory=list)


class BoardUpdater:
    """Turns the state of a campaign into updates of the board.

    A new campaign clears the board.

    :param specification: None: show what the messages contain
    """

    def __init__(self, specification: Specification | None) -> None:
        self._specification = specification
        self._space: CommandSpace | None = None
        if specification is not None:
            self._space = specification.protocol.command_space(specification.box)
        self._campaigns_seen = -1
        self._begin(None)

    def _begin(self, axes: BoardAxes | None) -> None:
        """Begin an empty board."""
        specification = self._specification
        self._axes = axes if specification is None else axes_of(specification)
        self._proposal: Proposal | None = None
        if specification is not None:
            self._proposal = specification.make_proposal()
        self._board = None if self._axes is None else Board(self._axes, self._proposal)
        self._densities: list[Shape] | None = None
        self._dots: CaseDots | None = None
        self._shown = 0  # attempts of the state already drawn
        self._told = 0  # attempts already given to the proposal
        self._psi = (math.inf, -math.inf)  # of all valid tests

    def change(
        self,
        state: CampaignState,
        trail: RecordedPath | None = None,
        remarks: list[str] | None = None,
    ) -> BoardUpdate:
        """Return the changes since the last call, and the moving parts.

        :param remarks: what cannot be shown, and why
        """
        change = BoardUpdate()
        axes = axes_heard(state) if self._specification is None else self._axes
        if state.campaigns_seen != self._campaigns_seen or not _same_axes(axes, self._axes):
            self._campaigns_seen = state.campaigns_seen
            self._begin(axes)
            change.redraw = True
        self._axes = axes
        change.moving += title(axes, state)
        change.moving += text_panel(axes, state, remarks or [])
        if axes is None or self._board is None:
            return change
        self._learn(state)
        self._draw_cases(state, change)
        if self._densities is None:
            self._densities = list(self._board.densities())
        change.moving += self._densities
        change.moving += self._board.under_test(state)
        change.moving += psi_axis(axes, state.latest, state.result)
        if self._space is not None:
            change.moving += motion_panel(trail, self._space)
        return change

    def _learn(self, state: CampaignState) -> None:
        """Let the proposal learn like the scheduler's; after missed tests, it is not shown."""
        if self._proposal is None or self._told == len(state.counted):
            return
        before = getattr(self._proposal, 'distribution', None)
        for counted in state.counted[self._told :]:
            record = counted.record
            if record.valid:
                self._proposal.tell(record.x, record.psi, record.weight)
        self._told = len(state.counted)
        if getattr(self._proposal, 'distribution', None) is not before:
            self._densities = None

    def _draw_cases(self, state: CampaignState, change: BoardUpdate) -> None:
        assert self._axes is not None and self._board is not None
        new = [c.record for c in state.counted[self._shown :]]
        fits = [r for r in new if len(r.x) == len(self._axes.dimensions)]
        psi = [r.psi for r in fits if r.valid and math.isfinite(r.psi)]
        self._psi = (min([self._psi[0], *psi]), max([self._psi[1], *psi]))
        low, high = self._axes.psi if self._psi[0] > self._psi[1] else around(*self._psi)
        self._shown = len(state.counted)
        if self._dots is not None and (self._dots.low, self._dots.high) == (low, high):
            keys = dict.fromkeys(self._dots.add(record) for record in fits)
            change.grown += [self._dots.shape(key) for key in keys if key is not None]
            return
        # The colours change, so everything is redrawn.
        change.redraw = True
        self._board.show_psi(low, high)
        self._dots = self._board.dots(low, high)
        for counted in state.counted:
            if len(counted.record.x) == len(self._axes.dimensions):
                self._dots.add(counted.record)
        change.still += self._board.still(low, high)
        if self._space is not None:
            change.still += motion_still()
        change.still += self._dots.shapes()


def _same_axes(one: BoardAxes | None, other: BoardAxes | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.dimensions, one.psi, one.weighted) == (other.dimensions, other.psi, other.weighted)
