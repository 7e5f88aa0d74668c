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

"""What the process does once from which nodes are forked: imports, and what takes time as they do.

Nothing here makes a context of rclpy, a thread or a socket: a fork would not have it whole.
"""

import gc
import inspect
from importlib import import_module

from rclpy.type_support import check_for_type_support

NODES = ('scheduler', 'measurement', 'estimator', 'guard', 'simulated_robot', 'monitor')
MESSAGES = ('builtin_interfaces', 'diagnostic_msgs', 'geometry_msgs', 'nav_msgs',
            'rcl_interfaces', 'repsq_ros', 'rosgraph_msgs', 'sensor_msgs', 'std_msgs',
            'type_description_interfaces')  # fmt: skip
SERVICES = ('rcl_interfaces', 'std_srvs', 'type_description_interfaces')
WITH_A_PROPOSAL = 'scipy.special'  # what most specifications load

for module in ('pytest', 'support.forked', WITH_A_PROPOSAL):
    import_module(module)
for node in NODES:
    import_module(f'repsq_ros.nodes.{node}')
for package in MESSAGES:
    for kind in vars(import_module(f'{package}.msg')).values():
        if hasattr(kind, 'get_fields_and_field_types'):
            check_for_type_support(kind)
for package in SERVICES:
    for kind in vars(import_module(f'{package}.srv')).values():
        if hasattr(kind, 'Request'):
            check_for_type_support(kind)
inspect.getmodule(inspect.currentframe())  # the first line that a node logs looks at all modules
gc.collect()
gc.freeze()  # what is here already is never collected, and its pages are shared
