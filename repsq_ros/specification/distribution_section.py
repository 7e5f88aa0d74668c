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

"""Reading a distribution: target and proposal have the same format."""

from __future__ import annotations

import csv
import importlib
import itertools
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from repsq_ros.errors import SpecificationError
from repsq_ros.sampling.box import Box
from repsq_ros.sampling.distributions import (
    Cases,
    Distribution,
    FromUniform,
    Mixture,
    Product,
    is_table,
    uniform,
)
from repsq_ros.sampling.marginals import Beta, Marginal, TruncatedNormal, Uniform
from repsq_ros.specification.reader import Section, read_keys

TYPES = ('uniform', 'beta', 'truncated_normal', 'grid', 'table', 'mixture')
EXPECTED = f"one of {', '.join(TYPES)}, or a class as 'module:Class'"


def read_distribution(section: Section, box: Box) -> Distribution:
    """Return the distribution of a section, as given by its key `type`.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    kind = section.text('type')
    if ':' in kind:
        return _own_class(section, box, kind)
    if kind not in TYPES:
        raise section.fail('type', f'text {kind!r}', EXPECTED)
    readers: dict[str, Callable[[Section, Box], Distribution]] = {
        'uniform': lambda section, box: uniform(box),
        'beta': _product(_beta),
        'truncated_normal': _product(_truncated_normal),
        'grid': _grid,
        'table': _table,
        'mixture': _mixture,
    }
    found = readers[kind](section, box)
    section.finish()
    return found


def _product(read: Callable[[Section, float, float], Marginal]) -> Callable[[Section, Box], Any]:
    def product(section: Section, box: Box) -> Product:
        marginals = [
            read(section.section(d.name), d.lower, d.upper) if section.has(d.name) else Uniform()
            for d in box.dimensions
        ]
        return Product(box, tuple(marginals))

    return product


def _beta(section: Section, lower: float, upper: float) -> Beta:
    found = read_keys(section, Beta)
    section.finish()
    return found


def _truncated_normal(section: Section, lower: float, upper: float) -> TruncatedNormal:
    width = upper - lower
    said = read_keys(section, TruncatedNormal)
    found = TruncatedNormal((said.mean - lower) / width, said.sd / width)
    section.finish()
    if not math.isfinite(found.log_constant):
        raise section.fail(
            'mean',
            f'{lower + found.mean * width!r}',
            'a mean nearer to the range, where no probability is left',
        )
    return found


def _grid(section: Section, box: Box) -> Cases:
    axes = []
    for d in box.dimensions:
        axis = section.numbers(d.name)
        for value in axis:
            if not d.lower <= value <= d.upper:
                raise section.fail(
                    d.name, f'{value!r}', f'values within [{d.lower:g}, {d.upper:g}] {d.unit}'
                )
        if len(set(axis)) != len(axis):
            raise section.fail(d.name, 'a value twice', 'each value once')
        axes.append(axis)
    points = tuple(itertools.product(*axes))
    return Cases(box, points, (1.0,) * len(points))


def _table(section: Section, box: Box) -> Cases:
    file = beside(section, section.text('file'))
    rows = read_rows(file, box, {'weight': 1.0})
    totals: dict[tuple[float, ...], float] = {}
    for place, (x, more) in enumerate(rows):
        if not more['weight'] > 0:
            raise SpecificationError(
                str(file), f'row {place + 1}, weight', f'{more["weight"]}', 'a number > 0'
            )
        totals[x] = totals.get(x, 0.0) + more['weight']
    return Cases(box, tuple(totals), tuple(totals.values()))


def _mixture(section: Section, box: Box) -> Mixture:
    parts, shares = [], []
    for each in section.sections('components'):
        shares.append(each.number('share', above=0))
        part = read_distribution(each, box)
        if not hasattr(part, 'from_uniform'):
            raise each.fail('type', 'a class of your own', 'a distribution of this package')
        parts.append(cast(FromUniform, part))
    if abs(math.fsum(shares) - 1.0) > 1e-9:
        raise section.fail(
            'components', f'shares that add up to {math.fsum(shares):g}', 'shares that add up to 1'
        )
    if len({is_table(part) for part in parts}) > 1:
        raise section.fail('components', 'tables and densities', 'only tables, or only densities')
    return Mixture(tuple(parts), tuple(shares))


def beside(section: Section, name: str) -> Path:
    """Return a file named in a specification: relative to the folder of the specification.

    :raises SpecificationError: outside that folder, where no copy of the file would be found
    """
    if '..' in Path(name).parts:
        raise section.fail('file', f'text {name!r}', 'a file beside the specification or below')
    return Path(section.file).parent / name


def read_rows(
    file: Path, box: Box, optional: dict[str, float]
) -> list[tuple[tuple[float, ...], dict[str, float]]]:
    """Return the rows of a CSV file with one column per dimension, and optional columns.

    :param optional: columns that may be missing, with their defaults
    :raises SpecificationError: with file and row
    """
    name = str(file)
    try:
        with file.open(encoding='utf-8', newline='') as opened:
            reader = csv.DictReader(opened)
            header = reader.fieldnames or []
            for column in box.names:
                if column not in header:
                    raise SpecificationError(
                        name, 'row 0', f'the columns {", ".join(header)}', f'a column {column}'
                    )
            lines = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecificationError(name, '', f'no readable file ({error})', 'a CSV file') from None
    rows = []
    for place, line in enumerate(lines):
        where = f'row {place + 1}'
        if None in line:
            raise SpecificationError(
                name,
                where,
                f'more than {len(header)} fields',
                'one field for each column (are there decimal commas?)',
            )
        values = {}
        for column in (*box.names, *(c for c in optional if c in header)):
            try:
                values[column] = float(line[column] or '')
            except ValueError:
                values[column] = math.nan
            if not math.isfinite(values[column]):
                raise SpecificationError(
                    name, f'{where}, {column}', f'{line[column]!r}', 'a finite number'
                )
        x = tuple(values[column] for column in box.names)
        if not box.contains(x):
            raise SpecificationError(name, where, f'the case {x}', 'a case within the box')
        rows.append((x, {column: values.get(column, optional[column]) for column in optional}))
    if not rows:
        raise SpecificationError(name, '', 'no rows', 'one row for each case')
    return rows


class OwnClass:
    """A user's own distribution, with its box and its part of the digest."""

    def __init__(self, inner: Any, box: Box, description: dict[str, object]) -> None:
        self._inner, self.box, self._description = inner, box, description
        for optional in ('from_uniform', 'uniforms', 'largest_ratio'):
            if hasattr(inner, optional):
                setattr(self, optional, getattr(inner, optional))

    def sample(self, generator: Any) -> tuple[float, ...]:
        """Draw one case."""
        return tuple(map(float, self._inner.sample(generator)))

    def logpdf(self, x: Any) -> float:
        """Return ln p(x)."""
        return float(self._inner.logpdf(x))

    def describe(self) -> dict[str, object]:
        """Return class and options, as the specification names them: part of the digest."""
        return self._description


def load_class(section: Section, dotted: str) -> Any:
    """Import the class 'module:Class'; modules in the specification's folder are found."""
    module, _, name = dotted.partition(':')
    folder = str(Path(section.file).parent.resolve())
    sys.path.append(folder)
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # a user's module may raise anything
        raise section.fail(
            'type',
            f'text {dotted!r} ({type(error).__name__}: {error})',
            'a class that can be imported',
        ) from None
    finally:
        sys.path.remove(folder)


def _own_class(section: Section, box: Box, dotted: str) -> OwnClass:
    made = load_class(section, dotted)
    options = section.mapping('options')
    try:
        json.dumps(options, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise section.fail(
            'options', f'{error}', 'numbers, text, lists and mappings, which a digest can cover'
        ) from None
    section.finish()
    try:
        inner = made(box, **options)
    except Exception as error:  # a user's class may raise anything
        raise section.fail(
            'options', f'{options} ({type(error).__name__}: {error})', f'options of {dotted}'
        ) from None
    for method in ('sample', 'logpdf'):
        if not callable(getattr(inner, method, None)):
            raise section.fail('type', f'{dotted} without {method}()', 'sample() and logpdf()')
    return OwnClass(inner, box, {'type': dotted, 'options': options})
