"""Quality of service, by role."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

# A peer that says nothing for so long is taken as lost; its middleware asserts it by itself.
PEER_LEASE = Duration(nanoseconds=500_000_000)

# Records of the campaign: none may be lost, and who joins late sees the last ones.
RECORD = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Records of a peer whose death must be noticed. Offered to anybody; asked for by who watches.
WATCHED_RECORD = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
    liveliness=LivelinessPolicy.AUTOMATIC,
    liveliness_lease_duration=PEER_LEASE,
)

# What is in force now: a late joiner gets the last one.
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# Sensors: takes any publisher (best effort accepts reliable ones too), and bursts of 1 kHz.
SENSOR = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)

COMMAND = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)

# /clock: only the newest counts; simulated_robot repeats a clock that stands still.
CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
