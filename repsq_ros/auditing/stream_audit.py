# Copyright 2026 repsq_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Properties of a stream's stamps: rate, jitter, gaps, clocks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from repsq_ros.auditing.blocks import Blocks
from repsq_ros.auditing.quantile_sketch import QuantileSketch
from repsq_ros.timebase import NANOSECONDS

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]

TOGETHER = 0.1  # share of a period: messages closer than this arrived together
GAP = 3.0  # periods without a message that count as a gap
JITTERY = 0.1  # share of a period: with more jitter, the stamps are those of arrival
TOGETHER_SHARE = 0.01  # share of the gaps: with a sensor's own clock, no messages arrive together
OTHER_RATE = 0.02  # relative difference from the declared rate that is reported
APART = 1.0  # [s] between stamp and arrival: longer than any network delay
CLOCK_TOLERANCE = 0.05  # [s] offset of a clock that is tolerated
FEWEST = 10  # messages needed to compare two clocks
UNIT = 1e3  # [ns] resolution of periods and delays


@dataclass(frozen=True)
class StreamAudit:
    """Properties of the stamps of a stream, in order of arrival; all times in seconds."""

    count: int
    seconds: float  # from the first stamp to the last
    rate: float  # [Hz] messages per second
    period: float  # median distance of distinct stamps, or that of the nominal rate
    # root mean square of distance - period, over distances without a missing message
    jitter: float
    duplicates: int  # stamps that equal the one before
    backwards: int  # stamps before the one before
    together: float  # share of the distances under a tenth of the period
    gaps: int  # gaps of more than three periods
    largest_gap: float
    delay: float  # median of arrival - stamp: transport plus offset of the clocks
    drift: float  # [s/s] of that delay over time
    arrival_jitter: float  # standard deviation of the delay about its regression line
    declared: float  # [Hz] nominal rate; 0: not given
    all_zero: bool  # the stamps are not set: all are zero
    guess: str = ''  # who set the stamps: header (sensor), receive (arrival), none, too short

    def lines(self) -> list[tuple[str, str]]:
        """Return pairs of name and value for people."""
        rate = f'{self.rate:.2f} Hz'
        if self.declared > 0 and abs(self.rate / self.declared - 1.0) > OTHER_RATE:
            rate += f', not the {self.declared:g} Hz declared'
        delay = f'{self.delay * 1e3:.3f} ms'
        if abs(self.delay) > APART:
            delay += ': the clocks are far apart, or the stamps are none'
        return [
            ('messages', f'{self.count} in {self.seconds:.3f} s'),
            ('rate', rate),
            ('period', f'{self.period * 1e3:.3f} ms'),
            ('jitter', f'{self.jitter * 1e3:.3f} ms'),
            ('duplicate stamps', f'{self.duplicates}'),
            ('backward stamps', f'{self.backwards}'),
            ('gaps under a tenth of a period', f'{self.together:.1%}'),
            ('gaps over three periods', f'{self.gaps}'),
            ('largest gap', f'{self.largest_gap:.4f} s'),
            ('arrival after stamp', delay),
            ('drift of the clocks', f'{self.drift * 1e6:.1f} us/s'),
            ('arrival jitter', f'{self.arrival_jitter * 1e3:.3f} ms'),
            ('stamps look like', self.guess),
        ]


