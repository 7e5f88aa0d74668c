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

"""What a specification may say about distributions, proposals, rules and partitions.

Whatever is wrong is told in one line; what is accepted though it is not proven stands on the
result.
"""

import math

import pytest

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.cli import main
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.alpha import ALPHA_RULES, paper_alpha
from repsq_ros.specification.load import load

BETA = {'type': 'beta', 'linear_x': {'a': 0.6, 'b': 0.6}}
NARROW = {'type': 'beta', 'linear_x': {'a': 2, 'b': 2}}  # p/q without bound
IMPORTANCE = {'type': 'importance', 'distribution': BETA}
GRID = {'type': 'grid', 'linear_x': [-0.2, 0.2], 'linear_y': [0], 'angular_z': [0, 0.1]}
MIXTURE = {
    'type': 'mixture',
    'components': [{'share': 0.1, 'type': 'uniform'}, {'share': 0.9, **NARROW}],
}
EXTERNAL = {'type': 'external', 'file': 'topic', 'weight_bound': 3.0}
RULES = [{'rule': 'anytime'}, {'rule': 'hoeffding'}]
HEADER = 'linear_x,linear_y,angular_z'

OWN = """
import math


class Plain:
    '''Uniform, with nothing but what a target needs.'''

    def __init__(self, box, **options):
        if options.pop('broken', False):
            raise RuntimeError('on purpose')
        self.box = box

    def sample(self, generator):
        return self.box.from_unit(generator.random(3))

    def logpdf(self, x):
        return -self.box.log_volume if self.box.contains(x) else -math.inf


class Handy(Plain):
    '''With uniform numbers too, and its largest p/q.'''

    uniforms = 3

    def from_uniform(self, v):
        return self.box.from_unit(v)

    def largest_ratio(self, q):
        return 2.5


class Uncounted(Plain):
    '''With from_uniform, but without the count of numbers that it takes.'''

    def from_uniform(self, v):
        return self.box.from_unit(v)


class Half(Plain):
    '''Uniform where linear_x < 0, nowhere else.'''

    def sample(self, generator):
        u = generator.random(3)
        return self.box.from_unit((u[0] / 2, u[1], u[2]))

    def logpdf(self, x):
        inside = self.box.contains(x) and x[0] < 0
        return math.log(2) - self.box.log_volume if inside else -math.inf

    def largest_ratio(self, q):
        return 2.0


class Dumb:
    def __init__(self, box):
        pass

    def sample(self, generator):
        return (0.0, 0.0, 0.0)
"""


def change(content, path, value):
    """Set one key of a specification."""
    *folders, key = path.split('.')
    for folder in folders:
        content = content[folder]
    content[key] = value


@pytest.fixture
def with_files(content, write):
    """Write a specification beside a module of own classes and some tables."""

    def writer():
        file = write(content)
        (file.parent / 'own_laws.py').write_text(OWN)
        (file.parent / 'good.csv').write_text(f'{HEADER},weight\n0,0,0,1\n0.1,0,0,3\n0,0,0,1\n')
        (file.parent / 'zero.csv').write_text(f'{HEADER},weight\n0,0,0,1\n0.1,0,0,0\n')
        (file.parent / 'words.csv').write_text(f'{HEADER}\n0,0,left\n')
        (file.parent / 'beyond.csv').write_text(f'{HEADER}\n0,0,0\n0,0,7\n')
        (file.parent / 'columns.csv').write_text('linear_x,linear_y\n0,0\n')
        (file.parent / 'empty.csv').write_text(f'{HEADER}\n')
        return file

    return writer


def own(name, **more):
    return {'type': f'own_laws:{name}', **more}


TARGET, PROPOSAL, STOP, CELLS = (
    'target.distribution',
    'tester.proposal',
    'tester.stopping',
    'partition',
)

