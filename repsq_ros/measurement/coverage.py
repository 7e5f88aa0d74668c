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

"""Whether samples cover a time interval: silence, gaps, and the period between samples."""

from __future__ import annotations

import math

import numpy as np

from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.samples import Samples, Stamps
from repsq_ros.measurement.window import Window
from repsq_ros.timebase import to_seconds

TOGETHER = 0.2  # share of the mean gap: messages closer than this arrived together,
AT_ONCE = 2e6  # [ns] and closer than this, if it is under half of the mean gap
# A number is a stream if nine of ten gaps differ by less than half from the median gap, and if
# it is fast or repeats values. Messages on change are neither.
EVEN_SHARE, EVEN = 0.9, 0.5
FEWEST = 10  # fewest gaps for deciding
FAST_NS = 50_000_000  # [ns]
# A gauge without stamps sends up to 100 readings a second while its plunger moves, and none at
# rest. Only faster inputs are certainly streams; others have to declare their `rate`.
FASTER_THAN_A_GAUGE_NS = 5_000_000  # [ns]
REPEATED = 0.2  # smallest share of values equal to the previous one


def period_of(stamps: Stamps, rate: float) -> float:
    """Return the time between two messages, or two bursts of messages [s]; 0: too few.

    It is the median gap without the gaps inside of bursts: if each value is sent twice, or several
    arrive together, it is the period of the pairs or bursts.

    :param stamps: (n,) [ns], increasing
    :param rate: [Hz] nominal; 0: not known
    """
    if rate > 0:
        return 1.0 / rate
    gaps = stamps[1:] - stamps[:-1]
    if not len(gaps):
        return 0.0
    mean = float(stamps[-1] - stamps[0]) / len(gaps)
    apart = gaps[gaps > max(TOGETHER * mean, min(AT_ONCE, mean / 2.0))]
    return _median(apart) * 1e-9 if len(apart) else math.nan


def _median(values: Stamps) -> float:
    """Return the median, several times faster than numpy for a few hundred values.

    :param values: (n,), n > 0
    """
    half = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, half)[half])
    parted = np.partition(values, (half - 1, half))
    return float(parted[half - 1] + parted[half]) / 2.0


def is_stream(samples: Samples, stamped: bool) -> bool:
    """Tell whether a number is sent continuously, not only on change.

    :param stamped: its messages have a header
    """
    if samples.value is None or len(samples) <= FEWEST:
        return False
    # The first sample may be an old one that is still valid.
    gaps, values = np.diff(samples.stamps[1:]), samples.value[1:]
    middle = float(np.median(gaps))
    if np.mean(np.abs(gaps - middle) < EVEN * middle) < EVEN_SHARE:
        return False
    if not stamped:
        return middle <= FASTER_THAN_A_GAUGE_NS
    return middle <= FAST_NS or bool(np.mean(values[1:] == values[:-1]) > REPEATED)


def coverage_of(steps: Stamps, period_ns: float) -> float:
    """Return the share of a time interval that lies within a period of a sample.

    :param steps: (n + 1,) [ns] from the start to the first of n samples, ..., to the end
    """
    missed = float(np.sum(np.maximum(steps - 2.0 * period_ns, 0.0)))
    return 1.0 - missed / float(steps.sum())


def silence(window: Window) -> Fault:
    """Return the reason for a window without a sample."""
    seconds = to_seconds(window.end_ns - window.start_ns)
    return Fault(Code.SILENT, f'silent: no sample in a window of {seconds:g} s')


def gap_fault(
    stamps: Stamps, start_ns: int, end_ns: int, window: Window, limits: Limits, rate: float
) -> Fault | None:
    """Return the fault if the samples do not cover a time interval.

    :param stamps: (n,) [ns], n >= 1, within [start, end)
    :param rate: [Hz] nominal; 0: use the median gap
    """
    longest_ns = max(
        int((stamps[1:] - stamps[:-1]).max(initial=0)),
        int(stamps[0]) - start_ns,
        end_ns - int(stamps[-1]),
    )
    period_ns = period_of(stamps, rate) * 1e9
    if longest_ns <= min(limits.largest_gap_ns, 2.0 * period_ns):
        return None
    ends = np.concatenate([[start_ns], stamps, [end_ns]])
    steps = np.diff(ends)
    at = len(steps) - 1 - int(np.argmax(steps[::-1]))  # of equally long gaps, the last one
    gap_ns = int(steps[at])
    if gap_ns > limits.largest_gap_ns:
        return Fault(
            Code.GAP,
            f'gap: {to_seconds(gap_ns):.3f} s without a sample from '
            f'{window.at(ends[at])} on, at most '
            f'{to_seconds(limits.largest_gap_ns):g} s allowed',
        )
    if period_ns > 0:
        coverage = coverage_of(steps, period_ns)
        if coverage < limits.coverage:
            return Fault(
                Code.COVERAGE,
                f'coverage: {coverage:.3f} of the window lies near one of {len(stamps)} samples, '
                f'at least {limits.coverage:g} wanted (period {period_ns * 1e-6:.3f} ms)',
            )
    return None
