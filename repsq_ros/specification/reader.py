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

"""Strict reading of YAML: unknown keys and invalid values are errors with file and key."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from repsq_ros.errors import SpecificationError
from repsq_ros.keys import NANOSECONDS, REQUIRED, Key, keys_of
from repsq_ros.measurement.samples import Quaternion
from repsq_ros.protocols.rotation import quaternion_of_rpy
from repsq_ros.timebase import to_nanoseconds

Value = TypeVar('Value')
Text = TypeVar('Text', bound=str)

SCHEMA = Path(__file__).with_name('specification.schema.json')
# Larger numbers in poses are not in SI units: no tool is turned or moved that far.
LIMITS = {'rad': 2.0 * math.pi, 'm': 10.0}
HINTS = {'rad': ': is it in degrees?', 'm': ': is it in millimetres?'}

DECIMAL_COMMA = re.compile(r'\s*[-+]?\d*,\d+\s*')
WITH_UNIT = re.compile(r'\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(%|\S.*)')


def show(value: object) -> str:
    """Describe a value of a file as its author would."""
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


def unit_hint(unit: str) -> str:
    """Return the unit that a too large number may be in, as a question."""
    return HINTS.get(unit, '')


def rounded(computed: float) -> float:
    """Round a computed sine, cosine or angle: libraries differ in the last digits."""
    return round(computed, 12) + 0.0  # + 0.0 turns -0 into 0


def expected_of(key: Key) -> str:
    """Return the expected value of a key, in words."""
    words = ''.join(f'{word!r}, ' for word in key.words or ())
    return words + ('or ' if words else '') + _expected_value(key)


def _expected_value(key: Key) -> str:
    limits = f' {" and ".join(key.limits)}' if key.limits else ''
    if key.choices:
        if key.kind is float:
            return ' or '.join(f'{each:g}' for each in key.choices)
        return f'one of {", ".join(key.choices)}'
    if key.kind is float:
        return f'a finite number{limits}'
    if key.kind is int:
        return f'a whole number{limits or " >= 0"}'
    if key.kind is str:
        return 'text'
    if key.kind is bool:
        return 'true or false'
    if get_origin(key.kind) is tuple:
        return _expected_list(key, *get_args(key.kind))
    return 'a mapping of keys to values'


def _expected_list(key: Key, kind: Any, *others: Any) -> str:
    if kind is str:
        return 'a list of texts'
    if kind is not float:
        return 'a list of mappings'
    count = len(others) + 1 if Ellipsis not in others else 0
    limits = f' {" and ".join(key.limits)}' if key.limits else ''
    unit = f', in {key.unit}' if key.unit else ''
    return f'a list of {count or "at least one"} finite number{"s" * (count != 1)}{limits}{unit}'


RPY = Key(
    'roll, pitch, yaw about fixed axes, in place of rotation',
    'rad',
    kind=tuple[float, float, float],
    name='rpy',
    at_least=-LIMITS['rad'],
    at_most=LIMITS['rad'],
)


class Section:
    """One mapping of a YAML file, read key by key; `finish` refuses keys that were not read."""

    def __init__(self, file: str, path: str, content: object) -> None:
        self.file, self.path = file, path
        if not isinstance(content, dict):
            raise SpecificationError(file, path, show(content), 'a mapping of keys to values')
        self._content: dict[str, object] = content
        self._asked: list[str] = []
        self._plain = False  # a single word stands for the mapping

    def fail(self, key: str, found: str, expected: str) -> SpecificationError:
        """Make the error for a key of this section."""
        return SpecificationError(self.file, self.where(key), found, expected)

    def where(self, key: str) -> str:
        """Return the dotted path of a key."""
        if self._plain:
            return self.path
        return f'{self.path}.{key}' if self.path else key

    def content(self) -> dict[str, object]:
        """Return a copy of the raw mapping."""
        return dict(self._content)

    def keys(self) -> list[str]:
        """Return the present keys in the file's order."""
        return list(self._content)

    def has(self, key: str) -> bool:
        """Tell whether an optional key is present."""
        self._asked.append(key)
        return key in self._content

    def value(self, key: str, expected: str) -> object:
        """Return the raw value of a required key."""
        self._asked.append(key)
        if key not in self._content:
            near = difflib.get_close_matches(key, self._content, n=1)
            meant = f' (is {near[0]!r} meant?)' if near else ''
            raise self.fail(key, f'nothing{meant}', expected)
        return self._content[key]

    def finish(self) -> None:
        """Refuse keys that were not read, and suggest the nearest known one."""
        for key in self._content:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                known = (
                    f'{near[0]!r}?' if near else f'one of {", ".join(dict.fromkeys(self._asked))}'
                )
                raise self.fail(key, 'an unknown key', known)

    # Values -----------------------------------------------------------------------------------

    def take(self, key: Key) -> Any:
        """Return the checked value of a key, or its default if the key is missing."""
        if key.default is not REQUIRED and not self.has(key.name):
            return key.default
        if is_dataclass(key.kind):
            return self._mapping_of(key)
        expected = expected_of(key)
        found = self.value(key.name, expected)
        if key.words and isinstance(found, str) and found in key.words:
            return key.words[found]
        if get_origin(key.kind) is tuple:
            return self._list(key, found, expected)
        if not _fits(key, found):
            raise self.fail(key.name, show(found), expected + _remedy(key, found))
        if isinstance(key.choices, Mapping):
            return key.choices[found]
        if isinstance(found, str):
            return found.strip()
        return float(found) if key.kind is float else found  # type: ignore[arg-type]

    def _mapping_of(self, key: Key) -> Any:
        """Return a mapping of declared keys, or the word that replaces it."""
        found = self.value(key.name, expected_of(key))
        if key.words and isinstance(found, str) and found in key.words:
            return key.words[found]
        inner = self.section(key.name)
        made = read_keys(inner, key.kind)
        inner.finish()
        return made

    def _list(self, key: Key, found: object, expected: str) -> tuple[Any, ...]:
        kind, *others = get_args(key.kind)
        count = len(others) + 1 if Ellipsis not in others else 0
        if not isinstance(found, list) or (kind is float and not found):
            raise self.fail(key.name, show(found), expected)
        if count and len(found) != count:
            raise self.fail(key.name, show(found), expected)
        for each in found:
            one = replace(key, kind=kind)
            if not _fits(one, each):
                raise self.fail(
                    key.name, f'{show(each)} in the list', expected + _remedy(one, each)
                )
        return tuple(each.strip() if kind is str else float(each) for each in found)

    def number(self, key: str, default: Any = REQUIRED, **limits: Any) -> float:
        """Return a finite number within limits: above, at_least, below, at_most."""
        return float(self.take(Key('', kind=float, name=key, default=default, **limits)))

    def whole(self, key: str, default: Any = REQUIRED, *, at_least: int = 0) -> int:
        """Return a whole number with a lower limit."""
        return int(self.take(Key('', kind=int, name=key, default=default, at_least=at_least)))

    def text(self, key: str, default: Any = REQUIRED) -> str:
        """Return a non-empty text."""
        return str(self.take(Key('', kind=str, name=key, default=default)))

    def choice(self, key: str, choices: Iterable[Text], default: Any = REQUIRED) -> Text:
        """Return one of the given words."""
        words = {str(each): each for each in choices}
        found: Text = self.take(Key('', kind=str, name=key, default=default, choices=words))
        return found

    def numbers(self, key: str, length: int = 0) -> tuple[float, ...]:
        """Return a list of finite numbers."""
        kind = tuple[(float,) * length] if length else tuple[float, ...]  # type: ignore[misc]
        return tuple(self.take(Key('', kind=kind, name=key)))

    def flag(self, key: str) -> bool:
        """Return true or false; false if the key is missing."""
        return bool(self.take(Key('', kind=bool, name=key, default=False)))

    def rotation(self, key: str = 'rotation') -> Quaternion | None:
        """Return a quaternion x, y, z, w, given as such or as `rpy` [rad]; None: not given."""
        if self.has('rpy'):
            x, y, z, w = map(rounded, quaternion_of_rpy(*self.take(RPY)))
            return (x, y, z, w)
        if not self.has(key):
            return None
        x, y, z, w = self.numbers(key, 4)
        size = math.sqrt(x * x + y * y + z * z + w * w)
        if abs(size - 1.0) > 1e-3:
            raise self.fail(key, f'a quaternion of norm {size:g}', 'x, y, z, w of norm 1')
        return (x / size, y / size, z / size, w / size)

    # Mappings ---------------------------------------------------------------------------------

    def section(self, key: str) -> Section:
        """Return a required mapping inside this one."""
        return Section(self.file, self.where(key), self.value(key, 'a mapping of keys to values'))

    def named(self, key: str) -> Iterator[tuple[str, Section]]:
        """Yield the named mappings inside a required one; each is finished."""
        outer = self.section(key)
        for name in outer.keys():  # noqa: SIM118 (a Section is no dict)
            inner = outer.section(name)
            yield name, inner
            inner.finish()

    def mapping(self, key: str) -> dict[str, object]:
        """Return the raw value of an optional mapping."""
        return self.section(key).content() if self.has(key) else {}

    def sections(self, key: str) -> list[Section]:
        """Return a required list of mappings."""
        found = self.value(key, 'a list of mappings')
        if not isinstance(found, list) or not found:
            raise self.fail(key, show(found), 'a list of mappings')
        return [
            Section(self.file, f'{self.where(key)}[{place}]', each)
            for place, each in enumerate(found)
        ]

    def word_or_section(self, key: str) -> Section:
        """Return a mapping; a single word stands for a mapping with only that `type`."""
        found = self.value(key, 'a word, or a mapping of keys to values')
        content = {'type': found} if isinstance(found, str) else found
        inner = Section(self.file, self.where(key), content)
        inner._plain = isinstance(found, str)
        return inner


