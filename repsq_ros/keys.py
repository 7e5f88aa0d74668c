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

"""Keys of the YAML files: a field says its meaning, unit, range and default once.

Reading, digest, the table of keys in docs/specification.md and the JSON Schema follow from it:

    gain: float = field(metadata=key('how fast psi rises with the error', above=0))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from repsq_ros.timebase import to_seconds

REQUIRED: Any = object()  # default of a key that has to be there
LABS_OWN = {'labs_own': True}  # metadata of a field that is no part of the digest
NANOSECONDS = '_ns'  # a field of this ending is a time in ns; its key has no ending, and is in s


class TextEnum(str, Enum):
    """One of a closed set of words in files; it formats, compares and dumps as that word.

    `enum.StrEnum` needs Python 3.11, and its `repr` is not the word, as complaints show it.
    """

    __str__ = str.__str__
    __format__ = str.__format__  # type: ignore[assignment]
    __repr__ = str.__repr__


@dataclass(frozen=True)
class Key:
    """One key of a YAML file.

    :ivar kind: float, int, str, bool, tuple[float, ...], tuple[str, ...], or a dataclass; a field
        that is a `TextEnum` has the kind str and its words as choices
    :ivar default: REQUIRED where the key is required; None where its absence means something
    :ivar default_text: the default in words, where it is computed
    :ivar choices: the only words allowed; a mapping says the value that each stands for
    :ivar words: words that may stand in place of a value, with the value that each stands for
    :ivar names: of a mapping of names to numbers; those left out are 0
    :ivar digest: name in the digest, where it is not the field's
    :ivar later: left out of the digest at its default, so that older digests stay valid
    """

    meaning: str
    unit: str = ''
    kind: Any = None
    default: Any = REQUIRED
    default_text: str = ''
    above: float = -math.inf
    at_least: float = -math.inf
    below: float = math.inf
    at_most: float = math.inf
    choices: Mapping[Any, Any] | tuple[Any, ...] = ()
    words: Mapping[str, object] | None = None
    names: tuple[str, ...] = ()
    name: str = ''
    digest: str = ''
    later: bool = False
    rotation: bool = False  # x, y, z, w; the key `rpy` may stand in its place

    @property
    def required(self) -> bool:
        """Tell whether the key has to be there."""
        return self.default is REQUIRED and not self.default_text

    @property
    def limits(self) -> list[str]:
        """Return the limits of a number, such as '> 0'."""
        ends = (('>', self.above), ('>=', self.at_least), ('<', self.below), ('<=', self.at_most))
        return [f'{sign} {end:g}' for sign, end in ends if math.isfinite(end)]


def key(meaning: str, unit: str = '', **more: Any) -> dict[str, Key]:
    """Return the metadata of a dataclass field that is a key; for `more` see Key."""
    return {'key': Key(meaning, unit, **more)}


@cache
def keys_of(kind: Any) -> dict[str, Key]:
    """Return the keys of a dataclass by field; fields without one are set by the program."""
    hints = get_type_hints(kind)
    return {
        each.name: _completed(each, hints[each.name])
        for each in fields(kind)
        if 'key' in each.metadata
    }


def _completed(each: Field[Any], hint: Any) -> Key:
    """Return the key of a field with name, kind and default."""
    declared: Key = each.metadata['key']
    if get_origin(hint) in (Union, UnionType):  # X | None: the field may be left out
        hint = next(part for part in get_args(hint) if part is not NoneType)
    choices = declared.choices
    if isinstance(hint, type) and issubclass(hint, TextEnum):
        choices = {word.value: word for word in choices or hint}
        hint = str
    name, default = each.name, REQUIRED if each.default is MISSING else each.default
    if name.endswith(NANOSECONDS):
        name, hint = name.removesuffix(NANOSECONDS), float
        default = to_seconds(default) if isinstance(default, int) else default
    return replace(
        declared,
        name=declared.name or name,
        kind=declared.kind or hint,
        choices=choices,
        default=default if declared.default is REQUIRED else declared.default,
        unit=declared.unit or ('s' if each.name.endswith(NANOSECONDS) else ''),
    )


def shared(value: Any) -> dict[str, object]:
    """Return the fields of a dataclass that are part of the digest, as JSON knows them."""
    found: dict[str, object] = {}
    for each in fields(value):
        declared = each.metadata.get('key', Key(''))
        item = getattr(value, each.name)
        if 'labs_own' in each.metadata or (declared.later and item == each.default):
            continue
        found[declared.digest or each.name] = _plain(item)
    return found


def _plain(item: object) -> object:
    if hasattr(item, 'describe'):
        return item.describe()
    if is_dataclass(item):
        return shared(item)
    if isinstance(item, tuple):
        return [_plain(each) for each in item]
    if isinstance(item, TextEnum):
        return item.value
    if isinstance(item, float) and not math.isfinite(item):
        return str(item)  # JSON knows no infinity
    return item


class KeyedDataclass:
    """A dataclass whose fields are keys; `tags` say in the digest which of several it is."""

    _tags: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, **tags: str) -> None:
        """Take the tags: `class Beta(Declared, type='beta')`."""
        cls._tags = tags

    def describe(self) -> dict[str, object]:
        """Return what two labs have to share."""
        return {**self._tags, **shared(self)}
