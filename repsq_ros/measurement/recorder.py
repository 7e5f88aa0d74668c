"""Collects samples and cuts the windows of tests out of them."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.measurement.measure import Outcome, TrackingLoss
from repsq_ros.measurement.samples import BodySample, SampleBuffer
from repsq_ros.timebase import to_seconds

Key = tuple[int, int]  # (index, attempt) of a test


@dataclass(frozen=True)
class Window:
    """What is to be measured: the samples of [start, end) against a command."""

    start_ns: int
    end_ns: int
    command: tuple[float, ...]


class Recorder:
    """Sensor samples on one side, the windows of tests on the other.

    Samples and windows may come in any order, and the next window before the samples of the last:
    what decides are the stamps.
    """

    def __init__(self, measure: TrackingLoss) -> None:
        self._measure = measure
        self._buffer = SampleBuffer()
        self._windows: dict[Key, Window] = {}

    def add(self, sample: BodySample) -> None:
        """Take in one sample of the measure's source."""
        self._buffer.add(sample)

    def open(self, key: Key, window: Window) -> None:
        """Say what is to be measured."""
        self._windows[key] = window

    def abandon(self) -> None:
        """Give up all open windows."""
        self._windows.clear()

    @property
    def open_keys(self) -> tuple[Key, ...]:
        """Return the tests whose windows are open, in the order in which they were opened."""
        return tuple(self._windows)

    @property
    def complete_keys(self) -> tuple[Key, ...]:
        """Return the tests for which a sample at or after the window's end has come."""
        newest = self._buffer.newest_ns
        if newest is None or not self._windows:
            return ()
        return tuple(key for key, window in self._windows.items() if newest >= window.end_ns)

    def close(self, key: Key) -> tuple[Window, Outcome]:
        """Measure an open window with the samples that are there.

        :raises KeyError: no such window is open
        """
        window = self._windows.pop(key)
        before, samples = self._buffer.cut(window.start_ns, window.end_ns)
        outcome = self._measure.evaluate(
            before, samples, window.start_ns, window.end_ns, window.command
        )
        newest_ns = self._buffer.newest_ns
        if not samples and newest_ns is not None:
            away = to_seconds(newest_ns - window.end_ns)
            outcome = Outcome.invalid(
                f'{outcome.reason}; the newest stamp is {abs(away):.3f} s '
                f'{"after" if away >= 0 else "before"} its end: do sensor and scheduler share a '
                'clock?'
            )
        return window, outcome
