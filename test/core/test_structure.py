"""The house stays easy to walk through: imports run one way, files stay short."""

import ast
import re

import pytest
from conftest import ROOT

PACKAGE = ROOT / 'repsq_ros'

# Each room may import from those listed; the last part of a name may be a single file.
LEAVES = {'errors', 'timebase', 'seeds', 'topics', ''}
ROOMS = {
    'sampling': LEAVES,
    'estimation': LEAVES,
    'measurement': LEAVES,
    'subjects': LEAVES,
    'protocols': LEAVES | {'sampling'},
    'specification': LEAVES | {'sampling', 'estimation', 'measurement', 'protocols'},
    'campaign': LEAVES | {'sampling', 'estimation', 'measurement', 'protocols', 'subjects',
                          'specification'},
    'studies': LEAVES | {'sampling', 'estimation', 'measurement', 'specification', 'campaign',
                         'subjects'},
    'messages': LEAVES | {'campaign', 'measurement', 'protocols', 'sampling'},
    'sensor_messages': LEAVES | {'measurement'},
    'replay': LEAVES | {'campaign', 'measurement', 'sampling', 'specification', 'messages',
                        'sensor_messages'},
    'nodes': LEAVES | {'sampling', 'estimation', 'measurement', 'protocols', 'subjects',
                       'specification', 'campaign', 'messages', 'sensor_messages', 'msg'},
    'console': LEAVES | {'sampling', 'estimation', 'measurement', 'subjects', 'specification',
                         'campaign', 'replay', 'sensor_messages', 'nodes', 'studies'},
    'cli': LEAVES | {'console'},
    'errors': set(), 'timebase': set(), 'seeds': set(), 'topics': set(),
}  # fmt: skip
FILES = sorted(PACKAGE.rglob('*.py'))


def room_of(path):
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix('.py')


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)


@pytest.mark.parametrize('path', FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    room = room_of(path)
    if room == '__init__':
        return
    for module, names in imported(path):
        top, _, rest = module.partition('.')
        if top == 'repsq_ros':
            targets = (
                [rest.split('.')[0]]
                if rest
                else [name if name != '__version__' else '' for name in names]
            )
            for target in targets:
                assert target == room or target in ROOMS[room], f'{module} in {path.name}'
        elif room != 'nodes':
            assert top not in {'rclpy', 'geometry_msgs', 'nav_msgs', 'std_msgs',
                               'visualization_msgs', 'builtin_interfaces'}, module  # fmt: skip


@pytest.mark.parametrize('path', FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_stay_short(path):
    assert len(path.read_text().splitlines()) <= 300


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
    for path in sorted((PACKAGE / 'nodes').glob('*.py')):
        for module, _ in imported(path):
            top, *rest = module.split('.')
            if rest and rest[0] in ('msg', 'srv') and top != 'repsq_ros':
                assert top in declared, f'{top} in {path.name}'
