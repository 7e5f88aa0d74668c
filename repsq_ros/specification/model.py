"""What a test specification holds, as plain values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import StoppingRule
from repsq_ros.measurement.measure import TrackingLoss
from repsq_ros.protocols.locomotion import LocomotionProtocol
from repsq_ros.sampling.distributions import UniformBox

FORMAT = 1


@dataclass(frozen=True)
class Accuracy:
    """What is asked for: |r - r*| <= gamma with probability 1 - c, agreement with 1 - beta."""

    gamma: float  # [unit of psi]
    c: float
    beta: float


@dataclass(frozen=True)
class Tester:
    """What each tester chooses alone; the result may depend on it, its meaning may not."""

    proposal: str
    seed: int
    stopping: StoppingRule
    max_tests: int
    max_attempts: int


@dataclass(frozen=True)
class Specification:
    """A test specification: the shared part, and one tester's own."""

    file: str
    name: str
    target: UniformBox
    protocol: LocomotionProtocol
    measure: TrackingLoss
    accuracy: Accuracy
    alpha: float
    partition: Partition
    tester: Tester

    def shared(self) -> dict[str, object]:
        """Return what must be equal for two results to be comparable."""
        return {
            'format': FORMAT,
            'name': self.name,
            'target': {'distribution': 'uniform', **asdict(self.target)},
            'protocol': {'type': 'locomotion', **asdict(self.protocol)},
            'measure': {'type': 'soft_linf', **asdict(self.measure)},
            'accuracy': asdict(self.accuracy),
            'partition': {'edges': list(self.partition.edges)},
        }

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the shared part, in a canonical form."""
        canonical = json.dumps(self.shared(), sort_keys=True, separators=(',', ':'))
        return hashlib.sha256(canonical.encode()).hexdigest()
