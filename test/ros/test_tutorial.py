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
from support.graph import domain_of_its_own

for needed in ('cryptography', 'jsonschema', 'jinja2', 'matplotlib'):
    pytest.importorskip(needed)

BLOCKS = re.findall(
    r'^```(sh|text)\n(.*?)^```$', (ROOT / 'docs' / 'tutorial.md').read_text(), re.M | re.S
)
SET_UP = 'make environment\nexport PATH="$PWD/.venv/bin:$PATH"\n'


NUMBER = r'\\d[\\d.e-]*'


def wanted(line, undisturbed):
    """Return the pattern of a line that the tutorial shows; `...` stands for anything."""
    pattern = '.*'.join(map(re.escape, re.split(r' ?\.\.\. ?', line)))
    if undisturbed:
        return f'^{pattern}'
    # An attempt that a busy machine has broken off widens the interval: other numbers then.
    return '^' + re.sub(r'\d+(\\\.\d+)?', NUMBER, pattern)


def test_a_stranger_follows_the_tutorial(tmp_path):
    assert BLOCKS[0] == ('sh', SET_UP)  # done already: this runs in it
    (tmp_path / 'config').symlink_to(ROOT / 'config')
    found = shutil.which('repsq') or str(Path(sys.executable).with_name('repsq'))
    printed, undisturbed = '', True
    with domain_of_its_own() as domain:
        environment = {
            **os.environ, 'PATH': f'{Path(found).parent}{os.pathsep}{os.environ["PATH"]}',
            'ROS_DOMAIN_ID': str(domain),
        }  # fmt: skip
        for kind, text in BLOCKS[1:]:
            if kind == 'sh':
                done = subprocess.run(
                    ['bash', '-e', '-c', text], cwd=tmp_path, env=environment, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240,
                )  # fmt: skip
                printed = done.stdout
                assert done.returncode == 0, f'{text}\n{printed}'
                undisturbed &= not re.search(r'INVALID, [1-9]\d* broken off', printed)
            else:
                for line in text.splitlines():
                    pattern = wanted(line, undisturbed)
                    assert re.search(pattern, printed, re.M), f'{line}\n{printed}'
    assert (tmp_path / 'report.html').stat().st_size > 100_000


def test_a_number_of_the_tutorial_that_is_wrong_is_seen():
    line = 'estimate  0.50 +- 0.04 from 65 tests, ...'
    printed = 'estimate  0.51 +- 0.04 from 69 tests, 0 INVALID'
    assert not re.search(wanted(line, True), printed)
    assert re.search(wanted(line, False), printed)
    assert not re.search(wanted(line, False), printed.replace('tests', 'cases'))
