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

"""A journal compared with the recordings of its campaign, in both directions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from repsq_ros import topics
from repsq_ros.campaign.folder import SPECIFICATION
from repsq_ros.campaign.journal_contents import ABORT, CASE, DONE, NUMBERS, PAUSE, SKIP
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign
from repsq_ros.campaign.records import TestRecord, close
from repsq_ros.certificate.differences import CheckResult, name_of
from repsq_ros.measurement.recorder import Key
from repsq_ros.messages import campaign_messages
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.recordings.recording import Recording
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.evaluation import EvaluatedSegment
from repsq_ros.replay.recorded_campaign import SET_BACK_NS
from repsq_ros.replay.task import Task, reevaluate

LINES = 'lines announced in the recording'
CASES, STOPS = 'cases in the recording', 'skips, pauses and the end'
ATTEMPTS, PSI = 'attempts in the recording', 'psi from the recording'
EVENTS = {Phase.PAUSED: PAUSE, Phase.SKIPPED: SKIP, Phase.ABORTED: ABORT}
LATEST = 5.0  # [s] largest delay between a command and its case's line, at a busy start
LATE = 'is in the recording, not in the journal'


@dataclass(frozen=True)
class RecordedTopics:
    """The names of a campaign's topics in recordings."""

    namespace: str = ''
    remap: tuple[str, ...] = ()
    sensor_topic: str = ''

    @staticmethod
    def of(content: dict[str, Any]) -> RecordedTopics:
        """Return the names that a certificate gives."""
        return RecordedTopics(
            content['namespace'], tuple(content['remap']), content['sensor_topic']
        )


def add_topics(parser: argparse.ArgumentParser) -> None:
    """Describe the options for the names of a campaign's topics in recordings."""
    parser.add_argument(
        '--namespace', default='', help="of the package's own topics in the recording"
    )
    parser.add_argument(
        '--remap',
        action='append',
        default=[],
        metavar='FROM:=TO',
        help='where the recording has a topic, e.g. odom:=/state',
    )
    parser.add_argument(
        '--sensor-topic', default='', help='where the recording has the measured input'
    )


def topics_of(arguments: argparse.Namespace) -> RecordedTopics:
    """Return the names that the command line gives."""
    return RecordedTopics(arguments.namespace, tuple(arguments.remap), arguments.sensor_topic)


class _Stop(NamedTuple):
    """An event that stopped the robot, or ended a commanded attempt."""

    event: str
    key: Key
    reason: str
    broken_off: bool


@dataclass
class _Announced:
    """The messages of the scheduler about one campaign."""

    cases: dict[Key, list[Any]] = field(default_factory=dict)  # TestCommand
    stops: set[_Stop] = field(default_factory=set)
    ended: set[tuple[Key, str, int]] = field(default_factory=set)  # with reason and start [ns]
    done: bool = False
    # digest of a line, and when it was recorded [ns]
    heads: dict[str, int] = field(default_factory=dict)
    phases: list[tuple[Key, int, int]] = field(default_factory=list)  # start and log [ns]
    commanded: dict[Key, int] = field(default_factory=dict)  # when its command was recorded [ns]

    def on_phase(self, span: Span, log_ns: int) -> None:
        """Record a phase."""
        key = (span.index, span.attempt)
        self.phases.append((key, span.start_ns, log_ns))
        if span.phase is Phase.COMMAND:
            self.commanded.setdefault(key, log_ns)
        self.done = self.done or span.phase is Phase.DONE
        if span.phase in EVENTS:
            self.stops.add(_Stop(EVENTS[span.phase], key, span.reason, span.broken_off))
        if span.phase is Phase.SKIPPED or span.broken_off:
            self.ended.add((key, span.reason, span.start_ns))

    @property
    def out_of_order(self) -> str:
        """Return the message that a clock was set back during the campaign; '' if none was.

        Then sensor messages cannot be read in the order in which they came.
        """
        logs = {(key, start): log_ns for key, start, log_ns in reversed(self.phases)}
        told = [(start, log_ns) for (_, start), log_ns in sorted(logs.items())]
        back = any(
            later < earlier - SET_BACK_NS
            for one, other in pairwise(told)
            for earlier, later in zip(one, other, strict=True)
        )
        return 'a clock was set back during the campaign' if back else ''


