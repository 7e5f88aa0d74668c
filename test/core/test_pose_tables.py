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

"""Tables as spreadsheets write them, and the quantities of ISO 9283 that they give."""

import csv
import math

import numpy as np
import pytest
from transforms3d.euler import euler2mat, euler2quat

from repsq_ros.cli import main
from repsq_ros.iso9283.pose_figures import draw_bars
from repsq_ros.iso9283.rigid import lever_arm, turns_left
from repsq_ros.iso9283.table_text import number_of

TRACKER = 'ur_laser_tracker/Series_D_measurements_iso_cubes.csv'


@pytest.fixture
def read(tmp_path, capsys):
    """Import a table of x, y, z and return what was written, what was printed and the code."""

    def imported(text, *options, encoding='utf-8', columns=('x', 'y', 'z')):
        file, output = tmp_path / 'table.csv', tmp_path / 'out.csv'
        file.write_bytes(text.encode(encoding))
        output.unlink(missing_ok=True)
        code = main(
            ['import-poses', str(file), '--position', *columns, '--goal', '--angles',
             '--output', str(output), *options]
        )  # fmt: skip
        told = capsys.readouterr()
        rows = list(csv.DictReader(output.open())) if output.exists() else []
        return rows, told.out + told.err, code

    return imported


def metres(row):
    return tuple(float(row[axis]) for axis in 'xyz')


GOOD = [
    ('x;y;z\n1,5;-2,25;0,125\n', (1.5, -2.25, 0.125)),
    ('x;y;z\n1.000;2,5;3\n', (1000.0, 2.5, 3.0)),  # a decimal comma: 1.000 is a thousand
    ('x,y,z\n1.000,2.5,3\n', (1.0, 2.5, 3.0)),
    ('x;y;z\n1,000;2.5;3\n', (1000.0, 2.5, 3.0)),
    ('x;y;z\n1.000;2.000;3.000\n', (1.0, 2.0, 3.0)),  # nothing tells: as it is written
    ('x;y;z\n12,345;0,115;3\n', (12.345, 0.115, 3.0)),
    ('x;y;z\n1.234.567,5;2;3\n', (1234567.5, 2.0, 3.0)),
    ('x;y;z\n1.234.567;1,234;3\n', (1234567.0, 1.234, 3.0)),
    ('x;y;z\n1,234,567;1.234;3\n', (1234567.0, 1.234, 3.0)),
    ('sep=;\nx;y;z\n1,5;2;3\n', (1.5, 2.0, 3.0)),
    ('# a tracker\n\nx\ty\tz\n1.5\t2\t3\n# the end\n', (1.5, 2.0, 3.0)),
    ("x;y;z\n1'234.5;2\u202f500,0;3\n".replace(',', '.'), (1234.5, 2500.0, 3.0)),
    ('x;y;z\n1\u00a0234,5;1\u2019000,0;3\n', (1234.5, 1000.0, 3.0)),
]


@pytest.mark.parametrize(('text', 'expected'), GOOD)
def test_what_spreadsheets_write(read, text, expected):
    rows, _, code = read(text, '--unit', 'm')
    assert code == 0
    assert metres(rows[0]) == pytest.approx(expected)


@pytest.mark.parametrize('encoding', ['latin-1', 'utf-8', 'utf-8-sig', 'utf-16'])
def test_encodings(read, encoding):
    text = 'L\xe4nge;y;z\n1,5;2;3\n'
    rows, _, code = read(text, encoding=encoding, columns=('L\xe4nge', 'y', 'z'))
    assert code == 0
    assert metres(rows[0]) == pytest.approx((0.0015, 0.002, 0.003))


REFUSED = [
    ('x;y;z;x\n1;2;3;4\n', "found the column 'x' twice"),
    ('x;y;z\n1,5;2.5;3\n', 'found numbers with a decimal point and numbers with a decimal comma'),
    ('x;y;z\n1,234;1.000;3\n', 'expected one of them: say --decimal point or --decimal comma'),
    ('x;y\n1;2\n', 'found no header of columns'),
]


@pytest.mark.parametrize(('text', 'told'), REFUSED)
def test_what_can_be_read_in_two_ways_is_refused(read, text, told):
    rows, said, code = read(text)
    assert (rows, code) == ([], 4)
    assert told in said


def test_marks_that_the_user_tells(read):
    rows, _, _ = read('x;y;z\n1,234;1.000;3\n', '--decimal', 'comma', '--unit', 'm')
    assert metres(rows[0]) == pytest.approx((1.234, 1000.0, 3.0))
    rows, _, _ = read('x;y;z\n1,234;1.000;3\n', '--decimal', 'point', '--unit', 'm')
    assert metres(rows[0]) == pytest.approx((1234.0, 1.0, 3.0))
    with pytest.raises(ValueError, match='marks of thousands'):
        number_of('1.2345,6', ',')


