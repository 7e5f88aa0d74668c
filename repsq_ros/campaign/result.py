"""The result of a campaign, and what may be said of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from repsq_ros import __version__
from repsq_ros.specification.model import Specification


@dataclass(frozen=True)
class Result:
    """What a campaign returns, as QuantizedResult.msg and result.yaml carry it."""

    campaign_id: str
    specification_digest: str
    value: float
    estimate: float
    cell: int
    cell_lower: float
    cell_upper: float
    edge_distance: float
    outside: bool
    n: int
    invalid: int
    half_width: float
    gamma: float
    accurate: bool
    rule: str
    guarantee: str
    p_same: float
    events: tuple[str, ...]

    def document(self, specification: Specification) -> dict[str, object]:
        """Return the content of result.yaml."""
        return {
            'name': specification.name,
            **asdict(self),
            'events': list(self.events),
            'software': f'repsq_ros {__version__}',
            'specification': specification.shared(),
        }


def guarantee(specification: Specification, half_width: float, accurate: bool) -> str:
    """Say in plain words what is promised, and under which assumption."""
    accuracy = specification.accuracy
    statement = specification.tester.stopping.statement
    if not accurate:
        return (
            f'No promise at gamma = {accuracy.gamma:g}: the budget of tests ran out at a '
            f'half-width of {half_width:.4g} ({statement}).'
        )
    total = accuracy.gamma + specification.alpha / 2
    return (
        f'With probability {1 - accuracy.c:g} the true mean is within {accuracy.gamma:g} of the '
        f'estimate, and so within {total:.4g} of the quantized value ({statement}).'
    )
