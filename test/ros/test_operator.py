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

"""The operator holds, resumes, skips and ends a campaign; so do a switch, a battery, a disk."""

import signal
import subprocess
import time

import pytest
import yaml
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool
from support.campaigns import AS_FAST_AS_POSSIBLE, in_process, journalled, outcomes, undisturbed
from support.graph import REPEAT, at_rest

from repsq_ros import topics
from repsq_ros.campaign.journal import JOURNAL, read_journal
from repsq_ros.campaign.journal_contents import fold
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.watches import emergency_stop

REAL_TIME = {'speed': 1.0, 'seed': 7}
# As on a robot: its time waits for nobody.
ATTENDED = {'attended': True, 'start_lead': 0.3, 'seed': 7, 'lockstep': False}


def resume(nodes):
    nodes.listener.until(lambda: nodes.call('resume').success)


def assert_held(nodes, reason):
    """The robot stands, and goes on standing; why is told."""
    nodes.listener.phase(TestPhase.PAUSED, reason)
    nodes.listener.assert_at_rest()


class Battery:
    """Says again and again how full it is."""

    def __init__(self, node, percentage=0.98):
        self.percentage = percentage
        self._publisher = node.create_publisher(BatteryState, topics.BATTERY, 10)
        node.create_timer(REPEAT, self._say)

    def _say(self):
        self._publisher.publish(BatteryState(percentage=self.percentage))


@pytest.fixture
def battery(nodes):
    return Battery(nodes.listener.node)


@pytest.fixture
def moving(nodes, short, write, tmp_path, battery):
    """A campaign in the middle of its first command, in real time, with somebody there."""
    short['protocol'].update(dwell=0.3, command=60.0, window=1.0)
    folder = str(tmp_path / 'campaign')
    nodes.start_campaign(write(short), REAL_TIME, **ATTENDED, output=folder, battery_limit=0.2)
    nodes.listener.phase(TestPhase.COMMAND)
    nodes.listener.latest(topics.TEST_COMMAND)
    nodes.listener.until_moving()
    return nodes


def test_a_pause_is_on_record_everywhere_and_its_case_is_tested_again(moving, tmp_path):
    """An operator who pauses whenever the robot is about to fall betters no number in silence."""
    cases = moving.listener.heard[topics.TEST_COMMAND]
    assert moving.call('pause').success
    assert_held(moving, 'by the operator')
    assert moving.listener.phases()[-1].broken_off
    measurement = moving.listener.latest(topics.TEST_MEASUREMENT, lambda test: test.broken_off)
    assert (measurement.valid, measurement.broken_off) == (False, True)
    assert (measurement.reason, measurement.cause) == ('by the operator', 'operator')
    moving.listener.latest(topics.ESTIMATE, lambda estimate: estimate.broken_off >= 1)
    moving.listener.until(lambda: journalled(tmp_path / 'campaign'))
    (kept,) = journalled(tmp_path / 'campaign')
    assert (kept.broken_off, kept.reason, kept.cause) == (True, 'by the operator', 'operator')
    moving.says('scheduler', 'broken off: by the operator')
    resume(moving)
    moving.listener.phase(TestPhase.COMMAND)
    moving.listener.until(lambda: len(cases) >= 2)
    case, again = cases[:2]
    assert (again.index, again.attempt, again.x) == (case.index, case.attempt + 1, case.x)
    assert moving.call('resume').message == 'the campaign is not paused'


def assert_skipped(moving, case):
    """The case is given up after one attempt, and the next one is under way."""
    listener = moving.listener
    listener.latest(topics.TEST_PHASE, lambda phase: phase.test.index == case + 1)
    estimate = listener.latest(topics.ESTIMATE, lambda estimate: estimate.skipped == case + 1)
    counts = (estimate.n, estimate.invalid, estimate.broken_off)
    assert counts == (0, 0, case + 1)


