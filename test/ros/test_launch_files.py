"""Launch files, with the real launch where it is installed."""

import importlib.util
import shutil
import signal
import subprocess
import time

import pytest
import yaml
from conftest import ROOT
from support.graph import domain_of_its_own

pytest.importorskip('launch_ros')

FILES = sorted((ROOT / 'launch').glob('*.launch.py'))


@pytest.mark.parametrize('path', FILES, ids=lambda p: p.name)
def test_every_argument_is_described(path):
    from launch.actions import DeclareLaunchArgument

    spec = importlib.util.spec_from_file_location(path.stem.replace('.', '_'), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = [
        entity
        for entity in module.generate_launch_description().entities
        if isinstance(entity, DeclareLaunchArgument)
    ]
    assert arguments
    for argument in arguments:
        assert argument.description != 'no description given', argument.name


@pytest.fixture(autouse=True)
def own_domain(monkeypatch):
    with domain_of_its_own() as domain:
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        yield


needs_ros2_launch = pytest.mark.skipif(
    shutil.which('ros2') is None, reason='the ros2 command is not installed'
)


@needs_ros2_launch
def test_ros2_launch_runs_a_simulated_campaign_to_its_end(short, write, tmp_path):
    output = tmp_path / 'campaign'
    done = subprocess.run(
        ['ros2', 'launch', 'repsq_ros', 'simulation.launch.py', f'specification:={write(short)}',
         f'output:={output}', 'seed:=7', 'campaign_id:=20261127', 'monitor:=true'],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = yaml.safe_load((output / 'result.yaml').read_text())
    assert result['campaign_id'] == '20261127'
    assert result['accurate']


@needs_ros2_launch
def test_ros2_launch_replays_a_recorded_campaign(recorded, tmp_path):
    """The real ros2 bag play into the real nodes gives the recorded result again."""
    bag, specification, result = recorded
    output = tmp_path / 'again'
    done = subprocess.run(
        ['ros2', 'launch', 'repsq_ros', 'replay.launch.py', f'bag:={bag}',
         f'specification:={specification}', f'output:={output}', 'rviz:=false',
         'end_with_bag:=true'],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (output / 'result.yaml').exists(), done.stdout + done.stderr
    again = yaml.safe_load((output / 'result.yaml').read_text())
    for name in ('estimate', 'value', 'n', 'half_width', 'p_same', 'specification_digest'):
        assert again[name] == getattr(result, name)


@needs_ros2_launch
def test_ctrl_c_of_ros2_launch_leaves_no_node_behind(short, write, tmp_path):
    short['protocol'].update(command=30.0)
    process = subprocess.Popen(
        ['ros2', 'launch', 'repsq_ros', 'simulation.launch.py', f'specification:={write(short)}',
         f'output:={tmp_path / "campaign"}', 'speed:=1'],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    began = ''
    while 'all peers are there' not in began:
        line = process.stdout.readline()
        assert line, f'it ended before the campaign began: {began}'
        began += line
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=20)
    out = began + rest
    # Every node is interrupted at once: the scheduler may first hear that another one is gone.
    assert 'aborted: SIGINT' in out or 'no sign of life' in out
    for node in ('scheduler', 'guard', 'measurement', 'estimator', 'simulated_robot'):
        assert f'[INFO] [{node}-' in out
        assert 'process has finished cleanly' in out
