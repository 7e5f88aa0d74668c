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

"""Random access to the bytes of a file, safe for several readers."""

from __future__ import annotations

import os
from pathlib import Path

KEPT = 16 << 10  # bytes per read-ahead: neighbouring small records share a read


class FileBytes:
    """The bytes of a file, by position."""

    def __init__(self, path: Path) -> None:
        self._file = path.open('rb', buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size
        self._begin, self._kept = 0, b''

    def at(self, begin: int, length: int) -> bytes:
        """Read `length` bytes, fewer at the end of the file."""
        length = min(length, self.size - begin)
        return os.pread(self._file.fileno(), length, begin) if length > 0 else b''

    def near(self, begin: int, length: int) -> bytes:
        """Read bytes that are probably close to those of the last call."""
        if length >= KEPT:
            return self.at(begin, length)
        at = begin - self._begin
        if not 0 <= at <= at + length <= len(self._kept):
            self._begin, self._kept, at = begin, self.at(begin, KEPT), 0
        return self._kept[at : at + length]

    def close(self) -> None:
        """Close the file."""
        self._file.close()
