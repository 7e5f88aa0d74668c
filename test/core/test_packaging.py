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

"""The package as pip and ROS install it: one source of each list, all files inside."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from conftest import ROOT

from repsq_ros import errors
from repsq_ros.errors import DEBIAN, install_command

PACKAGE = ElementTree.parse(ROOT / 'package.xml').getroot()
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / 'setup.cfg')


def names(requirements):
    return {
        re.split(r'[<>=\[]', line.strip())[0] for line in requirements.split('\n') if line.strip()
    }


def test_rosdep_installs_what_pip_installs():
    keys = {each.text for each in PACKAGE.iter('exec_depend')}
    of_pip = names(SETUP['options']['install_requires'])
    assert of_pip == {'numpy', 'scipy', 'pyyaml', 'transforms3d'}
    assert {f'python3-{name.removeprefix("py")}' for name in of_pip} <= keys
    assert {'python3-jinja2', 'python3-matplotlib', 'python3-rich'} <= keys
    assert not keys & {'rviz2', 'rosbag2', 'python3-pytest'}


def test_the_extra_all_has_every_extra_of_users():
    extras = SETUP['options.extras_require']
    inside = set(re.search(r'\[(.*)\]', extras['all'])[1].split(','))
    assert inside == set(extras) - {'all', 'dev', 'mutants'}


def test_every_optional_package_with_a_debian_name_is_in_an_extra():
    extras = SETUP['options.extras_require']
    assert set(DEBIAN) <= {name for extra in extras for name in names(extras[extra])}


def test_the_change_log_begins_with_the_version_or_what_is_forthcoming():
    heads = re.findall(r'^(\S+)\n-+$', (ROOT / 'CHANGELOG.rst').read_text(), re.MULTILINE)
    assert heads[0] in ('Forthcoming', PACKAGE.findtext('version'))


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """Build a wheel from the files that git has, and install it alone into a folder."""
    pytest.importorskip('setuptools')
    folder = tmp_path_factory.mktemp('wheel')
    files = subprocess.run(
        ['git', 'ls-files', '--cached', '--others', '--exclude-standard'], cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if files.returncode:
        pytest.skip('not a checkout of git')
    for name in files.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith(('docs/', 'test/')):
            (folder / 'source' / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / 'source' / name)
    pip = [sys.executable, '-m', 'pip', '--disable-pip-version-check', '--quiet']
    subprocess.run(
        [*pip, 'wheel', '--no-deps', '--no-build-isolation', '-w', folder, folder / 'source'],
        check=True,
    )
    wheel = next(folder.glob('*.whl'))
    subprocess.run([*pip, 'install', '--no-deps', '--target', folder / 'site', wheel], check=True)
    return folder / 'site'


def repsq(installed, tmp_path, *words):
    return subprocess.run(
        [sys.executable, '-m', 'repsq_ros.cli', *words], cwd=tmp_path, text=True,
        capture_output=True, check=False, env={**os.environ, 'PYTHONPATH': str(installed)},
    )  # fmt: skip


def test_a_wheel_holds_everything_but_the_messages(installed, tmp_path):
    config = repsq(installed, tmp_path, '--configurations').stdout.strip()
    assert config == str(installed / 'repsq_ros' / 'config')
    ours = {path.relative_to(ROOT / 'config') for path in (ROOT / 'config').rglob('*.yaml')}
    assert {
        path.relative_to(config) for path in (installed / 'repsq_ros' / 'config').rglob('*.yaml')
    } == ours
    sources = {path.relative_to(ROOT / 'repsq_ros') for path in (ROOT / 'repsq_ros').rglob('*.*')
               if path.is_file() and path.suffix not in ('.pyc', '.pyi')}  # fmt: skip
    there = {
        path.relative_to(installed / 'repsq_ros') for path in (installed / 'repsq_ros').rglob('*')
    }
    assert not sources - there
    version = PACKAGE.findtext('version')
    assert repsq(installed, tmp_path, '--version').stdout == f'repsq_ros {version}\n'
    done = repsq(installed, tmp_path, 'check', f'{config}/g1_locomotion.yaml')
    assert done.returncode == 0, done.stderr


def test_the_remedy_is_a_command_for_this_installation(monkeypatch, tmp_path):
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    environment = tmp_path / '.venv'
    (environment / '.set_up').mkdir(parents=True)
    monkeypatch.setattr(errors.sys, 'prefix', str(environment))
    assert install_command('rich') == f'make -C {tmp_path} environment'
    monkeypatch.setattr(errors.sys, 'prefix', str(tmp_path))
    assert install_command('rich') == f'{sys.executable} -m pip install rich'
    (tmp_path / 'pipx_metadata.json').touch()
    assert install_command('rich') == 'pipx inject repsq_ros rich'


def test_in_a_ros_workspace_the_remedy_is_a_debian_package(monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/opt/ros/jazzy')
    monkeypatch.setattr(errors.sys, 'prefix', sys.base_prefix)
    assert install_command('jinja2') == 'apt install python3-jinja2'
    assert install_command('mujoco').endswith(' mujoco')
    assert ' -m pip install' in install_command('mujoco')


def test_every_dependency_has_its_reason():
    text = (ROOT / 'docs' / 'development.md').read_text()
    table = text[text.index('| package | why |') :]
    lists = [SETUP['options']['install_requires'], *SETUP['options.extras_require'].values()]
    for name in {each for requirements in lists for each in names(requirements)} - {'repsq_ros'}:
        assert re.search(rf'^\|[^|]*\b{re.escape(name)}\b', table, re.MULTILINE), name
