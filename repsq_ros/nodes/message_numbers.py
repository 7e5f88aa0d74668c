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

"""The numbers that the middleware of a publisher gives to its messages."""

from __future__ import annotations

from collections.abc import Callable

Publishers = frozenset[bytes]  # their GIDs


class MessageNumbers:
    """Tells whether messages on a reliable topic with one publisher follow one another.

    A foreign publisher that comes, speaks and goes while this node stands still leaves no trace in
    the graph. But its messages have numbers of their own, from 1: they do not follow ours.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[Publishers, int]] = {}

    def follows(
        self, topic: str, number: int | None, publishers: Callable[[], Publishers]
    ) -> bool:
        """Tell whether a message can be of the publisher of the one before it.

        :param number: by the middleware of the publisher; None: not known, as with Humble
        :param publishers: returns those that the graph shows on the topic
        """
        if number is None:
            return True
        before = self._last.get(topic)
        if before is not None and number == before[1] + 1:
            self._last[topic] = (before[0], number)
            return True
        found = publishers()
        self._last[topic] = (found, number)
        return before is None or before[0] != found or len(found) != 1

    def forget(self, topic: str) -> None:
        """Accept any number next: messages of the known publisher were dropped."""
        self._last.pop(topic, None)
