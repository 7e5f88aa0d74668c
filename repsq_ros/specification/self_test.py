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

"""The specification of a station's self-test: long rests and three moves."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from repsq_ros.errors import ParameterError
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.protocols.protocol import ProtocolType
from repsq_ros.specification.copies import copy_specification
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.proposal_section import ProposalType
from repsq_ros.specification.yaml_file import read

SELF_TEST = 'self_test.yaml'
CASES = 'self_test_cases.csv'
REST = 10.0  # [s] before each of three moves
HELD = 5.0  # [s] for which a velocity is commanded
STILL = 4.0  # [s] after it, in which a body comes to rest
FEWEST = 2  # moves; a campaign has at least two tests
SHARE = 0.75  # share of the largest value of a dimension


def default_moves(specification: Specification) -> list[tuple[float, ...]]:
    """Return one case per dimension (three at most): large in that one, small in the others."""
    dimensions = specification.box.dimensions
    velocity = specification.protocol.kind == CommandKind.VELOCITY
    usual, far = [], []
    for each in dimensions:
        middle = (each.lower + each.upper) / 2
        usual.append(min(max(0.0, each.lower), each.upper) if velocity else middle)
        end = max(each.upper, each.lower, key=abs) if velocity else each.upper
        far.append(SHARE * end if velocity else middle + SHARE * (end - middle))
    return [
        tuple(far[j] if j == k else usual[j] for j in range(len(dimensions)))
        for k in range(min(3, len(dimensions)))
    ]


def write_self_test(
    file: Path, folder: Path, moves: Path | None = None, tester: Path | None = None
) -> Path:
    """Write the specification of a self-test into a folder; returns its file.

    Target, limits, inputs, conditions and safety are those of the specification.

    :param moves: CSV of cases with one column per dimension; None: `default_moves`
    :raises SpecificationError: a move outside the target
    :raises ParameterError: fewer than two moves
    :raises OSError: a file cannot be read or written
    """
    specification, target = load(file, tester), folder / SELF_TEST
    names = specification.box.names
    copy_specification(file, target, tester)
    content: dict[str, Any] = dict(read(target).content())
    if moves is None:
        cases = default_moves(specification)
        rows = [','.join([*map(repr, case), '1.0']) for case in cases]
        (folder / CASES).write_text('\n'.join([','.join([*names, 'weight']), *rows]) + '\n')
    else:
        shutil.copyfile(moves, folder / CASES)
    count = sum(bool(row.strip()) for row in (folder / CASES).read_text().splitlines()) - 1
    if count < FEWEST:
        raise ParameterError('moves', f'{count} cases in {moves}', f'at least {FEWEST}')
    content['tester'] = {
        'proposal': {
            'type': ProposalType.EXTERNAL.value, 'file': CASES, 'weight_bound': 1e6,
            'accept_unproven_bound': True,
        },
        'seed': 1, 'stopping': {'rule': 'fixed', 'tests': count}, 'max_tests': count,
        'max_attempts': 1,
    }  # fmt: skip
    protocol = dict(content['protocol'])
    if specification.protocol.kind == CommandKind.VELOCITY:
        held = max(HELD, float(protocol.get('command', HELD)))
        content['protocol'] = {
            'type': ProtocolType.FREE.value,
            'commands': CommandKind.VELOCITY.value,
            'phases': [
                {'phase': 'dwell', 'ends': 'time', 'seconds': REST},
                {'phase': 'command', 'ends': 'time', 'seconds': held, 'window': held / 2},
                {'phase': 'dwell', 'ends': 'time', 'seconds': STILL},
            ],
        }
    elif protocol['type'] == ProtocolType.POSITIONING:
        content['protocol'] = {**protocol, 'before': REST}
    content.pop('accept', None)
    text = yaml.safe_dump(content, sort_keys=False, width=100)
    target.write_text(f'# Self-test of {file.name}.\n{text}', encoding='utf-8')
    load(target)
    return target