# (what is set, to what, the key that is told, what was found, what was expected)
FAULTS = [
    # distributions
    (TARGET, {'type': 'beta', 'linear_x': {'a': 0, 'b': 1}}, f'{TARGET}.linear_x.a', '0', '> 0'),
    (TARGET, {'type': 'beta', 'linear_x': {'a': 1}}, f'{TARGET}.linear_x.b', 'nothing', '> 0'),
    (TARGET, {'type': 'beta', 'linear_z': {'a': 1, 'b': 1}}, f'{TARGET}.linear_z',
     'an unknown key', "'linear_"),
    (TARGET, {'type': 'beta', 'linear_x': {'a': 1, 'b': 1, 'c': 1}}, f'{TARGET}.linear_x.c',
     'an unknown key', 'one of a, b'),
    (TARGET, {'type': 'truncated_normal', 'linear_x': {'mean': 0, 'sd': 0}},
     f'{TARGET}.linear_x.sd', '0', '> 0'),
    (TARGET, {'type': 'truncated_normal', 'linear_x': {'mean': 9, 'sd': 0.01}},
     f'{TARGET}.linear_x.mean', '9', 'nearer to the range'),
    (TARGET, {'type': 'truncated_normal', 'linear_x': {'mean': -9, 'sd': 0.01}},
     f'{TARGET}.linear_x.mean', '-9', 'nearer to the range'),
    (TARGET, {**GRID, 'linear_x': [0, 0.31]}, f'{TARGET}.linear_x', '0.31',
     'values within [-0.3, 0.3] m/s'),
    (TARGET, {**GRID, 'linear_x': [0, 0.1, 0]}, f'{TARGET}.linear_x', 'a value twice',
     'each value once'),
    (TARGET, {**GRID, 'linear_x': []}, f'{TARGET}.linear_x', 'a list of 0', 'at least one'),
    (TARGET, {**GRID, 'linear_x': [0, 'a']}, f'{TARGET}.linear_x', "text 'a' in the list",
     'finite number'),
    (TARGET, {**GRID, 'linear_x': [0, math.nan]}, f'{TARGET}.linear_x', 'nan in the list',
     'finite number'),
    (TARGET, {'type': 'grid', 'linear_x': [0]}, f'{TARGET}.linear_y', 'nothing', 'finite number'),
    (TARGET, {'type': 'mixture', 'components': [{'share': 0.5, 'type': 'uniform'},
                                                {'share': 0.4, **BETA}]},
     f'{TARGET}.components', 'add up to 0.9', 'add up to 1'),
    (TARGET, {'type': 'mixture', 'components': [{'share': 1.5, 'type': 'uniform'},
                                                {'share': -0.5, **BETA}]},
     f'{TARGET}.components[1].share', '-0.5', '> 0'),
    (TARGET, {'type': 'mixture', 'components': []}, f'{TARGET}.components', 'a list of 0',
     'a list of mappings'),
    (TARGET, {'type': 'mixture', 'components': [{'share': 0.5, 'type': 'uniform'},
                                                {'share': 0.5, **GRID}]},
     f'{TARGET}.components', 'tables and densities', 'only tables, or only densities'),
    (TARGET, {'type': 'mixture', 'components': [
        {'share': 0.5, 'type': 'uniform'},
        {'share': 0.5, 'type': 'mixture', 'components': [{'share': 1, **GRID}]}]},
     f'{TARGET}.components', 'tables and densities', 'only tables, or only densities'),
    (TARGET, {'type': 'mixture', 'components': [{'share': 1, **own('Plain')}]},
     f'{TARGET}.components[0].type', 'a class of your own', 'a distribution of this package'),
    (TARGET, own('Nobody'), f'{TARGET}.type', "text 'own_laws:Nobody' (AttributeError",
     'a class that can be imported'),
    (TARGET, {'type': 'nowhere_at_all:Law'}, f'{TARGET}.type', 'ModuleNotFoundError',
     'a class that can be imported'),
    (TARGET, own('Plain', options={'broken': True}), f'{TARGET}.options',
     'RuntimeError: on purpose', 'options of own_laws:Plain'),
    (TARGET, own('Dumb', options={'size': 3}), f'{TARGET}.options', 'TypeError',
     'options of own_laws:Dumb'),
    (TARGET, own('Dumb'), f'{TARGET}.type', 'without logpdf()', 'sample() and logpdf()'),
    (TARGET, own('Plain', option={}), f'{TARGET}.option', 'an unknown key', "'options'?"),
    # proposals
    (PROPOSAL, 'luck', PROPOSAL, "text 'luck'", 'one of monte_carlo, importance, adaptive'),
    (PROPOSAL, {'type': 'monte_carlo', 'sequence': 'halton'}, f'{PROPOSAL}.sequence',
     "text 'halton'", 'one of independent, sobol'),
    (PROPOSAL, {'type': 'monte_carlo', 'weight_bound': 1}, f'{PROPOSAL}.weight_bound',
     'an unknown key', 'one of'),
    (PROPOSAL, {**IMPORTANCE, 'weight_bound': 1.2}, f'{PROPOSAL}.weight_bound', '1.2',
     'at least 1.387'),
    (PROPOSAL, {**IMPORTANCE, 'weight_bound': 1.2}, f'{PROPOSAL}.weight_bound', '1.2',
     'accept_unproven_bound: true'),
    (PROPOSAL, {**IMPORTANCE, 'weight_bound': 0}, f'{PROPOSAL}.weight_bound', '0', '> 0'),
    (PROPOSAL, {**IMPORTANCE, 'accept_unproven_bound': 'yes please'},
     f'{PROPOSAL}.accept_unproven_bound', "text 'yes please'", 'true or false'),
    (PROPOSAL, {'type': 'importance', 'distribution': NARROW}, f'{PROPOSAL}.weight_bound',
     'p/q has no known bound', 'a truncation, or a declared bound'),
    (PROPOSAL, {'type': 'importance', 'distribution': NARROW, 'accept_unproven_bound': True},
     f'{PROPOSAL}.weight_bound', 'p/q has no known bound', 'a declared bound'),
    (PROPOSAL, {'type': 'importance', 'distribution': NARROW, 'weight_bound': 50.0},
     f'{PROPOSAL}.weight_bound', '50.0', 'one that is proven'),
    (PROPOSAL, {'type': 'importance', 'distribution': GRID}, f'{PROPOSAL}.distribution',
     'a table of cases', 'a density, as the target is one'),
    (PROPOSAL, {'type': 'importance'}, f'{PROPOSAL}.distribution', 'nothing', 'a word'),
    (PROPOSAL, {'type': 'importance', 'distribution': 'normal'}, f'{PROPOSAL}.distribution',
     "text 'normal'", 'one of uniform, beta'),
    (PROPOSAL, {**IMPORTANCE, 'batch': 10}, f'{PROPOSAL}.batch', 'an unknown key', 'one of'),
    (PROPOSAL, {'type': 'importance', 'distribution': NARROW, 'truncation': 0.5},
     f'{PROPOSAL}.truncation', '0.5, which may cost', 'less than gamma = 0.04'),
    (PROPOSAL, {'type': 'adaptive', 'truncation': 3}, f'{PROPOSAL}.truncation', "with 'adaptive'",
     'a fixed distribution'),
    (PROPOSAL, {**EXTERNAL, 'truncation': 3}, f'{PROPOSAL}.truncation', "with 'external'",
     'a fixed distribution'),
    (PROPOSAL, {'type': 'adaptive', 'batch': 1}, f'{PROPOSAL}.batch', '1', '>= 2'),
    (PROPOSAL, {'type': 'adaptive', 'share_of_target': 0}, f'{PROPOSAL}.share_of_target', '0',
     '> 0 and < 1'),
    (PROPOSAL, {'type': 'adaptive', 'rate': 1.5}, f'{PROPOSAL}.rate', '1.5', '> 0 and < 1'),
    (PROPOSAL, {'type': 'adaptive', 'start': -1}, f'{PROPOSAL}.start', '-1', '> 0'),
    (PROPOSAL, {'type': 'adaptive', 'fit': 'guess'}, f'{PROPOSAL}.fit', "text 'guess'",
     'one of moments, mle, unweighted'),
    (PROPOSAL, {'type': 'adaptive', 'shapes': [1.0, 0.5]}, f'{PROPOSAL}.shapes', '[1, 0.5]',
     '0 < first <= second'),
    (PROPOSAL, {'type': 'adaptive', 'shapes': [0.5]}, f'{PROPOSAL}.shapes', 'a list of 1',
     'a list of 2'),
    (PROPOSAL, {'type': 'adaptive', 'shapes': [0, 1]}, f'{PROPOSAL}.shapes', '[0, 1]',
     '0 < first <= second'),
    (PROPOSAL, {'type': 'adaptive', 'weight_bound': 4.0}, f'{PROPOSAL}.weight_bound', '4.0',
     'at least 4.7'),
    (PROPOSAL, EXTERNAL, f'{PROPOSAL}.weight_bound', '3.0, which cannot be proven',
     'accept_unproven_bound: true'),
    (PROPOSAL, {'type': 'external', 'file': 'topic'}, f'{PROPOSAL}.weight_bound', 'nothing',
     'a declared bound'),
    # stopping rules
    (STOP, {'rule': 'first_of', 'rules': RULES[:1]}, f'{STOP}.rules', 'a list of 1',
     'at least two'),
    (STOP, {'rule': 'first_of', 'rules': []}, f'{STOP}.rules', 'a list of 0', 'a list'),
    (STOP, {'rule': 'first_of'}, f'{STOP}.rules', 'nothing', 'a list'),
    (STOP, {'rule': 'first_of', 'rules': [*RULES, {'rule': 'certified_cell'}]},
     f'{STOP}.rules[2].rule', "text 'certified_cell'", 'a rule that aims at gamma'),
    (STOP, {'rule': 'first_of', 'rules': [*RULES, {'rule': 'first_of', 'rules': RULES}]},
     f'{STOP}.rules[2].rule', "text 'first_of'", 'a rule that aims at gamma'),
    (STOP, {'rule': 'first_of', 'rules': [*RULES, {'rule': 'luck'}]}, f'{STOP}.rules[2].rule',
     "text 'luck'", 'one of'),
    (STOP, {'rule': 'fixed'}, f'{STOP}.tests', 'nothing', '>= 2'),
    (STOP, {'rule': 'fixed', 'tests': 1}, f'{STOP}.tests', '1', '>= 2'),
    (STOP, {'rule': 'fixed', 'tests': 5001}, f'{STOP}.tests', '5001', 'at most max_tests = 5000'),
    (STOP, {'rule': 'relative_half_width'}, f'{STOP}.relative', 'nothing', '> 0'),
    (STOP, {'rule': 'relative_half_width', 'relative': 0}, f'{STOP}.relative', '0', '> 0'),
    (STOP, {'rule': 'relative_half_width', 'relative': 0.1, 'at_least': 1}, f'{STOP}.at_least',
     '1', '>= 2'),
    (STOP, {'rule': 'anytime', 'form': 'paper'}, f'{STOP}.form', 'an unknown key', 'one of'),
    (STOP, {'rule': 'empirical_bernstein', 'form': 'both'}, f'{STOP}.form', "text 'both'",
     'one of paper, two_sided'),
    # accuracy and partition
    ('accuracy.runs', 1, 'accuracy.runs', '1', '>= 2'),
    ('accuracy.gamma', 1.5, 'accuracy.gamma', '1.5', 'less than the range of psi, 1'),
    (CELLS, {'type': 'cells'}, f'{CELLS}.type', "text 'cells'", 'one of uniform, edges, anchored'),
    (CELLS, {'alpha': 0.1, 'first': 0.05, 'offset_seed': 3}, f'{CELLS}.first',
     'a number beside offset_seed', 'one of the two'),
    (CELLS, {'alpha': 0.1, 'offset_seed': -3}, f'{CELLS}.offset_seed', '-3', '>= 0'),
    (CELLS, {'type': 'edges', 'edges': [0, 0.6, 0.4, 1]}, f'{CELLS}.edges', '[0.0, 0.6, 0.4, 1.0]',
     'each above the last'),
    (CELLS, {'type': 'edges', 'edges': [0, 0.5, 0.5, 1]}, f'{CELLS}.edges', '0.5, 0.5',
     'each above the last'),
    (CELLS, {'type': 'edges', 'edges': [0.1, 0.5, 1]}, f'{CELLS}.edges', 'from 0.1 to 1',
     'the range of psi, 0 to 1'),
    (CELLS, {'type': 'edges', 'edges': [0, 0.5, 0.9]}, f'{CELLS}.edges', 'from 0 to 0.9',
     'the range of psi, 0 to 1'),
    (CELLS, {'type': 'edges', 'edges': [0]}, f'{CELLS}.edges', '[0.0]', 'at least two'),
    (CELLS, {'type': 'edges', 'edges': [0, 1], 'alpha': 0.1}, f'{CELLS}.alpha', 'an unknown key',
     'one of'),
    (CELLS, {'type': 'anchored', 'half_width': 0.03}, f'{CELLS}.half_width', '0.03',
     'at least accuracy.gamma = 0.04'),
    (CELLS, {'type': 'anchored', 'anchor': 1.2}, f'{CELLS}.anchor', '1.2', '0 to 1, the range'),
    (CELLS, {'type': 'anchored', 'anchor': -0.2}, f'{CELLS}.anchor', '-0.2', '0 to 1, the range'),
    (CELLS, {'type': 'anchored', 'alpha': 'paper'}, f'{CELLS}.alpha', 'an unknown key', 'one of'),
]  # fmt: skip


