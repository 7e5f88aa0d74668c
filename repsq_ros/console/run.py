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

"""repsq run: a whole campaign, its nodes started as processes and stopped cleanly."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from repsq_ros.campaign.folder import RESULT, SPECIFICATION, TESTS
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.campaign.result import Result
from repsq_ros.campaign.result_text import result_text
from repsq_ros.campaign.station import keep_selftest, require_selftest
from repsq_ros.console.command_line import offer
from repsq_ros.console.dependent_process import INTERRUPTED
from repsq_ros.console.keyboard import log_sheet_of
from repsq_ros.console.live import LiveLine
from repsq_ros.console.outputs import new_folder
from repsq_ros.console.processes import ProcessGroup, simulation_settings
from repsq_ros.console.registered_run import chosen_seed
from repsq_ros.errors import (
    CampaignError,
    JournalError,
    MissingError,
    ParameterError,
)
from repsq_ros.estimation.acceptance import AcceptanceVerdict
from repsq_ros.json_answer import add_json, print_json, text_beside
from repsq_ros.launching.campaign_nodes import (
    NodeDescription,
    campaign_nodes,
    monitor_node,
    new_launch_id,
)
from repsq_ros.launching.first_look import certify
from repsq_ros.launching.registered_campaign import (
    begin_registered,
    close_registered,
    registered_seed,
    require_same_registration,
)
from repsq_ros.protocols.phases import Span
from repsq_ros.simulation.build import SUBJECTS, WORD, make_subject, usual_subject
from repsq_ros.simulation.in_process import require_fit, run_into_folder
from repsq_ros.specification.copies import copy_specification
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification

RESULT_TIMEOUT = 5.0  # [s] after the scheduler's end for the result to arrive
# Exit codes of `accept`.
EXIT_OF_VERDICT = {AcceptanceVerdict.FAIL.value: 13, AcceptanceVerdict.UNDECIDED.value: 14}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, nargs='?', help='test specification (YAML)')
    parser.add_argument(
        '--resume',
        type=Path,
        metavar='FOLDER',
        help='go on with the campaign of this folder, from its journal',
    )
    parser.add_argument(
        '--session-note', default='', help='kept with this session: a calibration, a repair, ...'
    )
    parser.add_argument('--simulate', action='store_true', help='start a simulated robot as well')
    subject = parser.add_argument(
        '--subject',
        metavar='ROBOT',
        help=f'{WORD} (default: surrogate for velocities, arm for poses, pushed for pushes)',
    )
    offer(subject, SUBJECTS)
    parser.add_argument('--model', default='', help="folder of the subject's model (g1)")
    parser.add_argument(
        '--speed',
        type=float,
        default=0.0,
        help='simulated s in each real s; 0 (default): as fast as the machine allows',
    )
    parser.add_argument(
        '--in-process',
        action='store_true',
        help='simulate in this process alone, as is done where ROS 2 is missing',
    )
    parser.add_argument(
        '--tester',
        type=Path,
        metavar='FILE',
        help="a file with a section `tester`, in place of the specification's own",
    )
    parser.add_argument('--seed', type=int, help="default: the specification's, else a new one")
    parser.add_argument(
        '--registration',
        type=Path,
        metavar='FILE',
        help='of repsq register, with the ledger beside it: the campaign has to be that one',
    )
    parser.add_argument(
        '--seed-value',
        default='',
        metavar='VALUE',
        help='the public value that a registered seed follows from',
    )
    parser.add_argument(
        '--output', type=Path, help='new folder (default: campaigns/<name>-<time>)'
    )
    parser.add_argument(
        '--parameters',
        type=Path,
        metavar='FILE',
        help='parameters of the nodes (YAML), e.g. config/ur10e_parameters.yaml',
    )
    parser.add_argument('--monitor', action='store_true', help='publish markers for RViz as well')
    parser.add_argument(
        '--unattended',
        action='store_true',
        help='nobody can resume: end the campaign where it would wait for a person',
    )
    parser.add_argument(
        '--remap',
        action='append',
        default=[],
        metavar='FROM:=TO',
        help='ROS remapping, e.g. odom:=/state',
    )
    parser.add_argument(
        '--selftest',
        type=Path,
        metavar='FILE',
        help='selftest.yaml of repsq selftest, kept with the campaign (tester.selftest_age)',
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run a campaign.

    :returns: 0 with a result, 13 or 14 if `accept` does not pass, else the code of the error
    """
    if (arguments.specification is None) == (arguments.resume is None):
        raise ParameterError('specification', 'none or two', 'a file, or --resume FOLDER')
    if arguments.tester is not None and arguments.resume is not None:
        raise ParameterError('tester', f'{arguments.tester}', 'none where a campaign goes on')
    specification = load(
        arguments.specification or arguments.resume / SPECIFICATION, arguments.tester
    )
    if not (math.isfinite(arguments.speed) and arguments.speed >= 0):
        raise ParameterError('speed', f'{arguments.speed}', 'a finite number >= 0')
    if arguments.simulate:
        arguments.subject = arguments.subject or usual_subject(specification.protocol.kind)
        require_fit(make_subject(arguments.subject, arguments.model), specification)
    if arguments.parameters is not None and not arguments.parameters.is_file():
        raise ParameterError('parameters', f'{arguments.parameters}', 'a file that is there')
    if arguments.seed is not None and arguments.seed < 0:
        raise ParameterError('seed', f'{arguments.seed}', 'a whole number >= 0')
    if arguments.resume is None:
        require_selftest(specification, arguments.selftest)
    _look_at_registration(arguments, specification)
    if arguments.in_process:
        return _run_in_process(arguments, specification)
    try:
        from repsq_ros.nodes.observer import Observer
        from repsq_ros.nodes.runtime import run_node
        from repsq_ros.nodes.transport import take_domain, use_this_computer_alone
    except ImportError as error:
        if arguments.simulate and arguments.resume is None:
            _print('without ROS 2: simulated in this process, as with --in-process', arguments)
            return _run_in_process(arguments, specification)
        raise MissingError.of_ros('repsq run', error, 'repsq run --simulate') from None
    if arguments.simulate:
        use_this_computer_alone(simulation_settings())
        if (domain := take_domain()) != '0':
            _print(f'watch it with: ROS_DOMAIN_ID={domain} repsq watch', arguments)
    campaign_id = _campaign_id(specification)
    if arguments.resume is not None:
        folder = arguments.resume
        campaign_id, arguments.seed = _journal_of(folder)
    else:
        folder = _folder_for(arguments, campaign_id)
    _print(f'campaign {campaign_id} in {folder}/', arguments)
    line = LiveLine(text_beside(arguments.json))
    group = ProcessGroup(folder)
    sheet, keyboard = log_sheet_of(specification, folder, line)

    class Watch(Observer):
        """Ends after the scheduler, or if another node ends first; Enter resumes the campaign."""

        def work(self, executor: Any) -> None:
            super().work(executor)
            for key in keyboard.typed():
                said = sheet.press(key) if sheet else ''
                if said:
                    line.print_line(said)
                if said or key == '\n':
                    self.go_on()
            if sheet and sheet.told is not None:
                self.publish_number(float(sheet.told))
            for name, code in group.ended().items():
                # A scheduler that ends with 0 has received the end: the result will follow.
                on_its_way = name == 'scheduler' and code == 0
                if on_its_way and self.result is not None:
                    self.finished = True
                elif not on_its_way or group.seconds_since_end(name) > RESULT_TIMEOUT:
                    raise CampaignError(f'{name} ended: {group.last_words(name)}')

        def shut_down(self, reason: str) -> None:
            group.stop()
            keyboard.close()
            line.end()

    def on_phase(span: Span) -> None:
        if sheet and (asked := sheet.on_phase(span)):
            line.print_line(asked)

    results: list[Result] = []

    def watch() -> Watch:
        # The other processes first: they import their modules meanwhile.
        for described in _nodes(arguments, specification, campaign_id, folder):
            robot = described.name == 'simulated_robot'  # all its parameters are given here
            group.start(described, arguments.remap, None if robot else arguments.parameters)
        try:
            node = Watch(
                campaign_id,
                line.show,
                results.append,
                line.print_paused,
                line.print_line,
                on_phase,
            )
            if sheet:
                node.offer_number(specification.measure.input.topic)
        except BaseException:
            group.stop()
            raise
        return node

    def conclude(code: int) -> int:
        if results:
            result = results[0]
            if specification.accept is not None:  # the verdict is in no message
                result = recompute(folder).finished()
            return code or _print_result(arguments, result, folder, specification)
        if arguments.registration is not None:
            released = close_registered(arguments.registration, folder)
            if released:
                print(released, file=sys.stderr)
                return code or INTERRUPTED
        kept = folder / TESTS
        if kept.exists():
            print(
                f'no result; the tests counted so far are kept in {kept}. To go on: repsq run '
                f'--resume {folder}{_resume_options(arguments)}',
                file=sys.stderr,
            )
        return code or INTERRUPTED

    return run_node('repsq', watch, conclude)


