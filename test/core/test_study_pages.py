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

"""Every number on the pages of docs/studies is one of their CSV files, or of a specification."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from conftest import ROOT

from repsq_ros.paper.all_studies import STUDIES, specification_of
from repsq_ros.paper.study_interface import StudyOutcome, StudyRequest
from repsq_ros.specification.yaml_file import read

DOCS = ROOT / 'docs' / 'studies'
PAGES = sorted(page.stem for page in DOCS.glob('*.md') if page.stem in STUDIES)
FIGURES = ['figure', 'paper', 'here']  # columns of the table of the paper's figures and ours
# What stands in a text and is no figure: names, and the level of all intervals.
NAMES = re.compile(r'`[^`]*`|\]\([^)]*\)|ISO 9283|UR10e|G1\b|\b95 %|\b(19|20)\d\d\b|d [13]0\b')
NUMBER = re.compile(r'(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?: %)?(?![\w])')


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(newline='') as opened:
        return list(csv.DictReader(opened))


def tables_of(name: str) -> list[list[dict[str, str]]]:
    return [read_csv(file) for file in sorted(DOCS.glob(f'{name}*.csv'))]


def split(page: str) -> tuple[str, list[list[list[str]]]]:
    """Return the text of a page without code, and its tables as rows of cells."""
    text = re.sub(r'```.*?```', '', page, flags=re.DOTALL)
    prose, tables, table = [], [], []
    for line in [*text.splitlines(), '']:
        if line.startswith('|'):
            if not set(line) <= set('|-: '):
                table.append([cell.strip() for cell in line.strip('|').split('|')])
            continue
        if table:
            tables.append(table)
            table = []
        prose.append(line)
    return '\n'.join(prose), tables


def numbers_in(text: str) -> list[str]:
    return [found.group(0) for found in NUMBER.finditer(NAMES.sub(' ', text))]


def as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def of_specification(content: object) -> list[float]:
    if isinstance(content, dict):
        return [n for each in content.values() for n in of_specification(each)]
    if isinstance(content, list):
        return [n for each in content for n in of_specification(each)]
    if isinstance(content, str):
        return [float(n) for n in re.findall(r'\d+\.\d+|\d+', content)]
    return [] if content is None else [float(content)]


def known(name: str) -> list[float]:
    """Return all numbers that a page may quote."""
    rows = [row for table in tables_of(name) for row in table]
    cells = [as_number(cell) for row in rows for cell in row.values()]
    found = [cell for cell in cells if cell is not None]
    found += [float(row['value']) for row in read_csv(DOCS / 'paper.csv') if row['study'] == name]
    content = yaml.safe_load(specification_of(name).read_text())
    said = of_specification(content)
    # What two labs are promised: both within gamma, each but for c.
    return found + said + [(1.0 - c) ** 2 for c in said if 0.0 < c < 0.2]


def quotes(text: str, numbers: list[float]) -> bool:
    """Tell whether a number, as it is written, is one of those, rounded to its digits."""
    wanted = float(text.removesuffix(' %')) / (100.0 if text.endswith('%') else 1.0)
    digits = len(re.sub(r'e.*|[-. %]', '', text).lstrip('0')) or 1
    tried = {float(f'{number:.{digits}g}') for number in numbers}
    tried |= {float(f'{number:.0f}') for number in numbers} if wanted == int(wanted) else set()
    return any(abs(each - wanted) <= 1e-9 * abs(wanted) for each in (*tried, *numbers))


def test_every_study_has_a_page_with_its_files():
    assert set(PAGES) == set(STUDIES) - {'rules', 'peers'}
    for name in PAGES:
        page = (DOCS / f'{name}.md').read_text()
        assert f'repsq study {name}' in page
        for file in re.findall(r'\]\((\w+\.(?:csv|png))\)', page):
            assert (DOCS / file).is_file(), file
        assert f'({name}.png)' in page
        assert f'({name}.csv)' in page


@pytest.mark.parametrize('name', PAGES)
def test_the_tables_of_a_page_are_rows_of_its_files(name):
    _, tables = split((DOCS / f'{name}.md').read_text())
    checked = 0
    for header, *rows in tables:
        for table in tables_of(name):
            if set(header) <= set(table[0]):
                there = {tuple(row[column] for column in header) for row in table}
                assert rows
                assert [row for row in rows if tuple(row) not in there] == []
                checked += 1
    assert checked >= 1


@pytest.mark.parametrize('name', PAGES)
def test_every_number_of_a_page_is_one_of_its_files(name):
    prose, tables = split((DOCS / f'{name}.md').read_text())
    for header, *rows in tables:
        if header == FIGURES:
            of_paper = [
                float(row['value']) for row in read_csv(DOCS / 'paper.csv') if row['study'] == name
            ]
            for _, paper, here in rows:
                plain = [number.removesuffix(' %') for number in numbers_in(paper)]
                assert all(quotes(number, of_paper) for number in plain), paper
                assert all(quotes(number, known(name)) for number in numbers_in(here)), here
        elif not any(set(header) <= set(table[0]) for table in tables_of(name)):
            prose += ' '.join(cell for row in rows for cell in row)
    unknown = [number for number in numbers_in(prose) if not quotes(number, known(name))]
    assert unknown == []


def test_a_number_that_is_in_no_file_is_seen():
    numbers = [0.123456, 41.6, 3e-9, 0.05]
    for right in ('0.12', '0.123', '42', '3e-9', '5 %'):
        assert quotes(right, numbers), right
    for wrong in ('0.13', '0.124', '43', '3e-8', '6 %', '7'):
        assert not quotes(wrong, numbers), wrong
    assert numbers_in('ISO 9283 by a UR10e in 2022: 12 of 40, -0.5, 1.2e-05, `7`, 5 %') == [
        '12', '40', '-0.5', '1.2e-05', '5 %',
    ]  # fmt: skip


def test_the_times_are_those_of_the_settings_in_the_specifications():
    rows = read_csv(DOCS / 'times.csv')
    assert [row['study'] for row in rows] == list(STUDIES)
    page, tables = split((DOCS / 'README.md').read_text())
    header, *shown = next(t for t in tables if 'full_seconds' in t[0])
    assert [tuple(row) for row in shown] == [
        tuple(row[column] for column in header) for row in rows
    ]
    for row in rows:
        content = yaml.safe_load(specification_of(row['study']).read_text())
        for size in ('full', 'quick'):
            numbers = ' '.join(f'{key} {value}' for key, value in content[size].items())
            assert row[size] == numbers, row['study']
    assert page


@pytest.mark.parametrize('name', ['baselines', 'drift', 'driving', 'rules', 'selection'])
def test_a_figure_is_what_the_tables_beside_it_give(name, tmp_path):
    """Of the studies whose figure needs nothing else; another way of drawing letters may pass."""
    pytest.importorskip('matplotlib')
    from matplotlib.image import imread

    from repsq_ros.paper.drawing import draw_study

    study = STUDIES[name]
    setting = study.read(read(specification_of(name)), StudyRequest())
    tables = {
        file.stem.removeprefix(name): [
            {key: cell if as_number(cell) is None else float(cell) for key, cell in row.items()}
            for row in read_csv(file)
        ]
        for file in DOCS.glob(f'{name}*.csv')
    }
    drawn = tmp_path / f'{name}.png'
    draw_study(drawn, study, setting, StudyOutcome(tables, ()))
    there, here = imread(DOCS / f'{name}.png'), imread(drawn)
    assert there.shape == here.shape
    apart = float(np.abs(there - here).mean())
    assert apart < 0.01
