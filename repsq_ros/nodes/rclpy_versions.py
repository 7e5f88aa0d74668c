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

"""Where Humble's rclpy and later ones differ; no other file asks which version is there.

Humble has no `rclpy.event_handler` (it is `rclpy.qos_event` there), and its subscriptions have no
`get_publisher_count`. test/ros/test_humble.py fails when a file uses what Humble lacks.
"""

from __future__ import annotations

from rclpy.node import Node
from rclpy.subscription import Subscription

try:
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

__all__ = ['PublisherEventCallbacks', 'SubscriptionEventCallbacks', 'publisher_count']


def publisher_count(node: Node, subscription: Subscription) -> int:
    """Return how many publishers a subscription is matched with.

    Humble counts all publishers of the topic, those with an incompatible QoS included.
    """
    if hasattr(subscription, 'get_publisher_count'):
        return int(subscription.get_publisher_count())
    return int(node.count_publishers(subscription.topic_name))
