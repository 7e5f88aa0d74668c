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

"""A specification is read strictly: whatever is wrong is told in one line."""

import pytest
from support.specification_faults import FAULTS, change

from repsq_ros.cli import main
from repsq_ros.errors import SpecificationError
from repsq_ros.specification.load import load
from repsq_ros.specification.yaml_file import read


def test_the_demo_specification_is_sound(content, write):
    specification = load(write(content))
    assert specification.box.names == ('linear_x', 'linear_y', 'angular_z')
    assert specification.protocol.duration_ns(specification.box) == 8_000_000_000
    assert specification.alpha == pytest.approx(0.07578947368421057, rel=1e-12)


def test_the_digest_covers_the_shared_part_and_not_the_testers_own(content, write):
    digest = load(write(content)).digest
    content['tester'].update(seed=99, max_tests=7, stopping={'rule': 'hoeffding'})
    content['description'] = 'another one'
    assert load(write(content)).digest == digest
    content['accuracy']['gamma'] = 0.05
    assert load(write(content)).digest != digest


def test_the_order_of_keys_means_nothing(content, write):
    straight = load(write(content))
    box = content['target']['dimensions']
    content['target']['dimensions'] = dict(reversed(box.items()))
    turned = load(write(content))
    assert turned.target == straight.target
    assert turned.digest == straight.digest


@pytest.mark.parametrize(('path', 'value', 'found', 'expected'), FAULTS)
def test_a_fault_is_told_in_one_line(path, value, found, expected, content, write, capsys):
    change(path, value)(content)
    file = write(content)
    assert main(['check', str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ''
    line = printed.err.rstrip('\n')
    assert '\n' not in line
    assert line.startswith(f'repsq: {file}: {path}: found ')
    assert found in line
    assert expected in line.split('expected ', 1)[1]


def test_a_misspelt_key_is_named_where_the_right_one_is_missing(content, write):
    content['accuracy']['gama'] = content['accuracy'].pop('gamma')
    told = r"accuracy\.gamma: found nothing \(is 'gama' meant\?\)"
    with pytest.raises(SpecificationError, match=told):
        load(write(content))


def test_papers_alpha_needs_a_small_enough_c(content, write):
    content['accuracy']['c'] = 0.06  # 0.94^2 = 0.8836 < 0.9
    with pytest.raises(SpecificationError, match=r'partition\.alpha: found .paper. with \(1-c\)'):
        load(write(content))


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('', 'a mapping of keys to values'),
        ('- 1\n- 2\n', 'found a list of 2'),
        ('a: [1,\n', 'line 2, column 1'),
        ('a: 1\na: 2\n', "key 'a' appears twice"),
        ('1: 2\n', 'key 1 is not text'),
        ('a: *nowhere\n', 'undefined alias'),
        ('a: !!python/object/apply:os.getcwd []\n', 'could not determine a constructor'),
        ('a: \x07\n', 'valid YAML'),
    ],
)
def test_what_is_no_yaml_mapping_is_told_in_one_line(text, told, write, capsys):
    file = write(text)
    assert main(['check', str(file)]) == 2
    line = capsys.readouterr().err
    assert line.count('\n') == 1
    assert str(file) in line
    assert told in line


def test_unreadable_files_are_told_in_one_line(tmp_path, capsys):
    latin = tmp_path / 'latin.yaml'
    latin.write_bytes(b'name: caf\xe9\n')
    for file, told in (
        (tmp_path / 'nowhere.yaml', 'No such file'),
        (tmp_path, 'Is a directory'),
        (latin, 'not UTF-8 at offset 9'),
    ):
        assert main(['check', str(file)]) == 2
        line = capsys.readouterr().err
        assert line.count('\n') == 1
        assert str(file) in line
        assert told in line


def test_numbers_may_be_written_with_an_exponent(content, write):
    content['accuracy']['gamma'] = 4e-2
    file = write(content)
    file.write_text(file.read_text().replace('gamma: 0.04', 'gamma: 4e-2'))
    assert load(file).accuracy.gamma == 0.04


def test_what_one_reader_changes_no_other_sees(content, write):
    """A text is parsed once, and each reader has its own."""
    file = write(content)
    read(file).content()['accuracy']['gamma'] = 9.0
    assert read(file).content() == content
