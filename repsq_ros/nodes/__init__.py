"""ROS in and out: nodes that only translate between messages and the core's plain values."""
