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

"""Which recordings are meant by the folders and files of a command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repsq_ros.errors import BagError
from repsq_ros.recordings.contents import METADATA, is_storage


def bags_in(paths: Sequence[Path]) -> list[Path]:
    """Return the recordings: what is named itself, and those in folders that hold several.

    In the order of the paths, and by name within a folder; each once.

    :raises BagError: a folder holds none
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir() or (path / METADATA).exists() or any(map(is_storage, path.iterdir())):
            found.append(path)
            continue
        # One of ROS 1 is a file; a folder of them is no recording.
        below = sorted([*(each.parent for each in path.rglob(METADATA)), *path.rglob('*.bag')])
        if not below:
            raise BagError(
                f'{path}: found no {METADATA} in it or below it, expected at least one recording'
            )
        found += below
    return list(dict.fromkeys(found))
