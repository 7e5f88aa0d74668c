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

"""Pictures of markers as RViz 2 draws them, by the program of test/rviz."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT
from visualization_msgs.msg import Marker

PROGRAM = ROOT / 'test' / 'rviz' / 'build' / 'draw_markers'
KINDS = {
    Marker.LINE_STRIP: 'strip',
    Marker.LINE_LIST: 'list',
    Marker.POINTS: 'squares',
    Marker.SPHERE_LIST: 'spheres',
}
MISSING = (
    f'{PROGRAM.relative_to(ROOT)} is not built (docs/development.md)'
    if not PROGRAM.is_file()
    else '' if shutil.which('xvfb-run') else 'xvfb-run is not installed'
)  # fmt: skip


@dataclass(frozen=True)
class Ink:
    """Where a text is drawn [pixels from the upper left corner]; right -1: nowhere."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True)
class Picture:
    """A picture to be drawn."""

    markers: list[Marker]
    file: Path
    width: int
    height: int


def scene_of(markers):
    """Return the lines that the program reads."""
    return '\n'.join(' '.join(map(str, _line(each))) for each in markers if each.action == 0)


def _line(marker):
    at, size, colour = marker.pose.position, marker.scale, _colour(marker.color)
    if marker.type == Marker.TEXT_VIEW_FACING:
        return ('text', at.x, at.y, at.z, size.z, size.x, *colour, marker.text)
    if marker.type == Marker.CUBE:
        return ('cube', at.x, at.y, at.z, size.x, size.y, size.z, *colour)
    points = [(each.x, each.y, each.z) for each in marker.points]
    if marker.type in (Marker.LINE_STRIP, Marker.LINE_LIST):
        width = (KINDS[marker.type], size.x, *colour, len(points))
        return (*width, *(number for point in points for number in point))
    dots = [
        number
        for point, own in zip(points, marker.colors, strict=True)
        for number in (*point, *_colour(own))
    ]
    return (KINDS[marker.type], size.x, size.y, size.z, len(points), *dots)


def _colour(colour):
    return (colour.r, colour.g, colour.b, colour.a)


def draw(pictures, distance):
    """Draw pictures as a camera so many metres above sees them; return the ink of their texts."""
    words = [str(PROGRAM), str(distance)]
    for each in pictures:
        scene = each.file.with_suffix('.scene')
        scene.write_text(scene_of(each.markers))
        words += [str(scene), str(each.file), str(each.width), str(each.height)]
    done = subprocess.run(
        ['xvfb-run', '-a', *words], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    inks = {each.file: [] for each in pictures}
    for line in done.stdout.splitlines():
        if line.startswith('ink '):
            scene, *box = line[4:].rsplit(' ', 4)
            inks[Path(scene).with_suffix('.png')].append(Ink(*map(int, box)))
    return [inks[each.file] for each in pictures]
