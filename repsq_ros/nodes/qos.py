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

"""Quality of service of each kind of topic."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions, QoSPolicyKind

# How long a node that ends waits for its last message to be acknowledged.
ACKNOWLEDGED = Duration(nanoseconds=400_000_000)

HISTORY = 1000  # messages kept for late joiners: some 300 tests with their phases

# Records of the campaign: none may be lost, and a late joiner gets those that are kept.
RECORD = QoSProfile(
    depth=HISTORY,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# The newest counted tests, for nodes that join late: the publisher keeps this many.
WHOLE = QoSProfile(
    depth=2000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Markers: everything is republished for late joiners.
MARKERS = QoSProfile(
    depth=20,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Heartbeats: sending a lost one again would hold back those that follow.
HEARTBEAT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)

# A state, such as a mode: a late joiner gets the newest message.
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Sensors: best effort also hears reliable publishers; the depth holds ten seconds at 1 kHz.
SENSOR = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.BEST_EFFORT)

# /diagnostics: as diagnostic_aggregator and rqt subscribe to it.
DIAGNOSTICS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)

# Where the robot is: a pose that has waited in a queue would be taken for the newest.
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

COMMAND = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)

# /clock: only the newest counts, and simulated_robot repeats it while time stands still.
CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

# For subscriptions to other programs (sensors, a bag player): parameters may change these.
OVERRIDABLE = QoSOverridingOptions(
    policy_kinds=(
        QoSPolicyKind.HISTORY,
        QoSPolicyKind.DEPTH,
        QoSPolicyKind.RELIABILITY,
        QoSPolicyKind.DURABILITY,
    )
)
