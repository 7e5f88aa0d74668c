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

"""One walk over a recording gives what two walks give, and is one wherever that can be."""

import random

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip('rosbags')

from conftest import short_campaign
from support.bags import ODOMETRY, SECOND, at, walk
from support.made_bags import mcap_of
from support.recorded_bags import COMMAND, LENGTH, MEASUREMENT, PHASE, STORE, Script

from repsq_ros.errors import RepsqError
from repsq_ros.measurement.recorder import Window
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.tail import Tail
from repsq_ros.recordings.mcap_storage import McapStorage
from repsq_ros.replay import evaluated_campaign, recorded_windows
from repsq_ros.replay.recorded_windows import SENSOR, WindowMeasurer, measure_in_passing
from repsq_ros.replay.task import Task, reevaluate
from repsq_ros.specification.load import load

POINT = 'geometry_msgs/msg/PointStamped'
TESTS = 60
TOPICS = {
    '/repsq/test_command': COMMAND, '/repsq/test_phase': PHASE,
    '/repsq/test_measurement': MEASUREMENT, '/odom': ODOMETRY, '/condition/gauge': POINT,
}  # fmt: skip
CHANNELS = {
    k: (topic, kind, 'cdr', STORE.generate_msgdef(kind, ros_version=2)[0])
    for k, (topic, kind) in enumerate(TOPICS.items())
}
NUMBERS = {topic: k for k, topic in enumerate(TOPICS)}


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    """Return a folder with a specification with a condition, and another measure."""
    folder = tmp_path_factory.mktemp('walks')
    content = short_campaign()
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 20}, max_tests=TESTS)
    gauge = {'type': POINT, 'field': 'point.x', 'unit': '1', 'at_least': 0.2, 'stamp': 'header'}
    content['measure']['conditions'] = {'gauge': gauge}
    (folder / 'specification.yaml').write_text(yaml.safe_dump(content))
    other = {'measure': dict(content['measure'], gain=12.0, largest_gap=0.03)}
    del other['measure']['conditions']
    (folder / 'other.yaml').write_text(yaml.safe_dump(other))
    return folder


@pytest.fixture(scope='module')
def sensed():
    """Return what odometry and a gauge say while each test goes as it should: topic, ns, bytes."""
    steps = [(1.0 + k * LENGTH + 0.5, 0.2 * (k % 2)) for k in range(TESTS + 10)]
    _, _, told = walk(steps, 1.0 + (TESTS + 5) * LENGTH, rate=20)
    found = [('/odom', at(t), bytes(STORE.serialize_cdr(m, ODOMETRY))) for t, m in told]
    types = STORE.types
    for k in range(30):
        message = types[POINT](told[k * 100][1].header, types['geometry_msgs/msg/Point'](
            0.9 - 0.8 * (k % 5 == 4), 0.0, 0.0))  # fmt: skip
        ns = at(told[k * 100][0])
        found.append(('/condition/gauge', ns, bytes(STORE.serialize_cdr(message, POINT))))
    return found


def campaign(digest, ends, name='lab', begin=1.0):
    """Return what a campaign says whose attempts end in some ways."""
    script = Script(digest, name, begin)
    index = attempt = 0
    for end in ends:
        script.attempt(index, attempt, v=0.2 * (index % 2), ends=end)
        if end == 'measured':
            script.measured(index, attempt, 0.5)
        index, attempt = (index, attempt + 1) if end == 'paused' else (index + 1, 0)
    script.end()
    return [
        (topic, at(t), bytes(STORE.serialize_cdr(message, kind)))
        for topic, kind, told in (
            ('/repsq/test_command', COMMAND, script.commands),
            ('/repsq/test_phase', PHASE, script.phases),
            ('/repsq/test_measurement', MEASUREMENT, script.measurements),
        )
        for t, message in told
    ]


def write(file, told, chunk=400):
    """Write messages, in the order of recording, as chunks of so many."""
    ordered = sorted(told, key=lambda each: each[1])
    messages = [(NUMBERS[topic], ns, raw) for topic, ns, raw in ordered]
    file.write_bytes(mcap_of(CHANNELS, messages, chunk=chunk))
    return file


