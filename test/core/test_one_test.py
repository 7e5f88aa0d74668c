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

"""A reader can follow one test: the files and functions that it passes stay few."""

import importlib.util
import sys

import pytest
from conftest import ROOT

spec = importlib.util.spec_from_file_location('tool_walk', ROOT / 'tools' / 'walk.py')
tool = importlib.util.module_from_spec(spec)
sys.modules['tool_walk'] = tool
spec.loader.exec_module(tool)


@pytest.fixture(scope='module')
def stages():
    return tool.walk()


def test_one_test_passes_few_files(stages):
    assert [stage.times for stage in stages] == [400, 1, 1, 1]
    files = set().union(*(stage.files for stage in stages))
    assert 20 < len(files) <= 44
    assert len(stages[1].functions) <= 145


def test_the_stages_are_where_they_should_be(stages):
    sample, window, counted, result = (stage.files for stage in stages)
    assert 'measurement/recorder.py' in sample & window
    assert 'measurement/tracking_loss.py' in window
    assert 'campaign/campaign.py' in counted & result
    assert 'campaign/conclusion.py' in result


def test_lines_of_code_leave_out_blanks_comments_docstrings_and_imports():
    text = '# licence\n"""Docs\n\nmore."""\nimport os\nfrom a import (\n    b,\n)\n\n'
    text += 'x = (\n    1,\n)\n'
    assert tool.lines_of_code(text) == 3
    assert tool.lines_of_code('def f():\n    """Docs."""\n    return 1  # why\n') == 2
