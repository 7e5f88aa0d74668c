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

"""Exact intervals for a probability, from counts at a fixed number of trials."""

from __future__ import annotations

from repsq_ros import special


def clopper_pearson(
    successes: int, trials: int, below: float, above: float
) -> tuple[float, float]:
    """Return the interval of Clopper & Pearson 1934 for the probability of a success.

    :param below: largest probability that the lower end is too high
    :param above: largest probability that the upper end is too low
    :raises ValueError: not 0 <= successes <= trials
    """
    if not 0 <= successes <= trials:
        raise ValueError(f'{successes} successes in {trials} trials')
    rest = trials - successes
    low = float(special.betaincinv(successes, rest + 1, below)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, rest, 1.0 - above)) if rest else 1.0
    return low, high
