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

"""Every file begins with the licence's header, as ament_copyright wants it."""

import importlib.util

import pytest
from conftest import ROOT

spec = importlib.util.spec_from_file_location('licence', ROOT / 'tools' / 'licence.py')
licence = importlib.util.module_from_spec(spec)
spec.loader.exec_module(licence)


def test_no_file_lacks_the_header():
    lacking = [
        str(path.relative_to(ROOT)) for path in licence.sources(ROOT) if licence.lacks_header(path)
    ]
    assert not lacking, 'python3 tools/licence.py adds it'


def test_a_file_of_c_has_its_own_comments(tmp_path):
    (tmp_path / 'test').mkdir()
    path = tmp_path / 'test' / 'file.c'
    path.write_text('int x;\n')
    assert licence.sources(tmp_path) == [path]
    licence.add_header(path)
    assert path.read_text().startswith('// Copyright 2026 repsq_ros maintainers\n//\n')
    assert not licence.lacks_header(path)


@pytest.mark.parametrize('text', ['"""Says something."""\n', '#!/usr/bin/env python3\nx = 1\n'])
def test_a_file_without_it_is_seen_and_mended_once(tmp_path, text):
    (tmp_path / 'test').mkdir()
    path = tmp_path / 'test' / 'file.py'
    path.write_text(text)
    (tmp_path / 'test' / '__init__.py').write_text('')
    assert licence.sources(tmp_path) == [path]
    assert licence.lacks_header(path)
    licence.add_header(path)
    assert not licence.lacks_header(path)
    mended = path.read_text()
    assert mended.replace(licence.HEADER, '') == text
    assert mended.startswith('#!') is text.startswith('#!')
