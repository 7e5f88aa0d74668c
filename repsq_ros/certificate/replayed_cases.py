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

"""Drawing the cases of a journal again from its seed: x, weight and bound of every attempt."""

from __future__ import annotations

import math
from collections.abc import Iterator

from repsq_ros.campaign.cases import CaseSource
from repsq_ros.campaign.journal_contents import CASE, NUMBERS, TEST
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign
from repsq_ros.campaign.records import TestRecord, close
from repsq_ros.certificate.differences import CheckResult, name_of
from repsq_ros.errors import RepsqError
from repsq_ros.sampling.external import MISMATCH
from repsq_ros.sampling.proposals import Draw, Proposal
from repsq_ros.specification.model import Specification

CASES = 'cases, drawn again from the seed'
ORDER = 'order of cases and tests'


def replay_cases(recomputed: RecomputedCampaign) -> list[CheckResult]:
    """Draw every case again and compare; check the order of the journal's lines.

    An adaptive proposal learns again from the journal's tests, so each case is compared with the
    proposal of its time.
    """
    specification, contents = recomputed.specification, recomputed.contents
    proposal = specification.make_proposal()
    replay = _Replay(specification, proposal, contents.seed)
    cases: list[str] = []
    for entry in recomputed.entries:
        if entry.event == CASE:
            cases += replay.compare_case(entry.content)
        elif entry.event == TEST:
            cases += replay.compare_test(contents.tests[replay.tests])
    order = [*replay.out_of_order, *_after_the_end(recomputed)]
    found = f'{replay.drawn} cases, seed {contents.seed}'
    not_checked = ''
    if not replay.from_seed and replay.tests:
        not_checked = (
            'x and its density under the proposal come from another program; only weights, '
            'bounds and the target were checked'
        )
    return [
        CheckResult(CASES, tuple(cases), found, not_checked),
        CheckResult(ORDER, tuple(order), f'{replay.tests} attempts, none left out'),
    ]


def _after_the_end(recomputed: RecomputedCampaign) -> Iterator[str]:
    """Yield attempts that no estimate counts: out of turn, or after the rule was met."""
    counted = {(each.record.index, each.record.attempt) for each in recomputed.counted}
    for test in recomputed.contents.tests:
        if (test.index, test.attempt) not in counted:
            yield f'{name_of(test.index, test.attempt)}: not counted, it is out of turn'


class _Replay:
    """Follows a journal line by line, with a proposal that learns from it."""

    def __init__(self, specification: Specification, proposal: Proposal, seed: int) -> None:
        self._specification, self._proposal = specification, proposal
        self._source = CaseSource(specification, proposal, seed)
        self._draw: tuple[int, Draw] | None = None  # index and draw of the current case
        self._issued: tuple[int, int] | None = None  # (index, attempt) of the last written case
        self._due: tuple[int, int] = (0, 0)  # (index, attempt) after the last test
        self.tests = self.drawn = 0
        self.from_seed = proposal.ready(0)
        self.out_of_order: list[str] = []

    def compare_case(self, content: dict[str, object]) -> list[str]:
        """Return how a case's line differs from the case drawn again."""
        index, attempt = int(str(content['index'])), int(str(content['attempt']))
        name = name_of(index, attempt)
        if index != self._due[0] or attempt < self._due[1]:
            self.out_of_order.append(
                f'{name}: its case was drawn where {name_of(*self._due)} was due'
            )
        self._issued = (index, attempt)
        x = content.get('x')
        x = tuple(map(float, x)) if isinstance(x, list) else ()
        given = {
            key: float(str(content[key]))
            for key in NUMBERS
            if key in content  # version 0.1.0 wrote fewer keys
        }
        try:
            draw = self._draw_again(index, x, given)
        except (RepsqError, ValueError) as error:
            return [f'{name}: {error}']
        problems = _compare(name, 'the case', x, draw)
        for key, found in given.items():
            expected = getattr(draw, key, None)  # without a twin, there is no answer
            expected = math.nan if expected is None else expected
            problems += _number(name, f"the case's {key}", found, expected)
        return problems

    def _draw_again(self, index: int, x: tuple[float, ...], given: dict[str, float]) -> Draw:
        """Draw a case, or compute the weight of one that another program drew."""
        if self._draw is None or self._draw[0] != index:
            self.drawn += 1
            draw = (
                self._source.draw(index)
                if self.from_seed
                else _weighted(self._specification, x, given, self._proposal.weight_bound)
            )
            self._draw = (index, draw)
        return self._draw[1]

    def compare_test(self, test: TestRecord) -> list[str]:
        """Return how a test's line differs from its case."""
        key, name = (test.index, test.attempt), name_of(test.index, test.attempt)
        self.tests += 1
        if key[0] != self._due[0] or key[1] < self._due[1]:
            self.out_of_order.append(f'{name}: found where {name_of(*self._due)} was due')
        problems = []
        if self._issued is None or self._issued[0] != key[0] or self._issued[1] > key[1]:
            self.out_of_order.append(f'{name}: its case was not written before it')
        elif self._draw is not None:
            draw = self._draw[1]
            problems = _compare(name, 'the test', test.x, draw)
            problems += _number(name, 'weight', test.weight, draw.weight)
            if math.isfinite(test.weight_bound):  # version 0.1.0 may not have one
                problems += _number(name, 'weight_bound', test.weight_bound, draw.weight_bound)
        self._source.learn(test)
        self._due = test.follower
        return problems


def _weighted(
    specification: Specification, x: tuple[float, ...], given: dict[str, float], bound: float
) -> Draw:
    """Return a case of another program, with its weight recomputed from the densities.

    :raises ValueError: outside of the target
    """
    if len(x) != len(specification.box.dimensions):
        raise ValueError(f'x has {len(x)} numbers, expected {len(specification.box.dimensions)}')
    log_p = specification.target.logpdf(x)
    if not (specification.box.contains(x) and math.isfinite(log_p)):
        raise ValueError(f'x = {x} lies outside the target')
    draw = Draw(x, log_p, given.get('log_q', log_p), bound)
    # Perhaps the weight was given without a density, and the density was computed from it.
    weight = given.get('weight', draw.weight)
    near = abs(weight - draw.weight) <= MISMATCH * draw.weight
    return Draw(x, log_p, draw.log_q, bound, weight) if near else draw


def _compare(name: str, of: str, x: tuple[float, ...], draw: Draw) -> list[str]:
    if len(x) == len(draw.x) and all(map(close, x, draw.x)):
        return []
    return [f'{name}: {of} has x = {list(x)}, the seed gives {list(draw.x)}']


def _number(name: str, what: str, found: float, expected: float) -> list[str]:
    if close(found, expected):
        return []
    return [f'{name}: {what} is {found!r}, x and the proposal in force give {expected!r}']
