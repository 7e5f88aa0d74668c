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

"""What measures, distributions and scripts of your own import; it stays where it is.

Everything else in the package may move from one version to the next. No ROS is needed.
"""

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.folder import read_tests
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.errors import RepsqError
from repsq_ros.iso9283 import performance_criteria as iso9283
from repsq_ros.measurement.checks import checked
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.own import Quantity
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.window import UnmeasurableError, Window
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import Distribution
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.simulation.simulated_sensors import SensorNoise
from repsq_ros.simulation.subject import BodyState, Subject
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification

__all__ = [
    'BodyState',
    'Box',
    'Campaign',
    'Cut',
    'Dimension',
    'Distribution',
    'EstimateRecord',
    'Quantity',
    'RepsqError',
    'Result',
    'Samples',
    'SensorNoise',
    'Specification',
    'Subject',
    'TestRecord',
    'UnmeasurableError',
    'Window',
    'checked',
    'iso9283',
    'load',
    'make_subject',
    'read_tests',
    'run_in_process',
]
