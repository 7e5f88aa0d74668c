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

"""Twins of simulated campaigns: a simulated subject, or answers derived from a law.

A law's twin answers with the test's own psi with probability rho, and else with another draw of
the law at the same case. So its answers have the law of psi, and the correlation rho with it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from repsq_ros.errors import ParameterError
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.candidates import Stakes
from repsq_ros.estimation.portfolio import ControlledAnytime
from repsq_ros.estimation.stopping import StoppingRule
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.simulation.in_process import simulate_case
from repsq_ros.simulation.subject import Subject
from repsq_ros.specification.control_section import KNOWN_BEFORE, controlled
from repsq_ros.specification.model import Specification
from repsq_ros.specification.twin_section import LEAST, TwinChoice, TwinTable
from repsq_ros.studies.laws import Law

Case = tuple[float, ...]

MANY = 10_000  # default number of simulated tests


def plain_rule(rule: StoppingRule) -> StoppingRule:
    """Return the rule without its control variate."""
    return rule.rule if isinstance(rule, ControlledAnytime) else rule


def supposed_table(count: int) -> TwinTable:
    """Return simulated tests without answers, for a twin that does not exist yet."""
    return TwinTable('supposed', '', {}, (((), (math.nan,)),) * count)


def require_twin(rho: float, count: int | None, several: Sequence[Specification]) -> None:
    """Refuse an impossible twin.

    :param rho: correlation of its answers with psi
    :param count: number of simulated tests; None: the default
    :param several: specifications of the campaigns
    :raises ParameterError: which value is impossible
    """
    if not 0.0 <= rho <= 1.0:
        raise ParameterError('twin', f'{rho:g}', 'a correlation from 0 to 1')
    if count is not None and count < LEAST:
        raise ParameterError('twin-tests', f'{count}', f'a whole number >= {LEAST}')
    for each in several:
        plain, proposal = plain_rule(each.tester.stopping), each.tester.proposal
        usual = isinstance(plain, Anytime) and plain.stakes is Stakes.ONE
        if not usual or proposal.truncation is not None:
            expected = "anytime with stakes 'one', without a truncation"
            found = f'rule {plain.name!r}'
            if isinstance(plain, Anytime):
                found += f' with stakes {plain.stakes.value!r}'
            found += ' beside a truncation' if proposal.truncation is not None else ''
            raise ParameterError('twin', found, expected)
        if proposal.kind not in KNOWN_BEFORE:
            raise ParameterError('proposal', f'{proposal.kind!r}', ' or '.join(KNOWN_BEFORE))


def with_answers(specification: Specification, table: TwinTable) -> Specification:
    """Return the specification with these answers of a twin, which is added if missing."""
    tester = specification.tester
    choice = tester.control
    choice = choice if isinstance(choice, TwinChoice) else TwinChoice(table, table.file)
    choice = replace(choice, table=table)
    rule = controlled(plain_rule(tester.stopping), choice)
    tester = replace(tester, control=choice, stopping=rule)
    return replace(specification, tester=tester)


def answers_of(specification: Specification, robot: Subject) -> Callable[[Case], float]:
    """Return a function from a case to a simulated robot's answer, which is deterministic.

    The answer is psi, or the middle of its range if the test is INVALID.
    """
    measure = specification.measure

    def ask(x: Case) -> float:
        seed = int.from_bytes(hashlib.sha256(repr(x).encode()).digest()[:4], 'big')
        found = simulate_case(specification, robot, x, seed)
        return (measure.lower + measure.upper) / 2.0 if found is None else found

    return ask


class AskedAnswers(dict[Case, tuple[float, ...]]):
    """Answers to cases, each computed when first needed."""

    def __init__(self, ask: Sequence[Callable[[Case], float]]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, x: Case) -> tuple[float, ...]:
        self[x] = answers = tuple(ask(x) for ask in self._ask)
        return answers


def asked_beside(
    specification: Specification, robots: Sequence[Subject], seed: int
) -> Specification:
    """Return the specification with simulated robots as its twin, for a campaign of any seed.

    The simulated tests are those of its file, in a different order for each seed.
    """
    table = specification.twin
    if table is None:
        return specification
    order = generator(seed, RandomStream.TWIN).permutation(len(table.simulated)).tolist()
    simulated = tuple(table.simulated[place] for place in order)
    answers = AskedAnswers([answers_of(specification, robot) for robot in robots])
    return with_answers(specification, replace(table, of_robot=answers, simulated=simulated))


class LawTwin:
    """The twin of a law of psi, for one campaign.

    :param rho: correlation of its answers with psi, among tests of one case
    :param count: number of simulated tests
    """

    def __init__(
        self, specification: Specification, law: Law, rho: float, count: int, seed: int
    ) -> None:
        self._law, self._rho, self._box = law, rho, specification.box
        self._random = random = generator(seed, RandomStream.TWIN)
        cases = [specification.target.sample(random) for _ in range(count)]
        if law.many is not None:
            answers = law.many(random, count).tolist()
        else:
            answers = [law.draw(self._box.to_unit(x), random) for x in cases]
        simulated = tuple((x, (s,)) for x, s in zip(cases, answers, strict=True))
        self._answers: dict[Case, tuple[float, ...]] = {}
        table = replace(supposed_table(0), of_robot=self._answers, simulated=simulated)
        self.specification = with_answers(specification, table)

    def answer(self, x: Case, psi: float) -> None:
        """Store the answer to the case of a test that will have this psi."""
        copied = self._random.random() < self._rho
        s = psi if copied else self._law.draw(self._box.to_unit(x), self._random)
        self._answers[x] = (s,)
