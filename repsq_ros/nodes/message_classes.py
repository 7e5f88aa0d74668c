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

"""Message classes by the names of their types."""

from __future__ import annotations

import importlib
import os

from repsq_ros.errors import MissingError


def message_class(name: str) -> type:
    """Return the class of a message type.

    :param name: as in `ros2 interface show`, e.g. geometry_msgs/msg/PoseStamped
    :raises MissingError: its package is not installed, or has no such message
    """
    package, _, kind = name.partition('/msg/')
    try:
        module = importlib.import_module(f'{package}.msg')
    except ImportError:
        debian = f'ros-{os.environ.get("ROS_DISTRO") or "jazzy"}-{package.replace("_", "-")}'
        raise MissingError(
            f'the input is {name}, but {package} is not installed here: apt install {debian}, or '
            'build it and source its workspace'
        ) from None
    found = getattr(module, kind, None)
    if found is None:
        raise MissingError(f'{package} is installed, but has no message {kind}')
    return found  # type: ignore[no-any-return]
