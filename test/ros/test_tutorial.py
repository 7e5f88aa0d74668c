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

"""docs/tutorial.md: its commands are run to the letter, and print what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

for needed in ('cryptography', 'jsonschema', 'jinja2', 'matplotlib'):
    pytest.importorskip(needed)

BLOCKS = re.findall(
    r'^```(sh|text)\n(.*?)^```$', (ROOT / 'docs' / 'tutorial.md').read_text(), re.M | re.S
)
SET_UP = 'make environment\nexport PATH="$PWD/.venv/bin:$PATH"\n'


def test_a_stranger_follows_the_tutorial(tmp_path):
    assert BLOCKS[0] == ('sh', SET_UP)  # done already: this runs in it
    (tmp_path / 'config').symlink_to(ROOT / 'config')
    found = shutil.which('repsq') or str(Path(sys.executable).with_name('repsq'))
    environment = {**os.environ, 'PATH': f'{Path(found).parent}{os.pathsep}{os.environ["PATH"]}'}
    printed = ''
    for kind, text in BLOCKS[1:]:
        if kind == 'sh':
            done = subprocess.run(
                ['bash', '-e', '-c', text], cwd=tmp_path, env=environment, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240,
            )  # fmt: skip
            printed = done.stdout
            assert done.returncode == 0, f'{text}\n{printed}'
        else:
            for line in text.splitlines():
                pattern = '.*'.join(map(re.escape, re.split(r' ?\.\.\. ?', line)))
                assert re.search(rf'^{pattern}', printed, re.M), f'{line}\n{printed}'
    assert (tmp_path / 'report.html').stat().st_size > 100_000
