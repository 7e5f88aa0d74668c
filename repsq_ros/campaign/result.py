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
    """Say in one plain sentence what is promised, and under which assumption."""
    accuracy, rule = specification.accuracy, specification.tester.stopping
    confidence = rule.confidence(accuracy.c)
    if not accurate:
        return (
            f'Nothing at gamma = {accuracy.gamma:g}: the budget of tests ran out at a half-width '
            f'of {half_width:.4g}.'
        )
    if not confidence:
        return f'Nothing: {rule.statement}.'
    total = accuracy.gamma + specification.alpha / 2
    return (
        f'{confidence} the true mean is within {total:.4g} of this result, and within '
        f'{accuracy.gamma:g} of the estimate: {rule.statement}.'
    )
