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

"""repsq inspect: the properties of the sensors in a recording, by topic."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.auditing.stream_audit import APART
from repsq_ros.console.recorded_inputs import add_recover, print_digests, print_losses
from repsq_ros.errors import BagError
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.recordings.audits import AuditOfTopic, audits_of
from repsq_ros.recordings.recording import Recording


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
    add_json(parser)


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
        audits = audits_of(bag, arguments.topic or there, arguments.rate)
        if arguments.json:
            print_json(
                {
                    'topics': [
                        {'topic': each.topic, 'type': each.type, 'found': dict(each.lines())}
                        for each in audits
                    ],
                    'digests': bag.digests,
                }
            )
        else:
            _show(audits)
            print_digests(bag.digests.items())
        damage = [each.damage for each in audits if each.damage]
        print_losses([*damage, *bag.losses])
    return BagError.exit_code if damage else 0


def _show(audits: list[AuditOfTopic]) -> None:
    for each in audits:
        print(each.title)
        for name, value in each.lines():
            print(f'  {name:34s}  {value}'.rstrip())
        print()
    _show_clocks(audits)


def _show_clocks(audits: list[AuditOfTopic]) -> None:
    """Print the offsets between the sensors' clocks, derived from their delays of arrival."""
    told = {each.topic: each.clock for each in reversed(audits) if each.clock is not None}
    if len(told) < 2:
        return
    first = min(sorted(told), key=lambda topic: abs(told[topic][0]))
    print(f'clocks, against {first}')
    for topic, (delay, drift) in sorted(told.items()):
        if topic != first:
            behind, rate = delay - told[first][0], drift - told[first][1]
            far = ', far apart' if abs(behind) > APART else ''
            print(f'  {topic:34s}  {behind * 1e3:.3f} ms behind{far}, {rate * 1e6:+.1f} us/s')
