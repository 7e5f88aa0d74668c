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

"""Asking a simulator for its answers to cases on a topic: `repsq twin --topic`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from rclpy.node import Node

from repsq_ros.campaign.records import Case
from repsq_ros.errors import CampaignError
from repsq_ros.msg import TestCommand, TestMeasurement
from repsq_ros.nodes import qos
from repsq_ros.nodes.runtime import own_node
from repsq_ros.nodes.translate import test_command_of
from repsq_ros.sampling.proposals import Draw
from repsq_ros.specification.model import Specification

Numbers = tuple[float, ...]

CASE, ANSWER = 'case', 'answer'  # topics below the given name
AT_ONCE = 5  # largest number of unanswered cases
AGAIN = 5.0  # [s] without any answer, after which the oldest case is sent again


class _Questions:
    """Sends cases, a few at a time, and collects the answers."""

    def __init__(
        self, node: Node, name: str, specification: Specification, cases: Sequence[Numbers]
    ) -> None:
        self._node, self._specification, self._cases = node, specification, cases
        self._out = node.create_publisher(TestCommand, f'{name}/{CASE}', qos.COMMAND)
        node.create_subscription(
            TestMeasurement, f'{name}/{ANSWER}', self._on_message, qos.COMMAND
        )
        self._where = node.resolve_topic_name(f'{name}/{ANSWER}')
        self.answers: dict[int, float | None] = {}  # None: the simulator has no answer
        self._asked = 0
        self.heard = self._again = time.monotonic()

    def _on_message(self, message: TestMeasurement) -> None:
        place, psi = message.index, message.psi
        if place >= self._asked or place in self.answers:
            return
        if tuple(message.x) != self._cases[place] or (message.valid and not math.isfinite(psi)):
            raise CampaignError(
                f'{self._where}: found x = {list(message.x)}, psi {psi:g} in the answer to case '
                f'{place}, expected its x = {list(self._cases[place])} and a finite psi'
            )
        self.answers[place] = psi if message.valid else None
        self.heard = time.monotonic()

    def ask(self, within: float) -> None:
        """Send the cases that are due.

        :raises CampaignError: the oldest case has had no answer for `within` s
        """
        now = time.monotonic()
        if now - self.heard > within:
            place = next((k for k in range(self._asked) if k not in self.answers), self._asked)
            raise CampaignError(
                f'{self._where}: no answer for {within:g} s to case {place}, {self._cases[place]} '
                f'({len(self.answers)} of {len(self._cases)} answered); nothing was written'
            )
        if not self._out.get_subscription_count():
            return
        while self._asked < min(len(self._cases), len(self.answers) + AT_ONCE):
            self._publish(self._asked)
            self._asked += 1
        if now - max(self.heard, self._again) > AGAIN:
            self._again = now
            self._publish(next(k for k in range(self._asked) if k not in self.answers))

    def _publish(self, place: int) -> None:
        x = self._cases[place]
        density = self._specification.target.logpdf(x)
        case = Case(place, 0, Draw(x, density, density, 1.0))
        stamp = self._node.get_clock().now().nanoseconds
        self._out.publish(test_command_of(case, self._specification, '', stamp))


def ask_on_topic(
    name: str,
    specification: Specification,
    cases: Sequence[Numbers],
    within: float,
    progress: Callable[[int], None],
) -> list[float | None]:
    """Return a simulator's answer to each case; None: it has no answer.

    A case is a TestCommand on NAME/case, its answer a TestMeasurement on NAME/answer: index and x
    are those of the case, psi is the answer s, and `valid` is false if the simulator has none.

    :param within: [s] longest time between two answers
    :raises CampaignError: no answer within that time, or one to another case
    """
    with own_node('repsq_twin') as (node, executor):
        questions = _Questions(node, name, specification, cases)
        while len(questions.answers) < len(cases):
            questions.ask(within)
            before = len(questions.answers)
            executor.spin_once(timeout_sec=0.1)
            progress(len(questions.answers) - before)
    return [questions.answers[place] for place in range(len(cases))]
