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

    .venv/bin/python benchmarks/peers.py FOLDER

FOLDER holds `published_widths.csv` (data, column, lower, upper, method, valid_at_any_n, n5 ..
n_last, last: widths of 95 % intervals over the range) and the campaigns that it names. Ours, on
the same tests in the same order, with max_tests as many as there are: `anytime` with `aim: early`,
and the same with an expectation, which is mean and sd of these very tests: what a right simulator
would give, the best case; no simulator was asked. Beside each of ours its ratio to the narrowest
that was published as valid at any n, but for those named biased.

`in hindsight` is no interval but a bound on them: for each candidate mean and each n the constant
stake is taken that turned out best, after all tests are seen. What was published below it, bets
with c/2 on each side reach with stakes that vary along the campaign in a lucky way, or not at all.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.stopping import Bounds, Question

C, GAMMA = 0.05, 0.02
PLACES = ('n5', 'n10', 'n20', 'n30', 'n_last')


def rows_of(file: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with file.open(encoding='utf-8', newline='') as opened:
        return list(csv.DictReader(opened))


def widths(psi: list[float], tests: list[int], rule: Anytime) -> list[float]:
    """Return the width after each of so many tests."""
    campaign = AnytimeBatch(Question(GAMMA, C, Bounds(0.0, 1.0), (), len(psi)), 1, rule)
    found = {}
    for n, value in enumerate(psi, start=1):
        campaign.add(np.array([value]))
        found[n] = float(campaign.upper[0] - campaign.lower[0])
    return [found[n] for n in tests]


def in_hindsight(psi: list[float], tests: list[int]) -> list[float]:
    """Return the width after each of so many tests, by the constant stakes that were best."""
    m = np.linspace(0.0, 1.0, 1001)[1:-1, None]
    shares = np.linspace(0.0, 0.999, 100)  # of the capital that a stake may lose
    up, down = np.zeros((2, m.size, shares.size))
    alive, found = np.ones(m.size, dtype=bool), {}
    for n, value in enumerate(psi, start=1):
        up += np.log1p(shares / m * (value - m))
        down += np.log1p(shares / (1.0 - m) * (m - value))
        alive &= np.maximum(up.max(axis=1), down.max(axis=1)) < np.log(2.0 / C)
        found[n] = float(np.ptp(m[alive]))
    return [found[n] for n in tests]


def shown(values: list[float], beside: list[float] | None = None) -> str:
    """Return widths, each with its ratio to another one."""
    if beside is None:
        return '  '.join(f'{value:6.3f}      ' for value in values)
    pairs = zip(values, beside, strict=True)
    return '  '.join(f'{value:6.3f} {value / other:4.2f} x' for value, other in pairs)


def main() -> None:
    """Print the widths of each campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path)
    folder = parser.parse_args().folder
    published = rows_of(folder / 'published_widths.csv')
    narrower = below = places = 0
    for data, column in dict.fromkeys((row['data'], row['column']) for row in published):
        rows = [row for row in published if (row['data'], row['column']) == (data, column)]
        lower, upper = float(rows[0]['lower']), float(rows[0]['upper'])
        values = [float(row[column]) for row in rows_of(folder / f'{data}.csv')]
        psi = [min(max((each - lower) / (upper - lower), 0.0), 1.0) for each in values]
        tests = [5, 10, 20, 30, len(psi)]
        print(f'{data} {column}, after {", ".join(map(str, tests))} tests')
        best = [1.0] * len(PLACES)
        for row in rows:
            of_row = [float(row[place]) for place in PLACES]
            any_n = row['valid_at_any_n'] == 'yes'
            if any_n and 'biased' not in row['method']:
                best = [min(pair) for pair in zip(best, of_row, strict=True)]
            print(f'  {row["method"]:22s} {shown(of_row)}{"" if any_n else "  fixed n"}')
        mean, sd = float(np.mean(psi)), float(np.std(psi))
        for name, rule in (
            ('ours', Anytime(reachable=2.0)),
            ('ours, expected', Anytime(reachable=2.0, expected_mean=mean, expected_sd=sd)),
        ):
            of_rule = widths(psi, tests, rule)
            print(f'  {name:22s} {shown(of_rule, best)}')
        least = in_hindsight(psi, tests)
        print(f'  {"in hindsight":22s} {shown(least, best)}')
        below += sum(b < a for a, b in zip(least, best, strict=True))
        narrower += sum(a <= b for a, b in zip(of_rule, best, strict=True))
        places += len(PLACES)
    print(f'with an expectation at or below all published ones: {narrower} of {places}')
    print(f'published below what is best in hindsight: {below} of {places}')


if __name__ == '__main__':
    main()
