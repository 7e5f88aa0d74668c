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

"""The rules of the house, as functions that tell what breaks them in a package."""

import ast
from collections import defaultdict
from functools import cache

ROS = {
    'rclpy', 'launch', 'launch_ros', 'builtin_interfaces', 'diagnostic_msgs', 'geometry_msgs',
    'nav_msgs', 'rcl_interfaces', 'rosgraph_msgs', 'sensor_msgs', 'std_msgs', 'std_srvs',
    'visualization_msgs',
}  # fmt: skip
LONGEST = 400  # lines; the idea decides where a file ends, not this number


def room_of(package, path):
    """Return the first folder of a file below the package, however deep it lies, or its name."""
    return path.relative_to(package).parts[0].removesuffix('.py')


@cache
def _nodes(text):
    """Return the imports and the classes of a text in Python: each rule looks at all files."""
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef)
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def imported(path):
    """Give each module that a file imports, with the names taken from it; '.' if relative."""
    for node in _nodes(path.read_text()):
        if isinstance(node, ast.ImportFrom):
            yield '.' * node.level + (node.module or ''), [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)


def targets(package, path):
    """Give the rooms of the package that a file imports from; '' is the package itself."""
    for module, names in imported(path):
        top, _, rest = module.partition('.')
        if module.startswith('.'):
            yield module
        elif top == package.name and rest:
            yield rest.split('.')[0]
        elif top == package.name:
            yield from ('' if name == '__version__' else name for name in names or [''])


def files_of(package):
    return sorted(package.rglob('*.py'))


def upward_imports(package, rooms):
    """Tell of imports that a room may not make.

    :param rooms: from which other rooms each may import
    """
    for path in files_of(package):
        room = room_of(package, path)
        if path == package / '__init__.py':
            continue
        if room not in rooms:
            yield f'{path.relative_to(package)}: room {room} stands on no floor'
            continue
        for target in targets(package, path):
            if target != room and target not in rooms[room]:
                yield f'{path.relative_to(package)}: {room} may not import {target!r}'


def rooms_out_of_order(floors, rooms):
    """Tell of rooms that may import from their own floor or from one above.

    :param floors: the rooms of each floor, the highest first
    """
    height = {room: -number for number, floor in enumerate(floors) for room in floor}
    for room in rooms.keys() ^ height.keys():
        yield f'{room} stands in one list only'
    for room, below in rooms.items():
        for other in below & height.keys():
            if room in height and height[other] >= height[room]:
                yield f'{room} may import {other}, which does not stand below it'


def ros_imports(package, allowed):
    """Tell of files that import ROS, other than those of the rooms (or files) that may."""
    for path in files_of(package):
        name = str(path.relative_to(package))
        if room_of(package, path) in allowed or name in allowed:
            continue
        for module, _ in imported(path):
            if module.split('.')[0] in ROS:
                yield f'{name}: imports {module}'


def topic_imports(package, rooms):
    """Tell of files of some rooms that know topics."""
    for path in files_of(package):
        if room_of(package, path) in rooms and 'topics' in targets(package, path):
            yield str(path.relative_to(package))


def classes_of_one_name(package):
    """Tell of names that two classes share; a leading underscore makes no other name."""
    found = defaultdict(set)
    for path in files_of(package):
        for node in _nodes(path.read_text()):
            if isinstance(node, ast.ClassDef):
                found[node.name.lstrip('_')].add((path, node.lineno))
    return {name for name, places in found.items() if len(places) > 1}


def files_of_one_name(package):
    """Tell of names that two files share."""
    found = defaultdict(list)
    for path in files_of(package):
        found[path.name].append(path)
    return {name for name, paths in found.items() if len(paths) > 1} - {'__init__.py'}


def length(path):
    """Count the lines of a file without the licence that it begins with."""
    lines = path.read_text().splitlines()
    while lines and lines[0].startswith('#'):
        lines.pop(0)
    return len(lines)


def long_files(package):
    """Tell of files that are too long to be read at one go."""
    for path in files_of(package):
        if length(path) > LONGEST:
            yield f'{path.relative_to(package)}: {length(path)} lines'
