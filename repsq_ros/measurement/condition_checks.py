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

"""The checks of conditions, and of the publishers on a sensor's topic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repsq_ros.measurement.checks import doubt_fault
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.limits import Condition
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.timebase import to_seconds


def condition_fault(condition: Condition, cut: Cut) -> Fault | None:
    """Return the fault that a condition finds.

    :param cut: its last reading before the command took effect, and those until the end
    """
    window = cut.window

    def against(text: str) -> Fault:
        return Fault(Code.CONDITION, f'{condition.name} {text}')

    stamps, raw = cut.around.stamps, cut.around.value
    if raw is None or not len(raw):
        return against(f'unknown: nothing was heard of it, expected {condition.expected}')
    values = cut.source.to_si(raw)
    bad = np.flatnonzero(~condition.accepts(values))
    if len(bad):
        return against(
            f'not nominal: {values[bad[0]]:g} at '
            f'{window.at(stamps[bad[0]])}, expected {condition.expected}'
        )
    silent = to_seconds(window.end_ns - int(stamps[-1]))
    if silent > condition.longest_silence:
        return against(
            f'stale: last heard {silent:.3f} s before the end of the window, at '
            f'most {condition.longest_silence:g} s allowed'
        )
    return doubt_fault(cut.doubts, int(stamps[0]), window.end_ns, window)


def publishers_fault(topic: str, names: Sequence[str]) -> Fault | None:
    """Return a fault if several programs publish on a sensor's topic.

    :param names: node name of each publisher
    """
    if len(names) < 2:
        return None
    return Fault(
        Code.PUBLISHERS,
        f'publishers: {len(names)} on {topic} ({", ".join(sorted(names))}), expected one: nobody '
        'can tell whose body is whose',
    )
