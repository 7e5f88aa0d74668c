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

"""The campaigns in a recording with the package's own topics, followed as they ran."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, NamedTuple

from repsq_ros import topics
from repsq_ros.campaign.attempts import Attempts
from repsq_ros.campaign.records import Case, TestRecord
from repsq_ros.campaign.windows import window_of
from repsq_ros.errors import BagError
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.recorder import Key, Window
from repsq_ros.messages import campaign_messages
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.recordings.recording import BagMessage, Recording
from repsq_ros.recordings.table import Table
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.segments import Segment
from repsq_ros.sampling.proposals import Draw
from repsq_ros.timebase import NANOSECONDS

# Faults visible only live: two publishers on a sensor's topic, two specifications.
SEEN_LIVE = {code.key: code for code in (Code.PUBLISHERS, Code.SPECIFICATIONS)}
# Of phases at one instant, those that end an attempt come last.
RANKS = {
    **dict.fromkeys((Phase.IDLE, Phase.PAUSED), 1),
    **dict.fromkeys((Phase.SKIPPED, Phase.DONE, Phase.ABORTED), 2),
}
UNDECIDED = 'recording ends'
BESIDE_NS = 2 * NANOSECONDS  # margin around a session's messages that may hold its samples
SET_BACK_NS = NANOSECONDS  # stamps of one clock never run back by more


class RecordedPhase(NamedTuple):
    """One recorded phase; sorted by when it was announced.

    Messages with equal log stamps (simulated clock, converted recording) may be out of order.
    Attempts follow one another, regardless of the clocks.
    """

    key: Key
    log_ns: int
    start_ns: int
    order: int  # rank of its phase within an instant
    span: Span
    test: Any


@dataclass
class RecordedCampaign:
    """One campaign in a recording."""

    campaign_id: str
    digest: str = ''
    segments: list[Segment] = field(default_factory=list)
    ending: str = UNDECIDED  # how it ended, in words
    stamp_lead_ns: int = 0  # median lead of the log's clock over that of the phases
    # The segments of each session whose stamps restart (a resumed simulation, a reboot), with the
    # range of log times of their samples [ns].
    sessions: list[tuple[list[Segment], tuple[int, int]]] = field(default_factory=list)

    def __str__(self) -> str:
        """Describe the campaign for a user who has to choose one."""
        tests = len({segment.index for segment in self.segments})
        return (
            f'{self.campaign_id!r} ({tests} tests, {len(self.segments)} attempts, {self.ending}, '
            f'specification {self.digest[:12]})'
        )


class CampaignTests:
    """The campaigns of a recording, updated while it is read.

    :param names: of the topics in it
    :param wanted: name ('' for any) of the campaign whose windows are returned while reading,
        and the digest of its specification
    :raises BagError: the topics are missing
    """

    tables: tuple[str, ...] = ()

    def __init__(
        self, recording: Recording, names: TopicNames, wanted: tuple[str, str] = ('', '')
    ) -> None:
        self._recording, self._wanted = recording, wanted
        self._command, self._phase = names(topics.TEST_COMMAND), names(topics.TEST_PHASE)
        self.messages = (self._command, self._phase, names(topics.TEST_MEASUREMENT))
        recording.require(self._command, 'repsq_ros/msg/TestCommand')
        recording.require(self._phase, 'repsq_ros/msg/TestPhase')
        self._phases: dict[str, list[RecordedPhase]] = {}
        self._commands: dict[str, dict[Key, Any]] = {}
        self._live: dict[str, dict[Key, TestRecord]] = {}

    def take(
        self, messages: Iterable[BagMessage], tables: Sequence[Table] = (), samples: object = None
    ) -> list[Window]:
        """Read messages of the topics; return the windows that they announce.

        :raises BagError: a message is invalid
        """
        windows = []
        for item in messages:
            phase = self._on_message(item)
            window = None if phase is None else window_of(phase.span)
            if phase is not None and window is not None and self._is_wanted(phase):
                windows.append(window)
        return windows

    def _on_message(self, item: BagMessage) -> RecordedPhase | None:
        message = item.message
        if item.topic == self._phase:
            phase = _phase_of(self._recording, item.log_ns, message)
            self._phases.setdefault(phase.test.campaign_id, []).append(phase)
            return phase
        if item.topic == self._command:
            of_campaign = self._commands.setdefault(message.campaign_id, {})
            of_campaign[message.index, message.attempt] = message
        else:
            record = campaign_messages.test_record_of(message)
            key = (record.index, record.attempt)
            self._live.setdefault(message.campaign_id, {}).setdefault(key, record)
        return None

    def _is_wanted(self, phase: RecordedPhase) -> bool:
        campaign_id, (name, digest) = phase.test.campaign_id, self._wanted
        found = _digest_of(phase, self._commands.get(campaign_id, {}))
        return name in ('', campaign_id) and digest == found

    def campaigns(self) -> list[RecordedCampaign]:
        """Return the campaigns, in the order of their first phase, once everything was read."""
        return [
            _follow(name, phases, self._commands.get(name, {}), self._live.get(name, {}))
            for name, phases in self._phases.items()
        ]


def campaigns_in(recording: Recording, names: TopicNames | None = None) -> list[RecordedCampaign]:
    """Return the campaigns of a recording, in the order of their first phase.

    :param names: of the topics in it; None: the default names
    :raises BagError: the topics are missing
    """
    found = CampaignTests(recording, names or TopicNames.of('', ()))
    found.take(recording.messages(*found.messages, plain=True))
    return found.campaigns()


def choose(campaigns: list[RecordedCampaign], wanted: str, file: object) -> RecordedCampaign:
    """Return the requested campaign, or the only one.

    :param wanted: its name; '' for the only one
    :raises BagError: several campaigns, or none of that name; they are listed
    """
    found = [each for each in campaigns if wanted in ('', each.campaign_id)]
    if len(found) == 1:
        return found[0]
    if not campaigns:
        raise BagError(f'{file}: found no phase of a campaign, expected at least one')
    there = ', '.join(map(str, campaigns))
    if not wanted:
        raise BagError(
            f'{file}: found {len(campaigns)} campaigns, expected one, or --campaign with one of '
            f'{there}'
        )
    raise BagError(f'{file}: found no campaign {wanted!r}, expected one of {there}')


def check_recorded_contract(recording: Recording, campaign: RecordedCampaign, digest: str) -> None:
    """Refuse a campaign of another specification.

    :raises BagError: its digest differs
    """
    if campaign.digest != digest:
        raise BagError(
            f'{recording.path}: found a campaign with specification digest '
            f'{campaign.digest[:12]}, expected {digest[:12]}'
        )


def _phase_of(recording: Recording, log_ns: int, message: Any) -> RecordedPhase:
    try:
        span = campaign_messages.span_of(message)
    except ValueError as error:
        raise BagError(f'{recording.path}: found a {error} in a {topics.TEST_PHASE}') from None
    rank = 2 if span.broken_off else RANKS.get(span.phase, 0)
    return RecordedPhase(
        (span.index, span.attempt),
        log_ns,
        span.start_ns,
        1000 * rank + span.step,
        span,
        campaign_messages.test_of(message),
    )


def _follow(
    name: str,
    phases: Sequence[RecordedPhase],
    commands: Mapping[Key, Any],
    live: Mapping[Key, TestRecord],
) -> RecordedCampaign:
    """Follow one campaign through its phases, in their order."""
    last = max(phases, key=lambda each: (each.log_ns, each.order)).span
    ending = UNDECIDED
    if last.phase in (Phase.DONE, Phase.ABORTED):
        ending = f'{last.phase.name.lower()}{": " if last.reason else ""}{last.reason}'
    leads = sorted(each.log_ns - each.start_ns for each in phases)
    # Only the first recording of each phase counts; repetitions were played from a bag. A clock
    # may have been set back in between.
    first = {(each.key, each.start_ns, each.order): each for each in reversed(phases)}
    campaign = RecordedCampaign(
        name,
        ending=ending,
        stamp_lead_ns=leads[len(leads) // 2],
    )
    attempts, segments = Attempts(), dict[Key, Segment]()
    test: Any = None
    case: Case | None = None
    for each in sorted(phases, key=itemgetter(0, 1, 2, 3)):
        told = _test_of(each, commands)
        if told is None:
            continue
        # phases of one attempt share a message for their test
        if told is not test or case is None:
            test, case = told, campaign_messages.case_of(told)
        campaign.digest = campaign.digest or _digest_of(each, commands)
        record = attempts.on_phase(case, each.span)
        if record is not None:
            segments[each.key] = _ended(record)
            attempts.close(each.key)
        for key in attempts.over:
            attempt = attempts.close(key)
            if attempt is not None:
                segments[key] = _measured(key, attempt.case.draw, attempt.window, live.get(key))
    # Version 0.1.0 announced no phase for skipped tests; other phases may be missing.
    ended = [each for each in live.values() if each.skipped or each.broken_off]
    segments |= {(record.index, record.attempt): _ended(record) for record in ended}
    campaign.segments = [segments[key] for key in sorted(segments)]
    in_order = sorted(first.values(), key=lambda each: each.log_ns)
    campaign.sessions = _sessions(
        campaign.segments, in_order, (in_order[0].log_ns, in_order[-1].log_ns)
    )
    return campaign


def _sessions(
    segments: Sequence[Segment], phases: Iterable[RecordedPhase], logs: tuple[int, int]
) -> list[tuple[list[Segment], tuple[int, int]]]:
    """Return the sessions of a campaign, in the form of `RecordedCampaign`.

    :param phases: first recording of each, in the order of the log
    :param logs: [ns] when the first and the last of them were recorded
    """
    of_key: dict[Key, int] = {}  # session in which it was measured
    starts, ends = [logs[0] - BESIDE_NS], [logs[1] + BESIDE_NS]
    before: tuple[int, Window] | None = None
    for each in phases:
        window = window_of(each.span)
        if window is None:
            continue
        if before is not None and window.command_ns < before[1].command_ns - SET_BACK_NS:
            log_ns, last = before
            begin_ns = each.log_ns - BESIDE_NS
            over_ns = log_ns + last.end_ns - last.command_ns + BESIDE_NS
            starts.append(begin_ns)
            ends.insert(-1, min(over_ns, begin_ns - 1))
        before = (each.log_ns, window)
        of_key[each.key] = len(starts) - 1
    parts: list[list[Segment]] = [[] for _ in starts]
    for segment in segments:
        parts[of_key.get(segment.key, 0)].append(segment)
    return list(zip(parts, zip(starts, ends, strict=True), strict=True))


def _test_of(phase: RecordedPhase, commands: Mapping[Key, Any]) -> Any:
    """Return the test of a phase; None: its case is not known."""
    whole = hasattr(phase.test, 'weight_bound')  # not in a phase of version 0.1.0
    return phase.test if whole else commands.get(phase.key)


def _digest_of(phase: RecordedPhase, commands: Mapping[Key, Any]) -> str:
    told = commands.get(phase.key, phase.test)
    return str(getattr(told, 'specification_digest', ''))


def _ended(record: TestRecord) -> Segment:
    instant = record.window_end_ns
    draw = Draw(record.x, math.nan, math.nan, record.weight_bound, record.weight)
    return Segment(
        record.index, record.attempt, '', draw, Window(instant, instant, (), instant), record
    )


def _measured(key: Key, draw: Draw, window: Window, live: TestRecord | None) -> Segment:
    segment = Segment(*key, '', draw, window, live=live)
    code = SEEN_LIVE.get(live.code) if live is not None else None
    if live is None or code is None:
        return segment
    return replace(segment, objection=Fault(code, live.reason))
