"""What the tests share: where things are, and small specifications."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / 'shared' / 'data'


def pytest_collection_modifyitems(items):
    """Whole campaigns over DDS have the machine for themselves."""
    for item in items:
        if 'ros' in item.path.parts and item.get_closest_marker('parallel') is None:
            item.add_marker(pytest.mark.alone)


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
    return yaml.safe_load((ROOT / 'config' / 'paper' / 'g1_locomotion.yaml').read_text())


def short_campaign() -> dict:
    """Return a campaign of about 40 tests of 2 s each."""
    content = paper_settings()
    content['protocol'].update(dwell=0.5, command=1.5, window=1.0)
    content['accuracy']['gamma'] = 0.25
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
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return writer


@pytest.fixture
def short() -> dict:
    """A short campaign, to be changed by a test."""
    return short_campaign()