def _campaign_id(specification: Specification) -> str:
    return f'{specification.name}-{time.strftime("%Y%m%d-%H%M%S")}'


def _folder_for(arguments: argparse.Namespace, campaign_id: str) -> Path:
    """Make the folder of a new campaign, with its specification."""
    folder = new_folder(arguments.output or Path('campaigns') / campaign_id)
    copy_specification(arguments.specification, folder / SPECIFICATION, arguments.tester)
    if arguments.registration is not None:
        begin_registered(arguments.registration, folder, campaign_id, arguments.seed_value)
    keep_selftest(arguments.selftest, folder)
    return folder


def _look_at_registration(arguments: argparse.Namespace, specification: Specification) -> None:
    """Use the seed of a registered campaign, or refuse a different one."""
    if arguments.registration is None and arguments.seed_value:
        raise ParameterError('seed-value', arguments.seed_value, 'a --registration beside it')
    if arguments.resume is not None:
        require_same_registration(arguments.registration, arguments.resume)
    elif arguments.registration is not None:
        arguments.seed = registered_seed(
            arguments.registration,
            arguments.specification,
            arguments.tester,
            specification.tester.seed if arguments.seed is None else arguments.seed,
            arguments.seed_value,
        )


def _print(text: str, arguments: argparse.Namespace) -> None:
    print(text, file=text_beside(arguments.json), flush=True)


