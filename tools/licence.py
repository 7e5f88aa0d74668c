#!/usr/bin/env python3
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

"""Put the licence's header on each file of Python or C that lacks it, as ament_copyright wants it.

    python3 tools/licence.py [FOLDER]

FOLDER: the package; this one by default. Only the standard library is used here.
"""

from __future__ import annotations

import sys
from pathlib import Path

HEADER = """\
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

"""
COMMENT = {'.py': '#', '.c': '//'}
FOLDERS = ('repsq_ros', 'launch', 'test', 'tools', 'benchmarks')


def sources(root: Path) -> list[Path]:
    """List the package's files; an empty one says nothing that could be licensed."""
    found = [root / 'setup.py']
    for folder in FOLDERS:
        found += sorted(path for end in COMMENT for path in (root / folder).rglob(f'*{end}'))
    return [path for path in found if path.is_file() and path.stat().st_size]


def header_of(path: Path) -> str:
    """Return the header as comments of the file's language."""
    return HEADER.replace('#', COMMENT[path.suffix])


def lacks_header(path: Path) -> bool:
    """Tell whether anything but the header follows the line of the interpreter."""
    return not _body(path.read_text())[1].startswith(header_of(path))


def add_header(path: Path) -> None:
    """Put the header before everything but the line of the interpreter."""
    first, rest = _body(path.read_text())
    path.write_text(first + header_of(path) + rest)


def _body(text: str) -> tuple[str, str]:
    """Return the line of the interpreter, if there is one, and the rest."""
    if not text.startswith('#!'):
        return '', text
    first, _, rest = text.partition('\n')
    return f'{first}\n', rest


if __name__ == '__main__':
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    for file in sources(folder):
        if lacks_header(file):
            add_header(file)
            print(file)