def told(file, capsys):
    """Return the one line that a specification is refused with."""
    assert main(['check', '--allow-code', str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ''
    line = printed.err.rstrip('\n')
    assert line.startswith('repsq: ')
    assert '\n' not in line
    return line


@pytest.mark.parametrize(('path', 'value', 'key', 'found', 'expected'), FAULTS)
def test_a_fault_is_told_in_one_line(
    path, value, key, found, expected, content, with_files, capsys
):
    change(content, path, value)
    file = with_files()
    line = told(file, capsys)
    assert line.startswith(f'repsq: {file}: {key}: found ')
    assert found in line.split(', expected ', 1)[0]
    assert expected in line.split(', expected ', 1)[1]


# Faults of two keys that do not go together ------------------------------------------------------

TOGETHER = [
    ({CELLS: {'type': 'anchored'}, 'accuracy.c': 0.06}, f'{CELLS}.type', '(1-c)^2 = 0.8836'),
    ({CELLS: {'type': 'anchored'}, 'accuracy.runs': 3}, f'{CELLS}.type', '(1-c)^3'),
    ({CELLS: {'alpha': 'iid'}, 'accuracy.c': 0.06}, f'{CELLS}.alpha', '(1-c)^2'),
    ({CELLS: {'alpha': 'distinct'}, 'accuracy.runs': 3}, f'{CELLS}.alpha', '(1-c)^3'),
    ({CELLS: {'type': 'anchored'}, STOP: {'rule': 'certified_cell'}}, f'{STOP}.rule',
     'has no cells yet'),
    ({TARGET: own('Plain'), PROPOSAL: {'type': 'monte_carlo', 'sequence': 'sobol'}},
     f'{PROPOSAL}.sequence', 'with from_uniform()'),
    ({TARGET: own('Uncounted'), PROPOSAL: {'type': 'monte_carlo', 'sequence': 'sobol'}},
     f'{PROPOSAL}.sequence', 'uniforms'),
    ({TARGET: own('Plain'), PROPOSAL: {'type': 'adaptive'}}, f'{PROPOSAL}.type',
     'with from_uniform()'),
    ({TARGET: own('Plain'), PROPOSAL: IMPORTANCE}, f'{PROPOSAL}.weight_bound',
     'p/q has no known bound'),
    ({TARGET: own('Handy'), PROPOSAL: {**IMPORTANCE, 'weight_bound': 2.0}},
     f'{PROPOSAL}.weight_bound', 'at least 2.5'),
    ({TARGET: GRID, PROPOSAL: IMPORTANCE}, f'{PROPOSAL}.distribution',
     'a table of cases, as the target is one'),
    # A table has probabilities, a density has none: no weight is to be had of the two.
    ({TARGET: GRID, PROPOSAL: {'type': 'adaptive'}}, PROPOSAL, 'found'),
    ({TARGET: GRID, PROPOSAL: {**IMPORTANCE, 'weight_bound': 5, 'accept_unproven_bound': True}},
     PROPOSAL, 'found'),
    ({PROPOSAL: {'type': 'importance', 'distribution': GRID, 'weight_bound': 5,
                 'accept_unproven_bound': True}}, PROPOSAL, 'found'),
    # The cell would be that of E min(z, T), which lies below r*.
    ({PROPOSAL: {'type': 'importance', 'distribution': NARROW, 'truncation': 30.0},
      STOP: {'rule': 'certified_cell'}, 'accuracy.gamma': 0.1}, 'tester', 'found'),
]  # fmt: skip


@pytest.mark.parametrize(('changes', 'key', 'text'), TOGETHER)
def test_keys_that_do_not_go_together_are_told_in_one_line(
    changes, key, text, content, with_files, capsys
):
    for path, value in changes.items():
        change(content, path, value)
    file = with_files()
    line = told(file, capsys)
    assert line.startswith(f'repsq: {file}: {key}')
    assert text in line


@pytest.mark.parametrize(
    ('table', 'text'),
    [
        ('zero.csv', 'row 2, weight: found 0.0, expected a number > 0'),
        ('words.csv', "row 1, angular_z: found 'left', expected a finite number"),
        ('beyond.csv', 'row 2: found the case (0.0, 0.0, 7.0), expected a case within the box'),
        ('columns.csv', 'expected a column angular_z'),
        ('empty.csv', 'found no rows'),
        ('nowhere.csv', 'found no readable file'),
    ],
)
def test_a_table_of_cases_with_a_fault_is_told_with_the_row(
    table, text, content, with_files, capsys
):
    change(content, TARGET, {'type': 'table', 'file': table})
    line = told(with_files(), capsys)
    assert table in line
    assert text in line


# What is accepted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'changes',
    [
        {TARGET: {'type': 'table', 'file': 'good.csv'}},
        {TARGET: GRID, PROPOSAL: {'type': 'importance', 'distribution': GRID}},
        {TARGET: MIXTURE},
        {TARGET: own('Plain')},
        {TARGET: own('Handy'), PROPOSAL: {'type': 'monte_carlo', 'sequence': 'sobol'}},
        {TARGET: own('Handy'), PROPOSAL: {'type': 'adaptive'}},
        {TARGET: own('Handy'), PROPOSAL: IMPORTANCE},
        {PROPOSAL: {**IMPORTANCE, 'weight_bound': 1.4}},
        {PROPOSAL: {'type': 'importance', 'distribution': MIXTURE}},
        {PROPOSAL: {'type': 'adaptive', 'unlimited_shapes': True, 'fit': 'mle'}},
        {STOP: {'rule': 'fixed', 'tests': 5000}},
        {STOP: {'rule': 'first_of', 'rules': RULES}},
        {STOP: {'rule': 'certified_cell'}},
        {CELLS: {'type': 'anchored', 'anchor': 0.46}, STOP: {'rule': 'certified_cell'}},
        {CELLS: {'type': 'edges', 'edges': [0, 0.2, 1]}},
        {CELLS: {'alpha': 'distinct', 'offset_seed': 3}, 'accuracy.c': 0.01},
    ],
)
def test_what_is_sound_is_accepted_and_its_first_cases_lie_in_the_box(
    changes, content, with_files, capsys
):
    for path, value in changes.items():
        change(content, path, value)
    file = with_files()
    assert main(['check', '--allow-code', str(file)]) == 0
    assert 'valid' in capsys.readouterr().out
    specification = load(file)
    proposal = specification.make_proposal()
    for index in range(20):
        draw = proposal.draw(index, 3)
        assert specification.box.contains(draw.x)
        assert 0 < draw.weight <= proposal.weight_bound * (1 + 1e-12)


def test_rows_of_a_table_that_are_equal_count_together(content, with_files):
    change(content, TARGET, {'type': 'table', 'file': 'good.csv'})
    target = load(with_files()).target
    assert target.points == ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0))
    assert math.exp(target.logpdf((0.0, 0.0, 0.0))) == pytest.approx(0.4, rel=1e-12)


