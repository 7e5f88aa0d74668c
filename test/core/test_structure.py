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

"""The house stays easy to walk through: imports run one way, one name means one thing."""

import ast
import re

import pytest
from conftest import ROOT
from support import house

PACKAGE = ROOT / 'repsq_ros'

# As docs/development.md draws them: each room imports only from floors below its own.
FLOORS = [
    ['cli', 'api'],
    ['console'],
    ['report', 'paper', 'launching'],
    ['studies', 'certificate'],
    ['nodes', 'replay'],
    ['simulation', 'recordings'],
    ['messages', 'views'],
    ['campaign'],
    ['specification'],
    ['protocols', 'auditing', 'iso9283'],
    ['sampling', 'estimation', 'measurement'],
    ['keys', 'configurations'],
    ['errors', 'timebase', 'seeds', 'digests', 'topics', 'special', 'json_answer'],
]
LEAVES = {*FLOORS[-1], 'keys', ''}
CORE = {room for floor in FLOORS[7:-2] for room in floor} | {
    'simulation', 'studies', 'certificate', 'report', 'views'
}  # fmt: skip

# From which rooms each may import: fewer than the floors would allow.
ROOMS = {
    **{leaf: set() for leaf in FLOORS[-1]},
    'keys': {'timebase'},
    'sampling': LEAVES,
    'estimation': LEAVES,
    'measurement': LEAVES,
    'protocols': LEAVES | {'sampling', 'measurement'},
    'specification': LEAVES | {'sampling', 'estimation', 'measurement', 'protocols'},
    'campaign': LEAVES | {'sampling', 'estimation', 'measurement', 'protocols', 'specification'},
    'messages': LEAVES | {'campaign', 'measurement', 'protocols', 'sampling'},
    'certificate': LEAVES | {'estimation', 'sampling', 'specification', 'campaign'},
    'report': (
        LEAVES
        | {'sampling', 'estimation', 'measurement', 'specification', 'campaign', 'certificate'}
    ),
    'auditing': LEAVES | {'measurement'},
    'recordings': LEAVES | {'measurement', 'messages', 'auditing'},
    'views': (LEAVES | {'sampling', 'measurement', 'protocols', 'specification', 'campaign'}),
    'simulation': LEAVES | {'measurement', 'protocols', 'specification', 'campaign'},
    'studies': (
        LEAVES
        | {
            'sampling',
            'estimation',
            'measurement',
            'specification',
            'campaign',
            'simulation',
        }
    ),
    'paper': (
        LEAVES
        | {'sampling', 'estimation', 'measurement', 'specification', 'campaign', 'simulation'}
        | {'studies', 'configurations', 'protocols'}
    ),
    'iso9283': LEAVES | {'measurement'},
    'launching': LEAVES | {'simulation', 'specification', 'campaign', 'certificate'},
    'replay': (
        LEAVES
        | {'sampling', 'measurement', 'protocols', 'specification', 'campaign', 'messages'}
        | {'recordings', 'auditing'}
    ),
    'nodes': (
        LEAVES
        | {'sampling', 'estimation', 'measurement', 'protocols', 'simulation', 'specification'}
        | {'campaign', 'messages', 'msg', 'views', 'auditing'}
    ),
    'console': (
        LEAVES
        | {'sampling', 'estimation', 'measurement', 'simulation', 'specification', 'campaign'}
        | {'replay', 'recordings', 'messages', 'nodes', 'studies', 'launching', 'protocols'}
        | {'certificate', 'report', 'views', 'auditing', 'paper', 'iso9283', 'configurations'}
    ),
    'configurations': {'errors'},
    'cli': LEAVES | {'console', 'configurations'},
    'api': (
        LEAVES | {'sampling', 'measurement', 'simulation', 'specification', 'campaign', 'iso9283'}
    ),
}


def test_imports_run_one_way():
    assert not list(house.upward_imports(PACKAGE, ROOMS))


def test_every_room_imports_from_floors_below():
    assert not list(house.rooms_out_of_order(FLOORS, ROOMS))


def test_the_house_is_drawn_as_it_stands():
    text = (ROOT / 'docs' / 'development.md').read_text()
    drawing = re.search(r'```\n(cli\.py.*?)```', text, re.DOTALL)[1]
    drawn = re.findall(r'(?:(?<=^)|(?<= )|(?<=\n))(\w+)(?:/|\.py)', drawing)
    assert drawn == [room for floor in FLOORS for room in floor]


def test_only_nodes_and_launch_know_ros():
    assert not list(house.ros_imports(PACKAGE, {'nodes', 'launching/actions.py'}))


def test_no_core_room_knows_topics():
    assert not list(house.topic_imports(PACKAGE, CORE))


def test_no_two_classes_have_one_name():
    assert not house.classes_of_one_name(PACKAGE)


def test_no_two_files_have_one_name():
    assert not house.files_of_one_name(PACKAGE)


def test_files_stay_short():
    assert not list(house.long_files(PACKAGE))


def test_all_watches_share_one_face():
    """Look at it; what speaks against moving, as a list of sentences."""
    for path in sorted((PACKAGE / 'nodes' / 'watches').glob('[a-z]*.py')):
        faces = [
            {each.name: ast.unparse(each.returns) for each in node.body
             if isinstance(each, ast.FunctionDef) and each.returns}
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ClassDef) and not node.name.startswith('_')
        ]  # fmt: skip
        assert len(faces) == 1, f'{path.name}: one watch in a file'
        assert 'look' in faces[0], path.name
        assert faces[0].get('blockers') == 'list[str]', path.name


