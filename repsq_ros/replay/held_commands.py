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

"""From times and values of commands to the intervals in which each was in force.

All functions take plain arrays, so that every way of reading a recording can use them, and take
linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]  # (n,) [ns], increasing
Values = NDArray[np.float64]  # (n, d)


@dataclass(frozen=True)
class HeldCommand:
    """An interval in which one command, or one label, was in force."""

    start_ns: int
    end_ns: int
    command: tuple[float, ...] = ()
    label: str = ''
    began_ns: int | None = None  # when its command took effect; None: at the start
    cut: bool = False  # it ends because the recording ends


def held_commands(
    times: Times,
    values: Values,
    until_ns: int,
    apart_ns: int,
    hold_ns: int | None = None,
    rest: bool = False,
    splits: Times | None = None,
) -> list[HeldCommand]:
    """Return the intervals of equal commands, each until the next one.

    :param times: (n,) of the commands, increasing
    :param values: (n, d) the commands
    :param until_ns: the end of the recording
    :param apart_ns: equal commands with a larger gap are two: the second one begins a new test
        and does not prolong the first
    :param hold_ns: validity of a command after it was last sent; None: until the next one
    :param rest: whether commands of zero are tests, too
    :param splits: instants at which a new test begins, even with the same command
    """
    if not len(times):
        return []
    apart_ns = apart_ns if hold_ns is None else min(apart_ns, hold_ns)
    # NaN equals NaN here: a stream of NaN is one command, which cannot be followed.
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    fresh = ~same.all(axis=1) | (np.diff(times) > apart_ns)
    if splits is not None and len(splits):
        group = np.searchsorted(splits, times, 'right')
        fresh |= group[1:] != group[:-1]
    first = np.concatenate(([0], np.flatnonzero(fresh) + 1))
    last = np.concatenate((first[1:], [len(times)])) - 1
    starts, ends = times[first], np.append(times[first[1:]], max(until_ns, int(times[-1])))
    cut = np.zeros(len(first), dtype=np.bool_)
    cut[-1] = True
    if hold_ns is not None:
        given_up = times[last] + hold_ns
        cut &= given_up > ends
        ends = np.minimum(ends, given_up)
    wanted = np.flatnonzero(np.any(values[first] != 0.0, axis=1) | rest)
    return [
        HeldCommand(
            int(starts[i]), int(ends[i]), tuple(values[first[i]].tolist()), cut=bool(cut[i])
        )
        for i in wanted.tolist()
    ]


def held_labels(
    times: Times, labels: Sequence[str], until_ns: int, wanted: Sequence[str] = ()
) -> list[HeldCommand]:
    """Return the intervals of equal labels, each until the next one.

    :param labels: n of them; an empty one means no test
    :param wanted: labels of tests; empty: all except the empty one
    """
    found: list[HeldCommand] = []
    begins = [at for at in range(len(labels)) if at == 0 or labels[at] != labels[at - 1]]
    for at, after in zip(begins, [*begins[1:], None], strict=True):
        label = labels[at]
        if not label or (wanted and label not in wanted):
            continue
        end_ns = max(until_ns, int(times[-1])) if after is None else int(times[after])
        found.append(HeldCommand(int(times[at]), end_ns, label=label, cut=after is None))
    return found


def label_at(times: Times, labels: Sequence[str], instants: Times) -> list[str]:
    """Return the label at each instant; '' before the first one."""
    at = np.searchsorted(times, instants, 'right') - 1
    return ['' if i < 0 else labels[i] for i in at.tolist()]


def command_within(
    times: Times, values: Values, start_ns: int, end_ns: int
) -> tuple[tuple[float, ...], str]:
    """Return the only command in force in [start, end).

    :returns: the command, and why it is not unique
    """
    at = int(np.searchsorted(times, start_ns, 'right')) - 1
    after = int(np.searchsorted(times, end_ns, 'left'))
    if at < 0:
        return (), 'none was sent before the measured window'
    inside = values[at:after]
    if (inside != inside[0]).any():
        return (), 'it changes within the measured window'
    return tuple(inside[0].tolist()), ''