def test_the_target_is_part_of_the_contract_and_the_proposal_is_not(content, with_files):
    digests = []
    for path, value in (
        (PROPOSAL, IMPORTANCE),
        (STOP, RULES[0]),
        (TARGET, BETA),
        (TARGET, MIXTURE),
    ):
        digests.append(load(with_files()).digest)
        change(content, path, value)
    digests.append(load(with_files()).digest)
    assert digests[0] == digests[1] == digests[2]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ('cells', 'same'),
    [
        ({'alpha': 'paper'}, True),
        ({'alpha': 'paper', 'offset_seed': 3}, True),
        ({'alpha': 0.1}, False),  # the file says another number then
    ],
)
def test_the_digest_is_of_what_the_file_says_and_not_of_what_a_library_makes_of_it(
    cells, same, content, write, monkeypatch
):
    change(content, CELLS, cells)
    plain = load(write(content))
    monkeypatch.setitem(
        ALPHA_RULES, 'paper', lambda *given: math.nextafter(paper_alpha(*given), 2)
    )
    if not same:
        change(content, CELLS, {'alpha': math.nextafter(0.1, 2)})
    other = load(write(content))
    assert other.partition.edges != plain.partition.edges
    assert (other.digest == plain.digest) is same


@pytest.mark.parametrize(
    ('cells', 'other'),
    [
        ({'alpha': 'paper'}, {'alpha': 'iid'}),
        ({'alpha': 'iid', 'offset_seed': 1}, {'alpha': 'iid', 'offset_seed': 2}),
        ({'alpha': 0.1}, {'alpha': 0.1, 'first': 0.05}),
        ({'alpha': 0.1, 'first': 0.05}, {'alpha': 0.1, 'first': 0.06}),
        ({'type': 'edges', 'edges': [0, 0.5, 1]}, {'type': 'edges', 'edges': [0, 0.6, 1]}),
        ({'type': 'anchored'}, {'type': 'anchored', 'half_width': 0.09}),
        ({'type': 'anchored', 'anchor': 0.4}, {'type': 'anchored', 'anchor': 0.41}),
    ],
)
def test_another_partition_is_another_contract(cells, other, content, write):
    change(content, 'accuracy.c', 0.02)
    digests = []
    for each in (cells, other, cells):
        change(content, CELLS, each)
        digests.append(load(write(content)).digest)
    assert digests[0] == digests[2] != digests[1]