def _fits(key: Key, found: Any) -> bool:
    """Tell whether a plain value has the declared kind and is within its limits."""
    if key.choices:
        return not isinstance(found, bool | list | dict) and found in key.choices
    if key.kind is str:
        return isinstance(found, str) and bool(found.strip())
    if key.kind is bool:
        return isinstance(found, bool)
    if isinstance(found, bool) or not isinstance(found, int if key.kind is int else int | float):
        return False
    least = max(key.at_least, 0) if key.kind is int else key.at_least
    within = key.above < found < key.below and least <= found <= key.at_most
    return math.isfinite(found) and within


def _remedy(key: Key, found: object) -> str:
    """Return how to correct a common mistake."""
    if isinstance(found, int | float) and abs(found) > max(key.at_most, -key.at_least):
        return unit_hint(key.unit)
    if key.kind is str and not key.choices and not isinstance(found, dict | list):
        return ' (put it in quotes if it looks like a number)'
    if key.kind not in (float, int) or not isinstance(found, str):
        return ''
    if DECIMAL_COMMA.fullmatch(found):
        return f': write {found.strip().replace(",", ".")}, with a decimal point'
    with_unit = WITH_UNIT.fullmatch(found)
    if with_unit is None:
        return ''
    number, unit = with_unit.groups()
    if unit == '%':
        return f': write {float(number) / 100:g} for {number}%'
    return f': write {number} without a unit' + (f', in {key.unit}' if key.unit else '')


