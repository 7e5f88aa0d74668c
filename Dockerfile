# repsq_ros on ROS 2 Jazzy, as any ROS package in a workspace. Not built by the project's own tests:
# these have no access to a registry of images.
#
#   docker build --tag repsq_ros .
#   docker run --rm --network host repsq_ros repsq --help
#
# On a robot's network, DDS needs the host's network and, for shared memory, `--ipc host`.
FROM ros:jazzy-ros-base

RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-pip ros-jazzy-rosbag2-storage-mcap \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /workspace
COPY . src/repsq_ros
RUN apt-get update \
    && . /opt/ros/jazzy/setup.sh \
    && rosdep update --rosdistro jazzy \
    && rosdep install --from-paths src --ignore-src -y \
    && colcon build --packages-select repsq_ros --cmake-args -DBUILD_TESTING=OFF \
    && rm -rf /var/lib/apt/lists/* build log

COPY <<'ENTRY' /entry.sh
#!/bin/sh
. /opt/ros/jazzy/setup.sh
. /workspace/install/setup.sh
PATH="/workspace/install/repsq_ros/lib/repsq_ros:$PATH" exec "$@"
ENTRY
RUN chmod +x /entry.sh
ENTRYPOINT ["/entry.sh"]
CMD ["repsq", "--help"]