def test_skip_gives_up_the_case_and_goes_on(moving, tmp_path):
    def wait_for(tests):
        moving.listener.until(lambda: len(journalled(tmp_path / 'campaign')) >= tests)

    assert moving.call('skip').success
    wait_for(1)
    assert_skipped(moving, 0)
    moving.listener.phase(TestPhase.COMMAND)
    assert moving.call('pause').success
    wait_for(2)
    assert moving.call('skip').success
    wait_for(3)
    moving.listener.phase(TestPhase.PAUSED)
    assert moving.call('skip').message == 'no case is under way'
    resume(moving)
    assert_skipped(moving, 1)


def test_abort_ends_the_campaign(moving):
    assert moving.call('abort').success
    assert moving.wait('scheduler') == 3
    moving.listener.phase(TestPhase.ABORTED, 'by the operator')


def test_an_emergency_stop_holds_until_it_is_released_and_resumed(moving):
    """Whatever its publisher's quality of service; as a switch does, it repeats its state."""
    listener = moving.listener
    for profile in (qos.LATCHED, qos.COMMAND, qos.SENSOR):
        switch = listener.node.create_publisher(Bool, topics.EMERGENCY_STOP, profile)
        listener.saying(switch, Bool(data=True), lambda: listener.is_in(TestPhase.PAUSED))
        assert_held(moving, 'emergency stop')
        assert moving.call('resume').message == 'the emergency stop is pressed'
        listener.saying(switch, Bool(data=False), lambda: moving.call('resume').success)
        listener.phase(TestPhase.COMMAND)
        listener.node.destroy_publisher(switch)
        listener.until_moving()


def test_a_switch_that_repeats_released_does_not_undo_another_that_is_pressed(moving):
    """A is pressed and kept for late joiners; B says ten times a second that it is released."""
    listener = moving.listener
    one, other = (
        listener.speaker(name).create_publisher(Bool, topics.EMERGENCY_STOP, qos.LATCHED)
        for name in ('switch_a', 'switch_b')
    )
    timer = listener.speaker('switch_b').create_timer(0.1, lambda: other.publish(Bool(data=False)))
    one.publish(Bool(data=True))
    assert_held(moving, 'emergency stop')
    listener.listen(3.0)
    told = moving.call('resume').message
    assert told.startswith('the emergency stop is pressed: 1 of 2 publishers on /emergency_stop')
    one.publish(Bool(data=False))
    listener.until(lambda: moving.call('resume').success)
    listener.phase(TestPhase.COMMAND)
    # A press counts at once, from either.
    timer.cancel()
    other.publish(Bool(data=True))
    assert_held(moving, 'emergency stop')


@pytest.mark.parametrize(('profile', 'released'), [(qos.LATCHED, True), (qos.COMMAND, False)])
def test_a_release_that_one_subscription_lost_counts_where_the_other_hears_all(
    nodes, monkeypatch, profile, released
):
    """Best effort loses messages; the reliable one hears a switch that keeps its state."""
    monkeypatch.setattr(emergency_stop, 'SETTLED', 0.1)
    monkeypatch.setattr(emergency_stop, 'RESENT', 1.0)
    watch = emergency_stop.EmergencyStopWatch(nodes.listener.node, lambda: None)
    switch = nodes.listener.speaker('switch').create_publisher(
        Bool, topics.EMERGENCY_STOP, profile
    )

    def blocked():
        watch.look()
        return bool(watch.blockers())

    nodes.listener.until(lambda: switch.get_subscription_count() == 1 + released)
    nodes.listener.saying(switch, Bool(data=True), blocked)
    nodes.listener.saying(switch, Bool(data=False), lambda: not blocked())
    nodes.listener.until(lambda: not blocked() and not watch._best_effort._waiting)
    watch._best_effort._switches._switches[0].pressed = True  # as if it had lost the release
    watch._best_effort._pressed_at = time.monotonic()
    assert blocked()
    nodes.listener.until(lambda: watch._best_effort.seconds_since_press > 0.9)
    assert blocked(), 'a message may still be sent again'
    nodes.listener.until(lambda: watch._best_effort.seconds_since_press > 1.1)
    nodes.listener.until(lambda: blocked() is not released)
    assert blocked() is not released


