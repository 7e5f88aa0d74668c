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

"""The peers that a node depends on: which are present, and which are gone."""

from __future__ import annotations

import time

from rclpy.node import Node

from repsq_ros.campaign.running_time import RunningTime
from repsq_ros.msg import Heartbeat
from repsq_ros.nodes.heartbeat import PERIOD
from repsq_ros.nodes.identity import Heartbeats

STEP = 2.0 * PERIOD  # [s] longest interval of two looks in a running node
# [s] without a heartbeat (seven) after which a peer is gone. Zero has to be sent within 0.5 s.
SILENT = 0.35
# [s] of silence after which a peer in the graph gets a new subscription: after a stall, the
# middleware may no longer deliver from a living node.
DEAF = 3.0
SETTLED = 1.0  # [s] of heartbeats before a peer is trusted


class Peers:
    """Watches heartbeats; time in which this node itself was stalled does not count.

    `look` has to be called with each heartbeat of this node.

    :param settled: [s] of heartbeats before a peer is trusted
    """

    def __init__(self, node: Node, *roles: str, settled: float = SETTLED) -> None:
        self._time, self._heartbeats = RunningTime(STEP), Heartbeats(node, roles)
        self._peers = {role: _Peer(settled) for role in roles}

    def look(self) -> float:
        """Process heartbeats, and look for silent peers.

        :returns: [s] since the last look: long, if this node itself was stalled
        """
        # Use the time of the last look, so that no peer counts as alive for longer than SILENT.
        for role, beat in self._heartbeats.new():
            self._peers[role].on_heartbeat(beat, self._time.now)
        passed = self._time.look(time.monotonic())
        for peer in self._peers.values():
            peer.alive = peer.alive and self._time.now - peer.heard <= SILENT
        self._listen_again()
        return passed

    def _listen_again(self) -> None:
        """Subscribe again if the graph shows a peer without heartbeats."""
        for role, peer in self._peers.items():
            quiet = self._time.now - max(peer.heard, peer.listened_since)
            if peer.alive or quiet < DEAF:
                continue
            peer.listened_since = self._time.now  # and check again later
            peer.unheard = self._heartbeats.are_sent(role)
            if peer.unheard:
                self._heartbeats.listen_again(role)

    def since_look(self) -> float:
        """Return the time since the last look [s]."""
        return self._time.since_look(time.monotonic())

    def running(self) -> float:
        """Return the running time of this node [s], without its own stalls."""
        return self._time.now

    def alive(self) -> set[str]:
        """Return the roles that send heartbeats now."""
        return {role for role, peer in self._peers.items() if peer.alive}

    def waiting(self) -> list[str]:
        """Return the roles that are alive but say that they wait for something."""
        return [
            role
            for role, peer in self._peers.items()
            if peer.alive and peer.message is not None and not peer.message.ready
        ]

    def session(self, role: str) -> int:
        """Return the last session of a peer; 0: never heard."""
        message = self._peers[role].message
        return 0 if message is None else int(message.session)

    def restarted(self) -> list[str]:
        """Return the peers that were recently replaced by another process."""
        now = self._time.now
        return [why for role, peer in self._peers.items() if (why := peer.restarted(role, now))]

    def lives(self, role: str) -> bool:
        """Tell whether a peer sends heartbeats now."""
        return self._peers[role].alive

    def state(self, role: str) -> Heartbeat | None:
        """Return the last heartbeat of a peer that is alive."""
        peer = self._peers[role]
        return peer.message if peer.alive else None

    def last(self, role: str) -> Heartbeat | None:
        """Return the last heartbeat of a peer, alive or not."""
        return self._peers[role].message

    def blockers(self) -> list[str]:
        """Return why the peers cannot be trusted."""
        return [
            why
            for role, peer in self._peers.items()
            if (why := peer.blockers(role, self._time.now))
        ]


class _Peer:
    """One peer: its last heartbeat, and the start of its heartbeats; times are running [s]."""

    def __init__(self, settled: float) -> None:
        self._settled = settled
        self.message: Heartbeat | None = None
        self.alive = False
        self.unheard = False  # the graph shows it, but no heartbeat comes
        self.heard = self._since = self.listened_since = 0.0
        self._restarted = -settled  # when another process of the role was first heard
        self._other = ''  # another process of the same role at the same time
        self._other_heard = 0.0
        self._before: tuple[int, float] = (0, 0.0)  # the previous session, and when it ended

    def on_heartbeat(self, message: Heartbeat, now: float) -> None:
        """Process a heartbeat."""
        before, silent_since = self.message, self.heard
        if not self.alive:
            self._since = now
        self.message, self.alive, self.heard, self.unheard = message, True, now, False
        if before is None or before.session == message.session:
            return
        # It was restarted, unless the previous process still sends heartbeats.
        self._since = self._restarted = now
        session, ended = self._before
        self._before = (before.session, silent_since)
        if session == message.session and now - ended < self._settled:
            self._other, self._other_heard = before.node, now

    def blockers(self, role: str, now: float) -> str:
        """Return why it cannot be trusted, or ''."""
        if not self.alive or self.message is None:
            shown = ', although the graph shows it: it is stopped, or the middleware is deaf to it'
            return f'no sign of life from the {role} node{shown if self.unheard else ""}'
        if two := self._duplicate(role, now):
            return two
        if not self.message.ready:
            return f'the {role} node waits for {self.message.status}'
        there = now - self._since >= self._settled
        return '' if there else f'the {role} node has not been there for {self._settled:g} s'

    def restarted(self, role: str, now: float) -> str:
        """Return that it was recently replaced by another process, or ''."""
        again = now - self._restarted < self._settled
        return self._duplicate(role, now) or (
            f'the {role} node was started again' if again else ''
        )

    def _duplicate(self, role: str, now: float) -> str:
        if not self._other or now - self._other_heard >= self._settled or self.message is None:
            return ''
        return f'two {role} nodes: {self.message.node} and {self._other}'
