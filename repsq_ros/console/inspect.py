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

"""repsq inspect: what an engineer wants to know of the sensors in a recording, per topic."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from repsq_ros.console.recorded_inputs import add_recover, tell_digests, tell_losses
from repsq_ros.errors import BagError
from repsq_ros.measurement.audit import APART, audit, audit_body
from repsq_ros.measurement.catalogue import CATALOGUE, TF, MessageKind
from repsq_ros.measurement.columns import PLACES, SampleColumns
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.track import Stamps, Track
from repsq_ros.messages.sensor_messages import Reader, bodies_of, reader_of
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.sensor_columns import columns_from
from repsq_ros.recordings.table import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'bag', type=Path, help='folder of a rosbag2 recording, or one of its files'
    )
    add_recover(parser)
    parser.add_argument(
        '--topic', action='append', default=[], help='only this topic (may be given repeatedly)'
    )
    parser.add_argument(
        '--rate', type=float, default=0.0, help='Hz nominal; default: from the median gap'
    )


@dataclass
class InspectedTopic:
    """What was read of one topic and type."""

    type: str
    arrivals: list[Stamps] = field(default_factory=list)
    stamps: list[Stamps] = field(default_factory=list)  # of the headers; empty: there are none
    frames: set[str] = field(default_factory=set)
    bodies: dict[str, list[Track]] = field(default_factory=dict)
    readers: dict[str, Reader] = field(default_factory=dict)  # of each body
    unknown: str = ''  # why its messages cannot be read
    clock: tuple[float, float] | None = None  # delay of arrival [s] and its drift [s/s]


def run(arguments: argparse.Namespace) -> int:
    """Print the audit of each topic."""
    with Recording(arguments.bag, arguments.recover) as bag:
        there = bag.topics()
        for topic in arguments.topic:
            if topic not in there:
                raise BagError(
                    f'{arguments.bag}: found no topic {topic}, expected one of those there: '
                    f'{", ".join(sorted(there)) or "nothing"}'
                )
        wanted = set(arguments.topic or there)
        streams = {
            (each.topic, each.type): InspectedTopic(each.type)
            for each in bag.streams
            if each.topic in wanted
        }
        for table in bag.arrays(*wanted):
            _take(streams[table.topic, table.type], table)
        for (topic, _), stream in streams.items():
            _show(topic, stream, arguments.rate)
        _show_clocks({topic: stream for (topic, _), stream in reversed(streams.items())})
        tell_digests(bag.digests.items())
        tell_losses(bag.losses)
    return 0


def _take(stream: InspectedTopic, table: Table) -> None:
    kind = CATALOGUE.get(stream.type)
    stream.arrivals.append(table.log_ns.copy())
    try:
        stamps = table.stamps()
        if stamps is not None:
            stream.stamps.append(stamps)
            stream.frames |= table.texts('header.frame_id')
        if kind is not None and 'position' in kind.gives:
            _take_bodies(stream, kind, table)
    except BagError as error:
        stream.unknown = str(error)


def _take_bodies(stream: InspectedTopic, kind: MessageKind, table: Table) -> None:
    names = {body for _, message in table.alike for body in bodies_of(stream.type, message)}
    for row in table.others:
        message = table.message(int(row))
        names.update(() if message is None else bodies_of(stream.type, message))
    for body in names:
        if body not in stream.readers:
            stamp = 'header' if kind.stamped else 'receive'
            stream.readers[body] = reader_of(Input(stream.type, '', body, stamp=stamp))
        columns = columns_from(table, stream.readers[body])
        if columns is not None:
            stream.bodies.setdefault(body, []).append(_poses_of(columns))


def _poses_of(columns: SampleColumns) -> Track:
    """Return the poses alone: what is kept of a long recording."""
    position, orientation = (
        columns.rows[:, place].copy() if there else None
        for place, there in zip(PLACES[:2], columns.gives or (), strict=False)
    )
    return Track(columns.stamps, position, orientation)


def _whole(tracks: list[Track]) -> Track:
    """Join the parts of a track, in the order of the stamps, the first sample of each."""
    stamps = np.concatenate([track.stamps for track in tracks])
    position, orientation = (
        np.concatenate([part for part in parts if part is not None])
        if all(part is not None for part in parts)
        else None
        for parts in zip(*((track.position, track.orientation) for track in tracks), strict=True)
    )
    track = Track(stamps, position, orientation)
    steps = np.diff(stamps)
    if (steps > 0).all():
        return track
    order = np.argsort(stamps, kind='stable')
    steps = np.diff(stamps[order])
    return track.take(order[np.concatenate([[True], steps > 0])])


def _show(topic: str, stream: InspectedTopic, rate: float) -> None:
    print(f'{topic}  ({stream.type})')
    if not stream.arrivals:
        print('  no message\n')
        return
    arrivals = np.concatenate(stream.arrivals)
    stamps = np.concatenate(stream.stamps) if stream.stamps else arrivals
    found = audit(stamps, arrivals, rate)
    if stream.stamps and len(stamps) > 2 and stamps.any():
        stream.clock = found.delay, found.drift
    lines = found.lines()
    if not stream.stamps:
        lines = [line for line in lines if 'arrival' not in line[0] and 'clocks' not in line[0]]
        told = 'none in this type: times of arrival; use stamp: receive'
        lines[-1] = ('stamps', stream.unknown or told)
    if stream.frames:
        lines.append(('frame_id', ', '.join(map(repr, sorted(stream.frames)))))
    _print(lines, '')
    for body, tracks in sorted(stream.bodies.items()):
        if stream.type == TF:
            _print(
                audit(np.concatenate([t.stamps for t in tracks]), rate=rate).lines()[:2],
                f'{body}: ',
            )
        _print(audit_body(_whole(tracks)).lines(), f'{body}: ' if body else '')
    print()


def _show_clocks(streams: dict[str, InspectedTopic]) -> None:
    """Tell how the clocks of the sensors stand to each other, by their delays of arrival."""
    told = {topic: each.clock for topic, each in sorted(streams.items()) if each.clock}
    if len(told) < 2:
        return
    first = min(told, key=lambda topic: abs(told[topic][0]))
    print(f'clocks, against {first}')
    for topic, (delay, drift) in told.items():
        if topic != first:
            behind, rate = delay - told[first][0], drift - told[first][1]
            far = ', far apart' if abs(behind) > APART else ''
            print(f'  {topic:34s}  {behind * 1e3:.3f} ms behind{far}, {rate * 1e6:+.1f} us/s')


def _print(lines: list[tuple[str, str]], prefix: str) -> None:
    for name, value in lines:
        print(f'  {prefix + name:34s}  {value}')
