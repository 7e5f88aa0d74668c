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

"""Weighted cases from another program, received on a topic."""

from __future__ import annotations

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.msg import TestCommand
from repsq_ros.nodes import qos
from repsq_ros.nodes.rclpy_versions import SubscriptionEventCallbacks
from repsq_ros.sampling.external import External, external_draw
from repsq_ros.sampling.proposals import Proposal
from repsq_ros.specification.model import Specification


class ExternalCases:
    """The received cases; `fault` is what was wrong with one, and ends the campaign."""

    def __init__(self) -> None:
        self.fault = ''


def listen_for_cases(
    node: Node, proposal: Proposal, specification: Specification, campaign_id: str
) -> ExternalCases:
    """Offer each TestCommand on the topic to the proposal; other proposals need no subscription.

    These fields are used: campaign_id (empty: any), index, x, log_q and weight; a log_q of 0
    with a weight counts as not given.
    """
    cases = ExternalCases()
    if not isinstance(proposal, External) or specification.tester.proposal.table:
        return cases

    def on_case(message: TestCommand) -> None:
        if message.campaign_id not in ('', campaign_id):
            return
        where = f'case {message.index} on {node.resolve_topic_name(topics.EXTERNAL_CASE)}'
        try:
            draw = external_draw(
                specification.target,
                tuple(message.x),
                proposal.weight_bound,
                weight=message.weight or None,
                log_q=message.log_q or None,
            )
        except ValueError as error:
            cases.fault = f'{where}: {error}'
            return
        if not proposal.offer(message.index, draw):
            cases.fault = f'{where}: found another case than the one offered before'

    events = SubscriptionEventCallbacks()  # the default only logs an incompatible QoS
    node.create_subscription(
        TestCommand, topics.EXTERNAL_CASE, on_case, qos.RECORD, event_callbacks=events
    )
    return cases
