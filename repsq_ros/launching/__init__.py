"""Which nodes make up a campaign, as plain data; and the same as actions of `ros2 launch`."""
