"""Strict reading of YAML: every key known, every value checked, each complaint in its place."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from repsq_ros.errors import SpecificationError


class _Loader(yaml.SafeLoader):
    """Safe loader that refuses duplicate keys and reads 1e-3 as the number it is."""

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


def show(value: object) -> str:
    """Describe a value of a file the way its writer knows it."""
    if value is None:
        return 'nothing'
    if isinstance(value, dict):
        return f'a mapping ({", ".join(map(str, value)) or "empty"})'
    if isinstance(value, list):
        return f'a list of {len(value)}'
    if isinstance(value, str):
        return f'text {value!r}'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return repr(value)


class Section:
    """One mapping of a YAML file, read key by key; `finish` refuses what nobody asked for."""

    def __init__(self, file: str, path: str, content: object) -> None:
        self.file, self.path = file, path
        if not isinstance(content, dict):
            raise SpecificationError(file, path, show(content), 'a mapping of keys to values')
        self._content: dict[str, object] = content
        self._asked: list[str] = []
        self._plain = False  # a single word stood where a mapping may stand

    def fail(self, key: str, found: str, expected: str) -> SpecificationError:
        """Make the error for one key of this section."""
        return SpecificationError(self.file, self.where(key), found, expected)

    def where(self, key: str) -> str:
        """Return the dotted path of a key."""
        if self._plain:
            return self.path
        return f'{self.path}.{key}' if self.path else key

    def content(self) -> dict[str, object]:
        """Return a copy of the mapping as it stands."""
        return dict(self._content)

    def keys(self) -> list[str]:
        """Return the keys that are there, in the file's order."""
        return list(self._content)

    def has(self, key: str) -> bool:
        """Tell whether an optional key is there."""
        self._asked.append(key)
        return key in self._content

    def value(self, key: str, expected: str) -> object:
        """Return a required value as it stands."""
        self._asked.append(key)
        if key not in self._content:
            near = difflib.get_close_matches(key, self._content, n=1)
            raise self.fail(key, f'nothing, but {near[0]!r}' if near else 'nothing', expected)
        return self._content[key]

    def section(self, key: str) -> Section:
        """Return a required mapping below this one."""
        return Section(self.file, self.where(key), self.value(key, 'a mapping of keys to values'))

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        above: float = -math.inf,
        at_least: float = -math.inf,
        below: float = math.inf,
    ) -> float:
        """Return a finite number within limits."""
        if default is not None and not self.has(key):
            return default
        limits = [
            *([f'> {above:g}'] if above > -math.inf else []),
            *([f'>= {at_least:g}'] if at_least > -math.inf else []),
            *([f'< {below:g}'] if below < math.inf else []),
        ]
        expected = 'a finite number' + (f' {" and ".join(limits)}' if limits else '')
        found = self.value(key, expected)
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self.fail(key, show(found), expected)
        if not math.isfinite(found) or found <= above or found < at_least or found >= below:
            raise self.fail(key, show(found), expected)
        return float(found)

    def whole(self, key: str, default: int | None = None, *, at_least: int = 0) -> int:
        """Return a whole number that is at least so large."""
        if default is not None and not self.has(key):
            return default
        expected = f'a whole number >= {at_least}'
        found = self.value(key, expected)
        if isinstance(found, bool) or not isinstance(found, int) or found < at_least:
            raise self.fail(key, show(found), expected)
        return found

    def text(self, key: str, default: str | None = None) -> str:
        """Return text that is not empty."""
        if default is not None and not self.has(key):
            return default
        found = self.value(key, 'text')
        if not isinstance(found, str) or not found.strip():
            raise self.fail(key, show(found), 'text (put it in quotes if it looks like a number)')
        return found.strip()

    def numbers(self, key: str, length: int | None = None) -> tuple[float, ...]:
        """Return a list of finite numbers."""
        expected = f'a list of {length or "at least one"} finite number{"s" * (length != 1)}'
        found = self.value(key, expected)
        if not isinstance(found, list) or not found or len(found) != (length or len(found)):
            raise self.fail(key, show(found), expected)
        for each in found:
            if isinstance(each, bool) or not isinstance(each, int | float):
                raise self.fail(key, f'{show(each)} in the list', expected)
            if not math.isfinite(each):
                raise self.fail(key, f'{each} in the list', expected)
        return tuple(map(float, found))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        expected = 'a list of texts'
        found = self.value(key, expected)
        if not isinstance(found, list):
            raise self.fail(key, show(found), expected)
        for each in found:
            if not isinstance(each, str) or not each.strip():
                raise self.fail(key, f'{show(each)} in the list', expected)
        return tuple(each.strip() for each in found)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false."""
        if not self.has(key):
            return default
        found = self.value(key, 'true or false')
        if not isinstance(found, bool):
            raise self.fail(key, show(found), 'true or false')
        return found

    def mapping(self, key: str) -> dict[str, object]:
        """Return an optional mapping as it stands."""
        if not self.has(key):
            return {}
        return self.section(key).content()

    def sections(self, key: str) -> list[Section]:
        """Return a required list of mappings."""
        found = self.value(key, 'a list of mappings')
        if not isinstance(found, list) or not found:
            raise self.fail(key, show(found), 'a list of mappings')
        return [
            Section(self.file, f'{self.where(key)}[{place}]', each)
            for place, each in enumerate(found)
        ]

    def word_or_section(self, key: str, word_for: str) -> Section:
        """Return a mapping; a single word stands for a mapping with that word alone.

        :param word_for: the key of the mapping that the word is the value of
        """
        found = self.value(key, 'a word, or a mapping of keys to values')
        content = {word_for: found} if isinstance(found, str) else found
        inner = Section(self.file, self.where(key), content)
        inner._plain = isinstance(found, str)
        return inner

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """Return one of the given words."""
        if default is not None and not self.has(key):
            return default
        expected = f'one of {", ".join(choices)}'
        found = self.value(key, expected)
        if not isinstance(found, str) or found not in choices:
            raise self.fail(key, show(found), expected)
        return found

    def finish(self) -> None:
        """Refuse keys that nobody asked for, with the nearest known one."""
        for key in self._content:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                known = (
                    f'{near[0]!r}?' if near else f'one of {", ".join(dict.fromkeys(self._asked))}'
                )
                raise self.fail(key, 'an unknown key', known)


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
        content = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f'line {mark.line + 1}, column {mark.column + 1}' if mark else ''
        raise SpecificationError(name, line, f'{error.problem}', 'valid YAML') from None
    except yaml.YAMLError as error:
        raise SpecificationError(name, '', ' '.join(str(error).split()), 'valid YAML') from None
    return Section(name, '', content)
