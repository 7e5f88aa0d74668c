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

"""Ending a process even if the middleware hangs."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager

SIGEV_THREAD = 2  # of signal.h


class _SignalEvent(ctypes.Structure):
    """`struct sigevent` of 64-bit Linux."""

    _fields_ = (
        ('value', ctypes.c_void_p), ('number', ctypes.c_int), ('notify', ctypes.c_int),
        ('function', ctypes.c_void_p), ('rest', ctypes.c_byte * 40),
    )  # fmt: skip


@contextmanager
def exits_within(seconds: float, code: int) -> Iterator[None]:
    """End this process with an exit code if a block takes longer than some seconds.

    Fast DDS waits for callbacks that run when a participant is destroyed. As built for the wheels
    of Jazzy, it waits for ever where another participant leaves at that instant, and Python waits
    with it. Only a timer of the C library can end the process then.
    """
    library = ctypes.CDLL(None)
    leave = ctypes.cast(library._exit, ctypes.c_void_p)
    event = _SignalEvent(value=code, notify=SIGEV_THREAD, function=leave)
    timer = ctypes.c_void_p()
    library.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer))
    whole, rest = divmod(round(seconds * 1e9), 1_000_000_000)
    once = (ctypes.c_long * 4)(0, 0, whole, rest)  # struct itimerspec
    library.timer_settime(timer, 0, once, None)
    try:
        yield
    finally:
        library.timer_delete(timer)
