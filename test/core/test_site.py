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
import re
import shlex
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT

from repsq_ros.console import command_line


def test_the_site_builds_without_a_dead_link(tmp_path):
    pytest.importorskip('mkdocs')
    done = subprocess.run(
        [sys.executable, '-m', 'mkdocs', 'build', '--strict', '--quiet', '--site-dir', tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 'Glossary' in (tmp_path / 'index.html').read_text()


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / 'tools' / f'{name}.py')
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_of_messages_is_made_of_the_messages():
    made = tool('message_pages')
    assert made.PAGE.read_text() == made.page(), 'run python3 tools/message_pages.py'


def test_the_pages_of_verbs_and_parameters_are_made_of_the_sources():
    made = tool('reference_pages')
    run = 'run .venv/bin/python3 tools/reference_pages.py'
    assert made.VERB_PAGE.read_text() == made.verb_page(), run
    assert made.PARAMETER_PAGE.read_text() == made.parameter_page(), run
    found = [row for file in made.NODES.rglob('*.py') for row in made.declared(file)]
    assert ('`command_rate`', 'number', '`20.0`', 'Hz of cmd_vel') in found
    assert len(found) > 45


COMMAND = re.compile(r'^\s*(?:\.venv/bin/)?(repsq .*)$')


def test_every_command_of_the_pages_is_one_of_the_parser():
    """A verb or an option that is gone fails here; file names may be any."""
    seen = 0
    for page in [*(ROOT / 'docs').glob('*.md'), ROOT / 'README.md']:
        for block in re.findall(r'```sh\n(.*?)```', page.read_text(), re.S):
            for line in block.replace('\\\n', ' ').splitlines():
                found = COMMAND.match(line)
                if found and not re.search(r'FOLDER|\[|\.\.\.|<|\$', line):
                    words = shlex.split(re.split(r' [|&]| > ', found[1])[0], comments=True)
                    assert command_line.parse(words[1:]).verb, (page.name, line)
                    seen += 1
    assert seen > 20


def test_the_workflow_of_the_gate_is_yaml():
    (text,) = re.findall(r'```yaml\n(.*?)```', (ROOT / 'docs' / 'gate.md').read_text(), re.S)
    steps = yaml.safe_load(text)['jobs']['compare']['steps']
    assert any('repsq compare' in step.get('run', '') for step in steps)
    assert any('gh pr comment' in step.get('run', '') for step in steps)


def test_every_page_is_in_the_menu():
    menu = (ROOT / 'mkdocs.yml').read_text()
    pages = {str(path.relative_to(ROOT / 'docs')) for path in (ROOT / 'docs').rglob('*.md')}
    assert not {page for page in pages if f': {page}' not in menu}
