"""Proposals q: who draws the next case, with which importance weight, under which bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from repsq_ros.sampling.distributions import UniformBox


@dataclass(frozen=True)
class Draw:
    """One case with its densities: x ~ q, and the weight w = p(x)/q(x)."""

    x: tuple[float, ...]
    log_p: float
    log_q: float

    @property
    def weight(self) -> float:
        """The importance weight w = p(x)/q(x); exactly 1 where p and q agree."""
        return math.exp(self.log_p - self.log_q)


class Proposal(Protocol):
    """What a campaign needs of a proposal."""

    @property
    def weight_bound(self) -> float:
        """Return the largest p(x)/q(x) that the proposal in force can give (w_max)."""

    def draw(self, generator: np.random.Generator) -> Draw:
        """Draw the next case from the proposal in force."""

    def tell(self, x: tuple[float, ...], psi: float, weight: float) -> None:
        """Hear the outcome of a valid test, before the next draw."""


class MonteCarlo:
    """q = p: every weight is 1."""

    weight_bound = 1.0

    def __init__(self, target: UniformBox) -> None:
        self._target = target

    def draw(self, generator: np.random.Generator) -> Draw:
        """Draw x ~ p."""
        x = self._target.sample(generator)
        log_p = self._target.logpdf(x)
        return Draw(x, log_p, log_p)

    def tell(self, x: tuple[float, ...], psi: float, weight: float) -> None:
        """Hear the outcome; plain Monte Carlo does not learn."""
