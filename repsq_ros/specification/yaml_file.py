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

"""Reading a YAML file: syntax errors are reported with the line."""

from __future__ import annotations

import re
from collections.abc import Hashable
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from repsq_ros.errors import SpecificationError
from repsq_ros.specification.reader import Section

# Frequent mistakes by PyYAML's message: what was found, and what was expected.
MISTAKES = {
    r"'\t'": ('a tab', 'blanks: YAML allows no tabs in its indentation'),
    'mapping values are not allowed': (
        'a key below or beside a value',
        'the indentation of the keys around it, a blank after the colon above, or quotes around '
        'text that holds ": "',
    ),
    'expected <block end>': (
        'an indentation that fits no line above',
        'the indentation of the keys around it',
    ),
    "could not find expected ':'": (
        'a line that is no key, just above',
        'KEY: VALUE, with a blank after the colon',
    ),
}


class _Loader(yaml.SafeLoader):
    """Safe loader that refuses duplicate keys and reads 1e-3 as a number."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f'key {key!r} is not text', key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f'key {key!r} appears twice', key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    'tag:yaml.org,2002:float',
    re.compile(r'^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$'),
    list('-+.0123456789'),
)


@lru_cache(maxsize=16)
def _parsed(text: str) -> Any:
    """Parse a text once: a command reads the same specification a dozen times."""
    return yaml.load(text, _Loader)


def read(file: Path) -> Section:
    """Read a YAML file whose top is a mapping.

    :raises SpecificationError: unreadable, not UTF-8, not YAML, a duplicate key, not a mapping
    """
    name = str(file)
    try:
        text = file.read_text(encoding='utf-8')
    except UnicodeDecodeError as error:
        raise SpecificationError(
            name, '', f'a byte that is not UTF-8 at offset {error.start}', 'a YAML text file'
        ) from None
    except OSError as error:
        raise SpecificationError(
            name, '', f'no readable file ({error.strerror})', 'a YAML test specification'
        ) from None
    try:
        content = deepcopy(_parsed(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f'line {mark.line + 1}, column {mark.column + 1}' if mark else ''
        raise SpecificationError(name, line, *_mistake(str(error.problem))) from None
    except yaml.YAMLError as error:
        raise SpecificationError(name, '', ' '.join(str(error).split()), 'valid YAML') from None
    return Section(name, '', content)


def _mistake(problem: str) -> tuple[str, str]:
    """Return what was found and what was expected, from the parser's message."""
    for sign, said in MISTAKES.items():
        if sign in problem:
            return said
    return problem, 'valid YAML'
