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

"""The measured window of a phase: the same online, in replay and in simulation."""

from __future__ import annotations

from repsq_ros.measurement.window import Window
from repsq_ros.protocols.phases import Span


def window_of(span: Span) -> Window | None:
    """Return the measured window of a phase with its command; None if the phase has none."""
    if span.window is None:
        return None
    began_ns = span.start_ns if span.command_ns is None else span.command_ns
    return Window(*span.window, span.command, began_ns)
