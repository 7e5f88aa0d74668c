"""Stopping rules: how far the mean may still be from r*, and when that is near enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol


class StoppingRule(Protocol):
    """What a campaign needs of a rule: a half-width from n, variance and range."""

    @property
    def name(self) -> str:
        """Return the rule's name, as in a specification."""

    @property
    def statement(self) -> str:
        """Say in one sentence what the rule guarantees, and under which assumption."""

    def confidence(self, c: float) -> str:
        """Say how sure the interval is, e.g. 'With probability 0.95'; '' where nothing holds."""

    def half_width(self, n: int, variance: float, z_range: float, c: float) -> float:
        """Return the half-width of the interval around the mean.

        :param n: number of values
        :param variance: their mean square deviation (divided by n)
        :param z_range: R = m w_max, width of the range of z = psi w
        :param c: probability of a miss, in (0, 1)
        :returns: >= 0 in the unit of psi; +inf while n is too small to say anything
        """


@dataclass(frozen=True)
class EmpiricalBernstein:
    """Empirical Bernstein bound.

    half-width = sqrt(2 s^2 ln(k/c)/n) + 7 R^power ln(k/c) / (3 (n - 1)).

    `two_sided` false: k = 2 and the mean square variance, as printed in the paper. It is the
    one-sided bound of Maurer & Pontil 2009, theorem 4, with 2/c. `two_sided` true: k = 3 and the
    unbiased variance, which covers both sides. `range_power` 1 is Maurer & Pontil's; 2 is the
    paper's misprint, kept to reproduce its counts: for R < 1 it bounds nothing.
    """

    range_power: int = 1
    two_sided: bool = False

    name = 'empirical_bernstein'

    @property
    def statement(self) -> str:
        """Say what holds."""
        if self.range_power != 1:
            return (
                'the range enters squared, as the paper prints it, which bounds nothing where '
                'the range is below 1: it serves only to reproduce the counts of the paper'
            )
        return (
            'the empirical Bernstein bound holds for independent tests and a number of tests '
            'fixed beforehand, so only approximately where, as here, each test may be the last'
        )

    def confidence(self, c: float) -> str:
        """Say how sure the interval is."""
        if self.range_power != 1:
            return ''
        return f'With probability {1 - c:g}' + ('' if self.two_sided else ' on each side')

    def half_width(self, n: int, variance: float, z_range: float, c: float) -> float:
        """Return the half-width (see StoppingRule.half_width)."""
        if n < 2:
            return math.inf
        log = math.log((3.0 if self.two_sided else 2.0) / c)
        if self.two_sided:
            variance = variance * n / (n - 1)
        spread = math.sqrt(2.0 * variance * log / n)
        return spread + 7.0 * z_range**self.range_power * log / (3.0 * (n - 1))


@dataclass(frozen=True)
class Hoeffding:
    """Hoeffding's bound: half-width = R sqrt(ln(2/c) / (2 n)); the variance plays no part."""

    name = 'hoeffding'

    @property
    def statement(self) -> str:
        """Say what holds."""
        return (
            'the Hoeffding bound holds for independent tests; their number follows from gamma, c '
            'and the range alone, so that it is fixed beforehand'
        )

    def confidence(self, c: float) -> str:
        """Say how sure the interval is."""
        return f'With probability {1 - c:g}'

    def half_width(self, n: int, variance: float, z_range: float, c: float) -> float:
        """Return the half-width (see StoppingRule.half_width)."""
        return z_range * math.sqrt(math.log(2.0 / c) / (2.0 * n)) if n > 0 else math.inf


def smallest_n(rule: StoppingRule, gamma: float, variance: float, z_range: float, c: float) -> int:
    """Return the smallest n whose half-width is <= gamma while the variance stays as it is."""

    def within(n: int) -> bool:
        return rule.half_width(n, variance, z_range, c) <= gamma

    high = 2
    while not within(high):
        high *= 2
    low = high // 2 if high > 2 else 0  # not within, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) else (middle, high)
    return high