def compare_with_recordings(
    recomputed: RecomputedCampaign,
    bags: Sequence[Path],
    where: RecordedTopics,
    incomplete: str = '',
    recover: bool = False,
) -> list[CheckResult]:
    """Compare every line of a journal with recordings, which are read as one.

    :param incomplete: why attempts may be missing in these recordings; '': they are complete
    :param recover: read as much as possible of damaged recordings
    :raises BagError: a recording cannot be read, or holds another campaign
    :raises MissingError: the reader of recordings is not installed
    """
    campaign_id = recomputed.contents.campaign_id
    announced = _announced(bags, where, campaign_id, recover)
    done = reevaluate(
        Task(
            bags[0],
            recomputed.folder / SPECIFICATION,
            namespace=where.namespace,
            remap=where.remap,
            sensor_topic=where.sensor_topic,
            campaign=campaign_id,
            recover=recover,
            more=tuple(bags[1:]),
        )
    )
    incomplete = incomplete or '; '.join(done.losses)
    evaluated = {each.segment.key: each for each in done.rows[0].evaluated}
    return [
        _compare_lines(recomputed, announced, incomplete),
        _compare_cases(recomputed, announced, incomplete),
        _compare_attempts(recomputed, announced, evaluated, incomplete),
        _compare_stops(recomputed, announced, incomplete),
        _compare_psi(recomputed, evaluated, announced.out_of_order or incomplete),
    ]


def _announced(
    bags: Sequence[Path], where: RecordedTopics, campaign_id: str, recover: bool
) -> _Announced:
    names = TopicNames.of(where.namespace, where.remap)
    command, phase = names(topics.TEST_COMMAND), names(topics.TEST_PHASE)
    journal_head = names(topics.JOURNAL_HEAD)
    announced = _Announced()
    with Recording(bags, recover) as opened:
        for item in opened.messages(command, phase, journal_head, plain=True):
            message = item.message
            if item.topic == command:
                if message.campaign_id == campaign_id:
                    of_key = announced.cases.setdefault((message.index, message.attempt), [])
                    of_key.append(message)
            elif item.topic == journal_head:
                head, _, of_campaign = str(getattr(message, 'data', '')).partition(' ')
                if of_campaign == campaign_id:
                    announced.heads.setdefault(head, item.log_ns)
            elif campaign_messages.test_of(message).campaign_id == campaign_id:
                announced.on_phase(campaign_messages.span_of(message), item.log_ns)
    return announced


def _compare_lines(
    recomputed: RecomputedCampaign, announced: _Announced, incomplete: str
) -> CheckResult:
    """Compare the digests of the journal's lines with those announced during the campaign.

    The digest of a case's line depends on all earlier lines, and is announced before its command.
    """
    if not announced.heads:
        return CheckResult(
            LINES, not_checked=f'the recording has no {topics.JOURNAL_HEAD}, as of version 0.2'
        )
    problems: list[str] = []
    missing: list[str] = []
    lines = {entry.digest: number for number, entry in enumerate(recomputed.entries, start=1)}
    unknown = [head for head in announced.heads if head not in lines]
    if unknown:
        known = [lines[head] for head in announced.heads if head in lines]
        problems.append(
            f'{len(unknown)} of {len(announced.heads)} lines are not in the journal: it was '
            f'written again behind line {max(known, default=0)}'
        )
    told: set[Key] = set()  # a scheduler killed during an attempt writes its case again
    for entry in recomputed.entries:
        key = (entry.content.get('index', -1), entry.content.get('attempt', -1))
        if entry.event != CASE or unknown or key in told:
            continue
        told.add(key)
        heard, begun = announced.heads.get(entry.digest), announced.commanded.get(key)
        if heard is None:
            missing.append(f'{name_of(*key)}: the line of its case was not announced')
        elif begun is not None and heard > begun + LATEST * 1e9:
            problems.append(f'{name_of(*key)}: the line of its case came after its command')
    return _checked(LINES, problems, missing, f'{len(announced.heads)} lines', incomplete)


