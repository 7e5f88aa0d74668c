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


"""The documentation builds as a site: no dead link, no dead anchor, messages as they are."""

import importlib.util
import subprocess
import sys

import pytest
from conftest import ROOT


def test_the_site_builds_without_a_dead_link(tmp_path):
    pytest.importorskip('mkdocs')
    done = subprocess.run(
        [sys.executable, '-m', 'mkdocs', 'build', '--strict', '--quiet', '--site-dir', tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 'Glossary' in (tmp_path / 'index.html').read_text()


def test_the_page_of_messages_is_made_of_the_messages():
    tool = ROOT / 'tools' / 'message_pages.py'
    spec = importlib.util.spec_from_file_location('message_pages', tool)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.PAGE.read_text() == made.page(), 'run python3 tools/message_pages.py'


def test_every_page_is_in_the_menu():
    menu = (ROOT / 'mkdocs.yml').read_text()
    pages = {str(path.relative_to(ROOT / 'docs')) for path in (ROOT / 'docs').rglob('*.md')}
    assert not {page for page in pages if f': {page}' not in menu}
