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

"""Tests to the stop with a simulator beside the robot, if psi depends on the case.

The simulator's loss is that of the robot's law with another gain and with noise of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.control import Control
from repsq_ros.estimation.portfolio import ControlledAnytime
from repsq_ros.estimation.regression import RegressionControl
from repsq_ros.estimation.twin_control import TwinAnytime
from repsq_ros.sampling.basis import LegendreBasis
from repsq_ros.sampling.proposals import MonteCarlo
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.twin_section import TwinChoice, TwinTable
from repsq_ros.studies.case_rules import (
    CASES,
    STREAM_OFFSET,
    TARGET,
    UNIT,
    TestsToStop,
    campaign_of_cases,
    tests_to_stop,
)
from repsq_ros.studies.laws import Law, read_law
from repsq_ros.studies.simulated_twins import AskedAnswers, Case

DEGREE, SHARE = 2, 0.9


@dataclass(frozen=True)
class SteepTwin:
    """A simulator of a steep law."""

    gain: float  # of its loss, over that of the robot
    tests: int  # simulated for each campaign


@dataclass(frozen=True)
class TwinRow:
    """Results of a steep law with gamma and c; by `anytime`, on the same cases and psi."""

    law: str
    gamma: float
    twin: SteepTwin
    without: TestsToStop
    regression: TestsToStop  # of psi on the case alone
    beside: TestsToStop  # of psi on the case and the simulator's answer


def study_twins(place: int, runs: int, seed: int, twin: SteepTwin) -> TwinRow:
    """Run one law and gamma.

    :param place: index in CASES
    """
    power, gamma = CASES[place]
    text = f'steep:{power:g}'
    law, random = (
        read_law(text, 0.0, 1.0),
        generator(seed, RandomStream.STUDY, 2 * STREAM_OFFSET + place),
    )
    seeds = [int(each) for each in random.integers(2**31, size=runs)]

    def stopped(way: str) -> TestsToStop:
        ended = [
            campaign_of_cases(law, gamma, MonteCarlo(TARGET), each,
                              beside_of(way, law, gamma, twin, each))
            for each in seeds
        ]  # fmt: skip
        return tests_to_stop(ended, gamma)

    found = (stopped(way) for way in ('', 'regression', 'twin'))
    return TwinRow(text, gamma, twin, *found)


def beside_of(
    way: str, law: Law, gamma: float, twin: SteepTwin, seed: int
) -> tuple[ControlledAnytime, Control] | None:
    """Return the rule and the control variate of a campaign; '': none."""
    if not way:
        return None
    if way == 'regression':
        basis = LegendreBasis(TARGET, DEGREE, False)
        fitted = RegressionControl(basis, UNIT, gamma, True)
        return ControlledAnytime('a regression', share=SHARE), fitted
    random = generator(seed, RandomStream.TWIN)

    def ask(x: Case) -> float:
        return float(1.0 - (1.0 - law.draw(x, random)) ** twin.gain)

    cases = [TARGET.sample(random) for _ in range(twin.tests)]
    simulated = tuple((x, (ask(x),)) for x in cases)
    choice = TwinChoice(TwinTable('', '', AskedAnswers([ask]), simulated), '', DEGREE, SHARE)
    control = choice.make(TARGET, (UNIT.lower, UNIT.upper), gamma, True)
    return TwinAnytime('a simulator', Anytime(), SHARE), control
