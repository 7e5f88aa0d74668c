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

"""Cuts columns that come in pieces of any length into blocks of one length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 8192  # samples per block, small enough for the processor's cache


class Blocks:
    """Copies columns into blocks, so that results do not depend on how the columns came.

    :param types: of the columns
    """

    def __init__(self, *types: Any, size: int = BLOCK) -> None:
        self._types, self._size = types, size
        self._columns: list[NDArray[Any]] = []
        self._filled = 0

    def put(self, *columns: NDArray[Any]) -> Iterator[Sequence[NDArray[Any]]]:
        """Take in columns, (n,) each, and yield every block that is full.

        The next block overwrites it.
        """
        begin, count = 0, len(columns[0])
        if count and not self._columns:
            self._columns = [np.empty(self._size, dtype=each) for each in self._types]
        while begin < count:
            end = min(count, begin + self._size - self._filled)
            filled = self._filled + end - begin
            for own, given in zip(self._columns, columns, strict=True):
                own[self._filled : filled] = given[begin:end]
            begin, self._filled = end, filled % self._size
            if not self._filled:
                yield self._columns

    def rest(self) -> Sequence[NDArray[Any]]:
        """Return the incomplete last block, (m,) each, m >= 0; empty: no data."""
        filled, self._filled = self._filled, 0
        return [own[:filled] for own in self._columns]
