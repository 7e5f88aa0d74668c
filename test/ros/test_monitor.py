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

"""The monitor shows a campaign as markers that RViz can draw."""

import math

import pytest
import yaml
from conftest import short_campaign
from support.graph import graph
from visualization_msgs.msg import Marker, MarkerArray

from repsq_ros.nodes import qos

NEEDED = {'box', 'cases', 'cells', 'text', 'interval', 'estimate', 'result'}


@pytest.fixture(scope='module')
def shown(tmp_path_factory):
    """The last markers of a finished campaign, by name, and its result."""
    folder = tmp_path_factory.mktemp('monitor')
    file = folder / 'specification.yaml'
    file.write_text(yaml.safe_dump(short_campaign()))
    with graph(folder) as nodes:
        return last_markers(nodes, file)


def last_markers(nodes, file):
    arrays = []
    nodes.listener.node.create_subscription(
        MarkerArray, '/monitor/markers', arrays.append, qos.LATCHED
    )
    nodes.start('monitor', {'specification': str(file), 'use_sim_time': True})
    nodes.start_campaign(file, {'speed': 0.0, 'seed': 7}, seed=7)
    result = nodes.result()

    def complete():
        if not arrays:
            return False
        names = {marker.ns: marker for marker in arrays[-1].markers}
        return set(names) == NEEDED and len(names['cases'].points) == result.n

    nodes.listener.until(complete)
    return {marker.ns: marker for marker in arrays[-1].markers}, result


def test_the_markers_tell_of_every_test_and_of_the_result(shown):
    markers, result = shown
    cases = markers['cases']
    assert len(cases.points) == len(cases.colors) == result.n
    assert all(abs(c) <= 0.5 for p in cases.points for c in (p.x, p.y, p.z))
    assert len({(c.r, c.g, c.b) for c in cases.colors}) > result.n // 2
    assert f'RESULT {result.value:.4f}' in markers['text'].text
    assert f'{result.n} tests' in markers['text'].text
    interval = markers['interval'].points
    assert interval[1].x - interval[0].x == pytest.approx(2 * result.half_width)
    assert markers['estimate'].pose.position.x == pytest.approx(result.estimate - 0.5)
    cell = markers['result']
    assert cell.scale.x == pytest.approx(result.cell_upper - result.cell_lower)
    middle = (result.cell_lower + result.cell_upper) / 2
    assert cell.pose.position.x == pytest.approx(middle - 0.5)


def test_rviz_has_nothing_to_complain_of(shown):
    """RViz refuses markers with a zero quaternion, a zero scale, odd lines or no frame."""
    for marker in shown[0].values():
        q = marker.pose.orientation
        assert math.isclose(q.x**2 + q.y**2 + q.z**2 + q.w**2, 1.0)
        assert marker.header.frame_id == 'repsq'
        assert marker.color.a > 0
        scale = (marker.scale.x, marker.scale.y, marker.scale.z)
        if marker.type == Marker.LINE_LIST:
            assert scale[0] > 0
            assert len(marker.points) % 2 == 0
        elif marker.type == Marker.TEXT_VIEW_FACING:
            assert scale[2] > 0
            assert marker.text
        else:
            assert all(s > 0 for s in scale)
