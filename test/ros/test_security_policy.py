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

"""The SROS 2 policy that is shipped lets each node publish what it does publish."""

import xml.etree.ElementTree as ElementTree

from conftest import ROOT

from repsq_ros import topics
from repsq_ros.launching.campaign_nodes import ORDER

ALLOWED = 'config/security/policy.xml', './/enclave[@path="/repsq/{}"]//topics[@publish="ALLOW"]/*'


def test_each_node_publishes_what_the_policy_allows(nodes, short, write):
    file, path = ALLOWED
    policy = ElementTree.parse(ROOT / file)
    nodes.start_campaign(write(short), {'speed': 0.0}, guard=True)
    nodes.listener.until(lambda: nodes.listener.heard[topics.TEST_MEASUREMENT])
    for name in ORDER:
        spoken = nodes.listener.node.get_publisher_names_and_types_by_node(name, '/')
        allowed = {f'/{each.text.lstrip("/")}' for each in policy.iterfind(path.format(name))}
        assert {topic for topic, _ in spoken} <= allowed
