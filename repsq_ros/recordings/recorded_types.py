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

"""Message types, by the definitions in a recording, or else by those of Jazzy."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any

from repsq_ros.errors import BagError, MissingError
from repsq_ros.recordings.message_block import Channel

IDL = re.compile(r'^={80}\nIDL: [^\n]*\n', re.MULTILINE)


class RecordedTypes:
    """Type stores, one for each definition.

    :raises MissingError: the reader is not installed
    """

    def __init__(self) -> None:
        try:
            import rosbags.typesys  # noqa: F401
        except ImportError:
            raise MissingError.of_package('reading a recording', 'rosbags') from None
        self._stores: dict[tuple[str, str], Any] = {}

    @cached_property
    def _usual(self) -> Any:
        """Return the types of Jazzy, which take 0.1 s to load."""
        from rosbags.typesys import Stores, get_typestore

        return get_typestore(Stores.ROS2_JAZZY)

    def store_of(self, channel: Channel) -> Any:
        """Return the type store for a channel.

        :raises BagError: the type is not known, or its definition cannot be parsed
        """
        key = (channel.type, channel.definition)
        if key not in self._stores:
            self._stores[key] = self._made(channel)
        return self._stores[key]

    def _made(self, channel: Channel) -> Any:
        if channel.encoding not in ('cdr', 'ros1'):
            raise BagError(
                f'{channel.topic}: found messages in {channel.encoding!r}, expected those of ROS '
                '(cdr): convert the recording first'
            )
        if not channel.definition:
            if _unknown(channel.type, self._usual.fielddefs, {}):
                raise BagError(
                    f'{channel.topic}: found the type {channel.type}, which neither the recording '
                    'nor ROS 2 Jazzy defines: record it with a rosbag2 that keeps definitions '
                    '(mcap)'
                )
            return self._usual
        try:
            store = _defined(channel.type, channel.definition, channel.syntax)
            unknown = _unknown(channel.type, store.fielddefs, {})
        except Exception as error:  # parsers may raise anything
            unknown = ' '.join(str(error).split())[:120] or type(error).__name__
        if unknown:
            raise BagError(
                f'{channel.topic}: the definition of {channel.type} in the recording is not '
                f'understood ({unknown}), expected .msg or .idl text'
            )
        return store


def _unknown(name: str, fields: Any, seen: dict[str, bool]) -> str:
    """Return what is wrong with a definition; '': nothing.

    :param seen: types already checked; False: still being checked
    """
    if name not in fields:
        return f'it has no {name}'
    if name in seen:
        return '' if seen[name] else f'{name} is a part of itself'
    seen[name] = False
    for _, (_, what) in fields[name][1]:
        inner = what
        while isinstance(inner, tuple) and isinstance(inner[0], tuple):
            inner = inner[0][1]  # element type of an array
        unknown = _unknown(inner, fields, seen) if isinstance(inner, str) else ''
        if unknown:
            return unknown
    seen[name] = True
    return ''


@lru_cache(maxsize=256)
def _defined(name: str, definition: str, syntax: str) -> Any:
    """Return the type store of a definition; cached, since many recordings share it."""
    from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

    store = get_typestore(Stores.EMPTY)
    if syntax in ('ros2msg', 'ros1msg'):
        store.register(get_types_from_msg(definition, name))
        return store
    parts = IDL.split(definition)
    types: dict[str, Any] = {}
    for part in parts[1:] if len(parts) > 1 else parts:
        types.update(get_types_from_idl(part))
    store.register(types)
    return store
