"""Copies of a specification: as it was used, and as replicators need it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import yaml

from repsq_ros.specification.partition import Initiator
from repsq_ros.specification.reader import read


def companions(file: Path) -> list[Path]:
    """Return the files beside a specification that it names: tables, modules of own classes."""
    named = _named(read(file).content())
    beside = [Path(name) for name in named if not Path(name).is_absolute()]
    return [name for name in dict.fromkeys(beside) if (file.parent / name).is_file()]


def _named(content: object) -> Iterator[str]:
    if isinstance(content, dict):
        for key, value in content.items():
            if key == 'file' and isinstance(value, str):
                yield value
            elif key == 'type' and isinstance(value, str) and ':' in value:
                yield value.partition(':')[0].replace('.', '/') + '.py'
            else:
                yield from _named(value)
    elif isinstance(content, list):
        for each in content:
            yield from _named(each)


def copy_specification(file: Path, target: Path) -> None:
    """Copy a specification, and beside it the files that it names.

    :raises OSError: a file cannot be read or written
    """
    shutil.copyfile(file, target)
    for name in companions(file):
        if not (target.parent / name).exists():
            (target.parent / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.parent / name, target.parent / name)


def write_replication(
    file: Path, target: Path, anchor: float, half_width: float, initiator: Initiator
) -> None:
    """Write the specification that an initiator's replicators share: with its partition laid.

    Where half a cell is less than twice the initiator's gamma, replicators are asked for what it
    leaves them.

    :param anchor: the initiator's estimate [unit of psi]
    :param initiator: what its campaign was worth
    :raises OSError: a file cannot be read or written
    """
    copy_specification(file, target)
    content = read(file).content()
    partition = dict(content['partition'])  # type: ignore[call-overload]
    content['partition'] = {
        **partition, 'half_width': half_width, 'anchor': anchor,
        'initiator': initiator.describe(),
    }  # fmt: skip
    left = float(Decimal(repr(half_width)) - Decimal(repr(initiator.gamma)))
    if 0.0 < left < initiator.gamma:
        content['tester'] = {**content['tester'], 'gamma': left}  # type: ignore[dict-item]
    text = yaml.safe_dump(content, sort_keys=False, width=100)
    target.write_text(
        '# For replicators: the initiator has laid the partition around its estimate.\n' + text,
        encoding='utf-8',
    )
