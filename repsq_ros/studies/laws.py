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

"""Laws of psi: distributions of a test's score, for simulations without a robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.errors import ParameterError

Many = Callable[[np.random.Generator, int], NDArray[np.float64]]

EXPECTED = (
    'beta:MEAN,SD, bernoulli:P, two_point:LOW,HIGH,P, constant:VALUE, or steep:POWER '
    '(grows toward the ends of the box)'
)


@dataclass(frozen=True)
class Law:
    """The distribution of one test's psi.

    :param draw: from a case on [0, 1]^d and a generator to psi [unit of psi]
    :param mean: r* under the uniform target; None: not known in closed form
    """

    text: str
    draw: Callable[[Sequence[float], np.random.Generator], float]
    mean: float | None
    many: Many | None = None  # draws n values at once, if psi does not depend on the case


def read_law(text: str, lower: float, upper: float) -> Law:
    """Return the law of a text such as beta:0.47,0.28.

    :param lower: of the range M of psi
    :param upper: of the range M of psi
    :raises ParameterError: unknown, or not within the range
    """
    name, _, rest = text.partition(':')
    try:
        numbers = [float(each) for each in rest.split(',')] if rest else []
    except ValueError:
        raise ParameterError('law', f'{text!r}', EXPECTED) from None
    makers = {
        'beta': (2, _beta),
        'bernoulli': (1, _bernoulli),
        'two_point': (3, _two_point),
        'constant': (1, _constant),
        'steep': (1, _steep),
    }
    count, maker = makers.get(name, (-1, _constant))
    if count != len(numbers) or not all(map(math.isfinite, numbers)):
        raise ParameterError('law', f'{text!r}', EXPECTED)
    return maker(text, numbers, lower, upper)


def _within(text: str, value: float, lower: float, upper: float) -> None:
    if not lower <= value <= upper:
        raise ParameterError('law', f'{text!r}', f'values in the range [{lower:g}, {upper:g}]')


def _plain(text: str, mean: float, many: Many) -> Law:
    return Law(text, lambda u, generator: float(many(generator, 1)[0]), mean, many)


def _beta(text: str, numbers: list[float], lower: float, upper: float) -> Law:
    mean, sd = numbers
    width = upper - lower
    _within(text, mean, lower, upper)
    m, v = (mean - lower) / width, (sd / width) ** 2
    if not 0.0 < v < m * (1.0 - m):
        largest = width * math.sqrt(m * (1.0 - m))
        raise ParameterError('law', f'{text!r}', f'0 < SD < {largest:.4g} for this mean')
    strength = m * (1.0 - m) / v - 1.0
    a, b = m * strength, (1.0 - m) * strength
    return _plain(text, mean, lambda generator, n: lower + width * generator.beta(a, b, n))


def _bernoulli(text: str, numbers: list[float], lower: float, upper: float) -> Law:
    return _two_point(text, [lower, upper, numbers[0]], lower, upper)


def _two_point(text: str, numbers: list[float], lower: float, upper: float) -> Law:
    low, high, share = numbers
    for value in (low, high):
        _within(text, value, lower, upper)
    if not 0.0 <= share <= 1.0:
        raise ParameterError('law', f'{text!r}', 'a probability P in [0, 1]')
    return _plain(
        text,
        low + share * (high - low),
        lambda generator, n: np.where(generator.random(n) < share, high, low),
    )


def _constant(text: str, numbers: list[float], lower: float, upper: float) -> Law:
    _within(text, numbers[0], lower, upper)
    return _plain(text, numbers[0], lambda generator, n: np.full(n, numbers[0]))


# Scales that give the mean 0.47 in three dimensions; ln xi ~ N(-0.03125, 0.25^2).
STEEP_SCALE = {4.0: 0.8154, 5.0: 0.8793}


def _steep(text: str, numbers: list[float], lower: float, upper: float) -> Law:
    """Psi = 1 - exp(-s (p+1)/3 sum |u_j|^p xi), u on [-1, 1]^d: a synthetic tracking loss."""
    power = numbers[0]
    if power not in STEEP_SCALE or (lower, upper) != (0.0, 1.0):
        raise ParameterError('law', f'{text!r}', 'steep:4 or steep:5, for psi in [0, 1]')
    scale = STEEP_SCALE[power] * (power + 1.0) / 3.0

    def draw(u: Sequence[float], generator: np.random.Generator) -> float:
        xi = math.exp(float(generator.normal(-0.03125, 0.25)))
        reach = math.fsum(abs(2.0 * each - 1.0) ** power for each in u)
        return 1.0 - math.exp(-scale * reach * xi)

    return Law(text, draw, None)
