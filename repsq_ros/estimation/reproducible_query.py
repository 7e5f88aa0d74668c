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

"""The `reproducible_query` rule: the reproducible statistical query of Impagliazzo et al. 2022.

Hoeffding's bound brings every run within gamma' of r*, and all runs share cells alpha wide with
a random offset: an edge lies between accurate runs with probability 2 gamma'/alpha. With k runs,
gamma' = gamma s / (1 + s), alpha = 2 gamma / (1 + s) and s = beta - k c, the value is within
gamma' + alpha/2 = gamma of r*, and the runs differ with probability s + k c = beta at most.
For two runs these are the paper's formulas (Reproducibility in learning, algorithm 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from repsq_ros.estimation.moments import Hoeffding
from repsq_ros.estimation.stopping import Progress, Question, Validity


@dataclass(frozen=True)
class ReproducibleQuery:
    """Hoeffding's number of tests for gamma' instead of gamma.

    :param beta: probability that the runs may differ; above runs c
    :param runs: k, number of campaigns that shall agree
    """

    beta: float
    runs: int = 2

    name = 'reproducible_query'
    sides = ''
    validity = Validity.FIXED_N
    statement = (
        'the Hoeffding bound holds for independent tests and for adaptive proposals, at a number '
        'of tests that follows from gamma, c, beta and the range alone'
    )

    def reach(self, gamma: float, c: float) -> float:
        """Return gamma', the largest distance of a run's mean from r* [unit of psi].

        :raises ValueError: beta is not above runs c
        """
        share = self.beta - self.runs * c
        if share <= 0.0:
            raise ValueError(
                f'beta = {self.beta:g} is not above {self.runs} c = {c * self.runs:g}'
            )
        return gamma * share / (1.0 + share)

    def begin(self, question: Question) -> Progress:
        """Return the state of the rule before the first test."""
        return Hoeffding().begin(replace(question, gamma=self.reach(question.gamma, question.c)))
