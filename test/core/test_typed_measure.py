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

"""A measure of one's own that is typed as documented: mypy says what is missing.

`make test` checks the whole package meanwhile, a third of a minute. This file is one of the last,
so that it finds in mypy's cache what the linters have left there, and takes half a second.
"""

import re
import subprocess
import sys

import pytest
from conftest import ROOT

pytest.importorskip('mypy')


def test_mypy_checks_the_documented_measure(tmp_path):
    document = (ROOT / 'docs' / 'instruments.md').read_text()
    code = re.search(r'```python\n(.*?class Wobble.*?)```', document, re.DOTALL)[1]
    code = code.replace('import Cut', 'import Cut, Quantity') + '\n\ncheck: Quantity = Wobble()\n'
    sound, faulty = tmp_path / 'as_it_is.py', tmp_path / 'no_psi.py'
    sound.write_text(code)
    faulty.write_text(code.replace('def psi(', 'def other('))
    words = [sys.executable, '-m', 'mypy', '--strict', sound, faulty]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 'missing following "Quantity"' in done.stdout, done.stdout
    assert re.search(r'Found 1 error in 1 file \(checked 2 source files\)', done.stdout)
    assert sound.name not in done.stdout
