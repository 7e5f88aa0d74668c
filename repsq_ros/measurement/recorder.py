"""Collects samples and cuts the window of a test out of them."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.measurement.measure import Outcome, TrackingLoss
from repsq_ros.measurement.samples import BodySample, SampleBuffer


@dataclass(frozen=True)
class Window:
    """What is to be measured: the samples of [start, end) against a command."""

    start_ns: int
    end_ns: int
    command: tuple[float, ...]


class Recorder:
    """Sensor samples on one side, one window at a time on the other.

    Samples and windows may come in any order: what decides are the stamps.
    """

    def __init__(self, measure: TrackingLoss) -> None:
        self._measure = measure
        self._buffer = SampleBuffer()
        self.window: Window | None = None

    def add(self, sample: BodySample) -> None:
        """Take in one sample of the measure's source."""
        self._buffer.add(sample)

    def open(self, window: Window) -> None:
        """Say what is to be measured next; an earlier window is given up."""
        self.window = window

    def abandon(self) -> None:
        """Give up the window, if one is open."""
        self.window = None

    @property
    def complete(self) -> bool:
        """True once a sample at or after the window's end has come."""
        newest = self._buffer.newest_ns
        return self.window is not None and newest is not None and newest >= self.window.end_ns

    def close(self) -> Outcome:
        """Measure the open window with the samples that are there.

        :raises RuntimeError: no window is open
        """
        if self.window is None:
            raise RuntimeError('no window is open')
        window, self.window = self.window, None
        before, samples = self._buffer.cut(window.start_ns, window.end_ns)
        return self._measure.evaluate(
            before, samples, window.start_ns, window.end_ns, window.command
        )
