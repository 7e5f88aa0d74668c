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

"""The measure of each test of a recording that is read stretch by stretch, however long it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from repsq_ros.measurement.measure import Evaluation
from repsq_ros.measurement.recorder import Recorder
from repsq_ros.measurement.samples import Samples
from repsq_ros.replay.evaluation import Evaluated, outcomes_of
from repsq_ros.replay.segments import Segment
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import NANOSECONDS

SENSOR = ''  # name of the measure's own input among those of a stream
LATE_NS = 60 * NANOSECONDS  # by which samples may be late


def evaluate_stream(
    specification: Specification,
    stream: Iterable[Mapping[str, Samples]],
    segments: Sequence[Segment],
) -> list[Evaluated]:
    """Return the same as `evaluate`, with no more samples in memory than the windows need.

    A window is measured when the sensor's stamps have passed its end by `LATE_NS`: what comes
    later still has not come in time for a node, either.

    :param stream: samples of the measure's input (name SENSOR) and of its conditions, one stretch
        of time after the other
    """
    recorder = Recorder(specification.measure, keep_ns=2**62)
    order = sorted(range(len(segments)), key=lambda k: segments[k].window.end_ns)
    ends = [segments[k].window.end_ns for k in order]
    # From where on each window and all that end after it need samples.
    reaches = np.minimum.accumulate([segments[k].window.reach_ns for k in reversed(order)])[::-1]
    outcomes: list[Evaluation] = []
    measure_all = recorder.measure_all
    for stretch in stream:
        for name, columns in stretch.items():
            recorder.add(columns, name)
        newest = recorder.tail.newest_ns
        if newest is None:
            continue
        due = bisect_right(ends, newest - LATE_NS)
        outcomes += outcomes_of(measure_all, [segments[k] for k in order[len(outcomes) : due]])
        recorder.forget(int(reaches[len(outcomes)]) if len(outcomes) < len(order) else newest)
    outcomes += outcomes_of(measure_all, [segments[k] for k in order[len(outcomes) :]])
    found = dict(zip(order, outcomes, strict=True))
    return [Evaluated(segment, found[k]) for k, segment in enumerate(segments)]
