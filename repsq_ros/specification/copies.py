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

"""Copies of a specification: one for the record, and one for replicators."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path

import yaml

from repsq_ros.specification.control_section import ControlType
from repsq_ros.specification.partition_section import Initiator
from repsq_ros.specification.yaml_file import read


def companions(file: Path) -> list[Path]:
    """Return the files that a specification names: tables, modules with user classes."""
    content = read(file).content()
    modules = (name.partition(':')[0] for name in own_classes(file))
    named = [*_texts(content, 'file'), *(f'{each.replace(".", "/")}.py' for each in modules)]
    beside = [Path(name) for name in named if not Path(name).is_absolute()]
    return [name for name in dict.fromkeys(beside) if (file.parent / name).is_file()]


def own_classes(file: Path) -> list[str]:
    """Return the user classes (module:Class) that a specification names: reading it runs them."""
    return [name for name in _texts(read(file).content(), 'type') if ':' in name]


def _texts(content: object, key: str) -> Iterator[str]:
    """Return all values of a key, anywhere in a file."""
    for name, value in content.items() if isinstance(content, dict) else ():
        if name == key and isinstance(value, str):
            yield value
    inner = content.values() if isinstance(content, dict) else content
    for each in inner if isinstance(inner, Iterable) and not isinstance(inner, str) else ():
        yield from _texts(each, key)


def copy_specification(file: Path, target: Path, tester_file: Path | None = None) -> None:
    """Copy a specification and the files that it names.

    :param tester_file: its section `tester` replaces the specification's own
    :raises OSError: a file cannot be read or written
    """
    if tester_file is None:
        shutil.copyfile(file, target)
    else:
        content = {**read(file).content(), 'tester': read(tester_file).content()['tester']}
        text = yaml.safe_dump(content, sort_keys=False, width=100)
        target.write_text(f'# {file.name} with the tester of {tester_file.name}.\n{text}', 'utf-8')
        _copy_companions(tester_file, target)
    _copy_companions(file, target)


def _copy_companions(file: Path, target: Path) -> None:
    for name in companions(file):
        if not (target.parent / name).exists():
            (target.parent / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.parent / name, target.parent / name)


def write_replication(
    file: Path, target: Path, anchor: float, half_width: float, initiator: Initiator
) -> None:
    """Write the specification for an initiator's replicators, with the anchored partition.

    It has no seed, since each replicator uses its own, and no twin, whose answers belong to the
    cases of one seed. If half a cell is less than twice the initiator's gamma, replicators are
    asked for the accuracy that is left.

    :param anchor: the initiator's estimate [unit of psi]
    :param initiator: accuracy and assumptions of its campaign
    :raises OSError: a file cannot be read or written
    """
    copy_specification(file, target)
    content = read(file).content()
    partition = dict(content['partition'])  # type: ignore[call-overload]
    content['partition'] = {
        **partition,
        'half_width': half_width,
        'anchor': anchor,
        'initiator': initiator.describe(),
    }
    # With the initiator's seed, a replicator would draw the same cases.
    content['tester'] = {
        key: value
        for key, value in content['tester'].items()  # type: ignore[attr-defined]
        if key != 'seed' and (not isinstance(value, dict) or value.get('type') != ControlType.TWIN)
    }
    left = float(Decimal(repr(half_width)) - Decimal(repr(initiator.gamma)))
    if 0.0 < left < initiator.gamma:
        content['tester'] = {**content['tester'], 'gamma': left}  # type: ignore[dict-item]
    text = yaml.safe_dump(content, sort_keys=False, width=100)
    target.write_text(
        '# For replicators: the initiator has placed the partition around its estimate.\n' + text,
        encoding='utf-8',
    )
