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

"""Child processes that always end with this one, since they may move a robot."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any

PR_SET_PDEATHSIG = 1
INTERRUPTED = 130  # exit code after Ctrl-C, as of a shell's commands


def run_to_its_end(command: Sequence[object], **options: Any) -> int:
    """Run a command; if this process is asked to end, interrupt the command by SIGINT first.

    :param options: of subprocess.Popen
    :returns: its exit code
    """
    process = start_dependent(command, **options)

    def pass_on(number: int, frame: FrameType | None) -> None:
        process.send_signal(signal.SIGINT)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def start_dependent(command: Sequence[object], **options: Any) -> subprocess.Popen[bytes]:
    """Start a command that the kernel interrupts when this process dies for any reason.

    :param options: of subprocess.Popen
    """
    return subprocess.Popen(
        [str(each) for each in command],
        preexec_fn=_end_with_parent,  # noqa: PLW1509 (no threads here)
        **options,
    )


def end(processes: Iterable[subprocess.Popen[bytes]], patience: float) -> None:
    """Interrupt processes and wait for all of them; kill each after `patience` [s]."""
    processes, until = list(processes), time.monotonic() + patience
    for process in processes:
        process.send_signal(signal.SIGINT)  # not sent to a process that has ended
    for process in processes:
        try:
            process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_with_parent() -> None:
    """Have the kernel interrupt this process when repsq dies for any reason (Linux)."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    except (OSError, AttributeError):
        return
    if os.getppid() == 1:
        os.kill(os.getpid(), signal.SIGINT)
