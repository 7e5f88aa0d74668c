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

"""Copies of a recording that say the same in another way."""

import random

import yaml
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore


def read_raw(bag):
    """Return (topic, type, definition, hash, QoS) of each connection, and (topic, log, raw)."""
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        connections = {c.topic: c for c in reader.connections}
        messages = [(c.topic, log_ns, bytes(raw)) for c, log_ns, raw in reader.messages()]
    return connections, messages


def write_raw(target, connections, messages, plugin=StoragePlugin.MCAP):
    with Writer(target, version=9, storage_plugin=plugin) as writer:
        made = {
            topic: writer.add_connection(
                topic, c.msgtype, msgdef=c.msgdef.data, rihs01=c.digest,
                offered_qos_profiles=c.ext.offered_qos_profiles,
            )
            for topic, c in connections.items()
        }  # fmt: skip
        for topic, log_ns, raw in messages:
            writer.write(made[topic], log_ns, raw)
    return target


def copy_to_sqlite3(bag, target):
    """Copy a recording into the other storage."""
    return write_raw(target, *read_raw(bag), plugin=StoragePlugin.SQLITE3)


def copy_shuffled(bag, target, tick_ns=20_000_000):
    """Copy a recording as if by a clock of 50 Hz, those of one tick in any order."""
    connections, messages = read_raw(bag)
    drawn = random.Random(1)
    ticked = [(topic, log_ns // tick_ns * tick_ns, raw) for topic, log_ns, raw in messages]
    ticked.sort(key=lambda each: (each[1], drawn.random()))
    return write_raw(target, connections, ticked)


def copy_split(bag, target):
    """Copy a recording into three files."""
    connections, messages = read_raw(bag)
    target.mkdir()
    metadata, size = None, len(messages) // 3 + 1
    for number in range(3):
        part = target / f'part_{number}'
        write_raw(part, connections, messages[number * size : (number + 1) * size])
        told = yaml.safe_load((part / 'metadata.yaml').read_text())
        one = told['rosbag2_bagfile_information']
        [name] = one['relative_file_paths']
        (part / name).rename(target / name)
        (part / 'metadata.yaml').unlink()
        part.rmdir()
        if metadata is None:
            metadata = told
            continue
        whole = metadata['rosbag2_bagfile_information']
        whole['relative_file_paths'].append(name)
        whole['files'] += one['files']
        whole['message_count'] += one['message_count']
        end = one['starting_time']['nanoseconds_since_epoch'] + one['duration']['nanoseconds']
        whole['duration']['nanoseconds'] = end - whole['starting_time']['nanoseconds_since_epoch']
        for mine, theirs in zip(
            whole['topics_with_message_count'], one['topics_with_message_count'], strict=True
        ):
            mine['message_count'] += theirs['message_count']
    (target / 'metadata.yaml').write_text(yaml.safe_dump(metadata))
    return target
