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

"""Reading the thresholds of validity, the conditions, and what counts as a fall."""

from __future__ import annotations

import math

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Condition, Fall, Limits
from repsq_ros.specification.input_section import read_input
from repsq_ros.specification.reader import Section
from repsq_ros.timebase import to_nanoseconds, to_seconds


def read_limits(section: Section) -> Limits:
    """Return the thresholds: `largest_gap` beside the measure, all of them under `validity`."""
    usual = Limits()
    gap = section.number('largest_gap', to_seconds(usual.largest_gap_ns), above=0)
    if not section.has('validity'):
        return Limits(to_nanoseconds(gap))
    inner = section.section('validity')
    found = Limits(
        to_nanoseconds(inner.number('largest_gap', gap, above=0)),
        inner.number('coverage', usual.coverage, at_least=0),
        inner.number('frozen', usual.frozen, above=0),
        inner.number('fastest', usual.fastest, above=0),
        inner.number('fastest_turn', usual.fastest_turn, above=0),
        inner.number('step', usual.step, at_least=0),
        inner.number('outlier', usual.outlier, above=0),
        inner.number('outlier_turn', usual.outlier_turn, above=0),
    )
    if found.coverage > 1:
        raise inner.fail('coverage', f'{found.coverage!r}', 'a share, at most 1')
    inner.finish()
    return found


def read_fall(section: Section, gives: tuple[str, ...]) -> Fall | None:
    """Return when the subject counts as fallen; None: it is not looked for."""
    if not section.has('fall'):
        return None
    inner = section.section('fall')
    found = Fall(
        inner.number('height') if inner.has('height') else -math.inf,
        inner.number('tilt', above=0) if inner.has('tilt') else math.inf,
        inner.number('hold', 0.1, at_least=0),
    )
    inner.finish()
    if found.height == -math.inf and found.tilt == math.inf:
        raise section.fail('fall', 'neither height nor tilt', 'at least one of them')
    for key, needed in (('height', 'position'), ('tilt', 'orientation')):
        if inner.has(key) and needed not in gives:
            raise inner.fail(key, 'a limit', f'none: the input gives no {needed}')
    return found


def read_conditions(section: Section) -> tuple[tuple[Condition, ...], tuple[Input, ...]]:
    """Return the conditions and their inputs, in the order of their names."""
    if not section.has('conditions'):
        return (), ()
    outer = section.section('conditions')
    conditions, inputs = [], []
    for name in sorted(outer.keys()):
        inner = outer.section(name)
        if not name.isidentifier():
            raise outer.fail(name, f'the name {name!r}', 'letters, digits and _')
        source = read_input(inner, condition=name)
        condition = Condition(
            name,
            inner.number('at_least') if inner.has('at_least') else -math.inf,
            inner.number('at_most') if inner.has('at_most') else math.inf,
            inner.numbers('one_of') if inner.has('one_of') else (),
            inner.number('longest_silence', above=0) if inner.has('longest_silence') else math.inf,
        )
        inner.finish()
        if condition == Condition(name, longest_silence=condition.longest_silence):
            raise outer.fail(name, 'no limit', 'at_least, at_most or one_of')
        conditions.append(condition)
        inputs.append(source)
    outer.finish()
    return tuple(conditions), tuple(inputs)
