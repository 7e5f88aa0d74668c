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

"""All studies by name, with the paths of their specifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from repsq_ros.configurations import configuration_folder
from repsq_ros.paper.study_interface import Study


class Listed(NamedTuple):
    """A study whose module is not imported yet."""

    module: str  # in repsq_ros.paper; its Study is the study's name in capitals
    summary: str


LISTED = {
    'manipulator': Listed('manipulator', 'ISO 9283 against the method, on an arm and on a hand'),
    'driving': Listed('driving', 'risk by importance sampling: car following and cut-in'),
    'baselines': Listed(
        'compared_rules', "the paper's baselines as rules of their own, beside the rules that hold"
    ),
    'drift': Listed(
        'wear', 'a subject that wears over sessions: what is reported, when the alarm rises'
    ),
    'selection': Listed(
        'lost_tests', 'tests that are lost where psi is high: what the result says, what is true'
    ),
    'rules': Listed(
        'rule_tables', 'tests and agreement of each stopping rule, on laws with known means'
    ),
    'humanoid': Listed(
        'humanoid',
        "the G1's walking policy in MuJoCo: four proposals, forms of psi, changed robots",
    ),
    'peers': Listed(
        'published_widths', 'our widths beside those that others published of their robots'
    ),
}
NEEDS = {'humanoid': 'model', 'peers': 'data'}  # a folder, by an option of repsq study


class _Studies(Mapping[str, Study]):
    """All studies by name; a study's module is imported on access."""

    def __getitem__(self, name: str) -> Study:
        module = import_module(f'repsq_ros.paper.{LISTED[name].module}')
        return cast(Study, getattr(module, name.upper()))

    def __iter__(self) -> Iterator[str]:
        return iter(LISTED)

    def __len__(self) -> int:
        return len(LISTED)


STUDIES = _Studies()


def specification_of(name: str) -> Path:
    """Return the file of a study's settings that comes with the package."""
    return configuration_folder() / 'studies' / f'{name}.yaml'