def read_keys(
    section: Section,
    kind: type[Value],
    given: Mapping[str, object] | None = None,
    usual: Mapping[str, object] | None = None,
    choices: Mapping[str, tuple[str, ...]] | None = None,
    only: Iterable[str] | None = None,
    without: Iterable[str] = (),
) -> Value:
    """Fill a dataclass from the keys of a section; the caller calls `finish`.

    :param given: values of fields that are not read
    :param usual: defaults that replace the declared ones, by field
    :param choices: allowed words that replace the declared ones, by field
    :param only: fields that are read; None: all
    :param without: fields whose keys count as unknown here
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    values: dict[str, Any] = dict(given or {})
    hashable: Any = kind
    for field, declared in keys_of(hashable).items():
        if field in values or field in without or (only is not None and field not in only):
            continue
        default = (usual or {}).get(field, declared.default)
        words = (choices or {}).get(field, declared.choices)
        key = replace(declared, default=default, choices=words)
        values[field] = _field_value(section, key)
        if field.endswith(NANOSECONDS):
            values[field] = to_nanoseconds(values[field])
    return kind(**values)


def _field_value(section: Section, key: Key) -> Any:
    if key.rotation:
        found = section.rotation(key.name)
        return key.default if found is None else found
    if key.names:
        if key.default is not REQUIRED and not section.has(key.name):
            return key.default
        inner = section.section(key.name)
        one = replace(key, kind=float, default=0.0, names=())
        found = tuple(inner.take(replace(one, name=name)) for name in key.names)
        inner.finish()
        return found
    return section.take(key)
