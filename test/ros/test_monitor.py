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

"""The monitor shows a campaign as markers that RViz can draw, also to who joins late."""

import json
import math
import os
import signal
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT, short_campaign
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from support.graph import graph
from visualization_msgs.msg import Marker, MarkerArray

from repsq_ros import topics
from repsq_ros.msg import CountedTest, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.campaign_listener import CampaignListener
from repsq_ros.nodes.diagnostics import TOPIC
from repsq_ros.nodes.markers import MarkerSheet
from repsq_ros.views.health import Level
from repsq_ros.views.panels import AXIS_LEFT, AXIS_RIGHT
from repsq_ros.views.shapes import Dots, Text
from repsq_ros.views.text_width import blank_scale

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
NEEDED = {
    'title', 'axes', 'labels', 'legend', 'cases', 'panel', 'motion', 'psi', 'cells', 'interval',
    'estimate', 'result',
}  # fmt: skip


WIDE = (AXIS_RIGHT - AXIS_LEFT) / 100  # [m] that psi from 0 to 1 is long


def interval_of(viewer):
    """Return how wide the interval is shown, in psi."""
    begin, end, *_ = viewer.markers['interval', 0].points
    return (end.x - begin.x) / WIDE


class Viewer:
    """What RViz shows: markers stay until they are replaced or taken away."""

    def __init__(self, node):
        self.markers, self.messages = {}, []
        self.subscription = node.create_subscription(
            MarkerArray, '/monitor/markers', self._on_message, qos.MARKERS
        )

    def _on_message(self, message):
        self.messages.append(message)
        for marker in message.markers:
            if marker.action == Marker.DELETEALL:
                self.markers.clear()
            elif marker.action == Marker.DELETE:
                self.markers.pop((marker.ns, marker.id), None)
            else:
                self.markers[marker.ns, marker.id] = marker

    def of(self, name):
        return [marker for key, marker in self.markers.items() if key[0] == name]

    def cases(self):
        """Return how many places of valid tests are shown, in three panels."""
        return sum(len(marker.points) for marker in self.of('cases'))


@pytest.fixture(scope='module')
def shown(tmp_path_factory):
    """What is shown of a finished campaign: to who was there, to who joins late; its result."""
    folder = tmp_path_factory.mktemp('monitor')
    file = folder / 'specification.yaml'
    file.write_text(yaml.safe_dump(short_campaign()))
    with graph(folder) as nodes:
        node = nodes.listener.node
        viewer = Viewer(node)
        parameters = {'specification': str(file), 'use_sim_time': True}
        nodes.start('monitor', parameters)
        nodes.start_campaign(file, {'speed': 0.0, 'seed': 7}, seed=7)
        result = nodes.result()

        def complete(of):
            there = {ns for ns, _ in of.markers} >= NEEDED and of.cases() == 3 * result.n
            # The last estimate may come after the result: no order holds between topics.
            return there and interval_of(of) == pytest.approx(2 * result.half_width)

        nodes.listener.until(lambda: complete(viewer))
        late = Viewer(node)
        nodes.listener.until(lambda: complete(late))
        # Everything is said again once, to who joined, and not from then on.
        said = len(viewer.messages)
        nodes.listener.listen(1.0)
        assert len(viewer.messages) < said + 3
        node.destroy_subscription(late.subscription)
        # A monitor that joins late, and without a specification, has heard of every test, too.
        nodes.signal('monitor', signal.SIGTERM)
        nodes.wait('monitor')
        viewer.markers.clear()
        nodes.start('monitor', {'use_sim_time': True})
        nodes.listener.until(
            lambda: viewer.cases() == 3 * result.n and viewer.of('labels') and viewer.of('result')
        )
        second = dict(viewer.markers)
        published = dict(node.get_topic_names_and_types())
        return late, second, result, published


def test_the_markers_tell_of_every_test_and_of_the_result(shown):
    late, _, result, _ = shown
    panel = [marker.text for marker in late.of('panel')]
    assert panel[0].startswith(f'{result.n} tests')
    assert late.markers['result', 1].text == f'RESULT {result.value:.6g}'
    for marker in late.of('cases'):
        assert len(marker.points) == len(marker.colors)
    place = late.markers['estimate', 0].pose.position.x
    assert place == pytest.approx(AXIS_LEFT / 100 + result.estimate * WIDE)


def test_without_a_specification_it_shows_what_it_heard_and_says_so(shown):
    _, second, result, _ = shown
    texts = [marker.text for marker in second.values()]
    assert any('linear_x [m/s]' in text for text in texts)
    assert any(f'RESULT {result.value:.6g}' in text for text in texts)
    assert ('cells', 0) not in second


