"""A commanded velocity that never changes faster than the robot's acceleration limits allow."""

from __future__ import annotations

from collections.abc import Sequence

Command = tuple[float, ...]


class SlewLimiter:
    """Moves from command to command in steps; each component has its own limit.

    :param limits: largest rate of change of each component [its unit per s]; 0: no limit
    """

    def __init__(self, limits: Sequence[float]) -> None:
        self._limits = tuple(limits)
        self._command: Command = (0.0,) * len(self._limits)

    def step(self, target: Sequence[float], seconds: float) -> Command:
        """Return the command after `seconds`, on the way to a target."""
        steps = []
        for now, wanted, limit in zip(self._command, target, self._limits, strict=True):
            reach = limit * max(seconds, 0.0)
            change = wanted - now
            free = limit == 0.0 or abs(change) <= reach
            steps.append(wanted if free else now + (reach if change > 0 else -reach))
        self._command = tuple(steps)
        return self._command

    def stop(self) -> Command:
        """Return zero, at once: what holds a robot is not ramped."""
        self._command = (0.0,) * len(self._limits)
        return self._command

    def seconds_to(self, target: Sequence[float]) -> float:
        """Return how long it takes from rest to a target."""
        return max(
            (
                abs(wanted) / limit
                for wanted, limit in zip(target, self._limits, strict=True)
                if limit > 0.0
            ),
            default=0.0,
        )
