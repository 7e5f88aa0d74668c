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

"""Proposals q: how the next case is drawn, with its importance weight and weight bound."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from repsq_ros.sampling.distributions import Distribution, FromUniform
from repsq_ros.sampling.weight_bound import largest_ratio
from repsq_ros.seeds import RandomStream, generator

if TYPE_CHECKING:
    from scipy.stats import qmc


class Dependence(enum.Enum):
    """How the cases of a campaign depend on each other."""

    INDEPENDENT = 'independent'
    ADAPTIVE = 'adaptive'  # q_i depends only on earlier tests
    LOW_DISCREPANCY = 'low-discrepancy'  # evenly spread points: no stopping rule is valid


@dataclass(frozen=True)
class Draw:
    """One case with its densities: x ~ q, and the weight w = p(x)/q(x)."""

    x: tuple[float, ...]
    log_p: float
    log_q: float
    weight_bound: float = 1.0  # w_max of the proposal that drew it, known before the draw
    # The importance weight w = p(x)/q(x), exactly 1 where p and q agree. Only the drawing
    # program computes it: the exponential of another machine may differ in the last digit.
    weight: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.weight):
            object.__setattr__(self, 'weight', math.exp(self.log_p - self.log_q))


class Proposal(Protocol):
    """What a campaign needs from a proposal."""

    @property
    def weight_bound(self) -> float:
        """Return a bound of the weights of the current proposal."""

    @property
    def largest_weight_bound(self) -> float:
        """Return a bound of all weights of the campaign (w_max), fixed before its start."""

    @property
    def proven(self) -> bool:
        """Tell whether the bounds follow from p and q; false: the tester declared them."""

    @property
    def dependence(self) -> Dependence:
        """Return how the cases depend on each other."""

    @property
    def unweighted(self) -> bool:
        """Tell whether every weight is 1."""

    def ready(self, index: int) -> bool:
        """Tell whether case `index` can be drawn now."""

    def draw(self, index: int, seed: int) -> Draw:
        """Draw case `index` of a campaign from the current proposal.

        The same index, seed and history give the same case, independently of other draws.
        """

    def tell(self, x: tuple[float, ...], psi: float, weight: float) -> None:
        """Record the outcome of a valid test, before the next draw."""


class MonteCarlo:
    """q = p: every weight is 1."""

    weight_bound = largest_weight_bound = 1.0
    proven = unweighted = True
    dependence = Dependence.INDEPENDENT

    def __init__(self, target: Distribution) -> None:
        self._target = target

    @property
    def target(self) -> Distribution:
        """Return p."""
        return self._target

    @property
    def distribution(self) -> Distribution:
        """Return the current q, which is p."""
        return self._target

    def ready(self, index: int) -> bool:
        """Return true: a case can always be drawn."""
        return True

    def draw(self, index: int, seed: int) -> Draw:
        """Draw x ~ p."""
        x = self._target.sample(generator(seed, RandomStream.CASE, index))
        log_p = self._target.logpdf(x)
        return Draw(x, log_p, log_p)

    def tell(self, x: tuple[float, ...], psi: float, weight: float) -> None:
        """Do nothing: plain Monte Carlo does not learn."""


class SobolMonteCarlo(MonteCarlo):
    """q = p on a scrambled Sobol sequence (Owen's scrambling, by scipy.stats.qmc).

    Each case has the distribution p, and the mean is usually closer than that of independent
    cases. But the cases depend on each other, so no stopping rule is valid.
    """

    dependence = Dependence.LOW_DISCREPANCY

    def __init__(self, target: FromUniform) -> None:
        super().__init__(target)
        self._from_uniform = target.from_uniform
        self._uniforms = target.uniforms
        self._engine: qmc.Sobol | None = None
        self._seed = self._next = -1

    def draw(self, index: int, seed: int) -> Draw:
        """Return point `index` of the sequence."""
        if self._engine is None or seed != self._seed or index < self._next:
            # Imported here: it takes longer than all other imports of a node.
            from scipy.stats import qmc

            scramble = generator(seed, RandomStream.SOBOL)
            self._engine = qmc.Sobol(self._uniforms, scramble=True, seed=scramble)
            self._seed, self._next = seed, 0
        if index > self._next:
            self._engine.fast_forward(index - self._next)
        point = np.asarray(self._engine.random(1))[0]
        self._next = index + 1
        x = self._from_uniform(point.tolist())
        log_p = self._target.logpdf(x)
        return Draw(x, log_p, log_p)


class WeightedProposal:
    """Common part of weighted proposals: x is drawn from the current q."""

    unweighted = False
    weight_bound: float
    _target: Distribution
    _proposal: Distribution  # the current q

    @property
    def target(self) -> Distribution:
        """Return p."""
        return self._target

    @property
    def distribution(self) -> Distribution:
        """Return the current q."""
        return self._proposal

    def ready(self, index: int) -> bool:
        """Return true: a case can always be drawn."""
        return True

    def draw(self, index: int, seed: int) -> Draw:
        """Draw x ~ q."""
        x = self._proposal.sample(generator(seed, RandomStream.CASE, index))
        return Draw(x, self._target.logpdf(x), self._proposal.logpdf(x), self.weight_bound)


class Importance(WeightedProposal):
    """One fixed q.

    :param declared_bound: w_max declared by the tester, instead of the computed one
    """

    dependence = Dependence.INDEPENDENT

    def __init__(
        self, target: Distribution, proposal: Distribution, declared_bound: float | None = None
    ) -> None:
        self._target, self._proposal = target, proposal
        provable = largest_ratio(target, proposal)
        self.proven = declared_bound is None or declared_bound >= provable
        self.weight_bound = provable if declared_bound is None else declared_bound
        self.largest_weight_bound = self.weight_bound

    def tell(self, x: tuple[float, ...], psi: float, weight: float) -> None:
        """Do nothing: a fixed proposal does not learn."""