def test_a_low_battery_holds_until_it_is_changed(moving, battery):
    listener = moving.listener
    said = len(listener.commands())
    battery.percentage = float('nan')
    listener.until(lambda: len(listener.commands()) > said + 10)
    battery.percentage = 0.15
    assert_held(moving, 'battery at 15%, below the limit of 20%')
    assert moving.call('resume').message == 'the battery is below its limit'
    battery.percentage = 0.98
    resume(moving)
    listener.phase(TestPhase.COMMAND)


def test_nothing_begins_on_a_battery_that_cannot_be_watched(nodes, short, write):
    nodes.start_campaign(write(short), REAL_TIME, **ATTENDED, battery_limit=0.2, peer_timeout=5.0)
    battery = Battery(nodes.listener.node, float('nan'))
    for percentage, told in (
        (float('nan'), 'battery_limit is set, and no percentage was heard on /battery_state'),
        (87.0, '/battery_state says percentage 87, expected a share from 0 to 1'),
        (0.1, 'the battery is below its limit'),
    ):
        battery.percentage = percentage
        if nodes.process('scheduler').poll() is not None:
            nodes.start_again('scheduler')
        assert nodes.wait('scheduler') == 3
        assert f'nothing was commanded: after 5 s still {told}' in nodes.output('scheduler')
    assert all(map(at_rest, nodes.listener.commands()))


def test_a_lost_peer_that_is_started_anew_costs_an_attempt(moving):
    """A node that crashed ends no campaign of three days, nor does it have to be resumed."""
    for attempt, peer in enumerate(('measurement', 'estimator')):
        moving.listener.phases().clear()
        moving.signal(peer, signal.SIGKILL)
        assert_held(moving, f'no sign of life from the {peer} node')
        assert any(phase.broken_off for phase in moving.listener.phases())
        assert f'still no sign of life from the {peer} node' in moving.call('resume').message
        moving.start_again(peer)
        again = moving.listener.phase(TestPhase.COMMAND)
        assert again.test.index == 0
        assert again.test.attempt >= attempt + 1
        moving.listener.until_moving()
    moving.says('scheduler', 'It goes on by itself once that is over.')


def test_a_pause_while_a_peer_is_lost_waits_for_somebody(moving):
    moving.signal('estimator', signal.SIGKILL)
    assert_held(moving, 'no sign of life')
    assert moving.call('pause').success
    assert_held(moving, 'by the operator')
    moving.start_again('estimator')
    moving.listener.until(lambda: moving.listener.heard[topics.ESTIMATE])
    moving.listener.listen(3.0)
    assert moving.listener.is_in(TestPhase.PAUSED, 'by the operator')
    resume(moving)
    moving.listener.phase(TestPhase.COMMAND)


def test_an_emergency_stop_that_was_pressed_before_the_start_lets_nothing_begin(
    nodes, short, write
):
    listener = nodes.listener
    switch = listener.node.create_publisher(Bool, topics.EMERGENCY_STOP, qos.LATCHED)
    switch.publish(Bool(data=True))
    nodes.start_campaign(write(short), REAL_TIME, **ATTENDED, look_around=6.0)
    listener.until(lambda: len(listener.commands()) > 200)  # 10 s of zeros
    assert all(map(at_rest, listener.commands()))
    assert nodes.call('start').message == 'the emergency stop is pressed'
    switch.publish(Bool(data=False))
    listener.until(lambda: nodes.call('start').success)
    listener.phase(TestPhase.COMMAND)


def test_a_pause_is_heard_while_the_clock_stands(moving):
    moving.signal('simulated_robot', signal.SIGSTOP)
    assert moving.call('pause').success
    assert_held(moving, 'by the operator')
    moving.signal('simulated_robot', signal.SIGCONT)
    resume(moving)
    moving.listener.phase(TestPhase.COMMAND)


