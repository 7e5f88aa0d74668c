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

from repsq_ros.cli import main
from repsq_ros.errors import SpecificationError
from repsq_ros.specification.load import load


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


def change(path, value):
    """Return a function that sets one key of a specification, or removes it."""

    def apply(content):
        *folders, key = path.split('.')
        for folder in folders:
            content = content[folder]
        if value is REMOVED:
            del content[key]
        else:
            content[key] = value

    return apply


REMOVED = object()
X = 'target.dimensions.linear_x'

FAULTS = [
    ('accuracy.gamma', REMOVED, 'nothing', 'a finite number > 0'),
    ('accuracy.gamma', 0, '0', 'a finite number > 0'),
    ('accuracy.gamma', -0.04, '-0.04', 'a finite number > 0'),
    ('accuracy.gamma', float('nan'), 'nan', 'a finite number > 0'),
    ('accuracy.gamma', float('inf'), 'inf', 'a finite number > 0'),
    ('accuracy.gamma', '0.04 m', "text '0.04 m'", 'a finite number > 0'),
    ('accuracy.gamma', True, 'true', 'a finite number > 0'),
    ('accuracy.gamma', [0.04], 'a list of 1', 'a finite number > 0'),
    ('accuracy.gamma', 1.0, '1.0', 'less than the range of psi'),
    ('accuracy.c', 1, '1', '> 0 and < 1'),
    ('accuracy.beta', 0, '0', '> 0 and < 1'),
    ('accuracy.gama', 0.04, 'an unknown key', "'gamma'?"),
    ('protocol.comand', 5.0, 'an unknown key', "'command'?"),
    ('surprise', 1, 'an unknown key', 'one of'),
    ('format', 2, '2', 'the number 1'),
    ('format', REMOVED, 'nothing', 'the number 1'),
    ('name', 7, '7', 'text'),
    ('name', '', "text ''", 'text'),
    (f'{X}.upper', -0.5, '-0.5', 'above lower = -0.3'),
    (f'{X}.upper', -0.3, '-0.3', 'above lower = -0.3'),
    (f'{X}.unit', 'mm/s', "text 'mm/s'", 'one of m/s'),
    (f'{X}.lower', None, 'nothing', 'a finite number'),
    ('target.dimensions', {}, 'an empty mapping', 'at least one of linear_x'),
    ('target.dimensions', [1], 'a list of 1', 'a mapping'),
    ('target.dimensions.linear_z', {}, 'an unknown dimension', 'one of linear_x'),
    ('target.distribution', 'normal', "text 'normal'", 'one of uniform'),
    ('protocol.window', 6.0, '6.0', 'at most the 5.0 s'),
    ('protocol.dwell', 0, '0', '>= 0.1'),
    ('protocol.type', 'dance', "text 'dance'", 'one of locomotion, positioning, free'),
    ('measure.reduction', 'max', "text 'max'", 'one of sum, mean, rms'),
    ('measure.gain', '6,0', "text '6,0'", 'a finite number > 0'),
    ('measure.largest_gap', 0, '0', 'a finite number > 0'),
    (
        'partition.alpha',
        'wide',
        "text 'wide'",
        "'paper', 'iid', 'distinct', 'query', or a finite number > 0",
    ),
    ('partition.alpha', 0, '0', 'a finite number > 0'),
    ('partition.first', 0.2, '0.2', 'at most alpha'),
    ('partition', REMOVED, 'nothing', 'a mapping'),
    ('tester.seed', 1.5, '1.5', 'a whole number >= 0'),
    ('tester.seed', -1, '-1', 'a whole number >= 0'),
    ('tester.max_tests', 1, '1', 'a whole number >= 2'),
    ('tester.stopping.rule', 'luck', "text 'luck'", 'one of empirical_bernstein, hoeffding'),
    ('tester.stopping.range_power', 3, '3', '>= 1 and <= 2'),
]


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
    with pytest.raises(SpecificationError, match=r"accuracy\.gamma: found nothing, but 'gama'"):
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
