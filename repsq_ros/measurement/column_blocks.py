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

"""Samples that came in columns and in order, kept as they came."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Block = tuple[NDArray[np.int64], NDArray[np.float64]]  # stamps (n,) [ns], rows (n, width)


class ColumnBlocks:
    """Blocks of samples, each later than those before it; nothing of them is copied or changed."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    @property
    def newest_ns(self) -> int:
        """Stamp of the newest sample.

        :raises IndexError: there is none
        """
        return int(self._blocks[-1][0][-1])

    @property
    def oldest_ns(self) -> int:
        """Stamp of the oldest sample.

        :raises IndexError: there is none
        """
        return int(self._blocks[0][0][0])

    def append(self, stamps: NDArray[np.int64], rows: NDArray[np.float64]) -> None:
        """Take in samples that are later than all others."""
        self._blocks.append((stamps, rows))
        self._count += len(stamps)

    def clear(self) -> None:
        """Give up all."""
        self._blocks, self._count = [], 0

    def before(self, stamp_ns: int) -> int:
        """Return how many samples are before an instant."""
        found = 0
        for stamps, _ in self._blocks:
            if stamps[-1] >= stamp_ns:
                return found + int(stamps.searchsorted(stamp_ns))
            found += len(stamps)
        return found

    def drop(self, count: int) -> None:
        """Give up the oldest samples."""
        self._blocks = [
            (stamps[first:], rows[first:]) for first, _, (stamps, rows) in self._within(count)
        ]
        self._count = max(self._count - count, 0)

    def part(self, first: int, after: int, width: int) -> Block:
        """Return some samples, as a copy: stamps and rows.

        :param width: so many numbers of each row
        :raises ValueError: there are none
        """
        found = [
            (stamps[begin:end], rows[begin:end, :width])
            for begin, end, (stamps, rows) in self._within(first, after)
        ]
        if len(found) == 1:
            return found[0][0].copy(), found[0][1].copy()
        return (
            np.concatenate([stamps for stamps, _ in found]),
            np.concatenate([rows for _, rows in found]),
        )

    def _within(self, first: int, after: int = 2**62) -> Iterator[tuple[int, int, Block]]:
        """Yield the blocks with samples of a range, and from where to where in each."""
        at = 0
        for block in self._blocks:
            size = len(block[0])
            begin, end = max(first - at, 0), min(after - at, size)
            if begin < end:
                yield begin, end, block
            at += size
