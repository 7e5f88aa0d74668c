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

"""repsq record: record a campaign and its sensors without rosbag2."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from repsq_ros.errors import MissingError
from repsq_ros.json_answer import add_json, print_json, text_beside
from repsq_ros.recordings.bag_writer import BagWriter
from repsq_ros.replay.bag_topics import TopicNames, recorded_topics
from repsq_ros.specification.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='of the campaign: it names the sensors')
    parser.add_argument(
        '--output', type=Path, help='new folder (default: recordings/<name>-<time>)'
    )
    parser.add_argument(
        '--remap',
        action='append',
        default=[],
        metavar='FROM:=TO',
        help='where a topic is, as for repsq run, e.g. odom:=/state',
    )
    parser.add_argument('--namespace', default='', help='of the nodes')
    parser.add_argument(
        '--topic', action='append', default=[], help='one more topic; may be given several times'
    )
    parser.add_argument(
        '--use-sim-time', action='store_true', help='by the clock of a simulation, /clock'
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Record until Ctrl-C."""
    specification = load(arguments.specification)
    names = TopicNames.of(arguments.namespace, arguments.remap)
    wanted = recorded_topics(specification, names)
    for topic in arguments.topic:
        wanted.setdefault(topic if topic.startswith('/') else f'/{topic}', '')
    try:
        from repsq_ros.nodes.bag_recorder import BagRecorder
        from repsq_ros.nodes.runtime import run_node
    except ImportError as error:
        raise MissingError.of_ros('repsq record', error) from None
    moment = time.strftime('%Y%m%d-%H%M%S')
    output = arguments.output or Path('recordings') / f'{specification.name}-{moment}'
    writer = BagWriter(output)
    out = text_beside(arguments.json)
    print(f'recording into {output}/, until Ctrl-C', file=out, flush=True)
    made: list[BagRecorder] = []

    def make() -> BagRecorder:
        made.append(BagRecorder(wanted, writer, arguments.use_sim_time))
        return made[0]

    def conclude(code: int) -> int:
        for topic, count in sorted(writer.counts.items()):
            print(f'{count:9d}  {topic}', file=out)
        if made:
            for topic in made[0].unheard:
                print(f'  nothing  {topic}', file=out)
            code = code or made[0].exit_code
        if not code:
            print(
                f'recorded  {output}: repsq reevaluate {output} --specification '
                f'{arguments.specification}',
                file=out,
            )
        if arguments.json:
            unheard = sorted(made[0].unheard) if made else []
            print_json({'recording': output, 'messages': dict(writer.counts), 'unheard': unheard})
        return code

    return run_node('repsq record', make, conclude)
