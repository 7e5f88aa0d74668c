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

"""repsq watch: shows a running campaign, or a folder, on a terminal."""

from __future__ import annotations

import argparse
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repsq_ros.console.outputs import add_force, refuse_others_file, write_text
from repsq_ros.errors import MissingError, ParameterError
from repsq_ros.json_answer import print_json
from repsq_ros.studies.costs import Budget
from repsq_ros.views.folder_state import FolderState
from repsq_ros.views.health import Health, Level
from repsq_ros.views.watch_board import TestLine, WatchBoard, watch_board

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# number of battery changes, for a number of tests of so many seconds each
Changes = Callable[[int, float], int]

BY_RICH = 'rich-terminal'  # a CSS class in each picture
PERIOD = 1.0  # [s] between two updates
COLOURS = {Level.OK: 'green', Level.WARN: 'yellow', Level.ERROR: 'red', Level.STALE: 'magenta'}
NARROW = 50  # columns for names, frames and scales beside a line of blocks
BORDER = 2  # lines of the frame


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'folder',
        type=Path,
        nargs='?',
        metavar='FOLDER',
        help='folder of a campaign, running or not; left out: the campaign that runs on this '
        'ROS domain',
    )
    parser.add_argument('--battery-minutes', type=float, help='minutes that one battery lasts')
    parser.add_argument(
        '--once', action='store_true', help='show it once: of nodes, what is heard within 4 s'
    )
    parser.add_argument(
        '--json', action='store_true', help='with --once: print JSON in place of the board'
    )
    parser.add_argument('--svg', type=Path, metavar='FILE', help='write what is shown last, too')
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show a campaign until Ctrl-C."""
    battery = arguments.battery_minutes
    if battery is not None and not (math.isfinite(battery) and battery > 0):
        raise ParameterError('battery-minutes', f'{battery:g}', 'a finite number > 0')
    refuse_others_file(arguments.svg, BY_RICH, arguments.force)
    if arguments.json and not arguments.once:
        raise ParameterError('json', 'a board that changes', '--once beside it')
    console = _console(record=arguments.svg is not None)
    with _source(arguments.folder) as look:

        def board() -> WatchBoard:
            return look(_changes(battery), max(console.width - NARROW, 8))

        if arguments.once:
            if arguments.folder is None:
                _wait(board, 4.0)
            shown = board()
            if arguments.json:
                print_json(shown)
            else:
                console.print(render(shown, console))
        else:
            _follow(console, board)
        if arguments.svg is not None:
            _write_picture(console, arguments.svg)
    return 0


def _write_picture(console: Console, file: Path) -> None:
    picture = console.export_svg(title='repsq watch')
    # Remove rich's fonts: a picture must load nothing from elsewhere.
    write_text(file, re.sub(r'@font-face \{.*?\}\s*', '', picture, flags=re.DOTALL))


def _changes(battery_minutes: float | None) -> Changes | None:
    """Return a function for the number of battery changes, as in `repsq plan`."""
    if battery_minutes is None:
        return None
    return lambda tests, seconds: Budget(seconds, battery_minutes).battery_changes(tests)


def _console(record: bool) -> Console:
    try:
        from rich.console import Console
    except ImportError:
        raise MissingError.of_package('repsq watch', 'rich') from None
    return Console(record=record)


def _follow(console: Console, board: Callable[[], WatchBoard]) -> None:
    """Update it on the whole terminal; without a terminal, print changes."""
    from rich.live import Live

    shown = board()
    try:
        if console.is_terminal:
            first = render(shown, console, console.height)
            with Live(first, console=console, screen=True, auto_refresh=False) as live:
                while True:
                    time.sleep(PERIOD)
                    shown = board()
                    live.update(render(shown, console, console.height), refresh=True)
        while True:
            console.print(render(shown, console))
            before = shown
            while shown == before:
                time.sleep(PERIOD)
                shown = board()
    except KeyboardInterrupt:
        # Leave the last state on the terminal.
        console.print(render(shown, console))


def _wait(board: Callable[[], WatchBoard], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        board()
        time.sleep(0.1)


@contextmanager
def _source(folder: Path | None) -> Iterator[Callable[[Changes | None, int], WatchBoard]]:
    """Yield the function that returns the current board, for a battery and a width."""
    if folder is not None:
        told = FolderState(folder)

        def look(changes: Changes | None, width: int) -> WatchBoard:
            told.look()
            return watch_board(
                told.state, standing=told.standing, battery_changes=changes, width=width
            )

        yield look
        return
    try:
        from repsq_ros.nodes.campaign_listener import listening
    except ImportError as error:
        raise MissingError.of_ros(
            'repsq watch without a folder', error, 'repsq watch FOLDER'
        ) from None
    with listening() as heard:

        def board(changes: Changes | None, width: int) -> WatchBoard:
            with heard.lock:
                return watch_board(
                    heard.state,
                    peers=heard.peers(),
                    sensors=heard.health(),
                    battery_changes=changes,
                    width=width,
                )

        yield board


# On the screen -----------------------------------------------------------------------------------


def render(board: WatchBoard, console: Console, height: int | None = None) -> RenderableType:
    """Draw a board with rich: result, phase and nodes first, tests in the remaining lines.

    :param height: lines of the terminal; None: unlimited
    """
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    parts: list[Any] = []
    if board.result:
        value, *promises = board.result
        parts.append(Text(value, style='bold green'))
        parts += [Text(promise) for promise in promises]
    parts.append(_summary(board))
    parts += [Text(remark, style='yellow') for remark in board.remarks]
    for title, healths in (('nodes', board.peers), ('sensors', board.sensors)):
        if healths:
            parts.append(_healths(title, healths))
    tests = board.tests
    if height is not None:
        inside = console.options.update(width=console.width - 4)
        used = len(console.render_lines(Group(*parts), inside)) + BORDER
        tests = tests[: max(height - used - 1, 0)]
    if tests:
        parts.append(_tests(tests))
    return Panel(Group(*parts), title=Text(f' {board.title} '), expand=True)


def _summary(board: WatchBoard) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style='dim', no_wrap=True)
    table.add_column()
    table.add_row('phase', Text(board.standing.text, style=COLOURS[board.standing.level]))
    table.add_row('case', Text(board.case))
    for name, value in board.numbers:
        table.add_row(name, Text(value, style='bold' if name == 'estimate' else ''))
    if board.estimate_line.strip():
        line = f'{board.estimate_line}  {board.estimate_scale}'
        table.add_row('estimates', Text(line, style='cyan', overflow='ellipsis', no_wrap=True))
    if board.half_width_line.strip():
        line = f'{board.half_width_line}  {board.half_width_scale}'
        table.add_row('half-widths', Text(line, style='blue', overflow='ellipsis', no_wrap=True))
    for name, value in board.left:
        table.add_row(name, Text(value))
    return table


def _tests(tests: Sequence[TestLine]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(expand=True, box=None, header_style='dim', padding=(0, 2, 0, 0))
    table.add_column('test', no_wrap=True)
    table.add_column('case', ratio=3, no_wrap=True, overflow='ellipsis')
    table.add_column('outcome', ratio=2, no_wrap=True, overflow='ellipsis')
    for line in tests:
        style = '' if line.level is Level.OK else COLOURS[line.level]
        table.add_row(line.number, Text(line.case), Text(line.outcome, style=style))
    return table


def _healths(title: str, healths: tuple[Health, ...]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(expand=True, box=None, header_style='dim', padding=(0, 2, 0, 0))
    table.add_column(title, ratio=1)
    table.add_column('', no_wrap=True)
    table.add_column('', ratio=2)
    for each in healths:
        table.add_row(
            Text(each.name), Text(each.level.name, style=COLOURS[each.level]), Text(each.text)
        )
    return table
