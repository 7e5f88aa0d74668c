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

"""Repeatable measures of robot performance by statistical query, on ROS 2."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _installed_version
from pkgutil import extend_path

# The messages are generated into an installed folder of the same name: where the sources are found
# first (a checkout, pip install -e), this lets `repsq_ros.msg` be found beside them.
__path__ = extend_path(__path__, __name__)

try:
    __version__ = _installed_version('repsq_ros')
except PackageNotFoundError:  # the sources alone, neither built nor installed
    __version__ = '0+unknown'
