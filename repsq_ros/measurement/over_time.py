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

"""A number over the window: a force, a current, a temperature, a power."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from repsq_ros.keys import KeyedDataclass, TextEnum, key
from repsq_ros.measurement.coverage import FAST_NS, gap_fault, is_stream, period_of
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.psi_error import PsiError
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import Array, Stamps
from repsq_ros.measurement.window import UnmeasurableError


class Statistic(TextEnum):
    """How the numbers of a window become one."""

    PEAK = 'peak'
    MEAN = 'mean'
    RMS = 'rms'
    SHARE_ABOVE = 'share_above'


REPEATS = 3  # fewest repetitions of a number that is frozen: slow readings are often equal
CHANGES = 0.9  # smallest share of changing steps in a number with noise


@dataclass(frozen=True)
class OverTime(KeyedDataclass, type='over_time'):
    """Peak, mean, root mean square of a number over the window, or the share of time above."""

    upper: float = field(metadata=key('upper end of psi: the worst there is', above=0))
    take: Statistic = field(
        metadata=key(
            'peak: the largest absolute value; share_above: of the time that it is above `above`',
        )
    )
    above: float = field(
        default=0.0, metadata=key('threshold of share_above, in SI units', default_text='0')
    )
    unit: str = field(default='1', metadata=key('unit of psi, for people'))

    needs = Need.READING
    lower = 0.0

    def psi(self, cut: Cut) -> float:
        """Return the number in SI units; a mean below 0 counts as 0.

        :raises UnmeasurableError: it freezes, bit by bit, though it has noise elsewhere
        """
        self._require_alive(cut)
        return self._taken(cut.values)

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return half the difference between every other number and the rest."""
        values = cut.values
        if len(values) < 2:
            return PsiError()
        return PsiError(noise=abs(self._taken(values[::2]) - self._taken(values[1::2])) / 2.0)

    def _taken(self, values: Array) -> float:
        if self.take == Statistic.PEAK:
            return float(np.abs(values).max())
        if self.take == Statistic.RMS:
            return float(np.sqrt(np.mean(values * values)))
        return max(
            float(np.mean(values > self.above if self.take != Statistic.MEAN else values)), 0.0
        )

    def _require_alive(self, cut: Cut) -> None:
        samples, value = cut.samples, cut.samples.value
        assert value is not None
        # Not a gauge, which may be silent at rest: evenness alone shows a stream.
        around = cut.around
        fast = period_of(around.stamps, 0.0) * 1e9 <= FAST_NS
        streams = cut.streams or (fast and is_stream(around, stamped=True))
        if streams and not cut.streams:
            gap = gap_fault(
                cut.measured.stamps, cut.start_ns, cut.end_ns, cut.window, cut.limits, 0.0
            )
            if gap is not None:
                raise UnmeasurableError(gap.text, gap.code)
        span, first, last = _longest_repeated(samples.stamps, value)
        others = np.concatenate([np.diff(value[: first + 1]), np.diff(value[last:])])
        noisy = len(others) > 0 and float(np.mean(others != 0.0)) >= CHANGES
        repeated = last - first >= REPEATS and span > cut.limits.frozen
        if streams and repeated and noisy:
            raise UnmeasurableError(
                f'frozen: bit-identical readings for {span:.3f} s from '
                f'{cut.window.at(int(samples.stamps[first]))} on, at most '
                f'{cut.limits.frozen:g} s allowed',
                Code.FROZEN,
            )


def _longest_repeated(stamps: Stamps, value: Array) -> tuple[float, int, int]:
    """Return the longest span of equal numbers [s], and its first and last row."""
    moved = np.flatnonzero(value[1:] != value[:-1]) + 1
    starts, ends = np.append(0, moved), np.append(moved - 1, len(value) - 1)
    at = int(np.argmax(stamps[ends] - stamps[starts]))
    first, last = int(starts[at]), int(ends[at])
    return float(stamps[last] - stamps[first]) * 1e-9, first, last
