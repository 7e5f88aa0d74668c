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

"""Samples of inputs from a recording as columns, by the readers of the nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import Samples, joined
from repsq_ros.messages.sensor_messages import Reader, reader_of
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.table import Table

Name = TypeVar('Name', bound=Hashable)


class SensorColumns(Generic[Name]):
    """Reads the samples of several inputs from the tables of a part.

    :param inputs: topic and input, under any name
    :param offset_ns: added to all stamps
    :raises BagError: a topic is missing, or does not have the input's type
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

    def of(self, tables: Sequence[Table]) -> dict[Name, Samples]:
        """Return the samples of each input, by name, if the part has any."""
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


def _in_log_order(found: Sequence[Samples | None]) -> Samples | None:
    """Merge the samples of one topic from several channels; None: there are none."""
    parts = [each for each in found if each is not None]
    if len(parts) < 2:
        return parts[0] if parts else None
    together = joined(parts)
    assert together.logs is not None
    return together.take(np.argsort(together.logs, kind='stable'))


def sample_columns(
    recording: Recording,
    inputs: Mapping[str, tuple[str, Input]],
    offset_ns: int = 0,
    logs: tuple[int, int] | None = None,
) -> Iterator[dict[str, Samples]]:
    """Yield the samples of several inputs, part by part.

    :param inputs: topic and input, under any name
    :param offset_ns: added to all stamps
    :param logs: only samples recorded within these instants [ns]; None: all
    :returns: the samples of each input, by name, if the part has any
    :raises BagError: a topic is missing, or does not have the input's type
    """
    sensors = SensorColumns(recording, inputs, offset_ns)
    for tables in recording.stretches(*sensors.topics, logs=logs):
        yield sensors.of(tables)


def columns_from(table: Table, read: Reader) -> Samples | None:
    """Return the samples of a table; None: it has none of the body."""
    parts: list[Samples] = []
    places: list[int] = []
    singly = [table.others]
    for rows, message in table.alike:
        try:
            sample: Any = read(message, table.log_ns[rows])  # type: ignore[arg-type]
        except (TypeError, ValueError):
            singly.append(rows)  # cannot be read as columns
            continue
        if sample is not None:
            parts.append(replace(sample.repeated(len(rows)), logs=table.log_ns[rows]))
            places += rows.tolist()
    rows = np.concatenate(singly)
    if len(rows):
        for row in rows.tolist():
            message, log_ns = table.message(row), table.log_ns[row : row + 1]
            sample = None if message is None else read(message, int(log_ns[0]))
            if sample is not None:
                parts.append(replace(sample, logs=log_ns))
                places.append(row)
    if not parts:
        return None
    order = np.argsort(np.array(places), kind='stable')
    together = joined(parts)
    return together if len(parts) == 1 else together.take(order)
