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

"""Whether as many messages were read as the recording claims to have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from repsq_ros.recordings.contents import RecordedFiles
from repsq_ros.recordings.message_block import Integers
from repsq_ros.recordings.storage import Storage

Stream = tuple[str, str]  # topic and type


def known_counts(
    storages: Sequence[Storage], sources: Sequence[RecordedFiles]
) -> Counter[Stream] | None:
    """Return the number of messages by the files, or else by the metadata; None: neither."""
    total: Counter[Stream] = Counter()
    for storage in storages:
        if storage.counts is None:
            return _by_metadata(storages, sources)
        for number, count in storage.counts.items():
            channel = storage.channels.get(number)
            if channel is not None:
                total[channel.topic, channel.type] += count
    return total


def _by_metadata(
    storages: Sequence[Storage], sources: Sequence[RecordedFiles]
) -> Counter[Stream] | None:
    if not all(source.counts for source in sources):
        return None
    told: Counter[str] = Counter()
    for source in sources:
        told.update(source.counts)
    channels = {channel for storage in storages for channel in storage.channels.values()}
    return Counter({(c.topic, c.type): told[c.topic] for c in channels if c.topic in told})


class CountCheck:
    """Counts messages as they are read, and compares with what the recording claims.

    :param topics: of which all messages are read
    """

    def __init__(self, topics: set[str]) -> None:
        self._topics = topics
        self._read: dict[int, Counter[int]] = {}  # by file and channel

    def count(self, storage: int, channels: Integers) -> None:
        """Count messages."""
        read = self._read.setdefault(storage, Counter())
        values, counts = _unique(channels)
        read.update(dict(zip(values, counts, strict=True)))

    def contradictions(
        self, storages: Sequence[Storage], sources: Sequence[RecordedFiles]
    ) -> Iterator[str]:
        """Yield one line for each topic with a different number of messages than claimed."""
        by_topic: Counter[str] = Counter()
        for place, storage in enumerate(storages):
            read = self._read.get(place, Counter())
            for number, channel in storage.channels.items():
                if channel.topic not in self._topics:
                    continue
                by_topic[channel.topic] += read[number]
                told = None if storage.counts is None else storage.counts.get(number, 0)
                if told is not None and told != read[number]:
                    yield (
                        f'{storage.path}: read {read[number]} messages on {channel.topic}, the '
                        f'statistics at its end say {told}'
                    )
        if not all(source.counts for source in sources):
            return
        for topic in sorted(self._topics):
            told = sum(source.counts.get(topic, 0) for source in sources)
            if told != by_topic[topic] and any(topic in source.counts for source in sources):
                path = sources[0].path
                yield (
                    f'{path}: read {by_topic[topic]} messages on {topic}, metadata.yaml says '
                    f'{told}: ros2 bag reindex {path}'
                )


def _unique(channels: Integers) -> tuple[list[int], list[int]]:
    counts = np.bincount(channels)
    values = np.flatnonzero(counts)
    return values.tolist(), counts[values].tolist()
