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

"""Adaptive importance sampling: the proposal learns from the tests (section 5 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, field

from repsq_ros.keys import key
from repsq_ros.sampling.beta_fit import Fit, fit_betas
from repsq_ros.sampling.distributions import FromUniform, Mixture, Product
from repsq_ros.sampling.marginals import Beta, Uniform
from repsq_ros.sampling.proposals import Dependence, WeightedProposal
from repsq_ros.sampling.weight_bound import largest_ratio


@dataclass(frozen=True)
class Adaptation:
    """How an adaptive proposal learns."""

    batch: int = field(default=30, metadata=key('tests between two updates', at_least=2))
    share_of_target: float = field(
        default=0.1, metadata=key('share of the target in the mixture', above=0, below=1)
    )
    rate: float = field(
        default=0.1, metadata=key('rate of the moving average of the shapes', above=0, below=1)
    )
    start: float = field(
        default=0.99, metadata=key('every shape before the first update', above=0)
    )
    fit: Fit = field(default=Fit.MOMENTS, metadata=key('how shapes are fitted'))
    # None: no limits
    shapes: tuple[float, float] | None = field(
        default=(0.5, 1.0), metadata=key('limits of a fitted shape')
    )


class AdaptiveImportance(WeightedProposal):
    """q = s p + (1 - s) prod_d Beta(a_d, b_d), with shapes updated after every batch of tests.

    a <- (1 - rate) a + rate a', with (a', b') fitted to the newest batch only.

    :param declared_bound: w_max declared by the tester, instead of the computed one
    """

    dependence = Dependence.ADAPTIVE
    _target: FromUniform

    def __init__(
        self, target: FromUniform, adaptation: Adaptation, declared_bound: float | None = None
    ) -> None:
        self._target, self._adaptation = target, adaptation
        self._declared = declared_bound
        self._batch: list[tuple[tuple[float, ...], float, float]] = []
        provable = self._provable_for_all()
        self.proven = declared_bound is None or declared_bound >= provable
        self.largest_weight_bound = provable if declared_bound is None else declared_bound
        self.shapes = ((adaptation.start, adaptation.start),) * len(target.box.dimensions)
        self._set(self.shapes)

    def _provable_for_all(self) -> float:
        """Return a weight bound for all shapes within the limits."""
        share, limits = self._adaptation.share_of_target, self._adaptation.shapes
        target = self._target
        if limits is None or limits[1] > 1.0 or self._adaptation.start > 1.0:
            return 1.0 / share
        if not (isinstance(target, Product) and all(m == Uniform() for m in target.marginals)):
            return 1.0 / share
        # A Beta density with shapes <= 1 is at least the smaller shape everywhere.
        floor = min(limits[0], self._adaptation.start)
        return float(1.0 / (share + (1.0 - share) * floor ** len(target.marginals)))

    def _set(self, shapes: tuple[tuple[float, float], ...]) -> None:
        self.shapes = shapes
        learnt = Product(self._target.box, tuple(Beta(a, b) for a, b in shapes))
        share = self._adaptation.share_of_target
        self._proposal = Mixture((self._target, learnt), (share, 1.0 - share))
        bound = min(largest_ratio(self._target, self._proposal), self.largest_weight_bound)
        self.weight_bound = bound if self._declared is None else self._declared

    def tell(self, x: tuple[float, ...], psi: float, weight: float) -> None:
        """Record the outcome of a valid test; the last one of a batch updates the shapes."""
        self._batch.append((self._target.box.to_unit(x), psi, weight))
        if len(self._batch) < self._adaptation.batch:
            return
        u, outcomes, weights = zip(*self._batch, strict=True)
        self._batch = []
        fitted = fit_betas(u, outcomes, weights, self._adaptation.fit, self._adaptation.shapes)
        if fitted is None:
            return  # all psi are zero, or too few tests count: keep the shapes
        keep, rate = 1.0 - self._adaptation.rate, self._adaptation.rate
        self._set(
            tuple(
                (keep * a + rate * new_a, keep * b + rate * new_b)
                for (a, b), (new_a, new_b) in zip(self.shapes, fitted, strict=True)
            )
        )
