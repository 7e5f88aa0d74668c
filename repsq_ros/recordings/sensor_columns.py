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

"""Samples of inputs from a recording, in columns, by the readers that the nodes use."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from repsq_ros.measurement.columns import (
    SampleColumns,
    columns_of,
    columns_of_samples,
    together,
)
from repsq_ros.measurement.inputs import Input
from repsq_ros.messages.sensor_messages import Reader, reader_of
from repsq_ros.recordings.message_block import NONE
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.table import Table

Name = TypeVar('Name', bound=Hashable)


class SensorColumns(Generic[Name]):
    """Reads the samples of several inputs from the tables of a stretch.

    :param inputs: by any name: the topic and the input
    :param offset_ns: added to all stamps
    :raises BagError: a topic is missing, or not of the input's type
    """

    def __init__(
        self,
        recording: Recording,
        inputs: Mapping[Name, tuple[str, Input]],
        offset_ns: int = 0,
    ) -> None:
        self._offset_ns = offset_ns
        for topic, source in inputs.values():
            recording.require(topic, source.type)
        self.topics = {topic for topic, _ in inputs.values()}
        self._inputs = {
            name: (topic, reader_of(source)) for name, (topic, source) in inputs.items()
        }

    def of(self, tables: Sequence[Table]) -> dict[Name, SampleColumns]:
        """Return the samples of each input, by the same names, where the stretch has some."""
        found = {
            name: _in_log_order(
                [columns_from(table, read) for table in tables if table.topic == topic]
            )
            for name, (topic, read) in self._inputs.items()
        }
        return {
            name: columns.moved(self._offset_ns) if self._offset_ns else columns
            for name, columns in found.items()
            if columns is not None
        }


def _in_log_order(found: Sequence[SampleColumns | None]) -> SampleColumns | None:
    """Return the samples of one topic from the tables of its channels; None: there are none."""
    parts = [each for each in found if each is not None]
    if len(parts) < 2:
        return parts[0] if parts else None
    logs = [NONE if each.logs is None else each.logs for each in parts]
    every = np.concatenate(logs)
    order = np.argsort(every, kind='stable')
    places = np.split(np.argsort(order), np.cumsum([len(each) for each in logs])[:-1])
    merged = together(list(zip(places, parts, strict=True)), len(every))
    return replace(merged, logs=every[order])


def sample_columns(
    recording: Recording,
    inputs: Mapping[str, tuple[str, Input]],
    offset_ns: int = 0,
    logs: tuple[int, int] | None = None,
) -> Iterator[dict[str, SampleColumns]]:
    """Yield the samples of several inputs, one stretch of the recording after the other.

    :param inputs: by any name: the topic and the input
    :param offset_ns: added to all stamps
    :param logs: only samples that were recorded within these instants [ns]; None: all
    :returns: the samples of each, by the same names, where the stretch has some
    :raises BagError: a topic is missing, or not of the input's type
    """
    sensors = SensorColumns(recording, inputs, offset_ns)
    for tables in recording.stretches(*sensors.topics, logs=logs):
        yield sensors.of(tables)


def columns_from(table: Table, read: Reader) -> SampleColumns | None:
    """Return the samples of a table; None: it says nothing of the body."""
    parts = []
    singly = [table.others]
    for rows, message in table.alike:
        try:
            sample: Any = read(message, table.log_ns[rows])  # type: ignore[arg-type]
        except (TypeError, ValueError):
            singly.append(rows)  # not to be said of all together
            continue
        if sample is not None:
            parts.append((rows, columns_of(sample, len(rows))))
    rows = np.concatenate(singly)
    if len(rows):
        said, samples = [], []
        for row in rows.tolist():
            message = table.message(row)
            sample = None if message is None else read(message, int(table.log_ns[row]))
            if sample is not None:
                said.append(row)
                samples.append(sample)
        if samples:
            parts.append((np.array(said, dtype=np.int64), columns_of_samples(samples)))
    if not parts:
        return None
    if len(parts) == 1 and len(parts[0][0]) == len(table):
        return replace(parts[0][1], logs=table.log_ns)
    places = np.sort(np.concatenate([rows for rows, _ in parts]))
    return replace(together(parts, len(table)), logs=table.log_ns[places])
