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

"""The common interface of all studies: settings, tasks, tables, findings, figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from repsq_ros.specification.reader import Section
from repsq_ros.studies.executor import in_order

Size = TypeVar('Size')
Result = TypeVar('Result')
Cell = float | int | str
Row = dict[str, Cell]
Tables = dict[str, list[Row]]  # by suffix of the file name: '' is the study's main table


@dataclass(frozen=True)
class Finding:
    """A claim of the study, with the numbers that support it."""

    text: str
    holds: bool


@dataclass(frozen=True)
class StudyOutcome:
    """The output of a study."""

    tables: Tables
    findings: tuple[Finding, ...]
    shown: Any = None  # further data for the figure


@dataclass(frozen=True)
class StudyRequest:
    """The command-line options of a study."""

    quick: bool = False
    seed: int | None = None  # None: that of the specification
    model: str = ''  # folder of a simulated robot's model
    data: str = ''  # folder of what others published


@dataclass(frozen=True)
class Study:
    """A study. All its functions are at module level, so that they can be pickled.

    :param read: from the specification's mapping to the settings
    :param pieces: independent tasks of the settings
    :param work: runs one task; its random numbers depend only on settings and task
    :param conclude: from the results, in the order of the tasks, to tables and findings
    :param draw: on an empty matplotlib figure
    :param columns: the printed columns of each table
    """

    name: str
    read: Callable[[Section, StudyRequest], Any]
    pieces: Callable[[Any], Sequence[Any]]
    work: Callable[[Any, Any], Any]
    conclude: Callable[[Any, Sequence[Any]], StudyOutcome]
    draw: Callable[[Any, Any, StudyOutcome], None]
    columns: Mapping[str, tuple[str, ...]]


def run_study(
    study: Study,
    setting: Any,
    executor: Executor | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> StudyOutcome:
    """Run all tasks; the numbers do not depend on the executor.

    :param executor: of this machine or of a cluster; None: in this process
    :param on_progress: called with 1 after each task
    """
    pieces, results = study.pieces(setting), []
    for result in in_order(executor, partial(study.work, setting), pieces):
        results.append(result)
        on_progress(1)
    return study.conclude(setting, results)


def sizes(section: Section, asked: StudyRequest, read: Callable[[Section], Size]) -> Size:
    """Return the quick or the full sizes; mistakes in either are reported."""
    both = {}
    for name in ('full', 'quick'):
        inner = section.section(name)
        both[name] = read(inner)
        inner.finish()
    return both['quick' if asked.quick else 'full']


def seed_of(section: Section, asked: StudyRequest) -> int:
    """Return the seed of a study."""
    own = section.whole('seed')
    return own if asked.seed is None else asked.seed


def campaigns_of(section: Section) -> int:
    """Return the number of campaigns in a size of a study."""
    return section.whole('campaigns', at_least=2)


def paired(section: Section, key: str, at_least: int) -> int:
    """Return an even number of campaigns or trials, which are compared in pairs."""
    count = section.whole(key, at_least=at_least)
    if count % 2:
        raise section.fail(key, f'{count}', 'an even number: they are paired')
    return count


def parts(names: Iterable[str], count: int, chunk: int) -> list[tuple[str, int, int]]:
    """Split the campaigns of each name into tasks: name, first, one past the last."""
    return [
        (name, begin, min(begin + chunk, count))
        for name in names
        for begin in range(0, count, chunk)
    ]


def by_name(
    pieces: Iterable[tuple[str, int, int]], results: Iterable[Result]
) -> dict[str, list[Result]]:
    """Return the results of `parts`, by name."""
    found: dict[str, list[Result]] = {}
    for (name, _, _), result in zip(pieces, results, strict=True):
        found.setdefault(name, []).append(result)
    return found


def row_of(rows: Sequence[Row], **where: Cell) -> Row:
    """Return the one row with these cells.

    :raises KeyError: none, or more than one
    """
    found = [row for row in rows if all(row.get(key) == cell for key, cell in where.items())]
    if len(found) != 1:
        raise KeyError(f'{len(found)} rows with {where}')
    return found[0]


def agreement_found(name: str, anchored: Row, c: float, at_least: float = 0.0) -> Finding:
    """Return whether pairs agree on anchored cells as often as promised.

    :param at_least: share of the pairs that also has to agree
    """
    promised = (1.0 - c) ** 2
    return Finding(
        f'{name}: {anchored["same_count"]} of {anchored["same_of"]} pairs agree on anchored '
        f'cells, promised are {promised:.4g}',
        number(anchored, 'same_high') >= promised and number(anchored, 'same') >= at_least,
    )


def number(row: Mapping[str, Cell], column: str) -> float:
    """Return the number in a cell; NaN if it has none."""
    cell = row[column]
    return math.nan if cell == '' else float(cell)
