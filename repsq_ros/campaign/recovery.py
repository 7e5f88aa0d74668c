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

"""Whether a campaign that was held resumes by itself: not too often, and not for ever."""

from __future__ import annotations

from collections import deque


class Recovery:
    """Counts interruptions, and decides when a person has to be asked. Times are steady [s].

    :param limit: interruptions within the span after which the campaign still resumes by itself
    :param span: [s]
    :param patience: [s] that what was lost may take to come back
    """

    def __init__(self, limit: int, span: float, patience: float) -> None:
        self._limit, self._span, self._patience = limit, span, patience
        self._at: deque[float] = deque()
        self.under_way = False

    def begin(self, now: float) -> str:
        """Note an interruption.

        :returns: why a person has to be asked this time, or ''
        """
        while self._at and now - self._at[0] >= self._span:
            self._at.popleft()
        self._at.append(now)
        self.under_way = len(self._at) <= self._limit
        if self.under_way:
            return ''
        return f'this was number {len(self._at)} of its kind within {self._span:g} s'

    def overdue(self, now: float) -> str:
        """Return for how long what was lost has been missing, if that is too long; else ''."""
        lasts = self.under_way and now - self._at[-1] > self._patience
        return f'for {self._patience:g} s now' if lasts else ''

    def end(self) -> None:
        """Note that the campaign goes on, or that somebody takes over."""
        self.under_way = False