def _compare_cases(
    recomputed: RecomputedCampaign, announced: _Announced, incomplete: str
) -> CheckResult:
    """Compare x, densities, weight and bound of every TestCommand with the journal's cases."""
    problems: list[str] = []
    missing: list[str] = []
    lines: dict[Key, dict[str, Any]] = {}
    for entry in recomputed.entries:
        if entry.event == CASE:
            lines[entry.content['index'], entry.content['attempt']] = entry.content
    for key in sorted({*lines, *announced.cases}):
        name, line = name_of(*key), lines.get(key)
        if line is None:
            problems.append(f'{name}: its case {LATE}')
            continue
        for message in announced.cases.get(key, ()):
            problems += [f'{name}: {text}' for text in _case_differences(line, message)]
        if key not in announced.cases:
            missing.append(f'{name}: its case is not in the recording')
    return _checked(CASES, problems, missing, f'{len(announced.cases)} cases', incomplete)


def _case_differences(line: dict[str, Any], message: Any) -> Iterator[str]:
    x, recorded = [float(value) for value in line['x']], [float(value) for value in message.x]
    if x != recorded:
        yield f'its case has x = {x} in the journal, {recorded} in the recording'
    for name in NUMBERS:
        if name in line and hasattr(message, name):
            found, said = float(line[name]), float(getattr(message, name))
            if found != said and not (name == 'weight_bound' and said == 0.0):
                yield f"its case's {name} is {found!r} in the journal, {said!r} in the recording"


def _compare_attempts(
    recomputed: RecomputedCampaign,
    announced: _Announced,
    evaluated: dict[Key, EvaluatedSegment],
    incomplete: str,
) -> CheckResult:
    """Compare which attempts there were, how each ended, and when it was measured."""
    problems: list[str] = []
    missing: list[str] = []
    tests = {(test.index, test.attempt): test for test in recomputed.contents.tests}
    under_way = max([*tests, *((c['index'], c['attempt']) for c in recomputed.contents.cases)])
    for key in sorted({*evaluated, *announced.cases} - tests.keys()):
        if recomputed.result is not None or key != under_way:
            problems.append(f'{name_of(*key)}: {LATE}')
    for key, test in tests.items():
        name, each = name_of(*key), evaluated.get(key)
        if each is None:
            missing.append(f'{name}: not in the recording')
        elif test.skipped or test.broken_off:
            problems += _not_measured(name, key, test, announced)
        elif each.segment.ended is not None:
            word = 'skipped' if each.segment.ended.skipped else 'broken off'
            problems.append(
                f'{name}: {word} in the recording ({each.segment.ended.reason}), measured in the '
                'journal'
            )
        else:
            problems += _window_differences(name, test, each)
    return _checked(ATTEMPTS, problems, missing, f'{len(tests)} attempts', incomplete)


def _not_measured(name: str, key: Key, test: TestRecord, announced: _Announced) -> Iterator[str]:
    word = 'skipped' if test.skipped else 'broken off'
    recorded = sorted({reason for each, reason, _ in announced.ended if each == key})
    if not recorded:
        yield f'{name}: {word} in the journal ({test.reason}), but no such phase was recorded'
    elif test.reason not in recorded:
        yield (
            f'{name}: {word} in the journal for {test.reason!r}, in the recording for '
            f'{" and ".join(map(repr, recorded))}'
        )
    elif (key, test.reason, test.window_start_ns) not in announced.ended:
        yield f'{name}: {word} at another time than in the recording'


