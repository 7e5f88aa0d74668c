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

"""A bag of ROS 1 as blocks of messages, read by rosbags."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from repsq_ros.recordings.mcap_records import DamagedError
from repsq_ros.recordings.message_block import Channel, LazyBlock, of_messages

ROWS = 1024  # messages read at once


class Ros1Storage:
    """One open file.

    :param recover: ignored: damaged bags are not read
    :raises DamagedError: not a bag, or damaged
    """

    def __init__(self, path: Path, recover: bool) -> None:
        from rosbags.rosbag1 import Reader

        self.path = path
        self.damage: list[str] = []
        try:
            self._reader = Reader(path)
            self._reader.open()
        except Exception as error:
            raise DamagedError(' '.join(str(error).split()) or type(error).__name__) from None
        self._connections = dict(enumerate(self._reader.connections))
        self.channels = {
            number: Channel(each.topic, each.msgtype, 'ros1', each.msgdef.data, 'ros2msg', '')
            for number, each in self._connections.items()
        }
        self.counts: dict[int, int] | None = None

    def blocks(self, wanted: set[int]) -> Iterator[LazyBlock]:
        """Yield the messages in the order of recording."""
        numbers = {each.id: number for number, each in self._connections.items()}
        found: list[tuple[int, int, bytes]] = []
        chosen = [self._connections[number] for number in sorted(wanted)]
        try:
            for connection, log_ns, raw in self._reader.messages(connections=chosen):
                found.append((numbers[connection.id], log_ns, bytes(raw)))
                if len(found) == ROWS:
                    yield LazyBlock(found[0][1], partial(of_messages, found))
                    found = []
        except Exception as error:
            raise DamagedError(' '.join(str(error).split()) or type(error).__name__) from None
        if found:
            yield LazyBlock(found[0][1], partial(of_messages, found))

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
