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

"""The rules of the driving study on psi and weights from another simulation's file."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from repsq_ros.errors import ParameterError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.moments import EmpiricalBernstein, Hoeffding, RelativeHalfWidth
from repsq_ros.estimation.stopping import StoppingRule
from repsq_ros.paper.driving import ANYTIME, HOEFFDING, PAPER, RELATIVE, SQUARED, Risk
from repsq_ros.paper.study_interface import Row

COLUMNS = ('psi', 'weight')


def read_weighted(file: Path) -> list[float]:
    """Return z = psi w of each row.

    :raises ParameterError: which row is invalid
    """
    expected = f'a CSV file with the columns {" and ".join(COLUMNS)}, psi in [0, 1], weight >= 0'
    found: list[float] = []
    try:
        with file.open(encoding='utf-8', newline='') as opened:
            for row in csv.DictReader(opened):
                found.append(_z(row))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParameterError('table', f'{file} ({error})', expected) from None
    except (KeyError, TypeError, ValueError) as error:
        raise ParameterError('table', f'{file}, row {len(found) + 1}: {error}', expected) from None
    if not found:
        raise ParameterError('table', f'{file} without a row', expected)
    return found


def _z(row: Mapping[str, str]) -> float:
    psi, weight = (float(row[column]) for column in COLUMNS)
    if not 0.0 <= psi <= 1.0:
        raise ValueError(f'psi = {psi}')
    if not (weight >= 0.0 and math.isfinite(weight)):
        raise ValueError(f'weight = {weight}')
    return psi * weight


def judge(z: list[float], risk: Risk) -> list[Row]:
    """Return where each rule stops on the tests in their order, and its result."""
    rules: dict[str, StoppingRule] = {
        RELATIVE: RelativeHalfWidth(risk.relative),
        SQUARED: EmpiricalBernstein(2),
        PAPER: EmpiricalBernstein(),
        HOEFFDING: Hoeffding(),
        ANYTIME: Anytime(),
    }
    return [_judged(name, rule, z, risk) for name, rule in rules.items()]


def _judged(name: str, rule: StoppingRule, z: list[float], risk: Risk) -> Row:
    question, total = risk.question, Accumulator()
    progress, outside = rule.begin(question), 0
    for each in z:
        outside += not question.bounds.hold(each)
        total.add(each)
        progress.add(total, each, question.bounds)
        if progress.reached or progress.void:
            break
    cell = risk.cells.quantize(total.mean)
    return {
        'rule': name,
        'tests': total.n,
        'met_rule': 'yes' if progress.reached else 'no',
        'estimate': total.mean,
        'lower': progress.lower,
        'upper': progress.upper,
        'value': cell.value,
        'outside_bounds': outside,
        'holds_for': 'nothing' if outside else rule.validity.value,
    }
