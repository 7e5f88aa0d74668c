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

"""repsq inspect and repsq import-poses, on real recordings and on damaged tables."""

import csv

import numpy as np
import pytest

from repsq_ros.cli import main
from repsq_ros.iso9283.rigid import rigid_fit
from repsq_ros.iso9283.table_text import number_of

TRACKER = 'ur_laser_tracker/Series_D_measurements_iso_cubes.csv'


def test_inspect_tells_what_the_real_recording_is_like(recordings, capsys):
    for folder in ('optitrack_static_mcap', 'optitrack_static_sqlite3'):
        assert main(['inspect', str(recordings / folder)]) == 0
        htc, optitrack = capsys.readouterr().out.split('\n\n')[:2]
        assert 'broken poses                        4425' in htc
        assert 'gaps under a tenth of a period      17.1%' in optitrack
        assert 'stamps look like                    receive' in optitrack
        assert "frame_id                            'world'" in optitrack


def test_inspect_of_one_topic_and_of_one_without_stamps(recordings, capsys):
    bag = str(recordings / 'reemc_walks_mcap')
    assert main(['inspect', bag, '--topic', '/cmd_vel', '--topic', '/odom']) == 0
    command, odometry = capsys.readouterr().out.split('\n\n')[:2]
    assert 'none in this type: times of arrival' in command
    assert 'stamps look like                    header' in odometry
    assert main(['inspect', bag, '--topic', '/odometry']) == 4
    assert 'found no topic /odometry, expected one of those there: /cmd_vel' in (
        capsys.readouterr().err
    )


def test_the_laser_tracker_file_is_imported(recordings, tmp_path, capsys):
    """That the commanded positions fit to 1 mm shows that every decimal comma was understood."""
    output = tmp_path / 'poses.csv'
    assert main(['import-poses', str(recordings / TRACKER), '--output', str(output)]) == 0
    printed = capsys.readouterr().out
    assert 'imported  632 poses' in printed
    assert 'dropped   0 rows' in printed
    assert 'Timestamp: 632 of 632 time stamps are cut to a few digits' in printed
    assert 'off by 1.124 mm (root mean square), at most 2.250 mm in row 321' in printed
    with output.open() as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 632
    assert float(rows[0]['x']) == pytest.approx(2.3367643)
    assert float(rows[0]['goal_y']) == pytest.approx(0.63364)
    norm = sum(float(rows[0][q]) ** 2 for q in ('qx', 'qy', 'qz', 'qw'))
    assert norm == pytest.approx(1.0)
    assert main(['import-poses', str(recordings / TRACKER), '--output', str(output)]) == 6


def damaged(recordings, tmp_path, change):
    lines = (recordings / TRACKER).read_text().splitlines()
    file = tmp_path / 'damaged.csv'
    file.write_text('\n'.join(change(lines)))
    return file


def test_what_cannot_be_read_is_dropped_and_told(recordings, tmp_path, capsys):
    def change(lines):
        lines[3] = lines[3].replace(';2494,3807;', ';#VALUE!;')
        lines[5] = lines[5] + ';1'
        lines[7] = ''
        return lines

    assert main(['import-poses', str(damaged(recordings, tmp_path, change))]) == 0
    printed = capsys.readouterr().out
    assert 'imported  629 poses' in printed
    assert 'dropped   2 rows' in printed
    assert "row 3: measurement_x: found '#VALUE!', expected a number" in printed
    assert 'row 5: found 27 fields, expected 26' in printed


@pytest.mark.parametrize(
    ('change', 'code', 'message'),
    [
        (lambda lines: lines[:1], 4, 'found no valid row of 0'),
        (lambda lines: ['nothing'], 4, 'found no header of columns'),
        (
            lambda lines: [lines[0].replace('_x', '_ex'), *lines[1:]],
            4,
            "no column 'measurement_x'",
        ),
    ],
)
def test_a_file_that_is_no_table_is_refused(recordings, tmp_path, capsys, change, code, message):
    assert main(['import-poses', str(damaged(recordings, tmp_path, change))]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ('text', 'value'),
    [('2336,7643', 2336.7643), ('-0.5', -0.5), ('1.234,5', 1234.5), ('1,234.5', 1234.5),
     (' 1e-3 ', 1e-3), ('\u22121,5', -1.5)],
)  # fmt: skip
def test_numbers_of_many_lands(text, value):
    assert number_of(text) == value


def test_a_rigid_fit_finds_the_motion():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(20, 3))
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rotation, shift, left = rigid_fit(points, points @ turn.T + [1.0, 2.0, 3.0])
    assert rotation == pytest.approx(turn)
    assert shift == pytest.approx([1.0, 2.0, 3.0])
    assert left.max() < 1e-12
