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

"""The common interface of all file formats of recordings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from repsq_ros.recordings.message_block import Channel, LazyBlock


class Storage(Protocol):
    """One open file."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def damage(self) -> list[str]:
        """What could not be read so far, one line each."""

    @property
    def channels(self) -> dict[int, Channel]:
        """Its channels, by their numbers in this file."""

    @property
    def counts(self) -> dict[int, int] | None:
        """Number of messages of each channel, by the file; None: it does not say."""

    def blocks(self, wanted: set[int]) -> Iterator[LazyBlock]:
        """Yield its messages of some channels, in the order of recording.

        :raises DamagedError: damaged, and `recover` is false
        """

    def close(self) -> None:
        """Close the file."""
