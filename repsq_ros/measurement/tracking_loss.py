"""The soft-L-infinity tracking loss."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

REDUCTIONS = ('sum', 'mean', 'rms')


def soft_linf(errors: NDArray[np.float64], gain: float, reduction: str) -> float:
    """Return psi = 1 - exp(-gain * g), g from S = sum over the states of |e_i|^2.

    `sum`: g = S, as the paper prints it; it saturates at 1 on real walks. `mean`: g = S/n.
    `rms`: g = sqrt(S/n), the form that reproduces the paper's values.

    :param errors: (n, k) measured minus commanded, n >= 1 states of k components
    :param gain: > 0, in the unit that makes gain * g a number
    :returns: in [0, 1]
    :raises ValueError: no states, an unknown reduction
    """
    n = len(errors)
    if n == 0:
        raise ValueError('no states')
    total = float(np.sum(errors * errors))
    if reduction == 'sum':
        size = total
    elif reduction == 'mean':
        size = total / n
    elif reduction == 'rms':
        size = math.sqrt(total / n)
    else:
        raise ValueError(f'reduction {reduction!r} is none of {", ".join(REDUCTIONS)}')
    return -math.expm1(-gain * size)
