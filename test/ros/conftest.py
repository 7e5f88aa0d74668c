"""Tests of the nodes: they need ROS 2 and the built messages."""

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('repsq_ros.msg')


@pytest.fixture
def nodes(tmp_path):
    from support.graph import graph

    with graph(tmp_path) as made:
        yield made
