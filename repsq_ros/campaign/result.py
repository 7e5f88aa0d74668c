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

"""The result of a campaign."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from repsq_ros import __version__
from repsq_ros.estimation.stopping import Outcome
from repsq_ros.specification.model import Specification
from repsq_ros.specification.partition_section import Initiator

ACCEPTANCE = ('verdict', 'decided_at')  # fields of `accept`
RESPONSE = 'response'


@dataclass(frozen=True)
class Result:
    """What a campaign returns, as QuantizedResult.msg and result.yaml carry it."""

    campaign_id: str
    specification_digest: str
    replication_digest: str
    value: float
    estimate: float
    cell: int
    cell_lower: float
    cell_upper: float
    edge_distance: float
    outside: bool
    n: int
    invalid: int
    skipped: int
    broken_off: int
    selection_bound: float
    lower: float
    upper: float
    half_width: float
    gamma: float
    outcome: str
    accurate: bool
    rule: str
    guarantee: str
    weight_bound: float
    bound_proven: bool
    largest_weight: float
    effective_sample_size: float
    truncation_bias: float
    p_same: float
    agreement: str
    events: tuple[str, ...]
    violations: int = 0
    objection: str = ''
    provisos: tuple[str, ...] = ()
    bench: int = 0
    extra_tests: int = 0
    lost_time: float = 0.0  # [s]
    # regression of measurements on commands, one line each; empty: not known
    response: tuple[str, ...] = ()
    # Of `accept`. Not in the message: its guarantee says it in words.
    verdict: str = ''  # pass, fail, undecided; empty: no limit was set
    decided_at: int = 0  # number of tests at the verdict; 0: none

    def as_initiator(self, specification: Specification) -> Initiator:
        """Return what replicators need to know of this campaign, such as the gamma it aimed at."""
        return Initiator(
            Outcome(self.outcome),
            self.rule,
            specification.gamma,
            specification.accuracy.c,
            self.violations,
            self.specification_digest,
            self.objection,
            tuple(self.provisos),
        )

    def published(self, specification: Specification) -> Specification:
        """Return the specification for replicators, with the anchored partition."""
        worth = self.as_initiator(specification)
        return specification.anchored_at(self.estimate, worth)

    def content(self) -> dict[str, object]:
        """Return all fields; those of `accept` and `response` only if they are set."""
        absent = (*(ACCEPTANCE * (not self.verdict)), *([RESPONSE] * (not self.response)))
        return {name: value for name, value in asdict(self).items() if name not in absent}

    def document(self, specification: Specification) -> dict[str, object]:
        """Return the content of result.yaml."""
        return {
            'name': specification.name,
            **self.content(),
            'events': list(self.events),
            'provisos': list(self.provisos),
            **({RESPONSE: list(self.response)} if self.response else {}),
            'software': f'repsq_ros {__version__}',
            'specification': self.published(specification).shared(),
        }