@pytest.fixture
def made(tmp_path):
    """Write a small package."""

    def maker(**files):
        package = tmp_path / 'repsq_ros'
        for name, text in files.items():
            path = package / f'{name.replace("__in__", "/")}.py'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return package

    return maker


@pytest.mark.parametrize(
    'statement',
    ['from repsq_ros.nodes.qos import RECORD', 'import repsq_ros.nodes', 'from .. import nodes',
     'from repsq_ros import nodes', 'def f():\n    from repsq_ros.nodes import qos'],
)  # fmt: skip
def test_an_import_upwards_is_seen_in_any_folder(made, statement):
    package = made(sampling__in__deeper__in__file=statement)
    assert list(house.upward_imports(package, ROOMS))


@pytest.mark.parametrize(
    'statement', ['from repsq_ros.sampling.box import Box', 'from repsq_ros import __version__',
                  'import numpy', 'from repsq_ros.sampling.deeper import file'],
)  # fmt: skip
def test_an_import_within_the_room_or_downwards_is_none_upwards(made, statement):
    package = made(sampling__in__deeper__in__file=statement, protocols__in__file=statement)
    assert not list(house.upward_imports(package, ROOMS | {'protocols': {'sampling', ''}}))


def test_a_room_on_no_floor_is_seen(made):
    assert list(house.upward_imports(made(attic__in__file=''), ROOMS))
    assert list(house.rooms_out_of_order(FLOORS, ROOMS | {'attic': set()}))
    assert list(house.rooms_out_of_order([*FLOORS, ['cellar']], ROOMS))


def test_a_room_that_may_import_from_its_own_floor_or_above_is_seen():
    assert list(house.rooms_out_of_order(FLOORS, ROOMS | {'sampling': {'estimation'}}))
    assert list(house.rooms_out_of_order(FLOORS, ROOMS | {'sampling': {'campaign'}}))


def test_ros_in_the_core_is_seen(made):
    package = made(
        sampling__in__deeper__in__file='import rclpy.node',
        campaign__in__file='from geometry_msgs.msg import Twist',
        nodes__in__file='import rclpy',
    )
    assert len(list(house.ros_imports(package, {'nodes'}))) == 2


@pytest.mark.parametrize(
    'statement', ['from repsq_ros import topics', 'from repsq_ros.topics import GUARD']
)
def test_a_core_room_that_knows_topics_is_seen(made, statement):
    package = made(sampling__in__deeper__in__file=statement, nodes__in__file=statement)
    assert set(house.topic_imports(package, CORE)) == {'sampling/deeper/file.py'}


def test_two_classes_of_one_name_are_seen(made):
    package = made(
        sampling__in__a='class Pose: ...\nclass Other: ...',
        nodes__in__deeper__in__b='def f():\n    class _Pose: ...',
    )
    assert house.classes_of_one_name(package) == {'Pose'}


def test_two_files_of_one_name_are_seen(made):
    package = made(
        sampling__in__a='', sampling__in____init__='', nodes__in__deeper__in__a='',
        nodes__in____init__='', nodes__in__b='',
    )  # fmt: skip
    assert house.files_of_one_name(package) == {'a.py'}


def test_a_long_file_is_seen(made):
    licence = '# Licence\n' * 20
    package = made(
        sampling__in__deeper__in__longer=licence + 'x = 1\n' * 401,
        sampling__in__short=licence + 'x = 1\n' * 400,
    )
    assert list(house.long_files(package)) == ['sampling/deeper/longer.py: 401 lines']


@pytest.mark.parametrize('path', sorted((ROOT / 'msg').glob('*.msg')), ids=lambda p: p.name)
def test_every_field_of_a_message_has_a_comment(path):
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            assert re.match(r'^\S+ \S+ +# \S', line), f'{path.name}: {line}'


def test_every_float_field_names_its_unit():
    for path in (ROOT / 'msg').glob('*.msg'):
        for line in path.read_text().splitlines():
            if line.startswith(('float64', 'uint32 n', 'uint32 samples')):
                assert re.search(r'\[.+\]|in (those|the) units', line), f'{path.name}: {line}'


def test_name_version_and_entry_points_stand_in_one_place():
    """package.xml names and numbers the package, setup.cfg lists what can be started."""
    for file in ('setup.py', 'setup.cfg', 'CMakeLists.txt'):
        text = (ROOT / file).read_text()
        assert not re.search(r'^version\s*=|version=.\d', text, re.MULTILINE), file
    assert 'repsq_ros.nodes.scheduler' not in (ROOT / 'CMakeLists.txt').read_text()


def test_every_ros_package_that_a_node_imports_is_declared():
    declared = re.findall(r'<\w*depend>([\w]+)</\w*depend>', (ROOT / 'package.xml').read_text())
    for path in sorted((PACKAGE / 'nodes').rglob('*.py')):
        for module, _ in house.imported(path):
            top, *rest = module.split('.')
            if rest and rest[0] in ('msg', 'srv') and top != 'repsq_ros':
                assert top in declared, f'{top} in {path.name}'
