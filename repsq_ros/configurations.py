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

"""Where the specifications and settings are that come with the package."""

from __future__ import annotations

from pathlib import Path

from repsq_ros.errors import MissingError

KNOWN = 'g1_locomotion.yaml'  # a file that tells this folder from others of its name


def configuration_folder() -> Path:
    """Return the folder `config` of a wheel, a checkout or a ROS workspace.

    :raises MissingError: the installation has none
    """
    package = Path(__file__).resolve().parent
    installed = [parent / 'share' / 'repsq_ros' / 'config' for parent in package.parents]
    for folder in (package / 'config', package.parent / 'config', *installed):
        if (folder / KNOWN).is_file():
            return folder
    raise MissingError(f'{package}: found no config/{KNOWN} with it, expected a full installation')
