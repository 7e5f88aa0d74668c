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

"""As on a real robot: the system's time, sensors at their rate, nobody waits for anybody."""

import pytest
import yaml

from repsq_ros import topics
from repsq_ros.cli import main
from repsq_ros.msg import TestPhase


def test_a_campaign_on_the_systems_time(nodes, short, write, tmp_path, at_once):
    short['measure']['source'] = 'mocap'
    short['tester'].update(max_tests=3)
    file, output = write(short), tmp_path / 'campaign'
    nodes.start('simulated_robot', {'clock': 'system', 'seed': 7})
    assert main(['run', str(file), '--seed', '7', '--output', str(output), *at_once]) == 0
    result = yaml.safe_load((output / 'result.yaml').read_text())
    assert (result['n'], result['invalid'], result['accurate']) == (3, 0, False)
    assert 0.2 < result['estimate'] < 0.8
    nodes.listener.phase(TestPhase.DONE)
    # A stall of this machine breaks off an attempt, which is repeated; a slow disk pauses, and
    # what was measured meanwhile is asked for again.
    spans = nodes.listener.phases()
    if not any(span.phase == TestPhase.PAUSED for span in spans):
        assert [span.phase for span in spans] == [1, 2, 0] * 3 + [7]
    kept = nodes.listener.heard[topics.TEST_MEASUREMENT]

    def counted():
        return {each.index: each for each in kept if not each.broken_off}

    nodes.listener.until(lambda: len(counted()) == 3)
    heard = counted().values()
    for measured in heard:
        length = measured.window_end.sec - measured.window_start.sec
        length += (measured.window_end.nanosec - measured.window_start.nanosec) * 1e-9
        assert length == pytest.approx(1.0)
        assert measured.samples == pytest.approx(100, abs=3)
