"""From a phase to what is measured in it: the same online, in replay and in simulation."""

from __future__ import annotations

from repsq_ros.measurement.window import Window
from repsq_ros.protocols.phases import Span


def window_of(span: Span) -> Window | None:
    """Return what is to be measured in a phase; None: nothing is."""
    if span.window is None:
        return None
    began_ns = span.start_ns if span.command_ns is None else span.command_ns
    return Window(*span.window, span.command, began_ns)
