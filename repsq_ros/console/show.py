"""How a result is shown to a person."""

from __future__ import annotations

import math

from repsq_ros.campaign.result import Result


def show_result(result: Result) -> None:
    """Print a result: value, estimate, guarantee, agreement, events."""
    print(
        f'result    {result.value:.6g}  (cell {result.cell}: {result.cell_lower:.6g} to '
        f'{result.cell_upper:.6g})\n'
        f'estimate  {result.estimate:.6g} +- {result.half_width:.4g} from {result.n} tests, '
        f'{result.invalid} INVALID\n'
        f'promise   {result.guarantee}\n'
        f'agreement {result.agreement}'
    )
    if not math.isnan(result.p_same):
        print(
            f'p_same    A second lab would return the same value with probability '
            f'{result.p_same:.2f} (plug-in estimate, no guarantee).'
        )
    if result.largest_weight != 1.0:
        origin = 'computed' if result.bound_proven else 'declared, not proven'
        print(
            f'weights   largest {result.largest_weight:.4g}, bound {result.weight_bound:.4g} '
            f'({origin}); worth {result.effective_sample_size:.1f} tests of equal weight'
        )
    for event in result.events:
        print(f'event     {event}')
