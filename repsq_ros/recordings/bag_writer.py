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

"""Writing recordings as rosbag2 does: mcap with full definitions, plus metadata.yaml."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from repsq_ros.errors import MissingError, OutputError
from repsq_ros.recordings.contents import METADATA


class BagWriter:
    """A new recording: one mcap file in a folder of its own.

    :raises OutputError: the folder is there already, or cannot be written
    :raises MissingError: rosbags is not installed
    """

    def __init__(self, path: Path) -> None:
        try:
            from rosbags.rosbag2 import StoragePlugin, Writer
        except ImportError:
            raise MissingError.of_package('recording', 'rosbags') from None
        if path.exists():
            raise OutputError(f'output {path}: found it there already, expected a new folder')
        self._path = path
        self._writer: Any = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self._definitions = InstalledDefinitions()
        self._connections: dict[tuple[str, str], Any] = {}
        self.counts: dict[str, int] = {}
        try:
            self._writer.open()
            # The name that rosbag2 uses: `ros2 bag reindex` ignores other files.
            storage: Any = self._writer.storage
            storage.path = storage.path.rename(path / f'{path.name}_0.mcap')
        except OSError as error:
            raise OutputError.unwritable(path, error) from None

    def add(self, topic: str, kind: str, profiles: Iterable[Mapping[str, Any]] = ()) -> None:
        """Start a topic.

        :param kind: its type, e.g. nav_msgs/msg/Odometry
        :param profiles: quality of service of each publisher, in the form of `qos_of`
        :raises MissingError: the definition of the type is not known
        """
        if (topic, kind) in self._connections:
            return
        store = self._definitions.store_with(kind)
        text = self._definitions.text_of(kind)
        if text is None:
            text, _ = store.generate_msgdef(kind, ros_version=2)
        self._connections[topic, kind] = self._writer.add_connection(
            topic,
            kind,
            msgdef=text,
            rihs01=store.hash_rihs01(kind),
            offered_qos_profiles=[qos_of(each) for each in profiles],
        )
        self.counts.setdefault(topic, 0)

    def write(self, topic: str, kind: str, log_ns: int, data: bytes) -> None:
        """Write one message of a started topic.

        :raises OutputError: the disk is full
        """
        try:
            self._writer.write(self._connections[topic, kind], log_ns, data)
        except OSError as error:
            raise self._unwritable(error) from None
        self.counts[topic] += 1

    def flush(self) -> None:
        """Flush everything to the disk, so that a later kill cannot lose it.

        :raises OutputError: the disk is full
        """
        storage = self._writer.storage
        try:
            if storage.chunk.msgs:
                storage.close_chunk()
            storage.bio.flush()
        except OSError as error:
            raise self._unwritable(error) from None

    def close(self) -> None:
        """Write index and metadata.yaml.

        :raises OutputError: the disk is full
        """
        try:
            self._writer.close()
            self._name_distribution()
        except OSError as error:
            raise self._unwritable(error) from None

    def _name_distribution(self) -> None:
        """Write the ROS distribution, where the library would write its own name."""
        metadata = self._path / METADATA
        distribution = os.environ.get('ROS_DISTRO') or 'jazzy'  # not set in ROS from wheels
        text = metadata.read_text(encoding='utf-8')
        partial = metadata.with_suffix('.partial')
        partial.write_text(
            text.replace('  ros_distro: rosbags\n', f'  ros_distro: {distribution}\n'),
            encoding='utf-8',
        )
        partial.replace(metadata)

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(
            f'output {self._path}: {error.strerror}, expected room for the recording; what was '
            'written is there, without an index: mcap recover'
        )


class InstalledDefinitions:
    """Definitions of messages: the installed ones, else those of Jazzy."""

    def __init__(self) -> None:
        from rosbags.typesys import Stores, get_typestore

        self._store: Any = get_typestore(Stores.EMPTY)
        self._jazzy: Any = get_typestore(Stores.ROS2_JAZZY)

    def store_with(self, kind: str) -> Any:
        """Return a store with a type and all its nested types.

        :raises MissingError: the definition is not known
        """
        from rosbags.typesys import get_types_from_msg

        found: dict[str, Any] = {}
        due = [kind]
        while due:
            name = due.pop()
            if name in found or name in self._store.fielddefs:
                continue
            file = _definition_file(name)
            if file is not None:
                found |= get_types_from_msg(file.read_text(encoding='utf-8'), name)
            elif name in self._jazzy.fielddefs:
                found[name] = self._jazzy.fielddefs[name]
            else:
                raise MissingError(
                    f'found no definition of {name} (share/{name}.msg in AMENT_PREFIX_PATH), '
                    'expected its package to be installed, and its workspace sourced'
                )
            due += _types_in(found[name])
        if found:
            self._store.register(found)
        return self._store

    def text_of(self, kind: str) -> str | None:
        """Return the definition with its comments, which give units, as rosbag2 stores it.

        None: one of its types is not installed. `store_with` must know the type.
        """
        kinds, text = [kind], ''
        for name in kinds:
            file = _definition_file(name)
            if file is None:
                return None
            package, _, name_in_it = name.split('/')
            text += f'\n{"=" * 80}\nMSG: {package}/{name_in_it}\n' if text else ''
            text += file.read_text(encoding='utf-8')
            kinds += [
                each
                for each in dict.fromkeys(_types_in(self._store.fielddefs[name]))
                if each not in kinds
            ]
        return text


def _definition_file(name: str) -> Path | None:
    # ROS from wheels is in the virtual environment itself.
    for prefix in (*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix):
        file = Path(prefix) / 'share' / f'{name}.msg'
        if prefix and file.is_file():
            return file
    return None


def _types_in(definition: Any) -> list[str]:
    """Return the names of the types of a message's fields."""
    found = []

    def look(node: Any) -> None:
        if isinstance(node, str) and '/msg/' in node:
            found.append(node)
        elif isinstance(node, list | tuple):
            for each in node:
                look(each)

    look(definition[1])
    return found


def qos_of(profile: Mapping[str, Any]) -> Any:
    """Return a quality of service in the form that a recording stores.

    :param profile: names of history, reliability, durability and liveliness in lower case; depth;
        deadline, lifespan and lease of liveliness in ns, 2**63 - 1: no limit
    """
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    def time(name: str) -> Any:
        # RMW_DURATION_INFINITE; any other value is a limit that a player would offer.
        return QosTime(*divmod(int(profile[name]), 1_000_000_000))

    return Qos(
        QosHistory[profile['history'].upper()],
        int(profile['depth']),
        QosReliability[profile['reliability'].upper()],
        QosDurability[profile['durability'].upper()],
        time('deadline'),
        time('lifespan'),
        QosLiveliness[profile['liveliness'].upper()],
        time('liveliness_lease_duration'),
        False,
    )