def test_rviz_has_nothing_to_complain_of(shown):
    """RViz refuses markers with a zero quaternion, a zero scale, odd lines or no frame."""
    for marker in shown[0].markers.values():
        q = marker.pose.orientation
        assert math.isclose(q.x**2 + q.y**2 + q.z**2 + q.w**2, 1.0)
        assert marker.header.frame_id == 'repsq'
        assert marker.color.a > 0
        scale = (marker.scale.x, marker.scale.y, marker.scale.z)
        if marker.type in (Marker.LINE_LIST, Marker.LINE_STRIP):
            assert scale[0] > 0
            assert len(marker.points) > 1
            assert marker.type == Marker.LINE_STRIP or len(marker.points) % 2 == 0
        elif marker.type == Marker.TEXT_VIEW_FACING:
            assert scale[2] > 0
            assert scale[0] == pytest.approx(blank_scale(scale[2]))  # else lines are torn
            assert marker.text
        else:
            assert all(s > 0 for s in scale)
        coordinates = [c for p in marker.points for c in (p.x, p.y, p.z)]
        assert all(map(math.isfinite, coordinates))


def test_views_name_only_topics_and_frames_that_are_published(shown):
    late, _, _, published = shown
    frames = {marker.header.frame_id for marker in late.markers.values()}
    view = yaml.safe_load((ROOT / 'config' / 'repsq.rviz').read_text())['Visualization Manager']
    named = [display['Topic']['Value'] for display in view['Displays']]
    assert named == ['/monitor/markers']
    assert set(named) <= set(published)
    assert view['Global Options']['Fixed Frame'] in frames
    layout = (ROOT / 'config' / 'foxglove.json').read_text()
    for panel in json.loads(layout)['configById'].values():
        named = [*panel.get('topics', {}), panel.get('topicPath'), panel.get('topicToRender')]
        for name in filter(None, named):
            assert name in published, name
        for path in panel.get('paths', ()):
            assert path['value'].split('.')[0] in published, path
        frame = panel.get('followTf')
        assert frame is None or frame in frames


def test_the_frame_is_published_where_tf2_is_installed(nodes):
    tf2_msgs = pytest.importorskip('tf2_msgs.msg')
    heard = []
    node = nodes.listener.node
    node.create_subscription(tf2_msgs.TFMessage, '/tf_static', heard.append, qos.LATCHED)
    nodes.start('monitor', {})
    nodes.listener.until(lambda: heard)
    [transform] = heard[0].transforms
    assert transform.header.frame_id == 'repsq'
    assert transform.transform.rotation.w == 1.0


def test_everything_counted_is_kept_for_who_joins_late(nodes, write, short):
    """Also what an earlier session counted: it stands in the journal alone."""
    file = write(short)
    output = {'output': str(file.parent / 'campaign')}
    nodes.start_campaign(file, {'speed': 0.0, 'seed': 7}, output, seed=7, **output)
    kept = nodes.listener.heard[topics.TEST_MEASUREMENT]
    nodes.listener.until(lambda: len(kept) >= 5)
    nodes.call('abort')
    nodes.wait('scheduler')
    nodes.kill()
    before = len((file.parent / 'campaign' / 'tests.csv').read_text().splitlines()) - 1
    nodes.start_campaign(file, {'speed': 0.0, 'seed': 7}, output, seed=7, resume=True, **output)
    result = nodes.result()
    heard = []
    nodes.listener.node.create_subscription(
        CountedTest, topics.COUNTED_TEST, heard.append, qos.WHOLE
    )
    total = result.n + result.invalid + result.broken_off
    nodes.listener.until(lambda: len(heard) >= total)
    assert before >= 5
    keys = [(each.measurement.index, each.measurement.attempt) for each in heard]
    assert keys == sorted(set(keys))
    assert keys[0] == (0, 0)
    assert heard[-1].estimate.n == result.n
    assert heard[-1].estimate.mean == result.estimate


# The sheet of markers ----------------------------------------------------------------------------


def dots(count, number=0):
    return Dots(('cases', number), 8.0, places=[(float(k), 0.0) for k in range(count)],
                shades=[3] * count)  # fmt: skip


def names(message, action=Marker.ADD):
    return [(m.ns, m.id) for m in message.markers if m.action == action]


