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

"""The public face: what is listed is there, and what users build on it works."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT

from repsq_ros import api

DOCUMENT = (ROOT / 'docs' / 'instruments.md').read_text()
SECTION = DOCUMENT.split('## What your own code imports')[1]


def test_every_listed_name_is_there_and_documented():
    table = '\n'.join(line for line in SECTION.splitlines() if line.startswith('| a '))
    documented = set(re.findall(r'`(\w+)`', table))
    assert documented == set(api.__all__)
    assert api.__all__ == sorted(api.__all__)
    assert all(hasattr(api, name) for name in api.__all__)


def test_it_needs_no_ros_and_no_optional_package():
    optional = ('rclpy', 'launch', 'rosbags', 'mujoco', 'matplotlib', 'distributed', 'tqdm')
    code = f'import sys\nfor name in {optional!r}: sys.modules[name] = None\nimport repsq_ros.api'
    subprocess.run([sys.executable, '-c', code], check=True, timeout=60)


def test_the_documented_script_gives_a_result(short, write):
    code = re.search(r'```python\n(.*?)```', SECTION, re.DOTALL)[1]
    code = code.replace('config/g1_locomotion.yaml', str(write(short)))
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True, timeout=60
    )
    assert re.match(r'0\.\d+ (With probability|Nothing exactly)', done.stdout)


MEASURE = '''
from repsq_ros.api import Cut, UnmeasurableError


class Height:
    """Mean height over the window [m]; INVALID for commands to the left."""

    lower, upper, unit, needs = 0.0, 2.0, 'm', 'position'

    def psi(self, cut: Cut) -> float:
        if cut.window.command[1] > 0.0:
            raise UnmeasurableError('to the left')
        return float(cut.measured.position[:, 2].mean())
'''


def test_a_measure_of_ones_own_that_calls_a_test_invalid(short, tmp_path, write):
    (tmp_path / 'height_by_api.py').write_text(MEASURE)
    short['measure'] = {
        'type': 'height_by_api:Height',
        'input': {'type': 'geometry_msgs/msg/PoseStamped'},
    }
    short['partition'] = {'alpha': 0.5}
    specification = api.load(write(short))
    told = []
    with pytest.raises(api.RepsqError, match='to the left'):
        api.run_in_process(
            specification,
            api.make_subject('surrogate', ''),
            1,
            on_test=lambda record, estimate: told.append(record),
        )
    assert told
    for record in told:
        assert record.valid == (record.x[1] <= 0.0)
        assert not record.valid or 0.5 < record.psi < 1.0
