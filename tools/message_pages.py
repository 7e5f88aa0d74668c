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


"""Write docs/messages.md from the comments in msg/*.msg.

    python3 tools/message_pages.py

Only the standard library is used here. A test holds the page against the messages.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'messages.md'
HEAD = """\
# Messages

Made of `msg/*.msg` by `tools/message_pages.py`. Units are in square brackets.
`ros2 interface show repsq_ros/msg/NAME` shows the same text.
"""


def page() -> str:
    """Return the page: a section for each message, with a table of its fields."""
    sections = [_section(path) for path in sorted((ROOT / 'msg').glob('*.msg'))]
    return '\n'.join([HEAD, *sections])


def _section(path: Path) -> str:
    about, rows = [], []
    for line in path.read_text().splitlines():
        declared, _, comment = line.partition('#')
        text = comment.strip().replace('|', '\\|')
        if declared.strip():
            kind, name = declared.split(maxsplit=1)
            rows.append(f'| `{name.strip()}` | `{kind}` | {text} |')
        elif text and not rows:
            about.append(text)
    table = ['| field | type | meaning |', '|---|---|---|', *rows]
    return '\n'.join([f'## {path.stem}', '', ' '.join(about), '', *table, ''])


if __name__ == '__main__':
    PAGE.write_text(page())
