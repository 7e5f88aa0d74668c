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

"""The width of the partition's cells: alpha from gamma, c, beta and the number of runs."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from repsq_ros.estimation.probabilities import written
from repsq_ros.keys import TextEnum

DIGITS = 50  # of a square root before rounding to a float
ROUNDING = 1 - Fraction(1, 10**12)


def agreement_exists(c: float, beta: float, runs: int = 2) -> bool:
    """Tell whether (1 - c)^runs >= 1 - beta: runs agree only if all of them are accurate."""
    return (1 - written(c)) ** runs >= (1 - written(beta)) * ROUNDING


def _kept(c: float, beta: float, runs: int) -> tuple[Fraction, Fraction]:
    """Return (1 - c)^runs and 1 - beta."""
    kept, wanted = (1 - written(c)) ** runs, 1 - written(beta)
    if not agreement_exists(c, beta, runs):
        raise ValueError(f'(1-c)^{runs} = {float(kept):g} is below 1-beta = {float(wanted):g}')
    return kept, wanted


def paper_alpha(gamma: float, c: float, beta: float, runs: int = 2) -> float:
    """Return the paper's alpha (Theorem 2), which does not give the claimed agreement.

    alpha = 2 gamma (1 - sqrt(1 - (1-beta)/(1-c)^runs)); for two runs, as printed,
    2 gamma ((1-c) - sqrt((1-c)^2 - (1-beta))) / (1-c)

    :param gamma: accuracy of one run [unit of psi]
    :param c: probability that one run misses it
    :param beta: probability that the runs may differ
    :raises ValueError: if (1-c)^runs < 1-beta
    """
    kept, wanted = _kept(c, beta, runs)
    room = max(1 - wanted / kept, Fraction(0))
    return _float(2 * written(gamma), room)


LEAST_BETA = 0.25  # for which corrigendum_alpha exists, with a small enough c


def corrigendum_alpha(gamma: float, c: float, beta: float, runs: int = 2) -> float:
    """Return alpha of the paper's corrigendum, which assumes a law for the distance of two runs.

    alpha = 3 gamma (1 - sqrt(1 - (4/3) (1-beta)/(1-c)^runs)), from the corrected integral
    (6 gamma alpha - alpha^2) / (12 gamma^2) (1-c)^runs = 1 - beta. Runs at r* +- gamma, each with
    probability 1/2, agree less often.

    :raises ValueError: if (1-c)^runs < (4/3) (1-beta), as for every beta below 1/4
    """
    kept, wanted = _kept(c, beta, runs)
    room = 1 - Fraction(4, 3) * wanted / kept
    if room < 0:
        raise ValueError(f'(1-c)^{runs} = {float(kept):g} is below (4/3) (1-beta)')
    return _float(3 * written(gamma), room)


def _float(factor: Fraction, room: Fraction) -> float:
    """Return factor (1 - sqrt(room)), rounded once."""
    with localcontext() as context:
        context.prec = DIGITS
        root = (Decimal(room.numerator) / Decimal(room.denominator)).sqrt()
        return float(Decimal(factor.numerator) / Decimal(factor.denominator) * (1 - root))


def _distinct(gamma: float, c: float, beta: float, runs: int) -> Fraction:
    kept, wanted = _kept(c, beta, runs)
    if kept <= wanted:
        raise ValueError(f'(1-c)^{runs} = {float(kept):g} is not above 1-beta')
    return 2 * written(gamma) * kept / (kept - wanted)


def distinct_alpha(gamma: float, c: float, beta: float, runs: int = 2) -> float:
    """Return an alpha that is valid for any algorithms, over a shared random offset.

    Accurate runs are within 2 gamma of each other, and an edge falls between them with
    probability 2 gamma / alpha at most: alpha = 2 gamma k / (k - (1-beta)), k = (1-c)^runs.

    :raises ValueError: if (1-c)^runs <= 1-beta
    """
    return float(_distinct(gamma, c, beta, runs))


def iid_alpha(gamma: float, c: float, beta: float, runs: int = 2) -> float:
    """Return an alpha that is valid for identically distributed runs, over a shared random offset.

    The range of `runs` such values within r* +- gamma has a mean of 2 gamma (1 - 2^(1-runs)) at
    most (half of that of `distinct` for two runs).

    :raises ValueError: if (1-c)^runs <= 1-beta
    """
    return float(_distinct(gamma, c, beta, runs) * (1 - Fraction(2, 2**runs)))


def query_alpha(gamma: float, c: float, beta: float, runs: int = 2) -> float:
    """Return the alpha of Impagliazzo et al.: 2 gamma / (1 + beta - runs c).

    With rule `reproducible_query`, the value is within gamma of r*, and `runs` runs agree with
    1 - beta, over a shared random offset.

    :raises ValueError: if beta <= runs c
    """
    share = written(beta) - runs * written(c)
    if share <= 0:
        raise ValueError(f'beta = {beta:g} is not above {runs} c')
    return float(2 * written(gamma) / (1 + share))


class AlphaRule(TextEnum):
    """How the width of a cell follows from the accuracy."""

    PAPER = 'paper'
    CORRIGENDUM = 'corrigendum'
    IID = 'iid'
    DISTINCT = 'distinct'
    QUERY = 'query'


ALPHA_RULES = {
    AlphaRule.PAPER: paper_alpha,
    AlphaRule.CORRIGENDUM: corrigendum_alpha,
    AlphaRule.IID: iid_alpha,
    AlphaRule.DISTINCT: distinct_alpha,
    AlphaRule.QUERY: query_alpha,
}

# rules that need a random offset
OVER_OFFSET = (AlphaRule.IID, AlphaRule.DISTINCT, AlphaRule.QUERY)


def anchored_c(beta: float, runs: int = 2) -> float:
    """Return the largest c with which `runs` accurate runs agree: c = 1 - (1-beta)^(1/runs).

    `runs` counts the initiator and its replicators.
    """
    return float(1.0 - (1.0 - beta) ** (1.0 / runs))
