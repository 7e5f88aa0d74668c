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

"""Write the type hashes of the messages as built (REP-2011, RIHS01) to msg/type_hashes.json.

    .venv/bin/with_repsq python3 tools/message_hashes.py

A released version's hashes are never written again: who changes a message of it raises the
version in package.xml first. A version is released once CHANGELOG.rst gives its date.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / 'msg' / 'type_hashes.json'


def version() -> str:
    """Return the version in package.xml."""
    return ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version') or ''


def released() -> set[str]:
    """Return the versions to which CHANGELOG.rst gives a date."""
    heads = r'^(\S+) \(\d{4}-\d\d-\d\d\)\n-+$'
    return set(re.findall(heads, (ROOT / 'CHANGELOG.rst').read_text(), re.MULTILINE))


def built() -> dict[str, str]:
    """Return the hash of each message as built; empty: there is no build that says them."""
    prefixes = [sys.prefix, *os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)]
    found = (Path(prefix) / 'share' / 'repsq_ros' / 'msg' for prefix in prefixes if prefix)
    folder = next(filter(Path.is_dir, found), None)
    if folder is None:
        return {}
    hashes = {}
    for message in sorted((ROOT / 'msg').glob('*.msg')):
        described = folder / f'{message.stem}.json'
        if described.is_file():
            for each in json.loads(described.read_text())['type_hashes']:
                if each['type_name'] == f'repsq_ros/msg/{message.stem}':
                    hashes[message.stem] = each['hash_string']
    return hashes


def main() -> int:
    """Write the hashes of this version; 1 where that would change a released one."""
    record, now, found = json.loads(RECORD.read_text()), version(), built()
    if not found:
        sys.exit('message_hashes: no built messages found, expected a sourced environment')
    if now in record and now in released() and record[now] != found:
        sys.exit(f'message_hashes: {now} is released: raise the version in package.xml first')
    RECORD.write_text(json.dumps({**record, now: found}, indent=2) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
