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

"""What a journal says of a campaign: its lines, read and folded into one state."""

from __future__ import annotations

import ctypes
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path

import numpy

from repsq_ros import __version__
from repsq_ros.campaign.cases import AnsweredDraw
from repsq_ros.campaign.journal import Entry, read_journal
from repsq_ros.campaign.records import Case, TestRecord
from repsq_ros.errors import JournalError
from repsq_ros.measurement.recorder import Key
from repsq_ros.protocols.phases import Span
from repsq_ros.sampling.proposals import Draw
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import date_now

BEGIN, SESSION, CASE, TEST = 'begin', 'session', 'case', 'test'
PAUSE, RESUME, ABORT, DONE = 'pause', 'resume', 'abort', 'done'
SKIP = 'skip'
FORMAT = 2  # format of the journal; version 0.1.0 did not write it: 1
KINDS = {'int': int, 'bool': bool, 'str': str}  # types of a record's fields
# number fields of a case
NUMBERS = ('log_p', 'log_q', 'weight', 'weight_bound', 'twin', 'twin_spread')
CLOCK_UNSYNCHRONIZED = 5  # TIME_ERROR of adjtimex(2)


def beginning(
    specification: Specification, campaign_id: str, seed: int, ledger: str = ''
) -> dict[str, object]:
    """Return the content of the first line.

    :param ledger: digest of the ledger's line that announces this campaign; '': it was not
        registered
    """
    registered = {'ledger': ledger} if ledger else {}
    twin = specification.twin
    return {
        'format': FORMAT,
        'campaign_id': campaign_id,
        'seed': seed,
        **registered,
        **({} if twin is None else {'twin': twin.digest}),
        'specification_digest': specification.digest,
        'specification': specification.shared(),
    }


def session(note: str, parameters: dict[str, object]) -> dict[str, object]:
    """Return the content of the line that each start of the scheduler writes.

    :param note: of the operator: a calibration, a new battery, the day's weather
    :param parameters: the current ones
    """
    import scipy

    return {
        'note': note,
        'date': date_now(),
        'clock': clock_state(),
        'parameters': parameters,
        'software': f'repsq_ros {__version__}',
        'versions': {
            'python': platform.python_version(),
            'numpy': numpy.__version__,
            'scipy': scipy.__version__,
            'ros': os.environ.get('ROS_DISTRO', ''),  # empty: not known
        },
        'machine': f'{platform.system()} {platform.release()} {platform.machine()}',
    }


def clock_state() -> dict[str, object]:
    """Return what the kernel says of the machine's clock (Linux)."""
    state: dict[str, object] = {
        'unix': time.time(),
        'monotonic': time.monotonic(),
        'synchronized': None,
    }
    try:
        found = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(256))
    except (OSError, AttributeError):
        return state
    if found >= 0:
        state['synchronized'] = found != CLOCK_UNSYNCHRONIZED
    return state


def case_line(case: Case) -> dict[str, object]:
    """Return the content of a case's line, written before the robot is commanded."""
    draw = case.draw
    return {
        'index': case.index,
        'attempt': case.attempt,
        'x': draw.x,
        'log_p': draw.log_p,
        'log_q': draw.log_q,
        'weight': draw.weight,
        'weight_bound': draw.weight_bound,
        **_answered(draw),
    }


def _answered(draw: Draw) -> dict[str, float]:
    if not isinstance(draw, AnsweredDraw):
        return {}
    several = {} if draw.twin_spread is None else {'twin_spread': draw.twin_spread}
    return {'twin': draw.twin, **several}


def line_of_test(record: TestRecord) -> dict[str, object]:
    """Return the content of a test's line."""
    return asdict(record)


def stop_line(span: Span, awaited: bool = False) -> dict[str, object]:
    """Return the content of the line of a stop, written after the robot has stopped.

    :param awaited: the phases of an attempt are over, but it has not been counted yet
    """
    return {
        'index': span.index,
        'attempt': span.attempt,
        'reason': span.reason,
        'broken_off': span.broken_off,
        'cause': span.cause,
        **({'awaited': True} if awaited and not span.broken_off else {}),
    }