def test_nothing_begins_without_start_where_that_is_asked_for(nodes, short, write):
    nodes.start_campaign(write(short), REAL_TIME, **ATTENDED, autostart=False, peer_timeout=2.0)
    nodes.listener.until(lambda: len(nodes.listener.commands()) > 80)  # 4 s of zeros
    assert all(map(at_rest, nodes.listener.commands()))
    assert nodes.call('start').success
    nodes.listener.phase(TestPhase.COMMAND)


def test_a_full_disk_holds_the_campaign_and_loses_nothing(nodes, short, write, tmp_path):
    """The journal cannot grow: the robot stands, and goes on once there is room."""
    folder = tmp_path / 'campaign'
    file = write(short)
    nodes.start_campaign(file, AS_FAST_AS_POSSIBLE, attended=True, seed=7, output=str(folder))
    nodes.listener.until(lambda: (folder / JOURNAL).exists())
    pid = nodes.process('scheduler').pid
    size = (folder / JOURNAL).stat().st_size + 6000
    subprocess.run(['prlimit', f'--pid={pid}', f'--fsize={size}:unlimited'], check=True)
    paused = nodes.listener.phase(TestPhase.PAUSED)
    assert 'File too large; nothing is lost' in paused.reason
    nodes.listener.until(lambda: 'File too large' in nodes.call('resume').message)
    subprocess.run(['prlimit', f'--pid={pid}', '--fsize=unlimited'], check=True)
    resume(nodes)
    result = campaign_messages.result_of(nodes.result())
    expected, tests = in_process(file)
    assert undisturbed(result) == undisturbed(expected)
    nodes.wait('scheduler')
    kept = fold('', read_journal(folder / JOURNAL)[0]).tests
    assert outcomes(kept) == outcomes(record for record, _ in tests)


def test_three_sessions_with_pauses_notes_and_a_battery_stop(
    nodes, short, write, tmp_path, battery
):
    """As the paper's campaign, which took three days: re-calibrations, battery limits."""
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 45}, max_tests=45)
    file, folder = write(short), tmp_path / 'campaign'

    def measured():
        return len(nodes.listener.heard[topics.TEST_MEASUREMENT])

    def held_by_the_battery():
        return nodes.listener.is_in(TestPhase.PAUSED, 'battery')

    for day, (until, note) in enumerate(((15, ''), (30, 'new gauge'), (45, 're-calibrated'))):
        nodes.listener.heard[topics.TEST_MEASUREMENT].clear()
        nodes.start_campaign(
            file, AS_FAST_AS_POSSIBLE, attended=True, seed=7, output=str(folder), resume=day > 0,
            session_note=note, battery_limit=0.2, estimator={'output': str(folder)},
        )  # fmt: skip
        if day == 1:
            nodes.listener.until(lambda: measured() > 5)
            battery.percentage = 0.1
            nodes.listener.until(held_by_the_battery)
            battery.percentage = 0.9
            resume(nodes)
        if until < 45:
            nodes.listener.until(lambda until=until: len(journalled(folder)) >= until)
            assert nodes.call('pause').success
            nodes.listener.phase(TestPhase.PAUSED, 'by the operator')
            nodes.group.stop()
    result = campaign_messages.result_of(nodes.result())
    assert nodes.wait('scheduler') == 0
    expected, tests = in_process(file)
    assert undisturbed(result) == undisturbed(expected)
    assert result.n == 45
    assert outcomes(journalled(folder)) == outcomes(record for record, _ in tests)
    nodes.listener.until((folder / 'result.yaml').exists)
    sessions = yaml.safe_load((folder / 'result.yaml').read_text())['sessions']
    assert [text.partition(' tests')[2] for text in sessions] == [
        '', ': new gauge', ': re-calibrated',
    ]  # fmt: skip
