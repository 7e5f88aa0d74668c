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

"""Reading the validity thresholds, the conditions, and the definition of a fall."""

from __future__ import annotations

import math

from repsq_ros.keys import keys_of
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Condition, Fall, Limits
from repsq_ros.specification.input_section import read_input
from repsq_ros.specification.reader import Section, read_keys


def read_limits(section: Section) -> Limits:
    """Return the thresholds: those under `validity`, and `largest_gap` of the measure."""
    gap = {'largest_gap_ns': section.take(keys_of(Limits)['largest_gap_ns'])}
    if not section.has('validity'):
        return read_keys(Section(section.file, section.path, {}), Limits, usual=gap)
    inner = section.section('validity')
    found = read_keys(inner, Limits, usual=gap)
    inner.finish()
    return found


def read_fall(section: Section, gives: tuple[str, ...]) -> Fall | None:
    """Return when the subject counts as fallen; None: falls are not detected."""
    if not section.has('fall'):
        return None
    inner = section.section('fall')
    found = read_keys(inner, Fall)
    inner.finish()
    if found.height == -math.inf and found.tilt == math.inf:
        raise section.fail('fall', 'neither height nor tilt', 'at least one of them')
    for key, needed in (('height', 'position'), ('tilt', 'orientation')):
        if inner.has(key) and needed not in gives:
            raise inner.fail(key, 'a limit', f'none: the input gives no {needed}')
    return found


def read_conditions(section: Section) -> tuple[tuple[Condition, ...], tuple[Input, ...]]:
    """Return the conditions and their inputs, sorted by name."""
    if not section.has('conditions'):
        return (), ()
    outer = section.section('conditions')
    conditions, inputs = [], []
    for name in sorted(outer.keys()):
        inner = outer.section(name)
        if not name.isidentifier():
            raise outer.fail(name, f'the name {name!r}', 'letters, digits and _')
        inputs.append(read_input(inner, condition=name))
        condition = read_keys(inner, Condition, {'name': name})
        inner.finish()
        if condition == Condition(name, longest_silence=condition.longest_silence):
            raise outer.fail(name, 'no limit', 'at_least, at_most or one_of')
        conditions.append(condition)
    outer.finish()
    return tuple(conditions), tuple(inputs)
