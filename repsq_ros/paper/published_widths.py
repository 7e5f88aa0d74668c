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

"""How wide our intervals are beside those that others published for their robots.

The folder holds `published_widths.csv` (data, column, lower, upper, method, valid_at_any_n, n5 ..
n_last, last: widths of 95 % intervals over the range) and the campaigns that it names. Ours are of
the same tests in the same order, by `anytime` with `stakes: each`, and the same with an
expectation: mean and sd of these very tests, what a right simulator would give; none was asked.

`in hindsight` is no interval but a bound on them: for each candidate mean and each n the constant
stake is taken that turned out best, after all tests are seen. What was published below it, bets
with c/2 on each side reach with stakes that vary along the campaign in a lucky way, or not at all.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from repsq_ros.errors import ParameterError
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.candidates import Stakes
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.paper.drawing import style
from repsq_ros.paper.study_interface import (
    Finding,
    Row,
    Study,
    StudyOutcome,
    StudyRequest,
    number,
    sizes,
)
from repsq_ros.specification.reader import Section

PLACES = ('n5', 'n10', 'n20', 'n30', 'n_last')
OURS, EXPECTED, HINDSIGHT = 'ours', 'ours, expected', 'in hindsight'
RULE = Anytime(stakes=Stakes.EACH, reachable=1.0)
Published = Mapping[str, str]


@dataclass(frozen=True)
class PeersSetting:
    """The data and settings of the study."""

    folder: Path
    published: Sequence[Published]
    gamma: float
    c: float
    candidates: int  # number of candidate means for the bound in hindsight


def _rows_of(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(encoding='utf-8', newline='') as opened:
            return list(csv.DictReader(opened))
    except OSError as error:
        found = f'{file}: {error.strerror}'
        raise ParameterError('data', found, 'a folder of published campaigns') from None


def _read(section: Section, asked: StudyRequest) -> PeersSetting:
    if not asked.data:
        raise ParameterError('data', 'nothing', 'a folder of published campaigns (--data)')
    candidates = sizes(section, asked, lambda size: size.whole('candidates', at_least=100))
    folder = Path(asked.data).expanduser().resolve()
    return PeersSetting(
        folder, _rows_of(folder / 'published_widths.csv'), section.number('gamma', above=0),
        section.number('c', above=0, below=1), candidates,
    )  # fmt: skip


def _pieces(setting: PeersSetting) -> Sequence[tuple[str, str]]:
    return list(dict.fromkeys((row['data'], row['column']) for row in setting.published))


def _work(setting: PeersSetting, piece: tuple[str, str]) -> list[Row]:
    rows = [row for row in setting.published if (row['data'], row['column']) == piece]
    lower, upper = float(rows[0]['lower']), float(rows[0]['upper'])
    values = [float(row[piece[1]]) for row in _rows_of(setting.folder / f'{piece[0]}.csv')]
    psi = [min(max((each - lower) / (upper - lower), 0.0), 1.0) for each in values]
    tests = [5, 10, 20, 30, len(psi)]
    found: list[Row] = []
    for row in rows:
        of_row = {place: float(row[place]) for place in PLACES}
        found.append({'method': row['method'], 'any_n': row['valid_at_any_n'], **of_row})
    mean, sd = float(np.mean(psi)), float(np.std(psi))
    expected = replace(RULE, expected_mean=mean, expected_sd=sd)
    for name, widths in (
        (OURS, _widths(setting, psi, RULE)),
        (EXPECTED, _widths(setting, psi, expected)),
        (HINDSIGHT, _in_hindsight(setting, psi)),
    ):
        of_ours = dict(zip(PLACES, (widths[n] for n in tests), strict=True))
        found.append({'method': name, 'any_n': 'yes' if name != HINDSIGHT else 'no', **of_ours})
    of_all: Row = {'data': piece[0], 'column': piece[1], 'last': len(psi)}
    return [{**of_all, **row} for row in found]


def _widths(setting: PeersSetting, psi: Sequence[float], rule: Anytime) -> dict[int, float]:
    """Return the width after each number of tests."""
    question = Question(setting.gamma, setting.c, Bounds(0.0, 1.0), (), len(psi))
    campaign, found = AnytimeBatch(question, 1, rule), {}
    for n, value in enumerate(psi, start=1):
        campaign.add(np.array([value]))
        found[n] = float(campaign.upper[0] - campaign.lower[0])
    return found


def _in_hindsight(setting: PeersSetting, psi: Sequence[float]) -> dict[int, float]:
    """Return the width after each number of tests, with the constant stakes that were best."""
    m = np.linspace(0.0, 1.0, setting.candidates)[1:-1, None]
    shares = np.linspace(0.0, 0.999, 100)  # largest share of the capital that a stake can lose
    up, down = np.zeros((2, m.size, shares.size))
    alive, found = np.ones(m.size, dtype=bool), {}
    for n, value in enumerate(psi, start=1):
        up += np.log1p(shares / m * (value - m))
        down += np.log1p(shares / (1.0 - m) * (m - value))
        alive &= np.maximum(up.max(axis=1), down.max(axis=1)) < np.log(2.0 / setting.c)
        found[n] = float(np.ptp(m[alive]))
    return found


def _conclude(setting: PeersSetting, results: Sequence[list[Row]]) -> StudyOutcome:
    beside = [row for rows in results for row in _beside(rows)]
    reachable = [row for row in beside if row['reachable'] == 'yes']
    met = sum(number(row, 'ratio') <= 1.0 for row in reachable)
    unreachable = [f'{row["column"]} after {row["tests"]}' for row in beside
                   if row['reachable'] != 'yes']  # fmt: skip
    findings = (
        Finding(
            f'at or below the narrowest published width in {met} of {len(reachable)} places',
            met == len(reachable),
        ),
        Finding(
            f'{len(unreachable)} of {len(beside)} published widths are narrower than the best '
            f'constant stakes in hindsight: {", ".join(unreachable) or "none"}',
            True,
        ),
    )
    everything = [row for rows in results for row in rows]
    return StudyOutcome({'': everything, '_beside': beside}, findings)


def _beside(rows: Sequence[Row]) -> list[Row]:
    """Return for each place the narrowest published width, and ours."""
    ours, expected, hindsight = rows[-3:]
    any_n = [row for row in rows[:-3]
             if row['any_n'] == 'yes' and 'biased' not in str(row['method'])]  # fmt: skip
    found: list[Row] = []
    for place in PLACES:
        least = min((number(row, place) for row in any_n), default=1.0)
        best, width = number(hindsight, place), number(expected, place)
        tests = ours['last'] if place == PLACES[-1] else int(place[1:])
        found.append({
            'data': ours['data'], 'column': ours['column'], 'tests': tests, 'published': least,
            OURS: number(ours, place), 'expected': width, 'ratio': width / least,
            'hindsight': best, 'reachable': 'yes' if best <= least else 'no',
        })  # fmt: skip
    return found


def _draw(setting: PeersSetting, figure: Any, found: StudyOutcome) -> None:
    axes, rows = figure.subplots(), found.tables['_beside']
    columns = dict.fromkeys(str(row['column']) for row in rows)
    for place, column in enumerate(columns):
        own = [row for row in rows if row['column'] == column]
        tests = [number(row, 'tests') for row in own]
        axes.plot(tests, [number(row, 'ratio') for row in own], label=column, **style(place))
    axes.axhline(1.0, color='grey')
    axes.set(xlabel='tests', ylabel='our width over the narrowest published', ylim=(0.0, None))
    axes.legend()


PEERS = Study(
    'peers', _read, _pieces, _work, _conclude, _draw,
    {'_beside': ('data', 'column', 'tests', 'published', 'ours', 'expected', 'ratio', 'hindsight',
                 'reachable')},
)  # fmt: skip
