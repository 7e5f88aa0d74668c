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

"""The contents of a test specification, as plain values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property

from repsq_ros.estimation.acceptance import Acceptance
from repsq_ros.estimation.control import Control
from repsq_ros.estimation.partition import Partition
from repsq_ros.keys import key, shared
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Measure
from repsq_ros.protocols.command_space import COMPONENTS
from repsq_ros.protocols.protocol import Goal, Protocol
from repsq_ros.sampling.box import Box
from repsq_ros.sampling.distributions import Cases, Distribution
from repsq_ros.sampling.proposals import Proposal
from repsq_ros.specification.accuracy_section import RequiredAccuracy
from repsq_ros.specification.partition_section import Initiator, PartitionChoice
from repsq_ros.specification.proposal_section import ProposalChoice, ProposalType
from repsq_ros.specification.tester_section import Tester
from repsq_ros.specification.twin_section import TwinTable

FORMAT = 1
DIRECTIONS = ('lower_is_better', 'higher_is_better')


@dataclass(frozen=True)
class About:
    """Text for people beside a result; not part of the digest. Empty: not given."""

    description: str = field(default='', metadata=key('what is tested, in one sentence'))
    robot: str = field(
        default='',
        metadata=key('name, software, version; of an arm its tool, as in UR10e, tool 0.2 m'),
    )
    measure: str = field(default='', metadata=key('name of psi, for people', name='name'))
    direction: str = field(
        default='', metadata=key('whether a low or a high psi is good', choices=DIRECTIONS)
    )


@dataclass(frozen=True)
class Specification:
    """A test specification: the shared part, and one tester's own part."""

    file: str
    name: str
    target: Distribution
    protocol: Protocol
    measure: Measure
    accuracy: RequiredAccuracy
    cells: PartitionChoice
    tester: Tester
    about: About = About()
    feedback: Input | None = None  # input for settling; None: no phase needs it
    accept: Acceptance | None = None  # the limit for the mean

    @property
    def box(self) -> Box:
        """The box X of the cases."""
        return self.target.box

    @property
    def alpha(self) -> float:
        """Width of a cell [unit of psi]."""
        return self.cells.alpha

    @property
    def partition(self) -> Partition | None:
        """Return the partition; None for the initiator of an anchored one."""
        return self.cells.partition

    @property
    def axis_of_psi(self) -> str:
        """Axis label of psi: in the specification's words, with its unit."""
        name, unit = self.about.measure or 'psi', self.measure.unit
        return name if unit in ('', '1') else f'{name} [{unit}]'

    @property
    def body_input(self) -> Input | None:
        """The input with the robot's pose; None: the specification has none."""
        if self.feedback is not None:
            return self.feedback
        return None if self.measure.of_readings else self.measure.input

    @property
    def measured_names(self) -> tuple[str, ...]:
        """Names of the measured command components: `TestRecord.measured`."""
        kind, shows = self.protocol.kind, self.measure.shows
        return COMPONENTS[kind][:3] if shows is not None and kind.value == shows.value else ()

    @property
    def measured_at(self) -> tuple[int | None, ...]:
        """Index in a case of each measured component; None: the component does not vary.

        Empty: no component of a case is measured, as at a reference pose.
        """
        measured = next(step for step in self.protocol.steps if step.window_ns)
        if measured.goal is not Goal.TARGET:
            return ()
        places = {name: place for place, name in enumerate(self.box.names)}
        return tuple(map(places.get, self.measured_names))

    def make_proposal(self) -> Proposal:
        """Make the tester's proposal, at the start of a campaign."""
        return self.tester.proposal.make(self.target)

    def make_control(self) -> Control | None:
        """Make the tester's control variate, at the start of a campaign; None for none."""
        choice, psi = self.tester.control, (self.measure.lower, self.measure.upper)
        if choice is None:
            return None
        unweighted = self.make_proposal().unweighted
        return choice.make(self.target, psi, self.gamma, unweighted)

    @property
    def twin(self) -> TwinTable | None:
        """The answers of the tester's simulator; None: no simulator."""
        return getattr(self.tester.control, 'table', None)

    @property
    def gamma(self) -> float:
        """The accuracy that this tester aims at: the requested one, or finer [unit of psi]."""
        return self.tester.gamma

    @property
    def accept_margin(self) -> float:
        """Distance from the limit of `accept` where the verdict may stay open [unit of psi]."""
        margin = None if self.accept is None else self.accept.margin
        return self.accuracy.gamma if margin is None else margin

    def anchored_at(self, estimate: float, initiator: Initiator | None = None) -> Specification:
        """Return what an initiator's replicators share: with the anchored partition.

        :param initiator: accuracy of its campaign; None: not known, so nothing is promised
        """
        return replace(self, cells=self.cells.around(estimate, initiator))

    def of_case(self, x: tuple[float, ...]) -> Specification:
        """Return the specification with a single fixed case."""
        alone = replace(
            self.tester, control=None, proposal=ProposalChoice(ProposalType.MONTE_CARLO)
        )
        return replace(self, target=Cases(self.box, (x,), (1.0,)), tester=alone)

    def shared(self) -> dict[str, object]:
        """Return the part that must be equal for two results to be comparable."""
        return {
            'format': FORMAT,
            'name': self.name,
            'target': {
                'dimensions': [shared(d) for d in self.box.dimensions],
                'distribution': self.target.describe(),
            },
            'protocol': self._shared_protocol(),
            'measure': self.measure.describe(),
            'accuracy': shared(self.accuracy),
            'partition': self.cells.describe(),
            **({} if self.accept is None else {'accept': self.accept.describe()}),
        }

    def _shared_protocol(self) -> dict[str, object]:
        described = {'type': self.protocol.type.value, **self.protocol.description}
        if self.feedback is not None:
            described['feedback'] = self.feedback.describe()
        return described

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the shared part, in a canonical form."""
        canonical = json.dumps(self.shared(), sort_keys=True, separators=(',', ':'))
        return hashlib.sha256(canonical.encode()).hexdigest()