class StreamAuditor:
    """Describes a stream whose stamps come in pieces.

    Only sums are kept and, for median distance and delay, bins (see `QuantileSketch`): beyond
    16 384 messages, a value has a resolution of 2^-12 of the spread of the first values, or of
    its distance from their median. Distances right at a threshold (a tenth of a period, three
    periods) are counted with that resolution, too.

    :param rate: [Hz] nominal; 0: the median distance is used
    """

    def __init__(self, rate: float = 0.0) -> None:
        self._rate = rate
        self._blocks = Blocks(np.int64, np.int64)
        self._arrivals_known = True
        self._count, self._duplicates, self._backwards = 0, 0, 0
        self._first, self._last, self._least, self._most = (0, 0), (0, 0), 0, 0
        self._all_zero = True
        self._gaps, self._delays = QuantileSketch(UNIT), QuantileSketch(UNIT)
        self._line = _Line()

    def add(self, stamps: Stamps, arrivals: Stamps | None = None) -> None:
        """Add the next messages.

        :param stamps: (n,) [ns] in the order of arrival
        :param arrivals: (n,) [ns] when each arrived; None: never known for this stream
        """
        if arrivals is None:
            self._arrivals_known, arrivals = False, stamps
        for block in self._blocks.put(stamps, arrivals):
            self._take(*block)

    def _take(self, stamps: Stamps, arrivals: Stamps) -> None:
        if not len(stamps):
            return
        if not self._count:
            self._first = int(stamps[0]), int(arrivals[0])
            self._least = self._most = self._first[0]
            steps = np.diff(stamps)
        else:
            steps = np.diff(stamps, prepend=self._last[0])
        self._count += len(stamps)
        self._last = int(stamps[-1]), int(arrivals[-1])
        forward = steps > 0
        if forward.all():
            self._least = min(self._least, int(stamps[0]))
            self._most = max(self._most, int(stamps[-1]))
            self._gaps.add(steps.astype(np.float64))
        else:
            self._least = min(self._least, int(stamps.min()))
            self._most = max(self._most, int(stamps.max()))
            self._duplicates += int(np.sum(steps == 0))
            self._backwards += int(np.sum(steps < 0))
            self._gaps.add(steps[forward].astype(np.float64))
        self._all_zero = self._all_zero and not stamps.any()
        if self._arrivals_known:
            delay = arrivals - stamps
            self._delays.add(delay.astype(np.float64))
            late = (delay - (self._first[1] - self._first[0])).astype(np.float64) * 1e-9
            self._line.add((arrivals - self._first[1]).astype(np.float64) * 1e-9, late)

    def result(self) -> StreamAudit:
        """Return the properties so far."""
        rest = self._blocks.rest()
        if len(rest):
            self._take(*rest)
        rate, count = self._rate, self._count
        gaps = self._gaps.bins()
        seconds = (self._most - self._least) * 1e-9
        period = gaps.quantile(0.5) if self._gaps.count else 0.0
        if rate > 0:
            period = NANOSECONDS / rate
        delay = drift = arrival_jitter = float('nan')
        if self._arrivals_known and count > 2:
            delay = self._delays.bins().quantile(0.5) * 1e-9
            forth = self._last[1] > self._first[1]
            drift, arrival_jitter = self._line.slope_and_spread(forth)
        found = StreamAudit(
            count=count,
            seconds=seconds,
            rate=(count - 1) / seconds if seconds > 0 else 0.0,
            period=period * 1e-9,
            jitter=gaps.spread(period, 1.5 * period) * 1e-9,
            duplicates=self._duplicates,
            backwards=self._backwards,
            together=gaps.below(TOGETHER * period) / max(self._gaps.count, 1),
            gaps=gaps.above(GAP * period),
            largest_gap=float(gaps.most[-1]) * 1e-9 if self._gaps.count else 0.0,
            delay=delay,
            drift=drift,
            arrival_jitter=arrival_jitter,
            declared=rate,
            all_zero=bool(count) and self._all_zero,
        )
        return replace(found, guess=_guess(found))


class _Line:
    """Regression line of delay over time, from moments about moving means.

    Absolute times are too large for a sum of squares. Moments of two pieces are merged by Chan,
    Golub and LeVeque (1983).
    """

    def __init__(self) -> None:
        self._count = 0
        self._mean_time, self._mean_delay = 0.0, 0.0
        self._time_time, self._time_delay, self._delay_delay = 0.0, 0.0, 0.0

    def add(self, time: Array, delay: Array) -> None:
        """Add instants and delays, (n,) [s], both relative to the first ones."""
        means = float(time.mean()), float(delay.mean())
        time, delay = time - means[0], delay - means[1]
        total = self._count + len(time)
        far, late = means[0] - self._mean_time, means[1] - self._mean_delay
        share = self._count * len(time) / total
        self._time_time += float(time @ time) + far * far * share
        self._time_delay += float(time @ delay) + far * late * share
        self._delay_delay += float(delay @ delay) + late * late * share
        self._mean_time += far * len(time) / total
        self._mean_delay += late * len(time) / total
        self._count = total

    def slope_and_spread(self, forth: bool) -> tuple[float, float]:
        """Return the slope [s/s] and the standard deviation [s] about the line.

        :param forth: the last instant is after the first; else there is no line
        """
        slope = self._time_delay / self._time_time if forth else 0.0
        left = self._delay_delay - slope * self._time_delay
        return slope, float(np.sqrt(max(left, 0.0) / self._count))


def audit(stamps: Stamps, arrivals: Stamps | None = None, rate: float = 0.0) -> StreamAudit:
    """Describe a whole stream at once.

    :param stamps: (n,) [ns] in the order of arrival
    :param arrivals: (n,) [ns] when each message arrived; None: not known
    :param rate: [Hz] nominal; 0: the median distance is used
    """
    auditor = StreamAuditor(rate)
    auditor.add(stamps, arrivals)
    return auditor.result()


def clock_fault(stamps: Stamps, arrivals: Stamps, tolerance: float) -> str:
    """Return the offset of a sensor's clock from the clock of arrival as a sentence, or ''.

    The shortest delay counts: a message may be late, but never early.

    :param stamps: (n,) [ns] by the sensor
    :param arrivals: (n,) [ns] when each message arrived
    :param tolerance: allowed offset [s]
    """
    if len(stamps) < FEWEST:
        return ''
    delay = float((arrivals - stamps).min()) * 1e-9
    if abs(delay) <= tolerance:
        return ''
    return f'{abs(delay):.3f} s {"behind" if delay > 0 else "ahead of"} the clock of this computer'


def _guess(found: StreamAudit) -> str:
    """Guess who set the stamps."""
    if found.all_zero:
        return 'none: the driver leaves them zero; use stamp: receive'
    if found.count < 20:
        return 'too short to tell'
    if found.together > TOGETHER_SHARE:
        return 'receive: messages that came together have stamps that lie together'
    if found.jitter > JITTERY * found.period:
        return 'receive: gaps vary as arrivals do'
    return 'header: evenly spaced, from the sensor itself'
