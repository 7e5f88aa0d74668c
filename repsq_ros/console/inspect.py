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

from repsq_ros.errors import BagError
from repsq_ros.measurement.audit import APART, audit, audit_body, clocks
from repsq_ros.measurement.catalogue import CATALOGUE, TF, MessageKind
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import BodySample
from repsq_ros.measurement.track import track_of
from repsq_ros.messages.sensor_messages import Reader, bodies_of, reader_of
from repsq_ros.recordings.bag import Bag
from repsq_ros.timebase import from_time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'bag', type=Path, help='folder of a rosbag2 recording, or one of its files'
    )
    parser.add_argument(
        '--topic', action='append', default=[], help='only this topic (may be given repeatedly)'
    )
    parser.add_argument(
        '--rate', type=float, default=0.0, help='Hz nominal; default: from the median gap'
    )


@dataclass
class Stream:
    """What was read of one topic."""

    type: str
    arrivals: list[int] = field(default_factory=list)
    stamps: list[int] = field(default_factory=list)  # of the headers; empty: there are none
    frames: set[str] = field(default_factory=set)
    bodies: dict[str, list[BodySample]] = field(default_factory=dict)
    readers: dict[str, Reader] = field(default_factory=dict)  # of each body


def run(arguments: argparse.Namespace) -> int:
    """Print the audit of each topic."""
    with Bag(arguments.bag) as bag:
        types = bag.topics()
        for topic in arguments.topic:
            if topic not in types:
                raise BagError(
                    f'{arguments.bag}: found no topic {topic}, expected one of those there: '
                    f'{", ".join(sorted(types)) or "nothing"}'
                )
        wanted = arguments.topic or sorted(types)
        streams = {topic: [Stream(types[topic])] for topic in wanted}
        for item in bag.messages(*wanted):
            _take(_stream_of(streams[item.topic], item.message), item.message, item.log_ns)
    for topic, several in streams.items():
        for stream in several:
            _show(topic, stream, arguments.rate)
    _show_clocks({topic: several[0] for topic, several in streams.items()})
    return 0


def _stream_of(streams: list[Stream], message: object) -> Stream:
    """Return the stream of the message's type: a topic may have several."""
    name = getattr(message, '__msgtype__', streams[0].type)
    for stream in streams:
        if stream.type == name:
            return stream
    if not streams[0].arrivals:
        streams[0].type = name
    else:
        streams.append(Stream(name))
    return streams[-1]


def _take(stream: Stream, message: object, log_ns: int) -> None:
    kind = CATALOGUE.get(stream.type)
    stream.arrivals.append(log_ns)
    header = getattr(message, 'header', None)
    if header is not None:
        stream.stamps.append(from_time(header.stamp))
        stream.frames.add(header.frame_id)
    if kind is not None and 'position' in kind.gives:
        _take_bodies(stream, kind, message, log_ns)


def _take_bodies(stream: Stream, kind: MessageKind, message: object, log_ns: int) -> None:
    for body in bodies_of(stream.type, message):
        if body not in stream.readers:
            stamp = 'header' if kind.stamped else 'receive'
            stream.readers[body] = reader_of(Input(stream.type, '', body, stamp=stamp))
        sample = stream.readers[body](message, log_ns)
        if isinstance(sample, BodySample):
            stream.bodies.setdefault(body, []).append(sample)


def _show(topic: str, stream: Stream, rate: float) -> None:
    print(f'{topic}  ({stream.type})')
    if not stream.arrivals:
        print('  no message\n')
        return
    arrivals = np.array(stream.arrivals, dtype=np.int64)
    stamps = np.array(stream.stamps, dtype=np.int64) if stream.stamps else arrivals
    lines = audit(stamps, arrivals, rate).lines()
    if not stream.stamps:
        lines = [line for line in lines if 'arrival' not in line[0] and 'clocks' not in line[0]]
        lines[-1] = ('stamps', 'none in this type: times of arrival; use stamp: receive')
    if stream.frames:
        lines.append(('frame_id', ', '.join(map(repr, sorted(stream.frames)))))
    _print(lines, '')
    for body, samples in sorted(stream.bodies.items()):
        if stream.type == TF:
            stamps_of = np.array([sample.stamp_ns for sample in samples], dtype=np.int64)
            _print(audit(stamps_of, rate=rate).lines()[:2], f'{body}: ')
        ordered = sorted(samples, key=lambda sample: sample.stamp_ns)
        once = [s for k, s in enumerate(ordered) if not k or s.stamp_ns > ordered[k - 1].stamp_ns]
        _print(audit_body(track_of(once)).lines(), f'{body}: ' if body else '')
    print()


def _show_clocks(streams: dict[str, Stream]) -> None:
    """Tell how the clocks of the sensors stand to each other, by their delays of arrival."""
    told = {
        topic: clocks(np.array(s.stamps, dtype=np.int64), np.array(s.arrivals, dtype=np.int64))
        for topic, s in streams.items()
        if len(s.stamps) > 2 and any(s.stamps)
    }
    if len(told) < 2:
        return
    first = min(told, key=lambda topic: abs(told[topic][0]))
    print(f'clocks, against {first}')
    for topic, (delay, drift, _) in told.items():
        if topic != first:
            behind, rate = delay - told[first][0], drift - told[first][1]
            far = ', far apart' if abs(behind) > APART else ''
            print(f'  {topic:34s}  {behind * 1e3:.3f} ms behind{far}, {rate * 1e6:+.1f} us/s')


def _print(lines: list[tuple[str, str]], prefix: str) -> None:
    for name, value in lines:
        print(f'  {prefix + name:34s}  {value}')