def test_defaults_that_are_written_out_are_the_same_contract(content, write):
    for bare, written in (
        ({'alpha': 0.1}, {'type': 'uniform', 'alpha': 1e-1, 'first': 0.1}),
        ({'type': 'anchored'}, {'type': 'anchored', 'half_width': 0.08}),
    ):
        change(content, CELLS, bare)
        digest = load(write(content)).digest
        change(content, CELLS, written)
        assert load(write(content)).digest == digest


# What stands on the result -----------------------------------------------------------------------


def run(specification, psi=lambda index: 0.46, weight=None):
    """Return the result of a campaign on the specification's own proposal."""
    campaign, proposal = Campaign(specification), specification.make_proposal()
    index = 0
    while not campaign.stopped:
        draw = proposal.draw(index, 9)
        w = draw.weight if weight is None else weight
        campaign.add(
            TestRecord(index, 0, psi(index), w, True, x=draw.x, weight_bound=draw.weight_bound)
        )
        proposal.tell(draw.x, psi(index), w)
        index += 1
    return campaign.result('lab')


def test_a_declared_bound_that_is_accepted_stands_on_the_result(content, write):
    change(content, PROPOSAL, {**IMPORTANCE, 'weight_bound': 1.2, 'accept_unproven_bound': True})
    change(content, STOP, RULES[0])
    # The weights of these cases stay below, as luck would have it.
    result = run(load(write(content)), weight=1.1)
    assert (result.bound_proven, result.weight_bound) == (False, 1.2)
    assert result.accurate
    assert 'no weight exceeds 1.2, which is declared and not proven' in result.guarantee


