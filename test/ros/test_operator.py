"""The operator holds, resumes, skips and ends a campaign; so do a switch, a battery, a disk."""

import signal
import subprocess

import pytest
import yaml
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from support.campaigns import AS_FAST_AS_POSSIBLE, in_process
from support.graph import at_rest

from repsq_ros import messages, topics
from repsq_ros.campaign.history import fold
from repsq_ros.campaign.journal import JOURNAL, read_journal
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos

REAL_TIME = {'speed': 1.0, 'seed': 7}
ATTENDED = {'attended': True, 'start_lead': 0.3, 'seed': 7}


def call(nodes, name):
    client = nodes.listener.node.create_client(Trigger, f'/scheduler/{name}')
    nodes.listener.until(client.service_is_ready, 10)
    future = client.call_async(Trigger.Request())
    nodes.listener.until(future.done, 10)
    nodes.listener.node.destroy_client(client)
    return future.result()


def last_phase(nodes):
    return nodes.listener.phases()[-1].phase if nodes.listener.phases() else None


def until_phase(nodes, phase, timeout=20):
    nodes.listener.until(lambda: last_phase(nodes) == phase, timeout)


def assert_held(nodes):
    until_phase(nodes, TestPhase.PAUSED)
    count = len(nodes.listener.commands())
    nodes.listener.until(lambda: len(nodes.listener.commands()) > count + 10, 5)
    assert all(map(at_rest, nodes.listener.commands()[count + 1 :]))


@pytest.fixture
def moving(nodes, short, write, tmp_path):
    """A campaign in the middle of its first command, in real time, with somebody there."""
    short['protocol'].update(dwell=0.3, command=30.0, window=1.0)
    folder = str(tmp_path / 'campaign')
    nodes.start_campaign(write(short), REAL_TIME, **ATTENDED, output=folder, battery_limit=0.2)
    nodes.listener.until(
        lambda: nodes.listener.commands()
        and not at_rest(nodes.listener.commands()[-1])
        and nodes.listener.heard[topics.TEST_COMMAND],
        20,
    )
    return nodes


def test_pause_and_resume(moving):
    case = moving.listener.heard[topics.TEST_COMMAND][-1]
    assert call(moving, 'pause').success
    assert_held(moving)
    assert moving.listener.phases()[-1].reason == 'by the operator'
    assert call(moving, 'pause').message == 'nothing is under way'
    assert call(moving, 'resume').success
    until_phase(moving, TestPhase.COMMAND)
    again = moving.listener.heard[topics.TEST_COMMAND][-1]
    assert (again.index, again.attempt, again.x) == (case.index, case.attempt, case.x)
    assert call(moving, 'resume').message == 'the campaign is not paused'


def test_skip_gives_up_the_case_and_goes_on(moving):
    assert call(moving, 'skip').success
    moving.listener.until(lambda: moving.listener.phases()[-1].index == 1, 10)
    estimate = moving.listener.heard[topics.ESTIMATE][-1]
    assert (estimate.n, estimate.invalid, estimate.skipped) == (0, 0, 1)


def test_abort_ends_the_campaign(moving):
    assert call(moving, 'abort').success
    assert moving.wait('scheduler') == 3
    moving.listener.until(lambda: last_phase(moving) == TestPhase.ABORTED, 5)
    assert moving.listener.phases()[-1].reason == 'by the operator'


@pytest.mark.parametrize('profile', [qos.LATCHED, qos.COMMAND, qos.SENSOR])
def test_an_emergency_stop_holds_until_it_is_released_and_resumed(moving, profile):
    publisher = moving.listener.node.create_publisher(Bool, topics.EMERGENCY_STOP, profile)
    moving.listener.until(lambda: publisher.get_subscription_count() >= 1, 10)
    publisher.publish(Bool(data=True))
    assert_held(moving)
    assert moving.listener.phases()[-1].reason == 'emergency stop'
    assert call(moving, 'resume').message == 'the emergency stop is pressed'
    publisher.publish(Bool(data=False))
    moving.listener.until(lambda: call(moving, 'resume').success, 5)
    until_phase(moving, TestPhase.COMMAND)


def test_a_low_battery_holds_until_it_is_changed(moving):
    publisher = moving.listener.node.create_publisher(BatteryState, topics.BATTERY, 10)
    moving.listener.until(lambda: publisher.get_subscription_count() >= 1, 10)
    publisher.publish(BatteryState(percentage=float('nan')))
    publisher.publish(BatteryState(percentage=0.15))
    assert_held(moving)
    assert moving.listener.phases()[-1].reason == 'battery at 15%, below the limit of 20%'
    assert call(moving, 'resume').message == 'the battery is below its limit'
    publisher.publish(BatteryState(percentage=0.98))
    moving.listener.until(lambda: call(moving, 'resume').success, 5)


