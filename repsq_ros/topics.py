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

"""Names of the topics, relative to the nodes' namespace; remap them as usual.

Bags and nodes share them, so no ROS is needed here.
"""

TEST_COMMAND = 'repsq/test_command'
TEST_PHASE = 'repsq/test_phase'
TEST_MEASUREMENT = 'repsq/test_measurement'
ESTIMATE = 'repsq/estimate'
COUNTED_TEST = 'repsq/counted_test'
EXTERNAL_CASE = 'repsq/external_case'
QUANTIZED_RESULT = 'repsq/quantized_result'
JOURNAL_HEAD = 'repsq/journal_head'  # digest of a case's line, and which campaign's

# What the package says of a campaign: with the sensors, all that is needed to compute it again.
RECORDED = (
    TEST_COMMAND,
    TEST_PHASE,
    TEST_MEASUREMENT,
    ESTIMATE,
    COUNTED_TEST,
    QUANTIZED_RESULT,
    JOURNAL_HEAD,
)

EMERGENCY_STOP = 'emergency_stop'
BATTERY = 'battery_state'

COMMAND_VELOCITY = 'cmd_vel'
SPORT_REQUEST = 'api/sport/request'
SPORT_RESPONSE = 'api/sport/response'
SCRIPT_COMMAND = 'urscript_interface/script_command'
TARGET_FRAME = 'target_frame'
INSTRUCTION = 'repsq/instruction'
HEARTBEAT = 'repsq/heartbeat'  # / name of the node

# By which robots are commanded.
COMMANDS = (COMMAND_VELOCITY, SPORT_REQUEST, SCRIPT_COMMAND, TARGET_FRAME)
