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

"""What the tests share: where things are, and small specifications."""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, settings

from repsq_ros.recordings.contents import LOADER

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / 'shared' / 'data'
# In C where PyYAML has it: thousands of tests read and write a specification.
DUMPER = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)

# One for all property tests: the same examples in each run, and no clock, since machines are busy.
# To look further, at random: pytest --hypothesis-profile=far
settings.register_profile(
    'steady',
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    'far', settings.get_profile('steady'), derandomize=False, max_examples=2000, print_blob=True
)
settings.load_profile('steady')


def pytest_sessionfinish(session, exitstatus):
    """Where all that was asked for is skipped, as without ROS, nothing has failed."""
    told = session.config.pluginmanager.get_plugin('terminalreporter')
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and told and told.stats.get('skipped'):
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture
def g1_model() -> str:
    pytest.importorskip('mujoco')
    folder = SHARED_DATA / 'g1'
    if not folder.is_dir():
        pytest.skip(f'the G1 model is not in {folder}')
    return str(folder)


@pytest.fixture
def recordings() -> Path:
    pytest.importorskip('rosbags')
    if not SHARED_DATA.is_dir():
        pytest.skip(f'no recordings in {SHARED_DATA}')
    return SHARED_DATA


def paper_settings() -> dict:
    """Return the specification with the settings of the paper."""
    return yaml.load((ROOT / 'config' / 'paper' / 'g1_locomotion.yaml').read_text(), LOADER)


def short_campaign() -> dict:
    """Return a campaign of about 40 tests of 2 s each."""
    content = paper_settings()
    content['protocol'].update(dwell=0.5, command=1.5, window=1.0)
    content['accuracy'].update(gamma=0.25, selection='assume_independent')
    del content['partition']['first']
    return content


@pytest.fixture
def content() -> dict:
    """The specification with the settings of the paper, to be changed by a test."""
    return paper_settings()


@pytest.fixture
def write(tmp_path):
    """Write a specification and return its path."""

    def writer(content, name='specification.yaml'):
        path = tmp_path / name
        text = content if isinstance(content, str) else yaml.dump(content, Dumper=DUMPER)
        path.write_text(text)
        return path

    return writer


@pytest.fixture
def short() -> dict:
    """A short campaign, to be changed by a test."""
    return short_campaign()
