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

"""Shared memory left by killed Fast DDS processes: segments whose lock nobody holds."""

from __future__ import annotations

import fcntl
from pathlib import Path

SHARED_MEMORY = Path('/dev/shm')
NAME = 'fastrtps_'
LOCKS = ('_el', '_sl')  # exclusive and shared


def left_over(folder: Path = SHARED_MEMORY) -> list[str]:
    """Return the names of segments and ports that no process uses any more."""
    if not folder.is_dir():
        return []
    names = {each.name for each in folder.iterdir() if each.name.startswith(NAME)}
    owned = {name for name in names if name[-3:] not in LOCKS}
    return sorted(name for name in owned if not _held(folder, name))


def clear(folder: Path = SHARED_MEMORY) -> int:
    """Remove what is left over; return the number of segments and ports."""
    found = left_over(folder)
    for name in found:
        for each in (name, *(f'{name}{lock}' for lock in LOCKS), f'sem.{name}_mutex'):
            (folder / each).unlink(missing_ok=True)
    return len(found)


def _held(folder: Path, name: str) -> bool:
    """Tell whether a process holds the lock; segments without a lock file count as held."""
    files = [folder / f'{name}{lock}' for lock in LOCKS]
    locks = [each for each in files if each.exists()]
    for each in locks:
        try:
            with each.open('rb+') as opened:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # locked, or of another user
            return True
    return not locks
