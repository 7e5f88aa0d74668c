"""How wide the cells of the partition are: alpha from gamma, c and beta."""

from __future__ import annotations

import math


def paper_alpha_exists(c: float, beta: float) -> bool:
    """Tell whether the paper's alpha is defined: (1 - c)^2 >= 1 - beta."""
    return (1.0 - c) ** 2 >= 1.0 - beta


def paper_alpha(gamma: float, c: float, beta: float) -> float:
    """Return the paper's alpha (Theorem 2).

    alpha = 2 gamma ((1-c) - sqrt((1-c)^2 - (1-beta))) / (1-c)

    :param gamma: accuracy of one run [unit of psi]
    :param c: probability that one run misses it
    :param beta: probability that two runs may differ
    :raises ValueError: where (1-c)^2 < 1-beta
    """
    if not paper_alpha_exists(c, beta):
        raise ValueError(f'(1-c)^2 = {(1 - c) ** 2:g} is below 1-beta = {1 - beta:g}')
    keep = 1.0 - c
    return 2.0 * gamma * (keep - math.sqrt(keep**2 - (1.0 - beta))) / keep
