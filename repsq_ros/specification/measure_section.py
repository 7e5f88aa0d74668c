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

"""Reading the measure: the quantity, its input, and the reasons for INVALID tests."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from repsq_ros.errors import SpecificationError
from repsq_ros.keys import TextEnum, keys_of
from repsq_ros.measurement.catalogue import kind_of
from repsq_ros.measurement.displacement import (
    FinalPoseError,
    GaugeDisplacement,
    SpaceDisplacement,
)
from repsq_ros.measurement.indicator import Indicator
from repsq_ros.measurement.inputs import LENGTHS, Input, Need, Velocity
from repsq_ros.measurement.manual_outcome import ManualOutcome
from repsq_ros.measurement.measure import CheckedQuantity, Measure
from repsq_ros.measurement.over_time import OverTime
from repsq_ros.measurement.own import ATTRIBUTES, OwnQuantity
from repsq_ros.measurement.pose import Pose
from repsq_ros.measurement.pose_change import PoseChange
from repsq_ros.measurement.tracking_loss import Reduction, TrackingLoss
from repsq_ros.specification.distribution_section import beside, load_class
from repsq_ros.specification.input_section import SOURCES, input_of_source, read_input
from repsq_ros.specification.reader import Section, read_keys
from repsq_ros.specification.validity_section import read_conditions, read_fall, read_limits


class MeasureType(TextEnum):
    """What is measured."""

    SOFT_LINF = 'soft_linf'
    DISPLACEMENT = 'displacement'
    FINAL_POSE_ERROR = 'final_pose_error'
    POSE_CHANGE = 'pose_change'
    OVER_TIME = 'over_time'
    INDICATOR = 'indicator'
    MANUAL_OUTCOME = 'manual_outcome'


# A displacement has two: the first for a number as input, the second for a body.
TYPES: dict[MeasureType, tuple[type, ...]] = {
    MeasureType.SOFT_LINF: (TrackingLoss,),
    MeasureType.DISPLACEMENT: (GaugeDisplacement, SpaceDisplacement),
    MeasureType.FINAL_POSE_ERROR: (FinalPoseError,),
    MeasureType.POSE_CHANGE: (PoseChange,),
    MeasureType.OVER_TIME: (OverTime,),
    MeasureType.INDICATOR: (Indicator,),
    MeasureType.MANUAL_OUTCOME: (ManualOutcome,),
}


def read_measure(section: Section) -> Measure:
    """Return the measure of a section.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    if section.has('input'):
        source = read_input(section.section('input'))
    else:
        source = input_of_source(section.choice('source', tuple(SOURCES)))
    quantity = _quantity(section, source)
    gives = _gives(source)
    for lacking in _needed(quantity.needs, source):
        if lacking not in gives:
            raise section.fail(
                'type',
                f'a measure that needs {quantity.needs}',
                f'one of {" and ".join(gives)}, which {source.type} gives',
            )
    if quantity.needs == Need.READING and source.unit not in LENGTHS and quantity.unit == 'mm':
        raise section.fail('input.unit', f'{source.unit!r}', f'a length: {", ".join(LENGTHS)}')
    _refuse_unused(section, quantity.needs, source)
    limits = read_limits(section)
    conditions, condition_inputs = read_conditions(section)
    fall = read_fall(section, gives)
    section.finish()
    return Measure(quantity, source, limits, conditions, condition_inputs, fall)


def _refuse_unused(section: Section, needs: Need, source: Input) -> None:
    """Refuse keys that would have no effect."""
    content = section.content()
    given = content.get('input')
    for key in ('velocity', 'velocity_span', 'velocity_frame'):
        if needs != Need.VELOCITY and isinstance(given, dict) and key in given:
            raise section.fail(
                f'input.{key}',
                f'{given[key]!r}',
                f'none: a measure that needs {needs} takes no velocity',
            )
    validity = content.get('validity')
    given = validity if isinstance(validity, dict) else {}
    for key in ('unanswered', 'least_speed'):
        if needs == Need.READING and key in given:
            raise section.fail(
                f'validity.{key}',
                f'{given[key]!r}',
                'none: a number does not tell whether the robot moves',
            )
    of_streams = not (given and given.keys() <= {'largest_error', 'obeys'})
    for key in ('validity',) * of_streams + ('largest_gap',):
        if needs == Need.READING and key in content and not source.rate > 0:
            raise section.fail(
                key,
                'thresholds',
                'none: a gauge without a rate may be silent for minutes, and has no poses',
            )


def _gives(source: Input) -> tuple[str, ...]:
    kind = kind_of(source.type, source.field)
    return () if kind is None else kind.gives


def _needed(needs: Need, source: Input) -> tuple[str, ...]:
    if needs == Need.VELOCITY:
        return ('twist',) if source.velocity == Velocity.TWIST else ('position', 'orientation')
    return ('position', 'orientation') if needs == Need.POSE else (needs,)


