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

"""Tests to stop over those of `anytime` as it is by default, beside what is wanted.

    .venv/bin/python benchmarks/fewer_tests.py [--campaigns 200]

The same values of psi for both, c .05; ratios are of mean tests. Those with a twin: twin.py. Exits
with 1 where a ratio is above the wanted one, or where more than c of the campaigns miss gamma.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.candidates import Stakes
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.studies.laws import read_law

C, LONGEST = 0.05, 4000
MIDDLE, TARGET = Anytime(middle=True), Anytime(stakes=Stakes.TARGET)
BOTH = Anytime(middle=True, stakes=Stakes.TARGET)
ROWS = (  # law of psi, its range, gamma, rule, ratio wanted
    ('anchored arm', 'beta:0.012,0.004', 0.1, 0.002, 'estimate: middle', MIDDLE, 0.72),
    ('anchored arm', 'beta:0.012,0.004', 0.1, 0.002, 'both', BOTH, 0.72),
    ('anchored hand', 'beta:1.5,0.124', 6.0, 0.1, 'estimate: middle', MIDDLE, 0.72),
    ('anchored hand', 'beta:1.5,0.124', 6.0, 0.1, 'both', BOTH, 0.72),
    ('locomotion', 'beta:0.47,0.28', 1.0, 0.04, 'stakes: target', TARGET, 0.87),
    ('locomotion', 'beta:0.47,0.28', 1.0, 0.02, 'stakes: target', TARGET, 0.84),
    ('narrow', 'beta:0.14,0.077', 1.0, 0.02, 'estimate: middle', MIDDLE, 0.82),
    ('narrow', 'beta:0.14,0.077', 1.0, 0.02, 'both', BOTH, 0.82),
    ('rare event', 'bernoulli:0.05', 1.0, 0.04, 'estimate: middle', MIDDLE, 1.03),
    ('rare event', 'bernoulli:0.05', 1.0, 0.04, 'both', BOTH, 1.03),
)


def stops(
    psi: NDArray[np.float64], question: Question, rule: Anytime
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the tests of each campaign, and its estimate."""
    campaigns, rows = AnytimeBatch(question, len(psi), rule), np.arange(len(psi))
    tests, estimates = np.zeros(len(psi)), np.zeros(len(psi))
    while rows.size and campaigns.n < LONGEST:
        campaigns.add(psi[rows, campaigns.n].copy())
        stop = campaigns.reached
        middle = (campaigns.lower + campaigns.upper) / 2.0
        tests[rows[stop]] = campaigns.n
        estimates[rows[stop]] = (middle if rule.middle else campaigns.mean)[stop]
        campaigns.keep(~stop)
        rows = rows[~stop]
    return tests, estimates


def main() -> None:
    """Print each ratio beside the wanted one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--campaigns', type=int, default=200)
    count, failed = parser.parse_args().campaigns, False
    usual: dict[tuple[str, float], float] = {}  # mean tests of `anytime`, by law and gamma
    for name, text, width, gamma, words, rule, wanted in ROWS:
        law = read_law(text, 0.0, width)
        assert law.many is not None and law.mean is not None
        psi = law.many(np.random.default_rng(1), count * LONGEST).reshape(count, LONGEST)
        question = Question(gamma, C, Bounds(0.0, width))
        if (text, gamma) not in usual:
            usual[text, gamma] = float(stops(psi, question, Anytime())[0].mean())
        without = usual[text, gamma]
        tests, estimates = stops(psi, question, rule)
        missed, ratio = int((abs(estimates - law.mean) > gamma).sum()), tests.mean() / without
        wrong = stats.binomtest(missed, count, C, 'greater').pvalue < 0.01
        failed |= bool(ratio > wanted or wrong)
        print(
            f'{name}, gamma {gamma:g}: {without:.1f} tests; {words}: {tests.mean():.1f}, '
            f'{ratio:.3f} (wanted {wanted}); missed {missed} of {count}'
            f'{"  MISSED" if ratio > wanted or wrong else ""}',
            flush=True,
        )
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
