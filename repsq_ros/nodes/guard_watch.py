"""The scheduler's view of the guard: whether it watches, and whether it has taken over."""

from __future__ import annotations

from collections.abc import Callable

from std_msgs.msg import Bool

from repsq_ros import topics
from repsq_ros.nodes.peers import Peers


class GuardWatch:
    """Hears what the guard says of itself.

    :param wanted: false: the campaign runs without a guard
    :param on_takeover: called with the reason when the guard, for want of a sign of life of the
        scheduler, has sent zero: whatever is measured meanwhile is not what was commanded
    """

    def __init__(self, peers: Peers, wanted: bool, on_takeover: Callable[[str], None]) -> None:
        self._peers, self._wanted, self._on_takeover = peers, wanted, on_takeover
        self._watches = False
        if wanted:
            peers.watch(Bool, topics.GUARD, self._hear, 'guard')

    @property
    def there(self) -> bool:
        """True once it watches, or where none is wanted."""
        return not self._wanted or (self._watches and self._peers.lives('guard'))

    def _hear(self, message: Bool) -> None:
        before, self._watches = self._watches, bool(message.data)
        if before and not self._watches:
            self._on_takeover('the guard had no sign of life from the scheduler, and sent zero')