def stamped(raw, ns):
    """Return a message with another stamp in its header."""
    return raw[:4] + np.array(divmod(ns, SECOND), dtype='<u4').tobytes() + raw[12:]


def stamp_of(raw):
    seconds, rest = np.frombuffer(raw, '<u4', 2, 4).tolist()
    return seconds * SECOND + rest


def done(task):
    """Return what becomes of a task, or what is told instead."""
    try:
        return reevaluate(task)
    except RepsqError as error:
        return type(error), str(error)


def by_two_walks(task):
    """Evaluate a recording as if nothing had been measured in passing."""

    def forgetful(*arguments):
        return [None if each is None else {} for each in measure_in_passing(*arguments)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluated_campaign, 'measure_in_passing', forgetful)
        return done(task)


# The same ----------------------------------------------------------------------------------------

ENDS = st.sampled_from(['measured'] * 7 + ['paused', 'skipped', 'before', 'aborted'])
LATE = st.sampled_from([0.7, 20.0, 65.0, 100.0, 120.0])
SENSORS = ['good'] * 6 + [
    'set back', 'set back a little', 'late', 'out of order', 'stray', 'twice', 'silent',
    'late gauge', 'from the future',
]  # fmt: skip


def sensors(sensed, name, drawn):
    """Return what the sensors say, with a fault."""
    found, at_ns = list(sensed), at(drawn.uniform(10.0, 140.0))
    odometry = [k for k, (topic, _, _) in enumerate(found) if topic == '/odom']
    after = [k for k in odometry if found[k][1] >= at_ns]
    some = drawn.sample(odometry, 30)

    def restamp(rows, by_ns):
        for k in rows:
            topic, ns, raw = found[k]
            found[k] = (topic, ns, stamped(raw, stamp_of(raw) + by_ns))

    if name == 'set back':
        restamp(after, -round(drawn.choice([3.0, 30.0, 90.0]) * SECOND))
    elif name == 'set back a little':
        restamp(after, -SECOND // 2)
    elif name == 'late':
        for k in some:
            topic, ns, raw = found[k]
            found[k] = (topic, ns + drawn.choice([1, 30, 61, 80]) * SECOND, raw)
    elif name == 'out of order':
        found = [(t, ns + drawn.randrange(9 * SECOND // 10), raw) for t, ns, raw in found]
    elif name == 'stray':
        restamp(some[:3], -(10**15))
    elif name == 'twice':
        for k in some:  # by the same publisher, or by another one
            topic, ns, raw = found[k]
            other = found[max(k - 1, 0)][2] if k % 2 else raw
            found.append((topic, ns + 1, stamped(other, stamp_of(raw))))
    elif name == 'silent':
        gone = set(after[:60])
        found = [each for k, each in enumerate(found) if k not in gone]
    elif name == 'late gauge':
        late = drawn.choice([5, 61, 70]) * SECOND
        found = [(t, ns + late * (t == '/condition/gauge'), raw) for t, ns, raw in found]
    elif name == 'from the future':
        restamp(some[:2], 10**12)
    return found


@settings(max_examples=8)
@given(
    ends=st.lists(ENDS, min_size=TESTS, max_size=TESTS),
    seed=st.integers(0, 2**16),
    tick=st.sampled_from([0, 0, LENGTH, 9.0]),
    late=st.dictionaries(st.integers(0, 170), LATE, max_size=8),
    missing=st.sets(st.integers(0, 170), max_size=4),
    sensor=st.sampled_from(SENSORS),
    chunk=st.sampled_from([60, 400, 2500]),
    second=st.sampled_from([None, None, None, 'tuesday', 'another contract']),
    wanted=st.sampled_from(['lab'] * 6 + ['', 'tuesday']),
    offset=st.sampled_from([None, None, 0.05, 70.0]),
    what_if=st.booleans(),
    joined=st.booleans(),
)
def test_one_walk_gives_what_two_give(
    place,
    sensed,
    ends,
    seed,
    tick,
    late,
    missing,
    sensor,
    chunk,
    second,
    wanted,
    offset,
    what_if,
    joined,
):
    drawn = random.Random(seed)
    file = place / 'specification.yaml'
    digest = load(file).digest
    told = campaign(digest, ends)
    phases = [k for k, (topic, _, _) in enumerate(told) if topic == '/repsq/test_phase']
    for place_of, seconds in late.items():
        k = phases[place_of % len(phases)]
        told[k] = (told[k][0], told[k][1] + round(seconds * SECOND), told[k][2])
    gone = {phases[each % len(phases)] for each in missing}
    told = [each for k, each in enumerate(told) if k not in gone]
    if second:
        told += campaign(
            'f00' if second == 'another contract' else digest, ends[:9], 'tuesday', 20.0
        )
    if tick:
        told = [(topic, ns // round(tick * SECOND) * round(tick * SECOND), raw)
                for topic, ns, raw in told]  # fmt: skip
        drawn.shuffle(told)
    every = told + sensors(sensed, sensor, drawn)
    # Joined: as of a campaign that was resumed, whose recordings overlap.
    parts = [[each for each in every if (each[1] < at(80.0 + each[1] % 5)) == first or not joined]
             for first in (True, False)][: 1 + joined]  # fmt: skip
    bags = [write(place / f'{k}.mcap', part, chunk) for k, part in enumerate(parts)]
    measures = (place / 'other.yaml',) if what_if else ()
    task = Task(bags[0], file, campaign=wanted, clock_offset=offset, measures=measures,
                more=tuple(bags[1:]))  # fmt: skip
    assert done(task) == by_two_walks(task)


@pytest.mark.parametrize('name', sorted(set(SENSORS)))
def test_whatever_a_sensor_does_one_walk_gives_what_two_give(place, sensed, name):
    file = place / 'specification.yaml'
    told = campaign(load(file).digest, ['measured'] * TESTS)
    bag = write(place / 'bag.mcap', told + sensors(sensed, name, random.Random(5)), 60)
    found = done(Task(bag, file, measures=(place / 'other.yaml',)))
    assert found == by_two_walks(Task(bag, file, measures=(place / 'other.yaml',)))
    assert len(found.rows) == 2


# One ---------------------------------------------------------------------------------------------


@pytest.fixture
def walked(monkeypatch):
    """List the parts of a file as they are read, and how many windows are read again."""
    loads, again, load_part = [], [], McapStorage._unpacked

    def load_watched(storage, part):
        loads.append(part.begin)
        return load_part(storage, part)

    class Watched(WindowMeasurer):
        def __init__(self, measure, windows=None):
            super().__init__(measure, windows)
            if windows is not None:
                again.append(len(self._pending))

    monkeypatch.setattr(McapStorage, '_unpacked', load_watched)
    monkeypatch.setattr(recorded_windows, 'WindowMeasurer', Watched)
    return loads, again


def test_a_campaign_with_all_that_may_happen_is_read_once(place, sensed, walked):
    file = place / 'specification.yaml'
    ends = ['measured', 'paused', 'skipped', 'before', *['measured'] * (TESTS - 4)]
    bag = write(place / 'bag.mcap', campaign(load(file).digest, ends) + sensed)
    found = reevaluate(Task(bag, file, campaign='lab', measures=(place / 'other.yaml',)))
    loads, again = walked
    assert len(loads) == len(set(loads)) > 5
    assert again == []
    assert sum(outcome.valid for _, outcome in found.rows[0].evaluated) > 20
    assert found.rows[0].folded.result is not None


@pytest.mark.parametrize(('seconds', 'expected'), [(20, []), (45, []), (100, [1])])
def test_what_is_known_too_late_is_read_again_and_only_that(
    place, sensed, walked, seconds, expected
):
    file = place / 'specification.yaml'
    told = campaign(load(file).digest, ['measured'] * TESTS)
    phases = [k for k, (topic, _, _) in enumerate(told) if topic == '/repsq/test_phase']
    for k in phases[3 * 5 : 3 * 6] if expected else range(len(told)):  # of test 5, or all
        told[k] = (told[k][0], told[k][1] + seconds * SECOND, told[k][2])
    found = reevaluate(Task(write(place / 'bag.mcap', told + sensed, 100), file))
    loads, again = walked
    assert again == expected
    assert sorted(loads) == sorted((1 + len(expected)) * list(set(loads)))
    assert found.rows[0].evaluated[5].outcome.valid


def test_a_clock_that_was_set_back_is_looked_at_by_two_walks(place, sensed, walked):
    file = place / 'specification.yaml'
    told = campaign(load(file).digest, ['measured'] * TESTS)
    samples = sensors(sensed, 'set back', random.Random(1))
    reevaluate(Task(write(place / 'bag.mcap', told + samples), file))
    assert walked[1] == [TESTS]


@pytest.mark.parametrize(('late', 'known'), [(0, 1), (30, 1), (70, 0)])
def test_a_condition_that_comes_later_than_a_minute_is_for_two_walks(place, late, known):
    """By how much a window is passed when it is measured depends on what else is read."""
    measure = load(place / 'specification.yaml').measure
    windows = WindowMeasurer(measure)
    windows.announce([Window(10 * SECOND, 11 * SECOND, (0.0, 0.0, 0.0))])
    stamps = np.arange(0, 200 * SECOND, SECOND // 10)
    zeros = np.zeros((len(stamps), 3))
    odometry = Samples(stamps, zeros, np.zeros((len(stamps), 4)), zeros, zeros, logs=stamps)
    gauge = Samples(stamps[::50], value=np.ones(40), logs=stamps[::50] + late * SECOND)
    windows.add({SENSOR: odometry, 'gauge': gauge})
    assert len(windows.finished() or {}) == known


@pytest.mark.parametrize('fault', ['another contract', 'no gauge', 'no type', 'no campaign'])
def test_what_is_wrong_is_told_as_ever(place, sensed, fault):
    file = place / 'specification.yaml'
    digest = 'f00' if fault == 'another contract' else load(file).digest
    told = [each for each in campaign(digest, ['measured'] * 4) if fault != 'no campaign']
    bag = write(place / 'bag.mcap', told + sensed)
    remaps = {'no gauge': ('condition/gauge:=/none',), 'no type': ('odom:=/condition/gauge',)}
    remap = remaps.get(fault, ())
    task = Task(bag, file, remap=remap)
    error, line = by_two_walks(task)
    assert done(task) == (error, line)
    assert '\n' not in line


def test_no_more_samples_are_in_memory_than_a_minute_and_the_windows(place, sensed, monkeypatch):
    file = place / 'specification.yaml'
    bag = write(
        place / 'bag.mcap', campaign(load(file).digest, ['measured'] * TESTS) + sensed, 200
    )
    kept, forget = [], Tail.forget

    def watched(tail, before_ns):
        forget(tail, before_ns)
        kept.append(len(tail) if tail.newest(0).value is None else 0)

    monkeypatch.setattr(Tail, 'forget', watched)
    reevaluate(Task(bag, file))
    assert 1000 < max(kept) < 1600  # of 3250, at 20 Hz


# Several in one file -----------------------------------------------------------------------------


def later(told, seconds):
    """Return messages as if they had been recorded later, by clocks that say the same."""
    return [(topic, ns + seconds * SECOND, raw) for topic, ns, raw in told]


def test_two_simulated_campaigns_in_one_file_are_not_mixed_up(place, sensed):
    """Each begins at the same instant of simulated time: the sensor's clock is set back."""
    file = place / 'specification.yaml'
    first, second = (campaign(load(file).digest, ['measured'] * TESTS, x) for x in ('a', 'b'))
    alone = reevaluate(Task(write(place / 'alone.mcap', first + sensed), file, campaign='a'))
    both = write(
        place / 'both.mcap', [*first, *sensed, *later(second, 300), *later(sensed, 300)], 100
    )
    for name in 'ab':
        found = reevaluate(Task(both, file, campaign=name))
        assert [each.outcome for each in found.rows[0].evaluated] == [
            each.outcome for each in alone.rows[0].evaluated
        ]
    assert sum(each.outcome.valid for each in alone.rows[0].evaluated) > 30


def test_a_recording_that_was_played_twice_into_one_file_is_one_campaign(place, sensed):
    file = place / 'specification.yaml'
    told = campaign(load(file).digest, ['measured'] * TESTS)
    alone = reevaluate(Task(write(place / 'alone.mcap', told + sensed), file))
    every = told + sensed
    twice = reevaluate(Task(write(place / 'twice.mcap', every + later(every, 400), 100), file))
    assert twice.rows[0].evaluated == alone.rows[0].evaluated
    assert twice.rows[0].folded == alone.rows[0].folded
