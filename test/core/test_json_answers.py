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

"""What a verb answers with --json: one object on standard output, the running text beside it."""

import json

import pytest
import yaml

from repsq_ros.cli import main


@pytest.fixture
def answer(capsys):
    """Return what a command line answers, and what it says on standard error."""

    def run(*words):
        capsys.readouterr()
        assert main([*map(str, words), '--json']) == 0
        said = capsys.readouterr()
        return json.loads(said.out), said.err

    return run


def test_a_campaign_its_page_and_its_fit(short, write, tmp_path, answer):
    pytest.importorskip('jinja2')
    pytest.importorskip('matplotlib')
    short['tester']['max_tests'] = 12
    folder = tmp_path / 'campaign'
    words = ('--simulate', '--in-process', '--output', folder)
    told, said = answer('run', write(short), *words)
    kept = yaml.safe_load((folder / 'result.yaml').read_text())
    assert told['folder'] == str(folder)
    assert told['result']['estimate'] == kept['estimate']
    assert told['result']['p_same'] is None or 0 <= told['result']['p_same'] <= 1
    assert told['certificate'] == str(folder / 'certificate.json')
    assert f'in {folder}/' in said
    told, said = answer('report', folder)
    assert told == {
        'campaigns': ['campaign'], 'page': str(folder / 'report.html'), 'pdf': None,
    }  # fmt: skip
    assert 'written' in said
    told, _ = answer('fit', folder)
    assert told['tests'] == kept['n']
    assert (told['judged'], told['pays']) == (None, False)  # too few tests
    assert told['proposal'] == {'type': 'monte_carlo'}
    told, _ = answer('fit', folder, '--anyway')
    assert told['proposal']['type'] == 'importance'


HEADER = 'row,x,y,z,qx,qy,qz,qw,goal_x,goal_y,goal_z,goal_qx,goal_qy,goal_qz,goal_qw'


def test_a_table_of_poses_and_its_quantities(tmp_path, answer):
    table = tmp_path / 'poses.csv'
    rows = [
        f'{k},{x + off / 1000},{y},0.3,0,0,0,1,{x},{y},0.3,0,0,0,1'
        for k, (x, y, off) in enumerate(
            [(0.1, 0.2, 0.2), (0.1, 0.2, 0.0), (0.4, 0.2, 0.2), (0.4, 0.2, 0.0), (0.1, 0.6, 0.2)]
        )
    ]
    table.write_text('\n'.join([HEADER, *rows, '9,one']))
    names = HEADER.split(',')
    again = tmp_path / 'imported.csv'
    told, _ = answer(
        'import-poses', table, '--position', *names[1:4], '--quaternion', *names[4:8], '--unit',
        'm', '--goal', *names[8:11], '--goal-quaternion', *names[11:], '--output', again,
    )  # fmt: skip
    assert (told['imported'], len(told['dropped']), told['written']) == (5, 1, str(again))
    assert 0 < told['goals']['rms_mm'] <= told['goals']['largest_mm'] < 0.2
    assert told['goals']['turns']['better_order'] == ''
    told, _ = answer('iso9283', again)
    assert told['units'] == {'length': 'mm', 'angle': 'rad'}
    first, second, last = told['poses']
    assert (first['first_row'], first['cycles'], last['cycles']) == (1, 2, 1)
    assert first['accuracy']['position'] == pytest.approx(0.1)
    assert second['repeatability']['position'] == pytest.approx(0.1)
    assert last['repeatability'] is None
    assert (told['left_by_fit_mm'], told['written']) == (None, [])
    told, _ = answer('iso9283', again, '--fit')
    assert 0 < told['left_by_fit_mm'] < 0.1
