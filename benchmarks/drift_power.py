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

"""How often the drift test within a campaign finds a mean that rises evenly, and what could.

    .venv/bin/python benchmarks/drift_power.py [--campaigns 200]

psi follows Beta laws of sd .28 whose means rise around .47, in as many tests as `anytime` takes
for gamma at c .05 where nothing changes. Beside it the power of the best test of a fixed n that
looks once, knows the spread, and expects this very ramp (normal, two-sided, of the same level).
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import stats

from repsq_ros.estimation.stationarity import LEVEL, StationarityTest
from repsq_ros.estimation.stopping import Bounds

SD, MIDDLE, UNIT = 0.28, 0.47, Bounds(0.0, 1.0)
PLANNED = ((0.04, 328), (0.02, 1282))  # gamma, tests
RAMPS = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)  # times gamma


def found(rise: float, tests: int, campaigns: int) -> float:
    """Return the share of campaigns in which a change was found."""
    random, test = np.random.default_rng(tests), StationarityTest(UNIT, campaigns)
    for mean in MIDDLE + rise * (np.arange(tests) / (tests - 1.0) - 0.5):
        size = mean * (1.0 - mean) / SD**2 - 1.0
        test.add(random.beta(mean * size, (1.0 - mean) * size, campaigns), UNIT)
    return float(test.changed.mean())


def most(rise: float, tests: int) -> float:
    """Return the power of the best test of a fixed n."""
    index = np.arange(tests) / (tests - 1.0) - 0.5
    away = rise * float(np.sqrt(np.sum(index * index))) / SD
    needed = stats.norm.isf(LEVEL / 2.0)
    return float(stats.norm.sf(needed - away) + stats.norm.cdf(-needed - away))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--campaigns', type=int, default=200)
    campaigns = parser.parse_args().campaigns
    print(f'level {LEVEL:g}, {campaigns} campaigns each; beside it: the best test of a fixed n')
    for gamma, tests in PLANNED:
        for times in RAMPS:
            rise = times * gamma
            print(f'gamma {gamma:g}, {tests} tests, ramp {times:2.0f} gamma: found in '
                  f'{found(rise, tests, campaigns):.3f}, at most {most(rise, tests):.3f}',
                  flush=True)  # fmt: skip


if __name__ == '__main__':
    main()
