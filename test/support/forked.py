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

"""The nodes' processes, forked from one that has done the imports: half the time of a test."""

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from multiprocessing import forkserver
from pathlib import Path

from pytest import MonkeyPatch

from repsq_ros.console.processes import ProcessGroup

FORKS = multiprocessing.get_context('forkserver')


def start_server():
    """Start the process that nodes are forked from, which finds `support.warmed`."""
    FORKS.set_forkserver_preload(['support.warmed'])
    folder = str(Path(__file__).parent.parent)
    with MonkeyPatch.context() as patch:
        patch.setenv('PYTHONPATH', folder, prepend=os.pathsep)
        forkserver.ensure_running()


def _end_with_test():
    """Die with the process of the test: a node left over disturbs each test on its domain."""
    multiprocessing.parent_process().join()
    os.kill(os.getpid(), signal.SIGKILL)


def _work(module, arguments, log, environment):
    """Be the process of a node, as `python -m module arguments` would."""
    threading.Thread(target=_end_with_test, daemon=True).start()
    os.setsid()
    for number, file in ((0, os.devnull), (1, log), (2, log)):
        descriptor = os.open(file, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    sys.exit(importlib.import_module(module).main())


class ForkedProcess:
    """A forked process with the face of a subprocess.Popen."""

    def __init__(self, module, arguments, log):
        start_server()
        self._process = FORKS.Process(
            target=_work, args=(module, arguments, log, dict(os.environ))
        )
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout)
        return self._process.exitcode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


# What a process has to find when it starts, and cannot be given later.
PATHS = ('LD_PRELOAD', 'LD_LIBRARY_PATH', 'PYTHONPATH')
BEFORE = {name: os.environ.get(name) for name in PATHS}


def can_fork():
    """Tell whether a process would find what it has to find, were it forked."""
    return all(os.environ.get(name) == BEFORE[name] for name in PATHS)


class ForkedGroup(ProcessGroup):
    """Nodes of a test."""

    def _run(self, module, arguments, log):
        if not can_fork():
            return super()._run(module, arguments, log)
        return ForkedProcess(module, arguments, log.name)