def test_whole_times_are_kept_and_damaged_ones_told(read):
    text = 'Timestamp;x;y;z\n2021-03-01 10:00:00;1;2;3\n2021-03-01 10:00:05;1;2;bad\n;1;2;3\n'
    rows, said, _ = read(text)
    assert [row['time'] for row in rows] == ['2021-03-01 10:00:00', '']
    assert "row 2: z: found 'bad', expected a number" in said
    rows, said, _ = read('Timestamp;x;y;z\n2,02103E+13;1;2;3\n')
    assert 'time' not in rows[0]
    assert 'Timestamp: 1 of 1 time stamps are cut to a few digits' in said


def test_quaternion_columns(read):
    half = math.sqrt(0.5)
    text = f'x,y,z,a,b,c,d\n1,2,3,0,0,{half},{half}\n1,2,3,0.2,0,0,0.2\n'
    rows, said, _ = read(text, '--quaternion', 'a', 'b', 'c', 'd')
    assert len(rows) == 1
    assert float(rows[0]['qz']) == pytest.approx(half)
    assert 'row 2: a quaternion of norm 0.283, expected 1' in said
    _, said, code = read(text, '--quaternion', 'a', 'b')
    assert code == 2
    assert 'parameter quaternion: found 2 columns, expected 4 or none' in said


def test_the_goals_show_that_an_order_is_wrong(recordings, tmp_path, capsys):
    """Attained angles of the real file are about turned axes, commanded ones about fixed axes."""
    assert main(['import-poses', str(recordings / TRACKER)]) == 0
    assert 'their rotations by 0.118 degrees (root mean square), at most 0.255 in row 297' in (
        capsys.readouterr().out
    )
    assert main(['import-poses', str(recordings / TRACKER), '--order', 'sxyz']) == 0
    said = capsys.readouterr().out
    assert 'their rotations by 66.760 degrees' in said
    assert 'of order rxyz they would within 0.2' in said


def test_rotations_between_two_frames_and_a_tool():
    rng = np.random.default_rng(1)

    def rotation():
        matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        return matrix * np.sign(np.linalg.det(matrix))

    base, tool = rotation(), rotation()
    goals = [rotation() for _ in range(5)]
    assert turns_left(base, goals, [base @ g @ tool for g in goals]) == pytest.approx(
        np.zeros(5), abs=1e-7
    )
    with_one_off = [base @ g @ tool for g in goals[:4]] + [rotation()]
    assert turns_left(base, goals, with_one_off).max() > 0.1


# ISO 9283 ----------------------------------------------------------------------------------------


@pytest.fixture
def cycles(tmp_path):
    """Write a table of cycles: offsets [mm] from goals [m]."""

    def write(goals, offsets, told=True, turn=0.0):
        file = tmp_path / 'cycles.csv'
        with file.open('w', newline='') as opened:
            writer = csv.writer(opened)
            names = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
            writer.writerow(['row', *names, *(f'goal_{n}' for n in names)][: None if told else 8])
            for k, (goal, off) in enumerate(zip(goals, offsets, strict=True)):
                w, x, y, z = euler2quat(turn, 0.0, 0.0)
                attained = [g + o / 1000 for g, o in zip(goal, off, strict=True)]
                row = [k, *attained, x, y, z, w]
                writer.writerow([*row, *goal, 0, 0, 0, 1] if told else row)
        return str(file)

    return write