@pytest.mark.parametrize('peer', ['measurement', 'estimator'])
def test_a_lost_peer_holds_until_it_is_started_anew(peer, moving, tmp_path):
    """A false alarm, or a node that crashed: neither ends a campaign of three days."""
    moving.signal(peer, signal.SIGKILL)
    assert_held(moving)
    assert moving.listener.phases()[-1].reason == f'lost node: {peer} is gone'
    assert f'still missing the {peer} node' in call(moving, 'resume').message
    parameters = yaml.safe_load((tmp_path / 'nodes' / f'{peer}.yaml').read_text())
    moving.start(peer, parameters['/**']['ros__parameters'])
    moving.listener.until(lambda: call(moving, 'resume').success, 20)
    until_phase(moving, TestPhase.COMMAND)


def test_nothing_begins_without_start_where_that_is_asked_for(nodes, short, write):
    nodes.start_campaign(write(short), REAL_TIME, **ATTENDED, autostart=False, peer_timeout=2.0)
    nodes.listener.until(lambda: len(nodes.listener.commands()) > 80, 20)  # 4 s of zeros
    assert all(map(at_rest, nodes.listener.commands()))
    assert call(nodes, 'start').success
    until_phase(nodes, TestPhase.COMMAND)


def test_a_full_disk_holds_the_campaign_and_loses_nothing(nodes, short, write, tmp_path):
    """The journal cannot grow: the robot stands, and goes on once there is room."""
    folder = tmp_path / 'campaign'
    file = write(short)
    nodes.start_campaign(file, AS_FAST_AS_POSSIBLE, attended=True, seed=7, output=str(folder))
    nodes.listener.until(lambda: (folder / JOURNAL).exists(), 20)
    pid = nodes.process('scheduler').pid
    size = (folder / JOURNAL).stat().st_size + 6000
    subprocess.run(['prlimit', f'--pid={pid}', f'--fsize={size}:unlimited'], check=True)
    until_phase(nodes, TestPhase.PAUSED)
    assert 'File too large; nothing is lost' in nodes.listener.phases()[-1].reason
    assert 'File too large' in call(nodes, 'resume').message
    subprocess.run(['prlimit', f'--pid={pid}', '--fsize=unlimited'], check=True)
    assert call(nodes, 'resume').success
    result = messages.result_of(nodes.result(60))
    expected, tests = in_process(file)
    assert result == expected
    nodes.wait('scheduler')
    kept = fold('', read_journal(folder / JOURNAL)[0]).tests
    assert [(t.index, t.psi) for t in kept] == [(r.index, r.psi) for r, _ in tests]


def test_three_sessions_with_pauses_notes_and_a_battery_stop(nodes, short, write, tmp_path):
    """The paper's campaign took three days: 240 tests, re-calibrations, battery limits."""
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 240}, max_tests=240)
    file, folder = write(short), tmp_path / 'campaign'
    battery = nodes.listener.node.create_publisher(BatteryState, topics.BATTERY, 10)

    def measured():
        return len(nodes.listener.heard[topics.TEST_MEASUREMENT])

    for day, (until, note) in enumerate(((80, ''), (160, 'new gauge'), (240, 're-calibrated'))):
        nodes.listener.heard[topics.TEST_MEASUREMENT].clear()
        nodes.start_campaign(
            file, AS_FAST_AS_POSSIBLE, attended=True, seed=7, output=str(folder), resume=day > 0,
            session_note=note, battery_limit=0.2, estimator={'output': str(folder)},
        )  # fmt: skip
        if day == 1:
            nodes.listener.until(lambda: measured() > 20, 60)
            # As a battery does, again and again: a single message may be lost.
            saying(nodes, battery, 0.1, lambda: last_phase(nodes) == TestPhase.PAUSED)
            battery.publish(BatteryState(percentage=0.9))
            nodes.listener.until(lambda: call(nodes, 'resume').success, 10)
        if until < 240:
            nodes.listener.until(lambda until=until: len(journalled(folder)) >= until, 60)
            assert call(nodes, 'pause').success
            until_phase(nodes, TestPhase.PAUSED)
            nodes.group.stop()
    result = messages.result_of(nodes.result(60))
    assert nodes.wait('scheduler') == 0
    expected, tests = in_process(file)
    assert result == expected
    assert result.n == 240
    assert [(t.index, t.psi) for t in journalled(folder)] == [(r.index, r.psi) for r, _ in tests]
    sessions = yaml.safe_load((folder / 'result.yaml').read_text())['sessions']
    assert [text.partition(' tests')[2] for text in sessions] == [
        '', ': new gauge', ': re-calibrated',
    ]  # fmt: skip


def saying(nodes, battery, share, condition):
    """Listen until a condition holds, telling the battery's state meanwhile."""

    def told():
        battery.publish(BatteryState(percentage=share))
        return condition()

    nodes.listener.until(told, 20)


def journalled(folder):
    file = folder / JOURNAL
    history = fold(str(file), read_journal(file)[0]) if file.exists() else None
    return history.tests if history else ()
