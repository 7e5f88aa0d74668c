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

"""A lab trusts it for three days: nodes killed at random, and nothing lost, doubled or moving."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median_low

import pytest
import yaml
from support.campaigns import AS_FAST_AS_POSSIBLE, in_process, journalled, outcomes, undisturbed
from support.graph import PATIENCE, SOON, at_rest
from support.recording import start_recorder, stop_recorder

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.cli import main
from repsq_ros.launching.campaign_nodes import LOSSLESS
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestPhase
from repsq_ros.specification.load import load

KILLS = int(os.environ.get('REPSQ_KILLS', '4'))
TESTS = 20 * KILLS  # more than are done before the last kill
TIME = 2 * PATIENCE + 0.5 * TESTS  # [s] for all of them, on a busy machine, too
OURS = ('measurement', 'estimator', 'guard', 'scheduler')  # the robot itself has no word of ours


def start(nodes, file, folder, resume, speed=0.0):
    """Start all nodes of the campaign of a folder."""
    common = {'specification': str(file), 'use_sim_time': True}
    nodes.start('simulated_robot', {**AS_FAST_AS_POSSIBLE, 'speed': speed})
    nodes.start('measurement', {**common, **LOSSLESS})
    nodes.start('estimator', {**common, 'output': str(folder)})
    # Simulated time stands still after the last test: rest cannot be seen.
    nodes.start('guard', {'use_sim_time': True, 'verify_stops': False})
    nodes.start(
        'scheduler',
        {**common, 'campaign_id': 'lab', 'seed': 7, 'look_around': 0.0, 'attended': False,
         'verify_stops': False, 'output': str(folder), 'resume': resume},
    )  # fmt: skip


def assert_same_as_undisturbed(file, folder, result):
    expected, tests = in_process(file)
    assert undisturbed(campaign_messages.result_of(result)) == undisturbed(expected)
    kept = journalled(folder)
    assert outcomes(kept) == outcomes(record for record, _ in tests)
    campaign = Campaign(load(file))
    for test in kept:
        campaign.add(test)
    assert undisturbed(campaign.result('lab')) == undisturbed(expected)
    with (folder / 'tests.csv').open() as opened:
        assert len(opened.readlines()) == 1 + len(kept)


def seconds_to_rest(nodes, since):
    """Return when zero was heard that no motion followed [s after `since`]; inf: never."""
    commands = nodes.listener.commands()
    commands.clear()
    rest = math.inf
    while time.monotonic() - since < min(SOON, rest + 0.5):
        nodes.listener.executor.spin_once(timeout_sec=0.01)
        for command in commands:
            at = time.monotonic() - since
            rest = min(rest, at) if at_rest(command) else math.inf
        commands.clear()
    return rest


def running(nodes):
    return any(phase.phase == TestPhase.DWELL for phase in nodes.listener.phases())


@pytest.fixture
def learning(short, write):
    """A campaign whose proposal learns, so that its state matters."""
    short['accuracy']['gamma'] = 0.06
    short['tester'].update(
        proposal={'type': 'adaptive', 'batch': 10}, stopping={'rule': 'hoeffding'}, max_tests=40
    )
    return write(short)


@pytest.fixture
def lasting(learning, write):
    """The same, and the kills do not outlast it."""
    content = yaml.safe_load(learning.read_text())
    content['tester']['max_tests'] = TESTS
    return write(content)


def test_nodes_killed_at_random_lose_and_double_nothing(lasting, nodes, tmp_path):
    """Any of our nodes by SIGKILL; zero within 0.5 s from one that survives; then all anew.

    Half of the times, that is: the machine itself may stop for a moment, ours or that of the test.
    """
    chance = random.Random(11)
    folder = tmp_path / 'campaign'
    begun = False
    rests = {name: [] for name in OURS}
    for kill in range(KILLS):
        # Not so fast that the campaign ends before the last kill.
        start(nodes, lasting, folder, resume=begun, speed=10.0)
        # What the nodes of the last session still had to say is heard, and forgotten.
        nodes.listener.listen(0.3)
        nodes.listener.phases().clear()
        nodes.listener.until(lambda: running(nodes))
        nodes.listener.listen(chance.uniform(0.0, 1.2))
        victim = OURS[kill % len(OURS)]
        ended = nodes.process('scheduler').poll() is not None
        nodes.signal(victim, signal.SIGKILL)
        killed = time.monotonic()
        nodes.process(victim).wait()
        if not ended:
            rests[victim].append(seconds_to_rest(nodes, killed))
        # The others are stopped, or the power fails.
        (nodes.group.stop if kill % 2 else nodes.kill)()
        begun = begun or (folder / JOURNAL).exists()
    print('slowest zero, s after the kill of', {name: max(each) for name, each in rests.items()})
    assert median_low([each for seconds in rests.values() for each in seconds]) <= 0.5
    assert max(map(max, rests.values())) < SOON
    start(nodes, lasting, folder, resume=begun)
    nodes.listener.results().clear()
    result = nodes.result(TIME)
    assert nodes.wait('scheduler') == 0
    assert_same_as_undisturbed(lasting, folder, result)
    nodes.listener.until((folder / 'result.yaml').exists)
    sessions = yaml.safe_load((folder / 'result.yaml').read_text())['sessions']
    assert len(sessions) == KILLS + 1


def test_repsq_run_goes_on_after_it_was_killed(
    nodes, learning, tmp_path, at_once, capsys
):  # fmt: skip
    """The user's way: repsq run dies with all its nodes, repsq run --resume ends the campaign."""
    folder, bag = tmp_path / 'campaign', str(tmp_path / 'bag')
    recorder = start_recorder(nodes, learning, bag)
    command = [sys.executable, '-m', 'repsq_ros.cli', 'run']
    process = nodes.popen(
        [*command, str(learning), '--simulate', '--seed', '7', '--output', str(folder),
         *at_once],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    nodes.listener.until(lambda: len(journalled(folder)) > 10)
    children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
    assert len(children) == 5
    process.kill()
    process.wait()
    # Its nodes are interrupted by the kernel; the lock of the journal goes with the scheduler.
    nodes.listener.until(lambda: not any(Path('/proc', pid).exists() for pid in children))
    done = subprocess.run(
        [*command, '--resume', str(folder), '--simulate', '--session-note', 'new gauge',
         *at_once],
        capture_output=True, text=True, check=False, timeout=2 * PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert stop_recorder(recorder)[0] == 0
    assert main(['certify', str(folder), '--bag', bag]) == 0
    document = yaml.safe_load((folder / 'result.yaml').read_text())
    expected, _ = in_process(learning, campaign_id=document['campaign_id'])
    assert document['estimate'] == expected.estimate
    assert document['value'] == expected.value
    assert document['sessions'][1].endswith('tests: new gauge')
    code = main(['verify', str(folder), '--bag', bag])
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ('change', 'told'),
    [
        (lambda lines: lines[:2] + lines[3:], 'line 3: found a line that does not follow'),
        (lambda lines: [lines[0].replace(b'lab', b'bar'), *lines[1:]], 'line 1: found a digest'),
    ],
)
def test_a_damaged_journal_is_refused_and_nothing_moves(change, told, learning, nodes, tmp_path):
    folder = tmp_path / 'campaign'
    start(nodes, learning, folder, resume=False)
    nodes.listener.until(lambda: len(journalled(folder)) > 3)
    nodes.group.stop()
    lines = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
    assert all(json.loads(line) for line in lines)
    (folder / JOURNAL).write_bytes(b''.join(change(lines)))
    nodes.listener.listen(0.5)  # to what is still on its way
    count = len(nodes.listener.phases())
    nodes.start(
        'scheduler',
        {'specification': str(learning), 'seed': 7, 'output': str(folder), 'resume': True},
    )
    assert nodes.wait('scheduler') == 7
    assert told in nodes.output('scheduler')
    nodes.listener.listen(0.5)
    assert len(nodes.listener.phases()) == count


def test_a_second_scheduler_on_the_same_campaign_is_refused(learning, nodes, tmp_path):
    folder = tmp_path / 'campaign'
    start(nodes, learning, folder, resume=False, speed=1.0)
    nodes.listener.until(lambda: len(journalled(folder)) > 0)
    done = subprocess.run(
        [sys.executable, '-m', 'repsq_ros.nodes.scheduler', '--ros-args',
         '-p', f'specification:={learning}', '-p', 'seed:=7', '-p', f'output:={folder}',
         '-p', 'resume:=true', '-r', '__node:=second'],
        check=False, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 7
    assert 'another process runs this campaign' in done.stderr