def test_a_bound_above_the_largest_p_over_q_is_proven(content, write):
    change(content, PROPOSAL, {**IMPORTANCE, 'weight_bound': 1.5})
    change(content, STOP, RULES[0])
    result = run(load(write(content)))
    assert (result.bound_proven, result.weight_bound) == (True, 1.5)
    assert 'declared and not proven' not in result.guarantee


def test_a_weight_above_its_declared_bound_ends_the_promise(content, write):
    """That bound is known to be wrong, whether or not psi was small enough to hide it in z."""
    change(content, PROPOSAL, {**IMPORTANCE, 'weight_bound': 1.2, 'accept_unproven_bound': True})
    change(content, STOP, RULES[0])
    result = run(load(write(content)), weight=1.25)
    assert result.largest_weight == 1.25
    assert any('above its bound 1.2' in event for event in result.events)
    assert not result.accurate
    assert result.guarantee.startswith('Nothing')


def test_values_outside_their_bounds_end_the_promise(content, write):
    change(content, STOP, {'rule': 'hoeffding'})
    change(content, CELLS, {'type': 'anchored'})
    result = run(load(write(content)), psi=lambda index: 1.5 if index == 3 else 0.46)
    assert result.outcome == 'reached'
    assert not result.accurate
    assert result.guarantee.startswith('Nothing: 1 value lay outside the bounds')
    assert result.agreement.startswith('No agreement is promised')


