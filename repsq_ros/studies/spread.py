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

"""Prior knowledge of z under the planned proposal: mean and sd, or a pilot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.control import CountedCase
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.estimation.weights import z_bounds
from repsq_ros.sampling.beta_fit import effective_size, fit_betas
from repsq_ros.sampling.distributions import Distribution, Mixture, Product
from repsq_ros.sampling.marginals import Beta
from repsq_ros.sampling.weight_bound import largest_ratio
from repsq_ros.specification.model import Specification
from repsq_ros.specification.proposal_section import ProposalType

Numbers = NDArray[np.float64]

FEW = 30  # number of a pilot's tests below which its spread is uncertain
RESAMPLED = 1000  # bootstrap samples for the interval of a pilot's sd
AT_LEAST_FOR_CONTROL = 20  # fewest tests of a pilot for trying a control variate


@dataclass(frozen=True)
class Spread:
    """Prior knowledge of z: at least mean and sd."""

    mean: float  # [unit of psi]
    sd: float  # [unit of psi]
    values: Numbers | None = None  # z of a pilot's tests under the planned proposal
    shares: Numbers | None = None  # their probabilities
    tests: int = 0  # effective number of a pilot's tests behind the values

    def pilots(self, random: np.random.Generator, runs: int) -> Numbers | None:
        """Return a bootstrap sample of the pilot for each campaign; None without a pilot.

        Their differences show how uncertain conclusions from the pilot are.

        :returns: shape (runs, tests)
        """
        if self.values is None or self.shares is None:
            return None
        return random.choice(self.values, size=(runs, max(self.tests, 2)), p=self.shares)

    def draw(
        self,
        random: np.random.Generator,
        shape: tuple[int, int],
        bounds: Bounds,
        pilots: Numbers | None = None,
    ) -> Numbers:
        """Draw values of z: from the pilot's values, or from a law with this mean, sd and bounds.

        The law is Beta, or has only the two end values if no Beta has this spread.

        :param shape: (tests, runs)
        :param pilots: of each campaign, if they differ
        """
        if pilots is not None:
            chosen: Numbers = pilots[
                np.arange(shape[1]), random.integers(pilots.shape[1], size=shape)
            ]
            return chosen
        if self.values is not None and self.shares is not None:
            return random.choice(self.values, size=shape, p=self.shares)
        width = bounds.width
        m, v = (self.mean - bounds.lower) / width, (self.sd / width) ** 2
        largest = m * (1.0 - m)
        if v <= 0.0:
            return np.full(shape, self.mean)
        if v >= largest * (1.0 - 1e-6):
            return np.where(random.random(shape) < m, bounds.upper, bounds.lower)
        strength = largest / v - 1.0
        return bounds.lower + width * random.beta(m * strength, (1.0 - m) * strength, shape)


def largest_sd(mean: float, bounds: Bounds) -> float:
    """Return the largest standard deviation of a value within bounds."""
    return math.sqrt(max((mean - bounds.lower) * (bounds.upper - mean), 0.0))


def starting_bounds(specification: Specification) -> Bounds:
    """Return the bounds of z under the campaign's first proposal."""
    return _bounds(specification, specification.make_proposal().weight_bound)


def _bounds(specification: Specification, weight_bound: float) -> Bounds:
    measure, choice = specification.measure, specification.tester.proposal
    unweighted = specification.make_proposal().unweighted
    truncation = math.inf if choice.truncation is None else choice.truncation
    return z_bounds(measure.lower, measure.upper, weight_bound, unweighted, truncation)


