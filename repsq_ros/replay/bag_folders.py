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

"""The recordings that the folders and files of a command line stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repsq_ros.errors import BagError
from repsq_ros.recordings.contents import METADATA, is_storage


def bags_in(paths: Sequence[Path]) -> list[Path]:
    """Return the recordings: those named directly, and those inside of named folders.

    In the order of the paths, by name within a folder, without duplicates.

    :raises BagError: a folder has none
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir() or (path / METADATA).exists() or any(map(is_storage, path.iterdir())):
            found.append(path)
            continue
        # Recordings of ROS 1 are files, so a folder of them is searched.
        below = sorted([*(each.parent for each in path.rglob(METADATA)), *path.rglob('*.bag')])
        if not below:
            raise BagError(
                f'{path}: found no {METADATA} in it or below it, expected at least one recording'
            )
        found += below
    return list(dict.fromkeys(found))