def test_a_first_message_takes_away_what_was_there_and_a_missing_text_goes():
    sheet = MarkerSheet('repsq')
    one, two = (Text(('panel', k), 'text', 0.0, 0.0) for k in range(2))
    first = sheet.message([one, two])
    assert first.markers[0].action == Marker.DELETEALL
    assert names(sheet.message([one])) == [('panel', 0)]
    assert names(sheet.message([one]), Marker.DELETE) == [('panel', 1)]
    assert ('panel', 1) in names(sheet.message([one, two]))
    assert not names(sheet.message([one, two]), Marker.DELETE)


def test_a_group_that_grows_is_sent_whole_and_at_once():
    sheet = MarkerSheet('repsq')
    group = dots(3)
    sheet.keep([group])
    sheet.message([])
    group.places.append((9.0, 1.0))
    group.shades.append(5)
    sheet.grow(group)
    marker = next(m for m in sheet.message([]).markers if m.ns == 'cases')
    assert [p.x for p in marker.points] == pytest.approx([0.0, 0.01, 0.02, 0.09])
    assert len(marker.colors) == 4


def test_no_message_is_large_and_all_is_said_again_to_who_joins():
    sheet = MarkerSheet('repsq')
    sheet.keep([dots(512, number) for number in range(60)])

    def said():
        found = set()
        while sheet.owes:
            message = sheet.message([])
            assert sum(len(marker.points) for marker in message.markers) < 2100
            found |= set(names(message))
        return found

    assert len(said()) == 60
    sheet.send_all_again()
    assert len(said()) == 60
    # Without anybody having joined, a lost message is made good before long.
    assert set().union(*(names(sheet.message([])) for _ in range(25))) == {
        ('cases', number) for number in range(60)
    }


# Diagnostics -------------------------------------------------------------------------------------


def test_every_node_says_how_it_is(nodes, write, short):
    """The levels that docs/nodes.md names, of each node, from before the start to a pause."""
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 500}, max_tests=500)
    heard = {}

    def hear(message):
        for each in message.status:
            heard.setdefault(each.name, []).append((each.level, each.message))

    node = nodes.listener.node
    node.create_subscription(DiagnosticArray, TOPIC, hear, qos.DIAGNOSTICS)
    file = write(short)

    def said(name, level, text=''):
        return any(told == level and text in said for told, said in heard.get(f'{name}: node', []))

    nodes.start('guard', {'use_sim_time': True})
    nodes.start('measurement', {'specification': str(file), 'use_sim_time': True})
    nodes.listener.until(lambda: said('guard', WARN, 'no sign of life'))
    nodes.listener.until(lambda: said('measurement', WARN, 'waits for something on /odom'))
    nodes.signal('measurement', signal.SIGTERM)
    nodes.wait('measurement')
    nodes.start('monitor', {'specification': str(file), 'use_sim_time': True})
    nodes.start_campaign(file, {'speed': 2.0, 'seed': 7}, seed=7, attended=True)
    for name, text in (
        ('measurement', 'measures'), ('estimator', 'tests counted'), ('scheduler', 'test '),
        ('monitor', 'shows all it hears'), ('simulated_robot', 'lives through its time'),
        ('guard', 'watches the scheduler'),
    ):  # fmt: skip
        nodes.listener.until(lambda name=name, text=text: said(name, OK, text))
    nodes.call('pause')
    nodes.listener.until(lambda: said('scheduler', ERROR, 'held until ~/resume: by the operator'))


def test_watch_shows_a_running_campaign_its_nodes_and_its_sensors(nodes, write, short):
    """Also what was counted before somebody began to watch."""
    rich = pytest.importorskip('rich')
    assert rich
    file = write(short)
    nodes.start_campaign(
        file, {'speed': 5.0, 'seed': 7}, seed=7, attended=True, guard=True, look_around=0.0
    )
    kept = nodes.listener.heard[topics.TEST_MEASUREMENT]
    nodes.listener.until(lambda: len(kept) >= 3)
    nodes.call('pause')
    nodes.listener.phase(TestPhase.PAUSED)
    heard = CampaignListener(nodes.listener.node)
    nodes.listener.until(lambda: len(heard.state.counted) >= 3 and heard.state.span)
    nodes.listener.until(lambda: all(peer.level is Level.OK for peer in heard.peers()))
    nodes.listener.until(lambda: any('/odom' in each.name for each in heard.health()))
    nodes.signal('guard', signal.SIGKILL)
    nodes.listener.until(lambda: heard.peers()[1].level is Level.STALE)
    shown = subprocess.run(
        [sys.executable, '-m', 'repsq_ros.cli', 'watch', '--once'],
        env={**os.environ, 'COLUMNS': '140'}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    for words in ('held until ~/resume: by the operator', 'psi ', 'linear_x', '/odom', 'STALE'):
        assert words in shown.stdout
