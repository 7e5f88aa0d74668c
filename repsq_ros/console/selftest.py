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

"""repsq selftest: tests the station before a campaign, and prints what to do."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import yaml

from repsq_ros import __version__, topics
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.station import GREEN, RED, SELF_TEST
from repsq_ros.console.command_line import offer
from repsq_ros.console.dependent_process import (
    INTERRUPTED,
    end,
    run_to_its_end,
    start_dependent,
)
from repsq_ros.console.outputs import new_folder, write_text
from repsq_ros.digests import digest_of
from repsq_ros.errors import CampaignError, OutputError, ParameterError
from repsq_ros.json_answer import add_json, print_json, text_beside
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import Samples, joined
from repsq_ros.messages import campaign_messages
from repsq_ros.protocols.phases import Span
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.sensor_columns import sample_columns
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.station_checks import SelfTestRecord, StationCheck, judge
from repsq_ros.simulation.build import SUBJECTS, make_subject, usual_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.simulation.subject import Subject
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.self_test import write_self_test
from repsq_ros.timebase import date_now

CAMPAIGN, RECORDING = 'campaign', 'recording'
RECORDER_LOG = 'recorder.log'
LONGEST = 30.0  # [s] for a recorder to start, and to end


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')
    parser.add_argument('--tester', type=Path, metavar='FILE', help='as for repsq run')
    parser.add_argument(
        '--output', type=Path, help='new folder (default: selftests/<name>-<time>)'
    )
    parser.add_argument(
        '--moves', type=Path, metavar='FILE', help='CSV of cases, in place of three small ones'
    )
    parser.add_argument(
        '--taped', type=float, metavar='M', help='length of the first move by a tape [m]'
    )
    parser.add_argument('--simulate', action='store_true', help='test a simulated robot')
    subject = parser.add_argument('--subject', metavar='ROBOT', help='which one, as for repsq run')
    offer(subject, SUBJECTS)
    parser.add_argument('--model', default='', help="folder of the subject's model (g1)")
    parser.add_argument('--parameters', type=Path, metavar='FILE', help='as for repsq run')
    parser.add_argument(
        '--remap', action='append', default=[], metavar='FROM:=TO', help='as for repsq run'
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Test the station; return 0 if all is green, 3 if something has to be done."""
    if arguments.taped is not None and not arguments.taped > 0:
        raise ParameterError('taped', f'{arguments.taped}', 'a length above 0 m')
    if arguments.moves is not None and not arguments.moves.is_file():
        raise ParameterError('moves', f'{arguments.moves}, which is no file', 'a CSV of cases')
    own = load(arguments.specification, arguments.tester)
    usual = Path('selftests') / f'{own.name}-{time.strftime("%Y%m%d-%H%M%S")}'
    folder = new_folder(arguments.output or usual)
    try:
        file = write_self_test(arguments.specification, folder, arguments.moves, arguments.tester)
    except OSError as error:
        raise OutputError.unwritable(folder, error) from None
    specification, out = load(file), text_beside(arguments.json)
    print(f'self-test in {folder}/', file=out, flush=True)
    if arguments.simulate:
        subject = make_subject(
            arguments.subject or usual_subject(specification.protocol.kind), arguments.model
        )
        record = simulated(specification, subject)
    else:
        record = _on_the_robot(arguments, file, folder, specification)
    findings = judge(specification, record, arguments.taped)
    document = _document(own, findings, folder)
    text = yaml.safe_dump(document, sort_keys=False, width=100)
    write_text(folder / SELF_TEST, text)
    for each in findings:
        mark = 'FAULT' if each.fault else 'ok   '
        print(f'{mark} {each.name:32s} {each.value}', file=out)
        if each.fault:
            print(f'      {each.fault}', file=out)
    print(f'{document["verdict"]}     {folder / SELF_TEST}', file=out)
    if arguments.json:
        print_json({'folder': folder, **document})
    return 0 if document['verdict'] == GREEN else CampaignError.exit_code


