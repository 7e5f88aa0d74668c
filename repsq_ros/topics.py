"""Names of the topics, relative to the nodes' namespace; remap them as usual.

Bags and nodes share them, so no ROS is needed here.
"""

TEST_COMMAND = 'repsq/test_command'
TEST_PHASE = 'repsq/test_phase'
TEST_MEASUREMENT = 'repsq/test_measurement'
ESTIMATE = 'repsq/estimate'
EXTERNAL_CASE = 'repsq/external_case'
QUANTIZED_RESULT = 'repsq/quantized_result'

EMERGENCY_STOP = 'emergency_stop'
BATTERY = 'battery_state'

COMMAND_VELOCITY = 'cmd_vel'
SPORT_REQUEST = 'api/sport/request'
SCRIPT_COMMAND = 'urscript_interface/script_command'
TARGET_FRAME = 'target_frame'
TOOL_POSE = 'tool_pose'
INSTRUCTION = 'repsq/instruction'
HEARTBEAT = 'repsq/heartbeat'  # / name of the node

ODOMETRY = 'odom'
MOCAP_POSE = 'mocap/pose'
GAUGE = 'gauge'
SPEED_SCALING = 'condition/speed_scaling'

SENSOR = {
    'odometry': ODOMETRY,
    'mocap': MOCAP_POSE,
    'tool_pose': TOOL_POSE,
    'gauge': GAUGE,
    'speed_scaling': SPEED_SCALING,
}
