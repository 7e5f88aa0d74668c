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

"""The largest error of psi due to the instruments, by cause."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from repsq_ros.measurement.reasons import Code, Fault

# Causes that may make a test INVALID, with their remedies.
REMEDIES = {
    'noise': 'a sensor with less noise, or a longer span or window?',
    'stamps': 'stamps of the sensor, or its rate and retime: true?',
    'disagreement': '',  # each has a message in `told`
    'spikes': '',
}
OF_TWIST = {'disagreement': Code.TWIST, 'spikes': Code.TWIST_BOUND}


def lengthened(length: float, variance: float) -> float:
    """Return by how much noise lengthens a length l: l - sqrt(l^2 - s^2), and l if s > l.

    :param variance: s^2 of the difference vector, summed over its axes
    """
    return length - math.sqrt(max(length * length - variance, 0.0))


@dataclass(frozen=True)
class PsiError:
    """Absolute errors of psi by cause, in its unit; 0: none, or not known.

    Errors that average out over tests are left out: the spread of psi includes them.
    """

    noise: float = 0.0  # sensor noise
    stamps: float = 0.0  # stamps that are not the time of measurement
    disagreement: float = 0.0  # disagreement of twist and pose
    spikes: float = 0.0  # spikes of a twist
    # The following are part of the contract, so they are the same in every lab and every
    # repetition: they make no test INVALID.
    smoothing: float = 0.0  # smoothing by the velocity estimator
    near_threshold: float = 0.0  # an indicator may be on either side
    # A twist alone does not show whether its variation is sensor noise or motion.
    noise_or_jolts: float = 0.0
    # For a twist: functions that describe the disagreement or the spikes.
    told: Mapping[str, Callable[[], str]] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Return the root of the sum of squares: the causes are independent."""
        return math.hypot(
            self._of_this_test, self.smoothing, self.near_threshold, self.noise_or_jolts
        )

    @property
    def _of_this_test(self) -> float:
        return math.hypot(*(getattr(self, name) for name in REMEDIES))

    def fault(self, largest: float, unit: str) -> Fault | None:
        """Return why psi must not count; None: its error is small enough.

        :param largest: allowed error [unit of psi]
        """
        found = self._of_this_test
        if found <= largest:
            return None
        parts = sorted(((getattr(self, name), name) for name in REMEDIES), reverse=True)
        told = ', '.join(f'{name} {size:.3g}' for size, name in parts if size > 0.1 * parts[0][0])
        shown = '' if unit in ('', '1') else f' {unit}'
        name = parts[0][1]
        code = OF_TWIST.get(name, Code.ERROR)
        remedy = self.told[name]() if name in self.told else REMEDIES[name]
        return Fault(
            code,
            f'{code}: the instruments may have moved psi by {found:.3g}{shown} ({told}), '
            f'at most {largest:.3g}{shown} allowed (largest_error): {remedy}',
        )