def _document(own: Specification, findings: list[StationCheck], folder: Path) -> dict[str, object]:
    """Return the content of selftest.yaml."""
    files = sorted(each for each in folder.rglob('*') if each.is_file())
    return {
        'verdict': RED if any(each.fault for each in findings) else GREEN,
        'specification_digest': own.digest,
        'date': date_now(),
        'unix': int(time.time()),
        'software': f'repsq_ros {__version__}',
        'findings': [asdict(each) for each in findings],
        'files': {str(each.relative_to(folder)): digest_of(each) for each in files},
    }


def simulated(
    specification: Specification,
    subject: Subject,
    disturb: Callable[[Samples], Samples] | None = None,
) -> SelfTestRecord:
    """Return the record of a simulated robot's self-test.

    :param disturb: changes the samples of the measured input
    """
    heard: dict[Input, list[Samples]] = {}
    spans: list[Span] = []
    attempts: list[TestRecord] = []
    ended = ''

    def keep(source: Input, sample: Samples) -> Samples:
        arrival = sample.stamps.copy()
        if disturb is not None and source == specification.measure.input:
            sample = disturb(sample)
        heard.setdefault(source, []).append(replace(sample, logs=arrival))
        return sample

    def count(record: TestRecord, _: EstimateRecord) -> None:
        attempts.append(record)

    def note(action: object) -> None:
        if isinstance(action, Span):
            spans.append(action)

    try:
        run_in_process(
            specification, subject, 1, on_test=count, before=note, heard=keep,
        )  # fmt: skip
    except CampaignError as error:
        ended = str(error)
    samples = {source: joined(parts) for source, parts in heard.items()}
    return SelfTestRecord(samples, spans, attempts, ended)


def _on_the_robot(
    arguments: argparse.Namespace, file: Path, folder: Path, specification: Specification
) -> SelfTestRecord:
    """Run the self-test as a campaign, record it, and return the record."""
    options = [each for rule in arguments.remap for each in ('--remap', rule)]
    repsq = [sys.executable, '-m', 'repsq_ros.cli']
    recording = folder / RECORDING
    log = folder / RECORDER_LOG
    with log.open('wb') as out:
        recorder = start_dependent(
            [*repsq, 'record', file, '--output', recording, *options], stdout=out, stderr=out
        )
    given = ['--unattended', '--json', *options]  # running text goes to standard error
    if arguments.parameters is not None:
        given += ['--parameters', arguments.parameters]
    try:
        _wait_for(recording, recorder, log)
        code = run_to_its_end(
            [*repsq, 'run', file, '--output', folder / CAMPAIGN, *given],
            stdout=subprocess.DEVNULL,  # a result of three moves tells nothing
        )
    finally:
        end([recorder], LONGEST)
    if code == INTERRUPTED:
        raise CampaignError('the self-test was ended before its last move: nothing is judged')
    journal = folder / CAMPAIGN / JOURNAL
    contents = read_contents(journal) if journal.exists() else None
    if contents is None:
        raise CampaignError(f'{folder / CAMPAIGN}: nothing was tested, see above')
    ended = f'the campaign ended before its last move, with exit code {code}: see above'
    samples, spans = recorded(recording, specification, arguments.remap)
    return SelfTestRecord(samples, spans, contents.tests, ended if code else '')


def _wait_for(recording: Path, recorder: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the recorder has begun."""
    until = time.monotonic() + LONGEST
    while not recording.exists():
        if recorder.poll() is not None or time.monotonic() > until:
            said = log.read_text(errors='replace').strip() or 'it said nothing'
            raise CampaignError(f'the recorder did not begin; nothing was commanded: {said}')
        time.sleep(0.1)


def recorded(
    bag: Path, specification: Specification, remap: Sequence[str]
) -> tuple[dict[Input, Samples], list[Span]]:
    """Return the samples of each input and the phases of a recording."""
    names = TopicNames.of('', remap)
    inputs = {
        source.topic: (names(source.topic), source)
        for source in (specification.measure.input, specification.feedback)
        if source is not None
    }
    with Recording([bag]) as recording:
        spans = [
            campaign_messages.span_of(item.message)
            for item in recording.messages(names(topics.TEST_PHASE))
        ]
        heard: dict[Input, list[Samples]] = {}
        for part in sample_columns(recording, inputs):
            for name, samples in part.items():
                heard.setdefault(inputs[name][1], []).append(samples)
    spans.sort(key=lambda span: span.start_ns)
    return {source: joined(parts) for source, parts in heard.items()}, spans
