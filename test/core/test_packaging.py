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
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from conftest import ROOT

from repsq_ros import errors
from repsq_ros.errors import DEBIAN, MissingError, install_command

spec = importlib.util.spec_from_file_location(
    'message_hashes', ROOT / 'tools' / 'message_hashes.py'
)
message_hashes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(message_hashes)
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
    text = (ROOT / 'CHANGELOG.rst').read_text()
    heads = re.findall(r'^(\S+)(?: \((\d{4}-\d\d-\d\d)\))?\n-+$', text, re.MULTILINE)
    assert heads[0][0] in ('Forthcoming', PACKAGE.findtext('version'))
    assert all(version == 'Forthcoming' or date for version, date in heads)


def test_nothing_stands_in_the_metadata_that_is_not_true(installed):
    about = next(installed.glob('repsq_ros-*.dist-info')) / 'METADATA'
    fields = about.read_text().split('\n\n')[0]
    assert 'example.org' not in (ROOT / 'package.xml').read_text() + fields
    address = PACKAGE.find('maintainer').get('email')
    assert ('@' in fields) == (not address.endswith('.invalid'))
    assert ('Home-page' in fields) == (PACKAGE.find('url') is not None)
    assert f'Version: {PACKAGE.findtext("version")}' in fields
    assert 'License' in fields and 'Author: repsq_ros maintainers' in fields


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


def test_in_an_environment_of_uv_the_remedy_is_a_command_of_uv(monkeypatch, tmp_path):
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    monkeypatch.setattr(errors.sys, 'prefix', str(tmp_path))
    monkeypatch.setattr(errors.importlib.util, 'find_spec', lambda name: None)
    assert install_command('rich') == f'uv pip install --python {sys.executable} rich'
    monkeypatch.setattr(errors.sys, 'prefix', str(tmp_path / 'archive-v0' / 'x'))
    assert install_command('rich') == 'uvx --with rich --from WHEEL repsq ...'


def test_what_brings_ros_depends_on_where_the_user_is(monkeypatch, tmp_path):
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    monkeypatch.setattr(errors.sys, 'prefix', str(tmp_path / 'venv'))
    told = str(MissingError.of_ros('repsq run', ImportError('no rclpy'), 'repsq run --simulate'))
    assert 'Without ROS: repsq run --simulate.' in told and 'a wheel has no nodes' in told
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/opt/ros/jazzy')
    assert 'colcon build' in str(MissingError.of_ros('repsq record', ImportError('no msg')))
    (tmp_path / 'venv' / '.set_up').mkdir(parents=True)
    assert str(MissingError.of_ros('x', ImportError('y'))).endswith(
        f'make -C {tmp_path} environment'
    )


def test_every_remedy_names_a_package_of_an_extra_and_is_made_in_one_place():
    extras = SETUP['options.extras_require']
    known = {name for extra in extras.values() for name in names(extra)}
    named = set()
    for file in (ROOT / 'repsq_ros').rglob('*.py'):
        text = file.read_text()
        named |= set(re.findall(r"of_package\([^)]*?'([\w.-]+)'\)", text))
        if file.name not in ('errors.py', '__init__.py'):
            assert not re.search(r'pip install|make demo|colcon build', text), file
    assert named >= {'cryptography', 'jinja2', 'matplotlib', 'mujoco', 'rich', 'rosbags'}
    assert named <= known


def test_in_a_ros_workspace_the_remedy_is_a_debian_package(monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/opt/ros/jazzy')
    monkeypatch.setattr(errors.sys, 'prefix', sys.base_prefix)
    assert install_command('jinja2') == 'apt install python3-jinja2'
    assert install_command('mujoco').endswith(' mujoco')
    assert ' -m pip install' in install_command('mujoco')


def test_every_dependency_has_its_reason():
    text = (ROOT / 'README.md').read_text()
    table = text[text.index('| package | why |') :]
    lists = [SETUP['options']['install_requires'], *SETUP['options.extras_require'].values()]
    for name in {each for requirements in lists for each in names(requirements)} - {'repsq_ros'}:
        assert re.search(rf'^\|[^|]*\b{re.escape(name)}\b', table, re.MULTILINE), name


def test_a_released_message_changes_with_a_new_version_only():
    record = json.loads((ROOT / 'msg' / 'type_hashes.json').read_text())
    messages = {path.stem for path in (ROOT / 'msg').glob('*.msg')}
    hashes = record.get(PACKAGE.findtext('version'), {})
    assert set(hashes) == messages, 'tools/message_hashes.py writes those of a new version'
    assert all(re.fullmatch('RIHS01_[0-9a-f]{64}', each) for each in hashes.values())
    found = message_hashes.built()
    if not found:
        pytest.skip('no built messages that tell their hashes')
    changed = sorted(name for name in messages if found.get(name) != hashes[name])
    assert not changed, 'raise the version in package.xml, then tools/message_hashes.py'


def test_hashes_of_a_released_version_are_not_written_again(monkeypatch, tmp_path):
    record = tmp_path / 'type_hashes.json'
    record.write_text('{"0.2.0": {"Estimate": "RIHS01_a"}}')
    monkeypatch.setattr(message_hashes, 'RECORD', record)
    monkeypatch.setattr(message_hashes, 'version', lambda: '0.2.0')
    monkeypatch.setattr(message_hashes, 'built', lambda: {'Estimate': 'RIHS01_b'})
    monkeypatch.setattr(message_hashes, 'released', lambda: {'0.2.0'})
    with pytest.raises(SystemExit, match=r'0\.2\.0 is released: raise the version'):
        message_hashes.main()
    monkeypatch.setattr(message_hashes, 'released', set)
    assert message_hashes.main() == 0
    assert json.loads(record.read_text()) == {'0.2.0': {'Estimate': 'RIHS01_b'}}
