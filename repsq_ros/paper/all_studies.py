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

"""Every study by its name, and where the specification of each is."""

from __future__ import annotations

from pathlib import Path

from repsq_ros.configurations import configuration_folder
from repsq_ros.paper.compared_rules import BASELINES
from repsq_ros.paper.driving import DRIVING
from repsq_ros.paper.humanoid import HUMANOID
from repsq_ros.paper.lost_tests import SELECTION
from repsq_ros.paper.manipulator import MANIPULATOR
from repsq_ros.paper.rule_tables import RULES
from repsq_ros.paper.study_interface import Study
from repsq_ros.paper.wear import DRIFT

EACH = (MANIPULATOR, DRIVING, BASELINES, DRIFT, SELECTION, RULES, HUMANOID)
STUDIES: dict[str, Study] = {study.name: study for study in EACH}


def specification_of(name: str) -> Path:
    """Return the file of a study's settings that comes with the package."""
    return configuration_folder() / 'studies' / f'{name}.yaml'
