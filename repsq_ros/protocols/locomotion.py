"""The locomotion protocol: which phases a velocity tracking test has, when, with which command."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.box import Box


@dataclass(frozen=True)
class LocomotionProtocol:
    """Velocity tracking: dwell in place, then a held velocity command whose last part is measured.

    dwell (zero command) for `dwell_ns`, command for `command_ns`, of which the last `window_ns`
    are measured; then zero again, which the next dwell continues.
    """

    dwell_ns: int
    command_ns: int
    window_ns: int

    # The components of a command, as in geometry_msgs/Twist, and their units.
    command_names = ('linear_x', 'linear_y', 'angular_z')
    command_units = ('m/s', 'm/s', 'rad/s')
    rest = (0.0, 0.0, 0.0)

    @property
    def duration_ns(self) -> int:
        """How long one test takes."""
        return self.dwell_ns + self.command_ns

    def command(self, names: tuple[str, ...], x: tuple[float, ...]) -> tuple[float, ...]:
        """Return the velocity command of a case; components that are no dimension are zero."""
        given = dict(zip(names, x, strict=True))
        return tuple(given.get(name, 0.0) for name in self.command_names)

    def largest_command(self, box: Box) -> tuple[float, ...]:
        """Return the largest magnitude of each component that a case of the box can command."""
        largest = {d.name: max(abs(d.lower), abs(d.upper)) for d in box.dimensions}
        return tuple(largest.get(name, 0.0) for name in self.command_names)

    def first(self, index: int, attempt: int, start_ns: int) -> Span:
        """Return the phase that a test begins with."""
        return Span(Phase.DWELL, index, attempt, start_ns, start_ns + self.dwell_ns, self.rest)

    def after(self, span: Span, command: tuple[float, ...], start_ns: int) -> Span | None:
        """Return the phase that follows a phase, or None after the last one.

        :param start_ns: when it begins: the end of `span`, or later if nobody looked in time
        """
        if span.phase is not Phase.DWELL:
            return None
        end_ns = start_ns + self.command_ns
        return Span(
            Phase.COMMAND,
            span.index,
            span.attempt,
            start_ns,
            end_ns,
            command,
            window=(end_ns - self.window_ns, end_ns),
        )
