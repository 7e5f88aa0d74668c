"""From the words of a specification to the objects that do the work."""

from __future__ import annotations

from repsq_ros.sampling.proposals import MonteCarlo, Proposal
from repsq_ros.specification.model import Specification


def make_proposal(specification: Specification) -> Proposal:
    """Return the tester's proposal."""
    return MonteCarlo(specification.target)
