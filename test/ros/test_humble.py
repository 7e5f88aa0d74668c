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

"""Nodes call nothing of rclpy that Humble's lacks, but in one file that branches.

test/data/rclpy_humble.json has the names that Humble's rclpy defines, read from its public
sources; what newer versions have besides is asked of the rclpy that is installed here.
"""

import ast
import json

import pytest
from conftest import ROOT

rclpy = pytest.importorskip('rclpy')

HUMBLE = json.loads((ROOT / 'test' / 'data' / 'rclpy_humble.json').read_text())
KNOWN = {name for module, names in HUMBLE.items() if module != 'source' for name in names}
BRANCHES = 'rclpy_versions.py'  # the file that may import what Humble calls otherwise
FILES = [
    path
    for path in sorted((ROOT / 'repsq_ros').rglob('*.py'))
    if 'rclpy' in path.read_text() and path.name != BRANCHES
]


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('rclpy'):
            yield from ((node.module, alias.name) for alias in node.names)


def newer_than_humble():
    """Return the members of the installed rclpy's classes that Humble's do not have."""
    from rclpy.clock import Clock
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.publisher import Publisher
    from rclpy.subscription import Subscription
    from rclpy.time import Time
    from rclpy.timer import Timer

    kinds = (Clock, SingleThreadedExecutor, Node, Publisher, Subscription, Time, Timer)
    members = {name for kind in kinds for name in dir(kind) if not name.startswith('_')}
    return members - KNOWN


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_what_is_imported_from_rclpy_is_there_in_humble(path):
    for module, name in imports(ast.parse(path.read_text())):
        assert module in HUMBLE, f'{path.name}: {module} is not in Humble'
        assert name in HUMBLE[module], f'{path.name}: {module}.{name} is not in Humble'


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_what_is_called_of_rclpy_is_there_in_humble(path):
    newer = newer_than_humble()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            assert node.attr not in newer, f'{path.name}:{node.lineno}: {node.attr}'


def test_there_are_calls_that_humble_lacks():
    """Else the test above could not fail."""
    assert 'get_publisher_count' in newer_than_humble()
    assert 'rclpy.event_handler' not in HUMBLE


def test_without_the_newer_call_the_topic_is_asked_for_its_publishers():
    from types import SimpleNamespace

    from repsq_ros.nodes.rclpy_versions import publisher_count

    node = SimpleNamespace(count_publishers={'/odom': 2}.get)
    assert publisher_count(node, SimpleNamespace(topic_name='/odom')) == 2
    newer = SimpleNamespace(topic_name='/odom', get_publisher_count=lambda: 1)
    assert publisher_count(node, newer) == 1