def test_a_truncation_widens_the_upper_end_and_is_told(content, write):
    change(content, 'accuracy.gamma', 0.2)
    change(content, CELLS, {'type': 'anchored'})
    change(content, STOP, RULES[0])
    change(content, PROPOSAL, {'type': 'importance', 'distribution': NARROW, 'truncation': 4.0})
    specification = load(write(content))
    bias = specification.tester.proposal.truncation_bias
    assert 0.0 < bias < 0.1
    result = run(specification, psi=lambda index: 1.0, weight=None)
    assert result.truncation_bias == bias
    assert result.upper - result.estimate <= 0.2
    assert result.accurate
    # The rule itself was asked for what the truncation leaves of gamma.
    assert Campaign(specification).question.gamma == pytest.approx(0.2 - bias, rel=1e-12)
    assert Campaign(specification).question.bounds.upper == 4.0
    cut = run(specification, weight=100.0)
    assert cut.estimate == 4.0
    assert f'{cut.n} values cut to the truncation 4' in cut.events


def test_low_discrepancy_points_promise_nothing_whatever_the_rule(content, write):
    change(content, PROPOSAL, {'type': 'monte_carlo', 'sequence': 'sobol'})
    for rule in ({'rule': 'anytime'}, {'rule': 'hoeffding'}, {'rule': 'certified_cell'}):
        change(content, STOP, rule)
        result = run(load(write(content)), psi=lambda index: 0.42)
        assert not result.accurate
        assert result.guarantee.startswith('Nothing: the cases are points of a low-discrepancy')


@pytest.mark.parametrize(
    ('rule', 'promises'),
    [
        ({'rule': 'anytime'}, True),
        ({'rule': 'hoeffding'}, True),
        ({'rule': 'first_of', 'rules': RULES}, True),
        ({'rule': 'empirical_bernstein'}, False),
        ({'rule': 'fixed', 'tests': 50}, False),
        ({'rule': 'relative_half_width', 'relative': 0.2}, False),
    ],
)
def test_an_adaptive_proposal_is_promised_something_only_by_rules_that_allow_it(
    rule, promises, content, write
):
    change(content, 'accuracy.gamma', 0.2)
    change(content, PROPOSAL, {'type': 'adaptive'})
    change(content, STOP, rule)
    result = run(load(write(content)))
    assert result.outcome == 'reached'
    assert result.accurate is promises
    assert result.guarantee.startswith('Nothing') is not promises


