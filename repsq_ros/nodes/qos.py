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

"""Quality of service, by role."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions, QoSPolicyKind

ACKNOWLEDGED = Duration(nanoseconds=400_000_000)  # in which what was sent last has arrived

# Kept for who joins late: some 300 tests with their phases.
HISTORY = 1000


# Records of the campaign: none may be lost, and who joins late sees the last ones.
RECORD = QoSProfile(
    depth=HISTORY,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# All that a campaign has counted, for who joins late: none has so many tests.
WHOLE = QoSProfile(
    depth=20_000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Markers: RViz keeps what it was told; who joins late is told all of it anew.
MARKERS = QoSProfile(
    depth=20,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Signs of life: a lost one must not hold back those that follow.
HEARTBEAT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)

# What is in force now: a late joiner gets the last one.
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Sensors: takes any publisher (best effort accepts reliable ones too), and bursts of 1 kHz.
SENSOR = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)

# /diagnostics: what aggregators and rqt ask for.
DIAGNOSTICS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)

# Where the robot is: an older pose that waited in a queue would pass for the newest.
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

COMMAND = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)

# /clock: only the newest counts; simulated_robot repeats a clock that stands still.
CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)

# For subscriptions whose publishers are not ours (sensors, a bag player): parameters may override.
OVERRIDABLE = QoSOverridingOptions(
    policy_kinds=(
        QoSPolicyKind.HISTORY,
        QoSPolicyKind.DEPTH,
        QoSPolicyKind.RELIABILITY,
        QoSPolicyKind.DURABILITY,
    )
)