class Pilot:
    """The tests of an earlier campaign with any proposal."""

    def __init__(self, specification: Specification, tests: Sequence[TestRecord]) -> None:
        self._specification = specification
        self.tests = [
            test
            for test in tests
            if test.valid and math.isfinite(test.psi * test.weight) and test.weight > 0.0
        ]
        self._psi: Numbers = np.array([test.psi for test in self.tests])
        self._weights: Numbers = np.array([test.weight for test in self.tests])

    def under(self, q: Distribution | None) -> tuple[Spread, float]:
        """Return z as for tests drawn from q, with the effective number of tests behind it.

        A case that the pilot drew with weight w = p/q_0 counts w / (p/q) = q/q_0 times.

        :param q: None: the target itself
        """
        ratio, truncation = self._ratio(q), self._specification.tester.proposal.truncation
        z = self._psi * ratio
        if truncation is not None:
            z = np.minimum(z, truncation)
        counts = np.divide(self._weights, ratio, out=np.zeros_like(ratio), where=ratio > 0.0)
        return spread_of(z, counts / counts.sum()), effective_size(counts)

    def _ratio(self, q: Distribution | None) -> Numbers:
        if q is None:
            return np.ones(len(self.tests))
        target = self._specification.target
        return np.exp([target.logpdf(test.x) - q.logpdf(test.x) for test in self.tests])

    def planned(self, tests: int) -> tuple[Spread, Bounds, float]:
        """Return spread, bounds of z and effective number of tests for a campaign this long."""
        specification = self._specification
        choice = specification.tester.proposal
        if choice.kind == ProposalType.EXTERNAL:
            z = self._psi * self._weights
            whole = np.full(len(z), 1.0 / len(z))
            return spread_of(z, whole), starting_bounds(specification), float(len(z))
        if choice.kind == ProposalType.ADAPTIVE:
            return self._learning(tests)
        spread, size = self.under(choice.distribution)  # None: the target itself
        return spread, starting_bounds(specification), size

    def _learning(self, tests: int) -> tuple[Spread, Bounds, float]:
        """Simulate an adaptive proposal that learns from the pilot's tests in each batch."""
        specification = self._specification
        adaptation, target = specification.tester.proposal.adaptation, specification.target
        assert adaptation is not None
        box, share = target.box, adaptation.share_of_target
        taught = fit_betas(
            [box.to_unit(test.x) for test in self.tests],
            self._psi,
            self._weights,
            adaptation.fit,
            adaptation.shapes,
        )
        batches = max(1, -(-tests // adaptation.batch))
        if taught is None:
            spread, size = self.under(None)
            return spread, starting_bounds(specification), size
        spreads, sizes, bounds = [], [], []
        for batch in {round(place) for place in np.linspace(0, batches - 1, 8)}:
            kept = (1.0 - adaptation.rate) ** batch
            shapes = [
                (
                    new_a + (adaptation.start - new_a) * kept,
                    new_b + (adaptation.start - new_b) * kept,
                )
                for new_a, new_b in taught
            ]
            q = Mixture(
                (target, Product(box, tuple(Beta(a, b) for a, b in shapes))),  # type: ignore[arg-type]
                (share, 1.0 - share),
            )
            spread, size = self.under(q)
            spreads.append(spread)
            sizes.append(size)
            bounds.append(_bounds(specification, largest_ratio(target, q)))
        values = np.concatenate([each.values for each in spreads if each.values is not None])
        shares = np.concatenate([each.shares for each in spreads if each.shares is not None])
        # Bounds act test by test, so their mean approximates the total effect.
        mean = Bounds(
            float(np.mean([each.lower for each in bounds])),
            float(np.mean([each.upper for each in bounds])),
        )
        within = np.clip(values, mean.lower, mean.upper)
        size = float(np.mean(sizes))
        return spread_of(within, shares / shares.sum(), round(size)), mean, size

    def controlled(self) -> tuple[Spread, Bounds] | None:
        """Train the control variate on the pilot; the second half shows the remaining spread.

        None if there is no control variate, or the pilot was not drawn from the target itself.
        """
        control = self._specification.make_control()
        drawn = bool(np.all(self._weights == 1.0))
        plain = drawn and self._specification.make_proposal().unweighted
        if control is None or not plain or len(self.tests) < AT_LEAST_FOR_CONTROL:
            return None
        found = [control.count(CountedCase(t.x, t.psi, 1.0, 1.0)) for t in self.tests]
        late = found[len(found) // 2 :]
        lower, upper = min(f.bet_bounds.lower for f in late), max(f.bet_bounds.upper for f in late)
        v: Numbers = np.array([each.value for each in late])
        return spread_of(v, np.full(len(v), 1.0 / len(v))), Bounds(lower, upper)

    def sd_interval(self) -> tuple[float, float]:
        """Return a 95 % interval of sd(psi w) under the pilot's proposal, by bootstrap."""
        z = self._psi * self._weights
        random = np.random.default_rng(len(z))
        sds = np.std(random.choice(z, (RESAMPLED, len(z))), axis=1, ddof=1)
        return float(np.quantile(sds, 0.025)), float(np.quantile(sds, 0.975))


def spread_of(values: Numbers, shares: Numbers, tests: int = 0) -> Spread:
    """Return the spread of values with probabilities.

    :param tests: effective number of a pilot's tests; 0: computed from the probabilities
    """
    mean = float(np.dot(shares, values))
    size = effective_size(shares)
    variance = float(np.dot(shares, (values - mean) ** 2)) * size / max(size - 1.0, 1.0)
    return Spread(mean, math.sqrt(variance), values, shares, tests or round(size))
