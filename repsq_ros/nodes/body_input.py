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

"""The one reader of the input that shows the robot's motion."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import Samples, joined
from repsq_ros.nodes.input_subscription import InputSubscription
from repsq_ros.specification.model import Specification


class BodyInput:
    """Takes all samples that wait at each look, and passes them on as one table.

    Messages are read only while somebody needs their samples: a sensor may send 1000 a second.

    :param source: the input of the body
    """

    def __init__(self, node: Node, source: Input) -> None:
        self.source = source
        self._subscription = InputSubscription(node, source, self._keep, condition=False)
        self._takers: list[tuple[Callable[[Samples, float], None], Callable[[], bool]]] = []
        self._waiting: list[Samples] = []
        self._looked = time.monotonic()
        self._noted_ns = 0  # reception of the message that `has_new` has reported

    @property
    def topic(self) -> str:
        """Resolved name of the topic."""
        return self._subscription.topic

    @property
    def publishers(self) -> int:
        """How many compatible publishers are connected."""
        return self._subscription.publishers

    def pass_to(
        self, taker: Callable[[Samples, float], None], needs: Callable[[], bool] = lambda: True
    ) -> None:
        """Call a function with the samples of each look, and when the last arrived, steady [s].

        :param needs: whether it needs them now
        """
        self._takers.append((taker, needs))

    def look(self, beat: Callable[[], None] = lambda: None) -> None:
        """Take the samples received since the last look.

        :param beat: called now and then if there are many
        """
        takers = [taker for taker, needs in self._takers if needs()]
        if takers:
            self._subscription.look(beat)
        else:
            self._subscription.drop()
        now = time.monotonic()
        if self._waiting:
            samples, self._waiting = joined(self._waiting), []
            age = (time.time_ns() - self._subscription.received_ns) * 1e-9
            # The last look had not seen it, and the system's clock may have been set.
            heard = min(max(now - age, self._looked), now)
            for taker in takers:
                taker(samples, heard)
        self._looked = now

    def has_new(self) -> bool:
        """Tell whether a message came since the last call."""
        self.look()
        before, self._noted_ns = self._noted_ns, self._subscription.received_ns
        return self._noted_ns != before

    def _keep(self, sample: Samples, arrival_ns: int) -> None:
        self._waiting.append(sample)


def body_input_of(
    node: Node, specification: Specification | None, needed: bool
) -> BodyInput | None:
    """Subscribe to the robot's motion; None: it is not needed, or no input shows it.

    :param specification: None: none is given
    """
    source = None if specification is None else specification.body_input
    return BodyInput(node, source) if needed and source is not None else None
