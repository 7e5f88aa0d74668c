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

"""The panel of text: short lines at fixed places."""

from __future__ import annotations

import math
from collections.abc import Iterator

from repsq_ros.campaign.result import Result
from repsq_ros.protocols.phases import Phase
from repsq_ros.views.board_axes import BoardAxes
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.panels import LEFT, RIGHT_COLUMN, RIGHT_END, TOP
from repsq_ros.views.shapes import CYAN, GREY, ORANGE, RED, WHITE, Colour, Shape, Text
from repsq_ros.views.text_width import fitted, plain, wrapped
from repsq_ros.views.time_left import time_left_text

HEIGHT, PITCH = 17.0, 23.0
LINES = 7
RESULT_HEIGHT = 34.0  # the largest text
# height and largest number of lines, in order of preference
PROMISE_HEIGHTS = ((21.0, 4), (19.0, 4), (18.0, 5))
Line = tuple[str, Colour]


def title(axes: BoardAxes | None, state: CampaignState) -> Iterator[Shape]:
    """Yield the title: what is tested, and the name of the campaign."""
    names = [axes.title] if axes is not None else []
    names += [state.campaign_id or 'no campaign heard of yet']
    text = plain('  -  '.join(dict.fromkeys(names)))
    yield Text(('title', 0), fitted(text, HEIGHT, RIGHT_END - LEFT), LEFT, TOP + 32.0, HEIGHT)


def text_panel(
    axes: BoardAxes | None, state: CampaignState, remarks: list[str]
) -> Iterator[Shape]:
    """Yield the lines of the panel.

    :param remarks: what the monitor itself cannot show, and why
    """
    if state.result is not None:
        yield from _result(state.result, axes)
        return
    room = RIGHT_END - RIGHT_COLUMN
    lines = [*_phase(state), *_counts(state), *_lost(state)]
    said = [axes.remark] if axes is not None and axes.remark and state.result is None else []
    if axes is not None and axes.digest and state.digest not in ('', axes.digest):
        lines.append(('SPECIFICATION differs from that of the campaign', RED))
    for remark in [*remarks, *said]:
        lines += [(each, GREY) for each in wrapped(plain(remark), HEIGHT, room, 2)]
    for place, (text, colour) in enumerate(lines[:LINES]):
        fit = fitted(plain(text), HEIGHT, room)
        yield Text(('panel', place), fit, RIGHT_COLUMN, TOP - PITCH * place, HEIGHT, colour)


def _result(result: Result, axes: BoardAxes | None) -> Iterator[Shape]:
    """Yield the result with its promise, which replaces the lines of the running campaign."""
    room, y = RIGHT_END - RIGHT_COLUMN, TOP - 8.0
    unit = '' if axes is None or axes.unit in ('', '1') else f' {axes.unit}'
    colour = WHITE if result.accurate else ORANGE
    headline = fitted(plain(f'RESULT {result.value:.6g}{unit}'), RESULT_HEIGHT, room)
    yield Text(('result', 1), headline, RIGHT_COLUMN, y, RESULT_HEIGHT, colour)
    said = plain(result.objection or result.agreement)
    for height, most in PROMISE_HEIGHTS:
        lines = wrapped(said, height, room, most)
        if ' '.join(lines) == said:
            break
    y -= RESULT_HEIGHT
    for place, line in enumerate(lines):
        yield Text(('result', 2 + place), line, RIGHT_COLUMN, y, height, colour)
        y -= 1.25 * height
    counts = f'{result.n} tests, {result.invalid} INVALID, {result.broken_off} broken off'
    line = fitted(f'{counts}, {result.skipped} skipped', HEIGHT, room)
    yield Text(('panel', 0), line, RIGHT_COLUMN, y, HEIGHT, GREY)


def _phase(state: CampaignState) -> Iterator[Line]:
    span, room = state.span, RIGHT_END - RIGHT_COLUMN
    if span is None:
        yield ('waiting for a first phase', GREY)
        return
    if span.phase in (Phase.DONE, Phase.ABORTED):
        yield (span.phase.name, WHITE if span.phase is Phase.DONE else RED)
    else:
        held = span.phase is Phase.PAUSED
        attempt = f', attempt {span.attempt}' if span.attempt else ''
        colour = RED if span.alarm else ORANGE if held else WHITE
        yield (f'test {span.index}{attempt}: {span.phase.name}', colour)
    if span.reason:
        colour = RED if span.alarm else ORANGE
        yield from ((each, colour) for each in wrapped(plain(span.reason), HEIGHT, room, 2))
    case = state.under_test
    if case is not None and not span.reason:
        pairs = [f'{name} {value:.3g}' for name, value in zip(case.names, case.x, strict=False)]
        yield ('case: ' + ', '.join(pairs), GREY)


def _counts(state: CampaignState) -> Iterator[Line]:
    e = state.latest
    if e is None:
        yield ('no test counted yet', GREY)
        return
    about = f' of about {e.expected_n}' if e.expected_n else ''
    yield (f'{e.n} tests{about}, {time_left_text(state.counted)}', WHITE)
    if e.n:
        reach = f'{e.half_width:.4f}' if math.isfinite(e.half_width) else 'unknown'
        yield (f'estimate {e.mean:.4f} +- {reach}, to reach {e.gamma:g}', CYAN)
    if state.unheard:
        yield (f'{state.unheard} attempts were counted before and are not shown', ORANGE)
    room = RIGHT_END - RIGHT_COLUMN
    for said in filter(None, (e.note, *state.questions)):
        yield from ((each, ORANGE) for each in wrapped(plain(said), HEIGHT, room, 2))


def _lost(state: CampaignState) -> Iterator[Line]:
    e = state.latest
    if e is None or not (e.invalid or e.skipped or e.broken_off):
        return
    yield (f'{e.invalid} INVALID, {e.broken_off} broken off, {e.skipped} skipped', ORANGE)
    last = next((c.record for c in reversed(state.counted) if not c.record.valid), None)
    if last is not None:
        yield (f'last: {last.index}.{last.attempt} {last.reason}', GREY)