def test_a_squared_range_promises_nothing(content, write):
    change(content, STOP, {'rule': 'empirical_bernstein', 'range_power': 2})
    result = run(load(write(content)))
    assert (result.outcome, result.accurate) == ('reached', False)
    assert 'bounds nothing' in result.guarantee


def test_a_fixed_number_of_tests_that_does_not_reach_gamma_says_so(content, write):
    change(content, STOP, {'rule': 'fixed', 'tests': 50})
    result = run(load(write(content)))
    assert (result.outcome, result.accurate, result.n) == ('reached', False, 50)
    assert result.guarantee.startswith(
        f'With probability 0.95 the true mean lies in [{result.lower:.4g}, {result.upper:.4g}]'
    )
    assert 'which is wider than gamma = 0.04' in result.guarantee
    change(content, STOP, {'rule': 'fixed', 'tests': 400})
    wide = run(load(write(content)))
    assert (wide.accurate, wide.half_width <= 0.04) == (True, True)


def test_a_certified_cell_is_the_result_and_unresolved_cells_are_told(content, write):
    change(content, STOP, {'rule': 'certified_cell'})
    specification = load(write(content))
    low, high = specification.partition.edges[6:8]
    sound = run(specification, psi=lambda index: (low + high) / 2)
    assert (sound.outcome, sound.accurate, sound.cell) == ('reached', True, 6)
    assert 'the true mean lies in this cell' in sound.guarantee
    change(content, 'tester.max_tests', 200)
    torn = run(load(write(content)), psi=lambda index: high + 0.01 * (-1) ** index)
    assert (torn.outcome, torn.accurate) == ('unresolved', False)
    assert 'unresolved between cells 6 and 7' in torn.events
    low, high = specification.partition.edges[6], specification.partition.edges[8]
    assert torn.guarantee.startswith(
        f'With probability 0.95 the true mean lies in [{low:.4g}, {high:.4g}], provided that '
        'robot and set-up did not change during the tests. That is not what was asked for: '
        'the budget of tests ran out'
    )
    assert math.isnan(torn.p_same)
    assert torn.agreement.startswith('No agreement is promised')


def test_a_case_that_the_target_never_has_counts_as_zero(content, with_files):
    """q may be wider than p: such a case weighs 0, and leaving it out would bias the mean."""
    change(content, TARGET, own('Half'))
    change(content, PROPOSAL, {'type': 'importance', 'distribution': 'uniform'})
    change(content, STOP, RULES[0])
    change(content, 'accuracy.gamma', 0.1)
    campaign = Campaign(load(with_files()))
    for index, weight in enumerate((2.0, 0.0)):
        campaign.add(TestRecord(index, 0, 0.5, weight, True, weight_bound=2.0))
    assert (campaign.latest.n, campaign.latest.invalid, campaign.latest.mean) == (2, 0, 0.5)


@pytest.mark.parametrize(
    'rule', [RULES[0], {'rule': 'certified_cell'}, {'rule': 'first_of', 'rules': RULES}]
)
def test_folding_the_same_records_twice_gives_equal_results(rule, content, write):
    change(content, PROPOSAL, {'type': 'adaptive', 'batch': 10})
    change(content, STOP, rule)
    change(content, 'accuracy.gamma', 0.1)
    change(content, CELLS, {'type': 'edges', 'edges': [0, 0.3, 0.6, 1]})
    specification, told = load(write(content)), []
    proposal, first = specification.make_proposal(), Campaign(specification)
    while not first.stopped:
        draw = proposal.draw(len(told), 9)
        psi = 0.3 + abs(draw.x[0])
        told.append(
            TestRecord(
                len(told), 0, psi, draw.weight, True, '', 0, 0, 0, draw.x, draw.weight_bound
            )
        )
        first.add(told[-1])
        proposal.tell(draw.x, psi, draw.weight)
    second = Campaign(specification)
    for record in told:
        second.add(record)
    assert second.latest == first.latest
    assert second.result('lab') == first.result('lab')


def test_one_test_that_is_enough_has_no_spread_and_so_no_probability_of_agreement(content, write):
    change(content, 'accuracy.gamma', 0.9)
    change(content, CELLS, {'alpha': 0.5})
    change(content, STOP, RULES[0])
    result = run(load(write(content)))
    assert (result.n, result.accurate) == (1, True)
    assert math.isnan(result.p_same)


def test_a_contract_that_cannot_be_written_down_is_refused(content, with_files):
    """The options of an own class are part of the digest: a date, say, is no plain value."""
    file = with_files()
    change(content, TARGET, own('Plain', options={'since': 'a day'}))
    file = with_files()
    file.write_text(file.read_text().replace('a day', '2024-02-29'))
    with pytest.raises(SpecificationError):
        load(file)