def printed(capsys, *words):
    assert main(['iso9283', *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    return {line[:27].strip(): line[27:].strip() for line in lines}


GOALS = [(0.1, 0.2, 0.3)] * 20
OFFSETS = [(0.3, 0.0, 0.0), (-0.1, 0.0, 0.0)] * 5 + [(0.4, 0.0, 0.0), (0.0, 0.0, 0.0)] * 5


def test_the_quantities_of_one_pose(cycles, capsys, tmp_path):
    """Means 0.1 and 0.2 mm off in x; distances 0.2 from each: RP of a series is 0.2, of all more.

    Of all 20: barycentre 0.15, distances 0.15, 0.25, 0.25, 0.15: mean 0.2, S = 0.05 sqrt(20/19).
    """
    said = printed(
        capsys, cycles(GOALS, OFFSETS, turn=0.001), '--directions', '2',
        '--output', str(tmp_path / 'iso'),
    )  # fmt: skip
    assert said['AP  accuracy'].split()[0] == '0.1500'
    assert said['RP  repeatability'].split()[0] == f'{0.2 + 0.15 * math.sqrt(20 / 19):.4f}'
    assert said['dAP drift of accuracy'].split()[0] == '0.1000'
    assert said['dRP drift of repeatability'].split()[0] == '0.0000'
    assert said['vAP variation by direction'].split()[0] == '0.4000'
    rows = list(csv.DictReader((tmp_path / 'iso' / 'iso9283.csv').open()))
    assert float(rows[0]['AP_x_mm']) == pytest.approx(0.15)
    for name in ('cycles.png',):
        assert (tmp_path / 'iso' / name).stat().st_size > 10_000


def test_what_cannot_be_told_is_not(cycles, capsys):
    table = cycles(GOALS[:5], OFFSETS[:5], told=False)
    said = printed(capsys, table)
    assert 'not told: no pose is commanded' in said['AP  accuracy']
    assert 'mm on average' in said['RP  repeatability']
    said = printed(capsys, table, '--commanded', '0.1', '0.2', '0.3')
    assert said['AP  accuracy'].split()[0] == '0.1400'
    assert main(['iso9283', table, '--series', '1']) == 2
    assert main(['iso9283', cycles(GOALS[:1], OFFSETS[:1], told=False)]) == 4
    assert 'expected several cycles to a pose' in capsys.readouterr().err


def test_goals_of_another_frame_are_told_and_laid_over(cycles, capsys):
    corners = [(x, y, z) for x in (0, 0.4) for y in (0, 0.4) for z in (0, 0.4)]
    goals = [corner for corner in corners for _ in range(2)]
    away = [(1000.3, 0.0, 0.0), (999.9, 0.0, 0.0)] * 8
    table = cycles(goals, away)
    assert main(['iso9283', table]) == 0
    assert 'goals of another frame? --fit' in capsys.readouterr().out
    said = printed(capsys, table, '--fit')
    assert float(said['AP  accuracy'].split()[0]) < 1e-3
    assert said['RP  repeatability'].split()[0] == '0.2000'


def test_the_real_arm_by_the_laser_tracker(recordings, tmp_path, capsys):
    table = str(tmp_path / 'poses.csv')
    assert main(['import-poses', str(recordings / TRACKER), '--output', table]) == 0
    capsys.readouterr()
    said = printed(capsys, table, '--fit')
    assert said['AP  accuracy'].startswith('1.0480 mm on average, 2.2497 at most')
    assert main(['iso9283', str(recordings / TRACKER)]) == 4


def test_each_pose_has_a_bar_of_accuracy_and_one_of_repeatability():
    figure = pytest.importorskip('matplotlib.figure').Figure()
    axes = figure.subplots()
    draw_bars(axes, [0.1, 0.3, math.nan], [0.02, math.nan, 0.05])
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == pytest.approx([0.1, 0.3, math.nan, 0.02, math.nan, 0.05], nan_ok=True)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        'accuracy AP', 'repeatability RP',
    ]  # fmt: skip
    assert '[mm]' in axes.get_ylabel()


def test_cells_without_a_value_and_blank_rows_are_dropped_and_counted(read):
    rows, told, code = read('x;y;z\n1;2;3\n#N/A;2;3\n;;\n# a comment\n4;5;6\n')
    assert code == 0 and len(rows) == 2
    assert 'dropped   2 rows' in told
    assert "row 2: x: found '#N/A'" in told and 'row 3: blank' in told


def test_a_quaternion_is_taken_by_its_names(read):
    rows, _, code = read(
        'x,y,z,qw,qx,qy,qz\n1,2,3,0.8,0.6,0,0\n', '--quaternion', 'qw', 'qx', 'qy', 'qz'
    )
    assert code == 0
    assert [float(rows[0][name]) for name in ('qx', 'qw')] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(
    ('text', 'options', 'words'),
    [
        ('x,y,z\n0.5,1.25,2.5\n', (), '--unit m?'),
        ('x,y,z\n500,1250,2500\n', ('--unit', 'm'), '--unit mm?'),
        ('x,y,z\n500,1250,2500\n', (), ''),
        ('x,y,z,a,b,c\n500,1250,2500,3.1,0,0\n', ('--angles', 'a', 'b', 'c'), 'radians?'),
        ('x,y,z,a,b,c\n500,1250,2500,178,0,0\n', ('--angles', 'a', 'b', 'c'), ''),
    ],
)
def test_unlikely_sizes_are_hinted_at(read, text, options, words):
    _, told, code = read(text, *options)
    assert code == 0
    assert ('note' in told) is bool(words) and words in told


def test_what_was_not_measured_is_not_told(read, tmp_path, capsys):
    text = 'x,y,z\n500,1250,2500\n500.1,1250,2500\n500,1250.1,2500\n'
    read(text)
    assert main(['iso9283', str(tmp_path / 'out.csv')]) == 0
    assert 'RP of a, b, c                not measured' in capsys.readouterr().out


def test_a_reflector_beside_the_tool_is_told():
    rng = np.random.default_rng(1)
    goals = rng.uniform(-0.5, 0.5, (20, 3))
    turns = [euler2mat(*angles) for angles in rng.uniform(-0.6, 0.6, (20, 3))]
    arm = np.array([0.010, -0.020, 0.0137])
    base, shift = euler2mat(0.2, -0.1, 1.0), np.array([3.0, -1.0, 0.4])
    attained = np.array(
        [base @ (g + turn @ arm) + shift for g, turn in zip(goals, turns, strict=True)]
    ) + rng.normal(0, 2e-5, (20, 3))
    found, left = lever_arm(goals, turns, attained)
    assert found == pytest.approx(arm, abs=1e-4)
    assert left.max() < 2e-4
    assert lever_arm(goals, [np.eye(3)] * 20, attained) is None
