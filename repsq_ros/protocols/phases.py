"""Phases of a test, as plain values."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Phase(enum.IntEnum):
    """Phases of a test; the values are those of TestPhase.msg."""

    IDLE = 0
    DWELL = 1
    COMMAND = 2
    SETTLE = 3
    RECORD = 4
    RETURN = 5
    PAUSED = 6
    DONE = 7
    ABORTED = 8


@dataclass(frozen=True)
class Span:
    """A phase with its times, as it is announced when it begins."""

    phase: Phase
    index: int
    attempt: int
    start_ns: int
    end_ns: int | None  # None: open-ended; equal to start_ns: held until a peer has answered
    command: tuple[float, ...]
    window: tuple[int, int] | None = None  # [start, end) in ns of what is measured
    reason: str = ''
