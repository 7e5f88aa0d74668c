#!/usr/bin/env python3
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

"""Count what one test passes on its way to a result, and the lines of code of the package.

    make walk        (or: .venv/bin/with_repsq python3 tools/walk.py)

A profiler counts the package's files, functions and calls while a campaign of
config/g1_locomotion.yaml runs in one process: of its first test as samples come, as the window is
measured and as the test is counted, and of the result at the end. Lines of code are those without
blanks, comments, docstrings, headers and imports.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'repsq_ros'
SPECIFICATION = ROOT / 'config' / 'g1_locomotion.yaml'
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


@dataclass
class Stage:
    """What the package ran in one stage of a test."""

    name: str
    times: int = 0  # how often the stage was entered
    calls: int = 0
    functions: set[CodeType] = field(default_factory=set)

    @property
    def files(self) -> set[str]:
        """Return the files that were passed, relative to the package."""
        paths = (Path(code.co_filename).resolve() for code in self.functions)
        return {str(path.relative_to(PACKAGE)) for path in paths}

    @contextmanager
    def traced(self) -> Iterator[None]:
        """Count the calls of the package's functions in a block."""

        def profiler(frame: FrameType, event: str, _: Any) -> None:
            code = frame.f_code
            if event == 'call' and Path(code.co_filename).resolve().is_relative_to(PACKAGE):
                self.calls += 1
                self.functions.add(code)

        self.times += 1
        sys.setprofile(profiler)
        try:
            yield
        finally:
            sys.setprofile(None)


def walk() -> list[Stage]:
    """Return the stages of the first test of a simulated campaign, and of its result."""
    from repsq_ros.campaign.campaign import Campaign
    from repsq_ros.measurement.recorder import Recorder
    from repsq_ros.simulation.build import make_subject
    from repsq_ros.simulation.in_process import run_in_process
    from repsq_ros.specification.load import load

    stages = [Stage('a sample is taken in'), Stage('the window is measured'),
              Stage('the test is counted'), Stage('the result')]  # fmt: skip
    over = False

    def ended(*_: Any) -> None:
        nonlocal over
        over = True

    def counting(stage: Stage, method: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            if over and stage is not stages[3]:
                return method(*arguments, **named)
            with stage.traced():
                return method(*arguments, **named)

        return counted

    methods = [(Recorder, 'add'), (Recorder, 'close'), (Campaign, 'add'), (Campaign, 'result')]
    originals = [getattr(owner, name) for owner, name in methods]
    for stage, (owner, name), method in zip(stages, methods, originals, strict=True):
        setattr(owner, name, counting(stage, method))
    try:
        specification = load(SPECIFICATION)
        run_in_process(specification, make_subject('surrogate', ''), 1, on_test=ended)
    finally:
        for (owner, name), method in zip(methods, originals, strict=True):
            setattr(owner, name, method)
    return stages


def lines_of_code(text: str) -> int:
    """Return the lines without blanks, comments, docstrings and imports."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (
            is_docstring and isinstance(node.value.value, str)
        ):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - left_out)


def main() -> None:
    """Print both tables."""
    stages = walk()
    print('| stage | files | functions | calls |\n|---|---|---|---|')
    for stage in stages:
        calls = f'{stage.calls / stage.times:.0f}' if stage.times else '-'
        print(f'| {stage.name} | {len(stage.files)} | {len(stage.functions)} | {calls} |')
    files = set().union(*(stage.files for stage in stages))
    functions = set().union(*(stage.functions for stage in stages))
    print(f'| in all ({stages[0].times} samples) | {len(files)} | {len(functions)} | |\n')
    print('| room | files | lines of code |\n|---|---|---|')
    rooms: dict[str, list[int]] = {}
    for path in sorted(PACKAGE.rglob('*.py')):
        inner = path.relative_to(PACKAGE).parts
        rooms.setdefault(inner[0], []).append(lines_of_code(path.read_text(encoding='utf-8')))
    for room, counts in rooms.items():
        print(f'| {room} | {len(counts)} | {sum(counts)} |')
    counts = [count for each in rooms.values() for count in each]
    print(f'| **in all** | {len(counts)} | {sum(counts)} |')


if __name__ == '__main__':
    main()
