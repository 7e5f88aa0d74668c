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

"""The cells of a table as text, and their numbers, despite what spreadsheets do to them."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from repsq_ros.errors import AbsentError, BagError

DELIMITERS = ';\t,'
DECIMALS = {'point': '.', 'comma': ','}
# A number whose only mark may be decimal or for thousands: 1.000 or -12,345.
EITHER = re.compile(r'^[-+]?[1-9]\d{0,2}[.,]\d{3}$')
ONE_MARK = re.compile(r'^[-+]?\d*([.,])\d+([eE][-+]?\d+)?$')
# Spreadsheet errors: cells that begin with # without being comments.
NO_VALUE = re.compile(r'^#(N/A|REF!|VALUE!|DIV/0!|NUM!|NAME\?|NULL!)')
# Thousands separators besides point and comma: apostrophes and narrow or non-breaking spaces.
GROUPS = re.compile("(?<=\\d)['\u2019 \u00a0\u2009\u202f](?=\\d{3}(?:\\D|$))")
THOUSANDS = re.compile(r'^[-+]?\d{1,3}(\.\d{3})+$|^[-+]?\d{1,3}(,\d{3})+$')


def read_cells(file: Path) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    """Return the header, the numbered lines below it, and the delimiter.

    UTF-8 or, where it is none, latin-1; comments (#) and a spreadsheet's `sep=;` are left out.

    :raises BagError: no readable table, or two columns of one name
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        kind = AbsentError if isinstance(error, FileNotFoundError) else BagError
        raise kind(f'{file}: cannot be read ({error}), expected a CSV text file') from None
    try:
        text = raw.decode('utf-16' if raw[:2] in (b'\xff\xfe', b'\xfe\xff') else 'utf-8-sig')
    except UnicodeDecodeError:
        text = raw.decode('latin-1')
    lines = text.splitlines()
    told = ''
    while lines and (lines[0].lower().startswith('sep=') or not _has_text(lines[0])):
        if lines[0].lower().startswith('sep='):
            told = lines[0][4:5]
        del lines[0]
    first = lines[0] if lines else ''
    delimiter = told or max(DELIMITERS, key=first.count)
    rows = [
        (number, row)
        for number, row in enumerate(csv.reader(lines, delimiter=delimiter))
        if row and not _is_comment(row[0].lstrip())
    ]
    if not rows or len(rows[0][1]) < 3:
        raise BagError(f'{file}: found no header of columns, expected a CSV file')
    header = [name.strip() for name in rows[0][1]]
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        raise BagError(f'{file}: found the column {twice[0]!r} twice, expected names of one each')
    return header, rows[1:], delimiter


def _is_comment(cell: str) -> bool:
    return cell.startswith('#') and not NO_VALUE.match(cell)


def _plain(text: str) -> str:
    """Return a number without typographic marks: minus sign, thousands separators."""
    return GROUPS.sub('', text.strip().replace('\u2212', '-'))


def _has_text(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith('#')


def decimal_of(file: Path, cells: Iterable[str]) -> str:
    """Return the decimal mark of a table, which is the same for all its numbers.

    Most numbers can be read in one way only. Ambiguous ones, such as 1.000 and 1,000, are read
    like the others; if all are ambiguous, the file's only mark is the decimal mark.

    :raises BagError: numbers of both kinds
    """
    sure: set[str] = set()
    either: set[str] = set()
    for cell in cells:
        text = _plain(cell)
        if ',' in text and '.' in text:
            sure.add(',' if text.rindex(',') > text.rindex('.') else '.')
        elif EITHER.match(text):
            either.add(',' if ',' in text else '.')
        elif found := ONE_MARK.match(text):
            sure.add(found.group(1))
        elif THOUSANDS.match(text):
            sure.add('.' if ',' in text else ',')
    if len(sure) > 1 or (not sure and len(either) > 1):
        raise BagError(
            f'{file}: found numbers with a decimal point and numbers with a decimal comma, '
            'expected one of them: say --decimal point or --decimal comma'
        )
    return next(iter(sure or either), '.')


def number_of(text: str, decimal: str = '') -> float:
    """Return a number with a decimal point or a decimal comma.

    :param decimal: the mark; empty: if both occur, the last one (1.234,5 and 1,234.5 are the
        same), else the one that occurs
    :raises ValueError: not a number, not finite, or inconsistent marks
    """
    plain = _plain(text)
    if not decimal and ',' in plain and '.' in plain:
        decimal = ',' if plain.rindex(',') > plain.rindex('.') else '.'
    if decimal:
        other = '.' if decimal == ',' else ','
        whole = plain.partition(decimal)[0]
        if other in whole and not THOUSANDS.match(whole):
            raise ValueError(f'{text!r} has marks of thousands in other places')
        plain = whole.replace(other, '') + plain[len(whole) :]
    value = float(plain.replace(',', '.'))
    if not math.isfinite(value):
        raise ValueError(f'{text!r} is not finite')
    return value