def _print_result(
    arguments: argparse.Namespace, result: Result, folder: Path, specification: Specification
) -> int:
    """Print a result; returns the exit code that its verdict asks for."""
    if arguments.registration is not None:
        close_registered(arguments.registration, folder)
    if arguments.json:
        document = result.document(specification)
        print_json({'folder': folder, 'certificate': certify(folder), 'result': document})
    else:
        print()
        print(result_text(result))
        print(f'files     {folder / RESULT}, {folder / TESTS}, {certify(folder)}')
    return EXIT_OF_VERDICT.get(result.verdict, 0)


def _run_in_process(arguments: argparse.Namespace, specification: Specification) -> int:
    """Simulate a campaign without nodes; its folder and its digits are those of the nodes."""
    if not arguments.simulate or arguments.resume is not None:
        raise ParameterError('in-process', 'a campaign on a robot', '--simulate, a new campaign')
    for name in ('parameters', 'remap', 'monitor', 'speed'):
        if getattr(arguments, name):
            raise ParameterError(
                name, f'{getattr(arguments, name)}', 'none: without ROS 2 there are no nodes'
            )
    campaign_id, seed = _campaign_id(specification), _seed(arguments, specification)
    folder = _folder_for(arguments, campaign_id)
    _print(f'campaign {campaign_id} in {folder}/', arguments)
    line = LiveLine(text_beside(arguments.json))
    result = run_into_folder(
        load(folder / SPECIFICATION),
        make_subject(arguments.subject, arguments.model),
        seed,
        folder,
        campaign_id,
        {'subject': arguments.subject, 'model': arguments.model},
        lambda _, estimate: line.show(estimate),
    )
    line.end()
    return _print_result(arguments, result, folder, specification)


def _resume_options(arguments: argparse.Namespace) -> str:
    """Return the options with which the campaign was started, for resuming it."""
    options = ''
    if arguments.registration is not None:
        options += f' --registration {shlex.quote(str(arguments.registration))}'
    if arguments.simulate:
        options += f' --simulate --subject {arguments.subject}'
        options += f' --model {shlex.quote(arguments.model)}' if arguments.model else ''
        options += f' --speed {arguments.speed:g}' if arguments.speed else ''
    if arguments.unattended:
        options += ' --unattended'
    if arguments.parameters is not None:
        options += f' --parameters {shlex.quote(str(arguments.parameters))}'
    return options + ''.join(f' --remap {shlex.quote(rule)}' for rule in arguments.remap)


def _journal_of(folder: Path) -> tuple[str, int]:
    """Return name and seed of a campaign from its journal."""
    file = folder / JOURNAL
    contents = read_contents(file)
    if contents is None:
        raise JournalError(f'{file}: found no line, expected the journal of a campaign')
    return contents.campaign_id, contents.seed


def _seed(arguments: argparse.Namespace, specification: Specification) -> int:
    """Return the requested seed, else that of the specification, else a new one."""
    seed = chosen_seed(arguments.seed, specification)
    if arguments.seed is None and specification.tester.seed is None:
        _print(f'seed      {seed}, drawn now: the specification gives none', arguments)
    return seed


def _nodes(
    arguments: argparse.Namespace, specification: Specification, campaign_id: str, folder: Path
) -> list[NodeDescription]:
    """List the nodes in the order of their start."""
    from repsq_ros.nodes.commands.robot_command import TYPES

    settings: dict[str, object] = {
        'specification': str(folder / SPECIFICATION),
        'campaign_id': campaign_id,
        'seed': _seed(arguments, specification),
        'output': str(folder),
        'resume': arguments.resume is not None,
        'session_note': arguments.session_note,
        'command_type': TYPES[specification.protocol.kind][0].value,
        'subject': arguments.subject,
        'model': str(arguments.model),
        'speed': float(arguments.speed),
        'launch_id': new_launch_id(),
        'attended': not arguments.unattended,
    }
    nodes = list(campaign_nodes(settings, simulated=arguments.simulate))
    if arguments.monitor:
        nodes.insert(0, monitor_node(settings, simulated=arguments.simulate))
    return nodes
