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

"""Keys are declared once: digests, schema and tables follow from what is read."""

import importlib.util
import json
import math
import re
import sys

import pytest
import yaml
from conftest import ROOT
from support import specifications
from support.specification_faults import FAULTS, change

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.cli import main
from repsq_ros.errors import LONGEST, ParameterError, SpecificationError
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.forecast import expected_tests
from repsq_ros.keys import keys_of
from repsq_ros.measurement.limits import Limits
from repsq_ros.specification.load import load
from repsq_ros.specification.reader import Section, read_keys
from repsq_ros.specification.yaml_file import read

jsonschema = pytest.importorskip('jsonschema')
DIGESTS = json.loads((ROOT / 'test' / 'data' / 'specification_digests.json').read_text())
SHIPPED = sorted(
    file for file in (ROOT / 'config').rglob('*.yaml')
    if 'studies' not in file.parts and 'parameters' not in file.name
)  # fmt: skip


@pytest.fixture(scope='module')
def tool():
    spec = importlib.util.spec_from_file_location('keys_tool', ROOT / 'tools' / 'keys.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules['keys_tool'] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def schema(tool):
    return jsonschema.Draft7Validator(tool.schema())


@pytest.mark.parametrize('name', sorted(DIGESTS))
def test_digests_are_those_of_earlier_versions(name, write, tmp_path):
    """Computed by the version before keys were declared once."""
    for file, text in specifications.FILES.items():
        (tmp_path / file).write_text(text)
    assert load(write(specifications.specs[name])).digest == DIGESTS[name]


@pytest.mark.parametrize('name', sorted(specifications.specs))
def test_the_schema_accepts_what_is_read(name, schema):
    assert schema.is_valid(specifications.specs[name])


@pytest.mark.parametrize('file', SHIPPED, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_schema_accepts_every_shipped_specification(file, schema):
    assert schema.is_valid(read(file).content())


def test_schema_and_tables_are_as_the_keys_say(tool):
    """If this fails: python3 tools/keys.py."""
    assert json.loads(tool.SCHEMA.read_text()) == json.loads(json.dumps(tool.schema()))
    assert tool.PAGE.read_text() == tool.with_tables(tool.PAGE.read_text())
    assert set(tool.BLOCK.findall(tool.PAGE.read_text())) == set(tool.GROUPS) - {
        'component', 'quantity'
    }  # fmt: skip


# What no schema can tell: it relates two keys, or is no JSON.
RELATED = ('less than the range', 'above lower', 'at most')


@pytest.mark.parametrize(('path', 'value', 'found', 'expected'), FAULTS)
def test_the_schema_refuses_what_the_reader_refuses(path, value, found, expected, content, schema):
    related = expected.startswith(RELATED) or value != value or value == math.inf
    change(path, value)(content)
    assert schema.is_valid(content) == related


def test_a_key_that_is_read_stands_in_the_schema(tool, write, tmp_path, monkeypatch):
    """So that no editor marks a key that the program knows."""
    asked = set()
    plain = Section.finish

    def noted(section):
        asked.update(section._asked)
        plain(section)

    monkeypatch.setattr(Section, 'finish', noted)
    for file, text in specifications.FILES.items():
        (tmp_path / file).write_text(text)
    for content in specifications.specs.values():
        load(write(content))
    known = set()

    def collect(value):
        if isinstance(value, dict):
            known.update(value.get('properties', ()))
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)

    collect(tool.schema())
    names = {'battery', 'mode', 'amode', 'bat', 'speed_scaling'}  # of conditions
    assert asked - names <= known


def test_a_default_stands_in_its_field_alone():
    empty = Section('file', '', {})
    assert read_keys(empty, Limits) == Limits()
    assert keys_of(Limits)['largest_gap_ns'].default == 0.2
    assert read_keys(Section('file', '', {'largest_gap': 0.3}), Limits).largest_gap_ns == 300000000


# Mistakes of everyday life -----------------------------------------------------------------------

REMEDIES = [
    ('accuracy.gamma', '0,04', 'write 0.04, with a decimal point'),
    ('accuracy.gamma', '4%', 'write 0.04 for 4%'),
    ('protocol.dwell', '3 s', 'write 3 without a unit, in s'),
    ('measure.tpye', 'soft_linf', "'type'?"),
    ('name', '../../x', 'no slash'),
    ('name', 'two\nlines', 'on one line'),
    ('name', '.hidden', 'no dot first'),
]


@pytest.mark.parametrize(('path', 'value', 'told'), REMEDIES)
def test_a_usual_mistake_is_told_with_its_remedy(path, value, told, content, write, capsys):
    change(path, value)(content)
    assert main(['check', str(write(content))]) == 2
    assert told in capsys.readouterr().err


ARM = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
UNITS = [
    ('protocol.reference.rpy', [180.0, 0.0, 0.0], 'is it in degrees?'),
    ('protocol.reference.position', [-550.0, -200.0, 250.0], 'is it in millimetres?'),
    ('target.dimensions.x.lower', -700.0, 'is it in millimetres?'),
    ('target.dimensions.yaw', {'unit': 'rad', 'lower': -90.0, 'upper': 90.0}, 'is it in degrees?'),
]


@pytest.mark.parametrize(('path', 'value', 'told'), UNITS)
def test_degrees_and_millimetres_are_refused(path, value, told, write, capsys):
    content = yaml.safe_load(yaml.safe_dump(ARM))
    change(path, value)(content)
    assert main(['check', str(write(content))]) == 2
    line = capsys.readouterr().err
    assert told in line
    assert path in line


TEXTS = [
    ('a:\n\tb: 1\n', 'line 2', 'a tab'),
    ('a: 1\n  b: 2\n', 'line 2', 'a key below or beside a value'),
    ('a:\n    b: 1\n  c: 2\n', 'line 3', 'an indentation that fits no line above'),
    ('gamma:0.04\nc: 1\n', 'line 2', 'a blank after the colon above'),
]


@pytest.mark.parametrize(('text', 'line', 'told'), TEXTS)
def test_tabs_and_indentation_are_told_with_the_line(text, line, told, write, capsys):
    assert main(['check', str(write(text))]) == 2
    printed = capsys.readouterr().err
    assert line in printed
    assert told in printed


@pytest.mark.parametrize('size', [10, 100, 1000])
def test_an_error_is_no_longer_than_one_line_may_be(size):
    for error in (
        SpecificationError('f' * size, 'key', 'x' * size, 'y' * 2 * size),
        SpecificationError('f' * size, 'key', 'x', 'y' * size),
        ParameterError('p', 'x' * size, 'y'),
    ):
        assert len(str(error)) <= LONGEST
        assert 'found x' in str(error)


# check ------------------------------------------------------------------------------------------


def test_check_prints_the_test_phase_by_phase(content, write, capsys):
    assert main(['check', str(write(content))]) == 0
    printed = capsys.readouterr().out
    assert '1 dwell    zero velocity, for 3 s\n' in printed
    assert '2 command  the case, for 5 s; the last 3 s are measured\n' in printed


def test_check_warns_of_what_no_campaign_can_reach(content, write, capsys):
    content['accuracy']['gamma'] = 0.3
    content['tester']['max_tests'] = 2
    assert main(['check', str(write(content))]) == 0
    printed = capsys.readouterr().out
    assert 'partition: a cell is 1.2 wide, all of psi 1' in printed or 'alpha' in printed
    assert 'tester.max_tests: 2 tests cannot reach gamma 0.3' in printed


def test_check_warns_of_a_budget_that_most_spreads_end_at(content, write, capsys):
    content['accuracy']['gamma'] = 0.04
    content['tester'].update(stopping={'rule': 'anytime'}, max_tests=90, proposal='monte_carlo')
    specification = load(write(content))
    assert main(['check', specification.file]) == 0
    told = re.search(
        r'tester.max_tests: 90 tests reach gamma 0.04 where the standard deviation of psi is at '
        r'most about (\S+);',
        ' '.join(capsys.readouterr().out.split()),
    )
    question, sd = Campaign(specification).question, float(told.group(1))
    counts = [expected_tests(Anytime(), question, 0.5, (sd + d) ** 2) for d in (-0.01, 0.01)]
    assert counts[0] <= 90 < counts[1]
    for tests in (1000, 20):  # enough, and by far too few: that is another warning
        content['tester']['max_tests'] = tests
        assert main(['check', str(write(content))]) == 0
        assert 'standard deviation of psi' not in capsys.readouterr().out


@pytest.mark.parametrize('key', ['robot', 'description'])
def test_check_asks_for_what_people_need(key, content, write, capsys):
    content.pop(key, None)
    content['measure'].pop('name', None)
    content['measure'].pop('direction', None)
    file = write(content)
    assert main(['check', str(file)]) == 0
    printed = capsys.readouterr().out
    for each in (key, 'measure.name', 'measure.direction'):
        assert f'hint        {each}:' in printed
    content[key] = 'said'
    content['measure'].update(name='loss', direction='lower_is_better')
    digest = load(file).digest
    named = load(write(content))
    assert main(['check', named.file]) == 0
    assert f'hint        {key}:' not in capsys.readouterr().out
    assert named.digest == digest
    assert (named.about.measure, named.about.direction) == ('loss', 'lower_is_better')


def test_check_asks_for_the_travel_of_a_gauge(write, capsys):
    content = yaml.safe_load(yaml.safe_dump(ARM))
    assert main(['check', str(write(content))]) == 0
    assert 'measure.travel' not in capsys.readouterr().out
    del content['measure']['travel']
    assert main(['check', str(write(content))]) == 0
    assert 'warning     measure.travel is missing' in capsys.readouterr().out


def test_check_runs_no_class_of_a_stranger_unless_asked(content, write, tmp_path, capsys):
    (tmp_path / 'strange.py').write_text(
        f'open({str(tmp_path / "ran")!r}, "w")\n{specifications.FILES["own_measure_here.py"]}'
    )
    content['measure'] = {'type': 'strange:Mine', 'source': 'odometry'}
    file = write(content)
    assert main(['check', str(file)]) == 2
    assert '--allow-code' in capsys.readouterr().err
    assert not (tmp_path / 'ran').exists()
    assert main(['check', '--allow-code', str(file)]) == 0
    assert (tmp_path / 'ran').exists()


def test_files_beside_a_specification_stay_beside_it(content, write, capsys):
    content['target']['distribution'] = {'type': 'table', 'file': '../../x.csv'}
    assert main(['check', str(write(content))]) == 2
    assert 'a file beside the specification or below' in capsys.readouterr().err


# init -------------------------------------------------------------------------------------------


@pytest.mark.parametrize('sensor', ['odometry', 'mocap', 'gauge', 'pose'])
def test_init_writes_a_valid_specification_from_flags(sensor, schema, tmp_path, capsys):
    file = tmp_path / 'my test.yaml'
    flags = ['--robot', "Anna's arm", '--sensor', sensor, '--unit', 'mm', '--accuracy', '0.05']
    assert main(['init', str(file), *flags, '--budget', '8']) == 0
    printed = capsys.readouterr().out
    assert f'{file}: valid' in printed
    assert 'hint' not in printed
    assert 'warning' not in printed
    specification = load(file)
    assert specification.name == 'my_test'
    assert specification.about.robot == "Anna's arm"
    assert specification.gamma == 0.05
    assert specification.tester.stopping == Anytime(reachable=1.0, middle=True)
    duration = specification.protocol.duration_ns(specification.box) / 1e9
    assert specification.tester.max_tests * duration == pytest.approx(8 * 3600, rel=0.3)
    assert schema.is_valid(read(file).content())
    assert file.read_text().startswith('# yaml-language-server: $schema=')
    assert main(['init', str(file), *flags, '--budget', '8']) == 2
    assert 'which exists' in capsys.readouterr().err


def test_init_asks_what_no_flag_answers(tmp_path, monkeypatch, capsys):
    answers = iter(['Unitree G1', 'odometry', '0,03', ''])
    monkeypatch.setattr('sys.stdin.isatty', lambda: True)
    monkeypatch.setattr('builtins.input', lambda question: next(answers))
    file = tmp_path / 'g1.yaml'
    assert main(['init', str(file)]) == 0
    assert load(file).gamma == 0.03
    assert load(file).tester.max_tests == 3600


def test_init_names_the_flag_where_nobody_can_be_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr('sys.stdin.isatty', lambda: False)
    assert main(['init', str(tmp_path / 'x.yaml'), '--robot', 'arm']) == 2
    assert '--sensor' in capsys.readouterr().err
    assert not (tmp_path / 'x.yaml').exists()
