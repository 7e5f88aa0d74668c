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

"""Reading the control variate of a tester."""

from __future__ import annotations

from dataclasses import dataclass, field

from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.candidates import Stakes
from repsq_ros.estimation.control import Control
from repsq_ros.estimation.portfolio import ControlledAnytime
from repsq_ros.estimation.regression import RegressionControl
from repsq_ros.estimation.stopping import Bounds, StoppingRule
from repsq_ros.estimation.twin_control import TwinAnytime
from repsq_ros.keys import TextEnum, key
from repsq_ros.sampling.basis import LegendreBasis
from repsq_ros.sampling.distributions import Distribution
from repsq_ros.sampling.polynomial_moments import HIGHEST
from repsq_ros.specification.proposal_section import ProposalChoice, ProposalType
from repsq_ros.specification.reader import Section, read_keys
from repsq_ros.specification.twin_section import TwinChoice, read_twin

KNOWN_BEFORE = (ProposalType.MONTE_CARLO, ProposalType.IMPORTANCE)


class ControlType(TextEnum):
    """What predicts psi."""

    NONE = 'none'
    REGRESSION = 'regression'  # on earlier tests
    TWIN = 'twin'  # the answers of a simulator


@dataclass(frozen=True)
class ControlChoice:
    """The control variate of a specification: a regression on earlier tests."""

    degree: int = field(
        default=2,
        metadata=key('degree of the polynomial in each dimension', at_least=1, at_most=HIGHEST),
    )
    interactions: bool = field(default=False, metadata=key('with products of two dimensions'))
    share: float = field(
        default=0.5,
        metadata=key(
            'share of the capital that bets with the control variate; 0.9 saves tests if psi '
            'depends on the case, and costs almost nothing if it does not',
            above=0,
            below=1,
        ),
    )

    @property
    def words(self) -> str:
        """Return the regressors in words."""
        beside = ' with products of two dimensions' if self.interactions else ''
        return f'a regression of degree {self.degree}{beside} on earlier tests'

    def make(
        self, target: Distribution, psi: tuple[float, float], gamma: float, unweighted: bool
    ) -> Control:
        """Make the control variate, at the start of a campaign.

        :raises ValueError: the means of polynomials under the target are not known
        """
        basis = LegendreBasis(target, self.degree, self.interactions)
        return RegressionControl(basis, Bounds(*psi), gamma, unweighted)


def read_control(
    section: Section, target: Distribution, proposal: ProposalChoice, rule: StoppingRule
) -> ControlChoice | TwinChoice | None:
    """Return the control variate of a tester's section; None for none.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    if not section.has('control'):
        return None
    inner = section.word_or_section('control')
    choice: ControlChoice | TwinChoice | None = None
    kind = inner.choice('type', ControlType)
    if kind == ControlType.TWIN:
        choice = read_twin(inner, target)
        if proposal.kind not in KNOWN_BEFORE:
            raise section.fail(
                'control',
                f"'twin' with proposal {proposal.kind!r}",
                f'{" or ".join(KNOWN_BEFORE)}, whose cases are known before the campaign',
            )
    elif kind == ControlType.REGRESSION:
        choice = read_keys(inner, ControlChoice)
    if choice is not None:
        _check(section, kind, choice, target, proposal, rule)
    inner.finish()
    return choice


def _check(
    section: Section,
    kind: ControlType,
    choice: ControlChoice | TwinChoice,
    target: Distribution,
    proposal: ProposalChoice,
    rule: StoppingRule,
) -> None:
    if not isinstance(rule, Anytime):
        raise section.fail(
            'control',
            f'{kind!r} with rule {rule.name!r}',
            "rule 'anytime', whose bounds are those of each step",
        )
    if rule.stakes is not Stakes.ONE:
        raise section.fail(
            'control', f'{kind!r} with stakes {rule.stakes.value!r}', "stakes 'one'"
        )
    if proposal.truncation is not None:
        raise section.fail(
            'control',
            f'{kind!r} beside a truncation',
            'one of the two: a value that is cut has another mean',
        )
    try:
        choice.make(target, (0.0, 1.0), 1.0, True)
    except ValueError:
        raise section.fail(
            'control',
            f'{kind!r} with this target',
            'a target of uniform, beta or '
            'truncated_normal dimensions, a table or a mixture: the mean of g must be known',
        ) from None


def controlled(rule: StoppingRule, choice: ControlChoice | TwinChoice | None) -> StoppingRule:
    """Return the rule that stops beside the control variate."""
    if choice is None or not isinstance(rule, Anytime):
        return rule
    if isinstance(choice, TwinChoice):
        return TwinAnytime(choice.words, rule, choice.share)
    return ControlledAnytime(choice.words, rule, choice.share)
