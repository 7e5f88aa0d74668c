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

"""The twin of a tester: a simulator's answers to the robot's cases and to many more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from repsq_ros.digests import digest_of
from repsq_ros.errors import CampaignError
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.estimation.twin_control import TwinControl
from repsq_ros.keys import key
from repsq_ros.sampling.basis import LegendreBasis
from repsq_ros.sampling.distributions import Distribution
from repsq_ros.sampling.polynomial_moments import HIGHEST
from repsq_ros.specification.distribution_section import beside, read_rows
from repsq_ros.specification.reader import Section, read_keys

OF_ROBOT = 'robot'  # value of a twin's column: a case of the robot
ANSWERS = ('s', *(f's{k}' for k in range(2, 10)))  # answer columns, one per simulator
LEAST = 8  # fewest simulated tests


Numbers = tuple[float, ...]


@dataclass(frozen=True)
class TwinTable:
    """Answers s of one or more simulators."""

    file: str
    digest: str  # SHA-256 (hex) of the file
    of_robot: Mapping[Numbers, Numbers]  # by case
    simulated: tuple[tuple[Numbers, Numbers], ...]  # cases drawn from the target

    @property
    def simulators(self) -> int:
        """Return the number of simulators."""
        return len(self.simulated[0][1]) if self.simulated else 1

    def answer(self, x: Sequence[float]) -> Numbers:
        """Return each simulator's answer s to a case of the robot.

        :raises CampaignError: the file has no such case
        """
        try:
            return self.of_robot[tuple(x)]
        except KeyError:
            raise CampaignError(
                f'{self.file}: found no answer to the case {tuple(x)}, expected one for each case '
                'of this seed (repsq twin)'
            ) from None


def mean_and_spread(answers: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation of several simulators' answers."""
    mean = sum(answers) / len(answers)
    return mean, math.sqrt(sum((s - mean) ** 2 for s in answers) / len(answers))


@dataclass(frozen=True)
class TwinChoice:
    """The twin of a specification."""

    table: TwinTable
    file: str = field(
        metadata=key("the simulator's answers, as `repsq twin` writes them, beside this file")
    )
    degree: int = field(
        default=2,
        metadata=key(
            'degree of the polynomial in each dimension, beside the answer s',
            at_least=1,
            at_most=HIGHEST,
        ),
    )
    share: float = field(
        default=0.9,
        metadata=key('share of the capital that bets with the twin', above=0, below=1),
    )

    @property
    def words(self) -> str:
        """Return the regressors in words."""
        digest = self.table.digest[:12] or 'none yet'
        who = "a simulator's answer"
        if self.table.simulators > 1:
            who = f'mean and spread of the answers of {self.table.simulators} simulators'
        return (
            f'a regression of degree {self.degree} on the case and on {who} '
            f'({len(self.table.simulated)} simulated tests, digest {digest})'
        )

    def make(
        self, target: Distribution, psi: tuple[float, float], gamma: float, unweighted: bool
    ) -> TwinControl:
        """Make the control variate, at the start of a campaign.

        :raises ValueError: the target has no polynomials of known size
        """
        basis, (low, high) = LegendreBasis(target, self.degree, False), psi
        several = self.table.simulators > 1

        def features(x: Sequence[float], answers: Sequence[float]) -> list[float]:
            mean, spread = mean_and_spread([min(max(s, low), high) for s in answers])
            t = (2.0 * mean - low - high) / (high - low)
            beside = [4.0 * spread / (high - low) - 1.0] if several else []
            return [*basis.values(x), t, (3.0 * t * t - 1.0) / 2.0, *beside]

        penalties = (*basis.penalties, 1.0 / 3.0, 2.0 / 5.0, *(1.0 / 3.0,) * several)
        return TwinControl(
            features, penalties, self.table.answer, self.table.simulated, Bounds(*psi), gamma,
            unweighted,
        )  # fmt: skip


def read_twin(section: Section, target: Distribution) -> TwinChoice:
    """Return the twin of a tester's control.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    name = section.text('file')
    file = beside(section, name)
    if not file.is_file():
        raise section.fail('file', f'no file {file}', 'the answers of a simulator (repsq twin)')
    of_robot, simulated = {}, []
    columns = {OF_ROBOT: 0.0, **dict.fromkeys(ANSWERS, math.nan)}
    for x, more in read_rows(file, target.box, columns):
        answers = tuple(more[each] for each in ANSWERS if not math.isnan(more[each]))
        if not answers:
            raise section.fail('file', f'no column {ANSWERS[0]} in {file}', 'the answers')
        if more[OF_ROBOT]:
            of_robot[x] = answers
        else:
            simulated.append((x, answers))
    if len(simulated) < LEAST:
        raise section.fail('file', f'{len(simulated)} simulated tests', f'at least {LEAST}')
    table = TwinTable(str(file), digest_of(file), of_robot, tuple(simulated))
    return read_keys(section, TwinChoice, {'table': table, 'file': name})