def _quantity(section: Section, source: Input) -> CheckedQuantity:
    name = section.text('type')
    if ':' in name:
        return _own(section, name)
    kind = section.choice('type', TYPES)
    if kind == MeasureType.SOFT_LINF:
        return _tracking_loss(section, source)
    if kind == MeasureType.OVER_TIME:
        return read_keys(section, OverTime)
    if kind == MeasureType.POSE_CHANGE:
        return read_keys(section, PoseChange)
    if kind == MeasureType.MANUAL_OUTCOME:
        return _manual_outcome(section)
    if kind == MeasureType.INDICATOR:
        inner = section.section('of')
        found = _quantity(inner, source)
        inner.finish()
        above = section.number('above', above=found.lower, below=found.upper)
        return Indicator(found, above)
    if kind == MeasureType.FINAL_POSE_ERROR:
        commanded = section.content().get('target') == 'commanded'
        section.has('target')
        target = None if commanded else _pose(section, 'target')
        error = read_keys(section, FinalPoseError, {'target': target})
        if error.per_radian > 0 and target is not None and target.orientation is None:
            raise section.fail(
                'target', 'a position alone', 'rotation or rpy as well: per_radian > 0'
            )
        return error
    if 'reading' not in _gives(source):
        before = not section.has('reference') or section.content()['reference'] == 'before'
        reference = None if before else _pose(section, 'reference')
        return read_keys(section, SpaceDisplacement, {'reference': reference})
    gauge = read_keys(section, GaugeDisplacement)
    if gauge.travel is not None and not gauge.travel[0] < gauge.travel[1]:
        raise section.fail(
            'travel', f'{list(gauge.travel)}', 'two numbers in mm, the smaller first'
        )
    return gauge


def _manual_outcome(section: Section) -> ManualOutcome:
    found = read_keys(section, ManualOutcome)
    names = found.outcomes
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise section.fail('outcomes', f'{list(names)}', 'two or more different names')
    if len(found.worth) != len(names) or not found.lower < found.upper:
        raise section.fail(
            'psi', f'{list(found.worth)}', f'{len(names)} numbers, one for each outcome'
        )
    return found


def _tracking_loss(section: Section, source: Input) -> TrackingLoss:
    rate = keys_of(TrackingLoss)['state_rate']
    found = read_keys(section, TrackingLoss, {'state_rate': rate.default})
    if not sum(found.weights) > 0:
        raise section.fail('weights', 'no weight above 0', 'at least one component')
    if found.reduction != Reduction.SUM:
        return found
    if not section.has('state_rate') and not source.rate > 0:
        raise section.fail(
            'state_rate',
            'nothing',
            'the states per second in Hz that reduction: sum is over, or '
            'the rate of the input: a sum grows with the sensor',
        )
    # Labs with different sensors share the rate of the sum.
    return replace(found, state_rate=section.take(replace(rate, default=source.rate)))


def _pose(section: Section, key: str) -> Pose:
    """Return a pose: as given, or the barycentre of positions in a file."""
    inner = section.section(key)
    if inner.has('file'):
        x, y, z = map(float, _positions(beside(inner, inner.text('file'))).mean(axis=0))
        found = Pose((x, y, z))
    else:
        found = read_keys(inner, Pose)
    inner.finish()
    return found


def _positions(file: Path) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the columns x, y, z [m] of a CSV file written by `repsq import-poses`."""
    name = str(file)
    try:
        with file.open(encoding='utf-8', newline='') as opened:
            rows = [[float(row[axis]) for axis in 'xyz'] for row in csv.DictReader(opened)]
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError(name, '', f'no readable file ({error})', 'a CSV file') from None
    except (KeyError, TypeError, ValueError) as error:
        raise SpecificationError(
            name, '', f'{error}', 'columns x, y, z of finite numbers in m'
        ) from None
    found = np.array(rows, dtype=np.float64).reshape(-1, 3)
    if not len(found) or not np.isfinite(found).all():
        raise SpecificationError(name, '', f'{len(found)} rows', 'rows of finite x, y, z in m')
    return found


def _own(section: Section, dotted: str) -> OwnQuantity:
    made = load_class(section, dotted)
    options = section.mapping('options')
    try:
        inner = made(**options)
    except Exception as error:  # a user's class may raise anything
        raise section.fail(
            'options', f'{options} ({type(error).__name__}: {error})', f'options of {dotted}'
        ) from None
    lacking = [each for each in (*ATTRIBUTES, 'psi') if not hasattr(inner, each)]
    if lacking or inner.needs not in list(Need):
        raise section.fail(
            'type',
            f'{dotted} without {" and ".join(lacking)}'
            if lacking
            else f'{dotted} that needs {inner.needs!r}',
            f'a class with {", ".join(ATTRIBUTES)} '
            f'(needs: one of {", ".join(Need)}) and psi(seen, window)',
        )
    try:
        found = OwnQuantity(inner, {'type': dotted, 'options': options})
    except (TypeError, ValueError):
        found = None
    if found is None or not (
        math.isfinite(found.upper - found.lower) and found.lower < found.upper
    ):
        raise section.fail(
            'type',
            f'{dotted} with the range [{inner.lower}, {inner.upper}]',
            'finite numbers, lower below upper',
        )
    return found
