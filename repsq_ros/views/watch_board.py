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

"""The text of `repsq watch`, the same from nodes and from a folder."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repsq_ros.campaign.records import CountedAttempt, TestRecord
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.health import Health, Level, scheduler_health
from repsq_ros.views.sparkline import sparkline
from repsq_ros.views.time_left import duration_text, seconds_left, seconds_per_test, tests_left

TESTS_SHOWN = 8


@dataclass(frozen=True)
class TestLine:
    """One attempt."""

    __test__ = False  # not a test class, whatever its name says to pytest

    number: str  # index, and the attempt if it is not the first
    case: str
    outcome: str
    level: Level


@dataclass(frozen=True)
class WatchBoard:
    """Everything that is displayed."""

    title: str
    standing: Health  # state of the campaign
    case: str
    numbers: tuple[tuple[str, str], ...]  # name and value
    estimate_line: str  # estimates so far, as block characters
    half_width_line: str
    estimate_scale: str  # values of the lowest and the highest block
    half_width_scale: str
    tests: tuple[TestLine, ...]  # newest first
    peers: tuple[Health, ...]
    sensors: tuple[Health, ...]
    left: tuple[tuple[str, str], ...]
    result: tuple[str, ...]  # lines; empty before the end
    remarks: tuple[str, ...]


def watch_board(
    state: CampaignState,
    *,
    standing: Health | None = None,
    peers: Sequence[Health] = (),
    sensors: Sequence[Health] = (),
    battery_changes: Callable[[int, float], int] | None = None,
    remarks: Sequence[str] = (),
    width: int = 60,
) -> WatchBoard:
    """Return the board for a state.

    :param standing: state of the campaign; default: by the last phase
    :param battery_changes: for a number of tests of so many seconds each; None: not shown
    :param width: number of blocks in a line
    """
    if standing is None:
        standing = Health('campaign', *_standing(state))
    means = [c.estimate.mean if c.estimate.n else math.nan for c in state.counted]
    widths = [c.estimate.half_width for c in state.counted]
    said = list(remarks)
    if state.unheard:
        said.append(f'{state.unheard} attempts were counted before and are not shown')
    if state.latest is not None and state.latest.note:
        said.append(state.latest.note)
    said += state.questions
    return WatchBoard(
        state.campaign_id or 'no campaign heard of yet',
        standing,
        _case_under_test(state),
        _numbers(state),
        sparkline(means, width, _later_limits(means)),
        sparkline(widths, width, _later_limits(widths)),
        _scale(means),
        _scale(widths),
        tuple(_test_line(c.record, state.names) for c in state.counted[: -TESTS_SHOWN - 1 : -1]),
        tuple(peers),
        tuple(sensors),
        _left(state.counted, battery_changes),
        _result(state),
        tuple(said),
    )


def _later_limits(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the limits without the first quarter, since the first values are far off."""
    finite = [value for value in values[len(values) // 4 :] if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else None


def _scale(values: Sequence[float]) -> str:
    limits = _later_limits(values)
    return '' if limits is None else f'{limits[0]:.3g} to {limits[1]:.3g}'


def _standing(state: CampaignState) -> tuple[Level, str]:
    if state.span is None:
        if state.result is not None:
            return Level.OK, 'done'
        return Level.WARN, 'nothing is heard of the scheduler'
    return scheduler_health(state.span, list)


def _case_text(names: Sequence[str], x: Sequence[float]) -> str:
    if not x:
        return '-'
    shown = names if len(names) == len(x) else [f'x{k + 1}' for k in range(len(x))]
    return ', '.join(f'{name} {value:.3g}' for name, value in zip(shown, x, strict=True))


def _case_under_test(state: CampaignState) -> str:
    case = state.under_test
    if case is None:
        return '-'
    weight = '' if case.weight == 1.0 else f', weight {case.weight:.3g}'
    return f'{_case_text(case.names or state.names, case.x)}{weight}'


def _numbers(state: CampaignState) -> tuple[tuple[str, str], ...]:
    e = state.latest
    if e is None:
        return (('tests', 'none counted yet'),)
    about = f' of about {e.expected_n}' if e.expected_n and not e.stopped else ''
    rows = [('tests', f'{e.n}{about}')]
    lost = ((e.invalid, 'INVALID'), (e.broken_off, 'broken off'), (e.skipped, 'skipped'))
    if any(count for count, _ in lost):
        rows.append(('gave nothing', ', '.join(f'{n} {word}' for n, word in lost if n)))
    if e.n:
        rows.append(('estimate', f'{e.mean:.5g} +- {_finite(e.half_width)}, to reach {e.gamma:g}'))
        rows.append(('interval', f'{_finite(e.lower)} to {_finite(e.upper)} ({e.rule})'))
    if e.n and e.largest_weight != 1.0:
        rows.append(
            (
                'weights',
                f'largest {e.largest_weight:.3g}, worth {e.effective_sample_size:.0f} '
                'tests of weight 1',
            )
        )
    return tuple(rows)


def _finite(value: float) -> str:
    return f'{value:.4g}' if math.isfinite(value) else 'unknown'


def _test_line(record: TestRecord, names: Sequence[str]) -> TestLine:
    number = f'{record.index}.{record.attempt}' if record.attempt else f'{record.index}'
    if record.valid:
        weight = '' if record.weight == 1.0 else f', weight {record.weight:.3g}'
        return TestLine(
            number, _case_text(names, record.x), f'psi {record.psi:.4g}{weight}', Level.OK
        )
    word, level = 'INVALID', Level.ERROR
    if record.skipped or record.broken_off:
        word, level = ('skipped' if record.skipped else 'broken off'), Level.WARN
    return TestLine(number, _case_text(names, record.x), f'{word}: {record.reason}', level)


def _left(
    counted: Sequence[CountedAttempt], battery_changes: Callable[[int, float], int] | None
) -> tuple[tuple[str, str], ...]:
    tests, each = tests_left(counted), seconds_per_test(counted)
    if counted and counted[-1].estimate.stopped:
        return ()
    time = seconds_left(counted)
    rows = [
        ('tests left', 'unknown' if tests is None else f'about {tests}'),
        (
            'time left',
            'unknown'
            if math.isnan(time)
            else f'about {duration_text(time)} of robot time, {each:.1f} s a test',
        ),
    ]
    if battery_changes is not None:
        known = tests is not None and not math.isnan(each)
        changes = f'about {battery_changes(tests or 0, each)}' if known else 'unknown'
        rows.append(('battery changes', changes))
    return tuple(rows)


def _result(state: CampaignState) -> tuple[str, ...]:
    r = state.result
    if r is None:
        return ()
    lines = [
        f'{r.value!r} from {r.n} tests: estimate {r.estimate:.6g} +- {r.half_width:.4g}',
        r.guarantee,
        r.agreement,
    ]
    return tuple(line for line in lines if line)
