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

"""Recordings of campaigns, made by a test: the package's own topics, and no ROS."""

import numpy as np
from conftest import ROOT
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from support.bags import SECOND, TYPES, at, walk

PHASES = {'idle': 0, 'dwell': 1, 'command': 2, 'paused': 6, 'done': 7, 'aborted': 8, 'skipped': 10}
COMMAND, PHASE, MEASUREMENT = (
    f'repsq_ros/msg/{name}' for name in ('TestCommand', 'TestPhase', 'TestMeasurement')
)
LENGTH = 2.5  # [s] of a test: 0.5 of dwell, 1.5 of command, 1.0 measured, and 0.5 between tests


def store():
    """Return the types of Jazzy and those of this package, from its .msg files."""
    made = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for path in sorted((ROOT / 'msg').glob('*.msg')):
        types.update(get_types_from_msg(path.read_text(), f'repsq_ros/msg/{path.stem}'))
    made.register(types)
    return made


STORE = store()


def time(t):
    """Return an instant [s] as a stamp; None: not set."""
    ns = 0 if t is None else at(t)
    return TYPES['builtin_interfaces/msg/Time'](ns // SECOND, ns % SECOND)


class Script:
    """A campaign as its scheduler and its measurement node would tell it.

    :param digest: of the specification
    :param begin: [s] when its first test begins
    """

    def __init__(self, digest, campaign_id='lab', begin=1.0, error=0.05):
        import numpy as np

        self._array = lambda values: np.array(values, dtype=np.float64)
        self.digest, self.campaign_id = digest, campaign_id
        self.now = begin
        self.commands, self.phases, self.measurements = [], [], []
        self.walked, self.error = [], error

    def _test(self, index, attempt, v, weight):
        return STORE.types[COMMAND](
            self._header(self.now), self.campaign_id, self.digest, index, attempt,
            ['linear_x', 'linear_y', 'angular_z'], ['m/s', 'm/s', 'rad/s'],
            self._array([v, 0.0, 0.0]), 0.0, 0.0, weight, 1.0,
        )  # fmt: skip

    def _header(self, t):
        return STORE.types['std_msgs/msg/Header'](time(t), '')

    def say(self, test, name, start, end, command=(0.0, 0.0, 0.0), window=None, step=0, **more):
        first, last = window or (None, None)
        self.phases.append((start, STORE.types[PHASE](
            header=self._header(start), test=test, phase=PHASES[name], start=time(start),
            end=time(end), names=['linear_x', 'linear_y', 'angular_z'],
            command=self._array(command), step=step, window_start=time(first),
            window_end=time(last), command_start=time(None),
            broken_off=more.get('broken_off', False), goes_on=False, alarm=False,
            cause='operator' if more.get('broken_off') else '', reason=more.get('reason', ''),
        )))  # fmt: skip

    def attempt(self, index, attempt=0, v=0.2, ends='measured', weight=1.0):
        """Live through one attempt.

        :param ends: measured, paused, skipped, or aborted (in its command); before (it begins)
        """
        test = self._test(index, attempt, v, weight)
        begin, command = self.now, self.now + 0.5
        self.commands.append((begin, test))
        self.say(test, 'dwell', begin, command)
        self.now += LENGTH
        if ends == 'before':
            self.say(test, 'skipped', begin + 0.2, None, reason='by hand')
            return
        window = (command + 0.5, command + 1.5)
        self.walked += [(command, v), (command + 1.5, 0.0)]
        self.say(test, 'command', command, command + 1.5, (v, 0.0, 0.0), window, step=1)
        if ends == 'measured':
            self.say(test, 'idle', command + 1.5, command + 1.5)
            return
        self.say(test, ends, command + 1.0, None, broken_off=True, reason='by hand')

    def measured(self, index, attempt, psi, valid=True, code='', reason='', skipped=False):
        """Say what was measured when it was recorded."""
        self.measurements.append((self.now, STORE.types[MEASUREMENT](
            header=self._header(self.now), campaign_id=self.campaign_id,
            specification_digest=self.digest, index=index, attempt=attempt, psi=psi,
            psi_error=0.0, measured=np.zeros(3), weight=1.0,
            valid=valid, reason=reason, code=code, samples=50, window_start=time(self.now - 1),
            window_end=time(self.now), skipped=skipped, broken_off=False, cause='',
            x=self._array([0.2, 0.0, 0.0]), weight_bound=1.0,
        )))  # fmt: skip

    def end(self, name='done', reason=''):
        """Say how the campaign ended."""
        self.say(self.commands[-1][1], name, self.now, None, reason=reason)


def streams(*scripts, prefix='', silent=(), since=0.0):
    """Return the streams of a bag with some campaigns, one after the other.

    :param silent: (from, until) [s] in which the sensor says nothing
    :param since: [s] when the recording begins
    """
    walked = [each for script in scripts for each in script.walked]
    topic, name, samples = walk(walked, max(script.now for script in scripts) + 1.0)
    samples = [
        (t, m)
        for t, m in samples
        if t >= since and not any(begin < t < end for begin, end in silent)
    ]  # fmt: skip

    def told(kind):
        found = [each for script in scripts for each in getattr(script, kind)]
        return sorted(found, key=lambda each: each[0])

    return [
        (f'{prefix}/repsq/test_command', COMMAND, told('commands')),
        (f'{prefix}/repsq/test_phase', PHASE, told('phases')),
        (f'{prefix}/repsq/test_measurement', MEASUREMENT, told('measurements')),
        (topic, name, samples),
    ]