def record_of_line(entry: Entry) -> TestRecord:
    """Return the record of a test's line.

    Fields that an earlier version did not write get their default; unknown fields are ignored.

    :raises KeyError: a field without a default is missing
    :raises TypeError: a field is of another type
    :raises ValueError: a field is not a number
    """
    values = dict(entry.content)
    for each in fields(TestRecord):
        if each.name in values and each.type in KINDS:
            _require(values, each.name, KINDS[str(each.type)])
    for name in ('psi', 'weight', 'weight_bound'):
        values[name] = float(values[name])
    values['x'] = tuple(map(float, values['x']))
    values['measured'] = tuple(map(float, values.get('measured', ())))
    needed = (each for each in fields(TestRecord) if each.default is MISSING)
    missing = [each.name for each in needed if each.name not in values]
    if missing:
        raise KeyError(missing[0])
    known = (each.name for each in fields(TestRecord) if each.name in values)
    return TestRecord(**{name: values[name] for name in known})


def _require(content: dict[str, object], name: str, kind: type) -> None:
    if type(content[name]) is not kind:
        raise TypeError(f'in {name} = {content[name]!r}')


def _check_key(content: dict[str, object]) -> None:
    for name in ('index', 'attempt'):
        _require(content, name, int)


def _check_case(content: dict[str, object]) -> None:
    """Refuse the line of a case whose numbers cannot be read.

    :raises KeyError: no index or no attempt
    :raises TypeError: a field is of another type
    :raises ValueError: a field is not a number
    """
    _check_key(content)
    x = content.get('x')
    numbers = (content[name] for name in NUMBERS if name in content)  # version 0.1.0 wrote fewer
    for value in (*(x if isinstance(x, list) else ()), *numbers):
        float(str(value))


@dataclass(frozen=True)
class JournalContents:
    """What a journal says of a campaign: its tests, cases, sessions, and where it was cut off."""

    campaign_id: str
    seed: int
    specification_digest: str
    format: int
    shared: object  # what all testers share, as described when it was written
    tests: tuple[TestRecord, ...]
    sessions: tuple[str, ...]
    cases: tuple[dict[str, object], ...]
    cut_short: Key | None  # attempt that may have been commanded, but has no outcome
    ledger: str = ''  # digest of the ledger's line that announces it; '': not registered
    twin: str = ''  # digest of the answers of the tester's simulator; '': no simulator


def fold(file: str, entries: Sequence[Entry]) -> JournalContents | None:
    """Return what a journal says; None if it is empty.

    :param file: named in errors
    :raises JournalError: the lines are intact, but do not describe a campaign
    """
    if not entries:
        return None
    if entries[0].event != BEGIN:
        raise JournalError(f'{file}, line 1: found {entries[0].event!r}, expected {BEGIN!r}')
    first = entries[0].content
    try:
        seed, made_as = int(str(first.get('seed'))), int(str(first.get('format', 1)))
    except ValueError as error:
        raise JournalError(f'{file}, line 1: {error}, expected seed and format') from None
    if made_as > FORMAT:
        raise JournalError(
            f'{file}, line 1: found format {first["format"]}, expected at most {FORMAT}: it was '
            'written by a later version of repsq_ros'
        )
    tests: list[TestRecord] = []
    cut_short: Key | None = None
    sessions: list[str] = []
    for number, entry in enumerate(entries, start=1):
        try:
            if entry.event == TEST:
                tests.append(record_of_line(entry))
                cut_short = None
            elif entry.event == CASE:
                _check_case(entry.content)
                cut_short = (entry.content['index'], entry.content['attempt'])
            elif entry.event in (PAUSE, SKIP, ABORT):
                if 'index' in entry.content:
                    _check_key(entry.content)
                begun = entry.content.get('broken_off', True) or entry.content.get('awaited')
                if not begun:  # stopped before its command
                    cut_short = None
            elif entry.event == SESSION:
                sessions.append(_session_text(len(sessions) + 1, entry, len(tests)))
        except (KeyError, TypeError, ValueError) as error:
            raise JournalError(
                f'{file}, line {number}: {type(error).__name__} {error}, expected a {entry.event} '
                f'of repsq_ros {__version__}'
            ) from None
    return JournalContents(
        str(first.get('campaign_id')),
        seed,
        str(first.get('specification_digest')),
        made_as,
        first.get('specification'),
        tuple(tests),
        tuple(sessions),
        tuple(entry.content for entry in entries if entry.event == CASE),
        cut_short,
        str(first.get('ledger', '')),
        str(first.get('twin', '')),
    )


def _session_text(number: int, entry: Entry, tests_before: int) -> str:
    note = f': {entry.content["note"]}' if entry.content.get('note') else ''
    return f'session {number}, {entry.content["date"]}, after {tests_before} tests{note}'


def read_contents(file: Path) -> JournalContents | None:
    """Return what the journal in a file says; None if it is empty.

    :raises JournalError: damaged, or not that of a campaign
    """
    return fold(str(file), read_journal(file)[0])