def _window_differences(name: str, test: TestRecord, each: EvaluatedSegment) -> Iterator[str]:
    window, draw = each.segment.window, each.segment.draw
    journal = (test.window_start_ns, test.window_end_ns)
    if journal != (window.start_ns, window.end_ns):
        yield (
            f'{name}: measured from {journal[0]} to {journal[1]} ns in the journal, from '
            f'{window.start_ns} to {window.end_ns} ns in the recording'
        )
    if test.x != draw.x or test.weight != draw.weight:
        yield (
            f'{name}: x = {list(test.x)}, weight {test.weight!r} in the journal, '
            f'{list(draw.x)}, {draw.weight!r} in the recording'
        )


def _compare_stops(
    recomputed: RecomputedCampaign, announced: _Announced, incomplete: str
) -> CheckResult:
    """Compare pauses, skips, aborts and the end."""
    said = {
        _Stop(
            entry.event,
            (entry.content['index'], entry.content['attempt']),
            str(entry.content.get('reason', '')),
            bool(entry.content.get('broken_off', False)),
        )
        for entry in recomputed.entries
        if entry.event in EVENTS.values() and 'index' in entry.content
    }
    problems = [f'{_stop_name(each)} {LATE}' for each in sorted(announced.stops - said)]
    # The last messages of a stopped scheduler may not be recorded.
    missing = [
        f'{_stop_name(each)} is in the journal, not in the recording'
        for each in sorted(said - announced.stops)
        if each.event != ABORT
    ]
    ended = recomputed.result is not None or any(e.event == DONE for e in recomputed.entries)
    if announced.done and not ended:
        problems.append('the campaign ended in the recording, not in the journal')
    if ended and not announced.done:
        incomplete = incomplete or 'the recording ends before the campaign'
        missing.append('the end of the campaign is not in the recording')
    found = f'{len(said)} stops, {"ended" if announced.done else "not at its end yet"}'
    return _checked(STOPS, problems, missing, found, incomplete)


def _stop_name(stop: _Stop) -> str:
    return f'{name_of(*stop.key)}: a {stop.event} ({stop.reason or "no reason"})'


def _compare_psi(
    recomputed: RecomputedCampaign, evaluated: dict[Key, EvaluatedSegment], samples_missing: str
) -> CheckResult:
    """Compare psi, or the verdict INVALID, of every measured attempt.

    :param samples_missing: why samples of a window may be missing; '': none are
    """
    problems, missing, equal = list[str](), list[str](), 0
    for test in recomputed.contents.tests:
        each = evaluated.get((test.index, test.attempt))
        if test.skipped or test.broken_off or each is None or each.segment.ended is not None:
            continue
        name, outcome = name_of(test.index, test.attempt), each.outcome
        words = {True: 'VALID', False: 'INVALID'}
        fewer = not outcome.valid or outcome.samples < test.samples
        if test.valid and fewer and samples_missing and not close(outcome.psi, test.psi):
            missing.append(f'{name}: {outcome.reason or "samples are missing"}')
        elif outcome.valid != test.valid:
            problems.append(
                f'{name}: {words[outcome.valid]} in the recording, {words[test.valid]} in the '
                f'journal ({outcome.reason or test.reason})'
            )
        elif test.valid and not close(outcome.psi, test.psi):
            problems.append(
                f'{name}: psi is {outcome.psi!r} in the recording, {test.psi!r} in the journal'
            )
        else:
            equal += 1
    return _checked(PSI, problems, missing, f'{equal} tests', samples_missing)


def _checked(
    what: str, problems: list[str], missing: list[str], found: str, incomplete: str
) -> CheckResult:
    """Return the outcome of a check; missing lines are a problem unless `incomplete` says why."""
    if not incomplete:
        problems = problems + missing
    told = f'{len(missing)} not found, {missing[0]}; {incomplete}' if missing else ''
    not_checked = told if incomplete else ''
    return CheckResult(what, tuple(problems), found, not_checked)
