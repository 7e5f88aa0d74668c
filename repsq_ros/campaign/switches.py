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

"""The latest state of each of several switches, though messages do not name their sender.

rclpy gives no identity of a publisher with a message, but a sequence number per publisher.
These numbers grow by one, so messages can be sorted into sequences. Where a message fits into
several sequences, the assumption that keeps the stop pressed is made.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class _Switch:
    number: int  # of its last message
    pressed: bool


class Switches:
    """Whether any switch is pressed, from the messages of all of them in one stream.

    A release counts only once as many switches as were ever seen report that they are released: a
    pressed switch whose publisher is gone stays pressed.
    """

    def __init__(self) -> None:
        self._switches: list[_Switch] = []

    @property
    def pressed(self) -> int:
        """Number of switches that are, or may be, pressed."""
        return sum(each.pressed for each in self._switches)

    @property
    def known(self) -> int:
        """Number of switches that were heard."""
        return len(self._switches)

    def on_message(self, number: int, pressed: bool, publishers: int) -> None:
        """Update with a message.

        :param number: sequence number of the message at its publisher, from 1
        :param publishers: current number of publishers
        """
        switch = self._sender_of(number, pressed, publishers)
        if switch is None:
            switch = _Switch(number, pressed)
        else:
            self._switches.remove(switch)
        switch.number, switch.pressed = number, pressed
        self._switches.append(switch)  # in the order of their last messages
        released = [each for each in self._switches if not each.pressed]
        if self.known > publishers and len(released) > 1:
            # if that switch still exists, its next message adds it again
            self._switches.remove(released[0])

    def _sender_of(self, number: int, pressed: bool, publishers: int) -> _Switch | None:
        """Return the switch that may have sent a message; None: a new one."""
        following = [each for each in self._switches if each.number == number - 1]
        if following:
            switch = _safest(following)
            # A new switch must not release another one that is pressed.
            releases = switch.pressed and not pressed
            return None if releases and self.known < publishers else switch
        if self.known == publishers == 1:
            return self._switches[0]  # the only one: messages were lost, or it was restarted
        if self.known < publishers:
            return None
        earlier = [each for each in self._switches if each.number < number]
        return _safest(earlier) if earlier else None


def _safest(switches: list[_Switch]) -> _Switch:
    """Return a released switch if there is one, so that a pressed one stays as it is."""
    return min(switches, key=lambda each: (each.pressed, -each.number))
