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

"""A node that overwrites an attribute of rclpy's Node breaks in places far away."""

import ast

import pytest
import rclpy
from conftest import ROOT
from rclpy.node import Node

FILES = sorted((ROOT / 'repsq_ros' / 'nodes').glob('*.py'))


@pytest.fixture(scope='module')
def taken():
    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node('probe', context=context)
    names = set(vars(node)) | set(dir(Node))
    node.destroy_node()
    rclpy.shutdown(context=context)
    return names


@pytest.mark.parametrize('path', FILES, ids=lambda p: p.name)
def test_no_attribute_of_rclpys_node_is_overwritten(path, taken):
    source = path.read_text()
    for cls in ast.walk(ast.parse(source)):
        if not isinstance(cls, ast.ClassDef) or not any(
            isinstance(base, ast.Name) and base.id in ('CampaignNode', 'Observer', 'Node')
            for base in cls.bases
        ):
            continue
        functions = {f.name for f in cls.body if isinstance(f, ast.FunctionDef)}
        defined = {name for name in functions if f'super().{name}(' not in source}  # extended
        for node in ast.walk(cls):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == 'self'
            ):
                defined.add(node.attr)
        assert not defined & taken, f'{cls.name}: {sorted(defined & taken)}'
