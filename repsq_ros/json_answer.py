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

"""Answers of a verb as JSON: one object on standard output in place of text."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TextIO


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option --json."""
    parser.add_argument('--json', action='store_true', help='print JSON in place of text')


def print_json(answer: object) -> None:
    """Print an answer as JSON."""
    print(json.dumps(plain(answer), indent=2, allow_nan=False))


def print_said(said: Sequence[tuple[str, str]], json: bool, width: int) -> None:
    """Print what a verb has to say, a line for each name, or one object.

    :param width: of the column of names
    """
    if json:
        print_json(dict(said))
        return
    for name, text in said:
        print(f'{name:{width}} {text}')


def text_beside(json: bool) -> TextIO:
    """Return where a verb's running text goes: beside an answer in JSON to standard error."""
    return sys.stderr if json else sys.stdout


def plain(value: object) -> object:
    """Return a value as JSON knows it: dataclasses as objects, NaN and infinity as null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f'{type(value).__name__} has no place in an answer')
