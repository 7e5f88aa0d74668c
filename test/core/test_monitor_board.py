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

"""The board of the monitor: everything in view, nothing over anything, each number where it is."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import yaml
from conftest import ROOT
from support.campaign_states import SECOND, case, counted_by, estimate, story
from support.folders import records_of

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import CountedAttempt, TestRecord
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import body_sample
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.specification.load import load
from repsq_ros.views import densities, panels
from repsq_ros.views.board_updates import BoardUpdater
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.case_dots import FULL, SIZES
from repsq_ros.views.path_recorder import MOST, PathRecorder
from repsq_ros.views.psi_axis import part_shown
from repsq_ros.views.shapes import SHADES, Dots, Lines, Plate, Text
from repsq_ros.views.text_width import blank_scale, fitted, plain, width_of, wrapped
from repsq_ros.views.ticks import around, ticks
from repsq_ros.views.time_left import seconds_left, seconds_per_test

G1 = ROOT / 'config' / 'g1_locomotion.yaml'
RVIZ = ROOT / 'config' / 'repsq.rviz'
FRAME_OF_WINDOW = (32, 92)  # pixels that RViz's own bars take of a window, as seen in RViz
NARROWEST_WINDOW = (1920 - 32) / (1080 - 92)  # width over height of what is left of it


def all_shapes(show, told, trail=None, remarks=None):
    """Return what is drawn of a story by one who has just come, by key."""
    change = show.change(told, trail, remarks)
    return {s.key: s for s in (*change.still, *change.grown, *change.moving)}


def of_name(shapes, name):
    return [shape for key, shape in shapes.items() if key[0] == name]


def texts(shapes):
    return [shape for shape in shapes.values() if isinstance(shape, Text)]


def replicator(write, **more):
    """Return a specification whose proposal adapts after 5 tests."""
    content = yaml.safe_load(G1.read_text())
    content['tester']['proposal'] = {
        'type': 'adaptive',
        'batch': 5,
        'share_of_target': 0.5,
        **more,
    }
    return load(write(content))


def trail_of(kind='velocity', seconds=5.0):
    """Return the trail of a body that goes round, commanded to go straight."""
    twist = kind == 'velocity'
    seen = PathRecorder(
        Input('nav_msgs/msg/Odometry', 'odom', velocity='twist' if twist else 'slope')
    )
    command = (0.1, 0.0, -0.2) if twist else (0.2, 0.1, 0.3, 0.0, 0.0, 0.0)
    for k in range(int(seconds * 20)):
        turn = 0.05 * k
        seen.add(
            body_sample(
                k * SECOND // 20, (math.sin(turn), math.cos(turn), 0.1), (0.0, 0.0, 0.0, 1.0),
                (0.12, 0.01, 0.0), (0.0, 0.0, -0.19),
            ),
            command,
        )  # fmt: skip
    return seen.trail()


# In view, and legible ----------------------------------------------------------------------------


def assert_legible(shapes):
    """Every text is in view, and no two overlap."""
    view = yaml.safe_load(RVIZ.read_text())
    camera = view['Visualization Manager']['Views']['Current']
    window = view['Window Geometry']
    assert (window['Width'], window['Height']) == (1280, 720)
    half_high = (window['Height'] - FRAME_OF_WINDOW[1]) / 2
    # The camera sees 45 degrees from top to bottom; a metre is 100 pixels of the board.
    assert math.tan(math.radians(22.5)) * camera['Distance'] * 100 == pytest.approx(
        half_high, 1e-3
    )
    half_wide = half_high * NARROWEST_WINDOW
    boxes = [(shape.text, shape.box) for shape in texts(shapes)]
    assert all(shape.height >= 15.0 for shape in texts(shapes)), 'minus signs vanish'
    for text, (left, bottom, right, top) in boxes:
        assert text and text.isascii() and '\n' not in text
        assert -half_wide < left and right < half_wide, text
        assert -half_high < bottom and top < half_high, text
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, f'{one!r} {a} over {other!r} {b}'
    for shape in shapes.values():
        places = getattr(shape, 'places', ())
        assert all(abs(x) < half_wide and abs(y) < half_high for x, y in places), shape.key


@pytest.mark.parametrize('dimensions', [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize('tests', [0, 1, 3, 60])
def test_without_a_specification_everything_is_in_view_and_apart(dimensions, tests):
    told = story(tests, dimensions)
    shapes = all_shapes(BoardUpdater(None), told)
    assert_legible(shapes)
    assert any('no specification given' in text.text for text in of_name(shapes, 'panel'))


@pytest.mark.parametrize('tests', [0, 1, 3, 60])
def test_with_a_specification_weights_and_a_robot_too(write, tests):
    told = story(tests, 3)
    shapes = all_shapes(
        BoardUpdater(replicator(write)), told, trail_of(), ['a remark of some length ' * 9]
    )
    assert_legible(shapes)


def test_an_arm_in_millimetres_long_names_and_long_reasons(write):
    content = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
    content['name'] = 'a_very_long_name_of_a_test_specification_' * 2
    specification = load(write(content))
    told = story(5, 3)
    span = Span(Phase.PAUSED, 5, 2, 0, None, (), reason='condition speed_scaling: 0.3, ' * 20)
    told.on_phase('lab-1', replace(case(3, 5), names=('x' * 40, 'y', 'z')), span)
    assert_legible(all_shapes(BoardUpdater(specification), told, trail_of('pose')))


@pytest.mark.parametrize('psi', [0.0, 0.37, 1.0, 1e-12])
def test_psi_that_is_always_the_same(psi):
    assert_legible(all_shapes(BoardUpdater(load(G1)), story(20, 3, psi=psi)))


def test_all_tests_invalid():
    told = story(12, 3, valid=False)
    shapes = all_shapes(BoardUpdater(load(G1)), told)
    assert_legible(shapes)
    assert not of_name(shapes, 'cases')
    hollow = of_name(shapes, 'lost')
    # Three panels, a square of four lines each.
    assert sum(len(shape.places) for shape in hollow) == 12 * 3 * 8


def test_numbers_that_are_none_stop_nothing():
    told = story(2, 3)
    record = TestRecord(2, 0, 0.0, 1.0, False, 'nan', x=(math.nan, 0.0, 0.0))
    told.on_counted('lab-1', CountedAttempt(record, estimate(2, invalid=1, half=math.inf)))
    assert_legible(all_shapes(BoardUpdater(load(G1)), told))
    assert_legible(all_shapes(BoardUpdater(None), told))


# What is drawn, field by field -------------------------------------------------------------------


@pytest.fixture
def scripted(write):
    """A campaign of six attempts under weights, in the middle of the seventh."""
    specification = replicator(write)
    told = CampaignState()
    x = (0.3, -0.3, 0.0)
    common = {'x': x, 'weight_bound': 2.0}
    attempts = [
        TestRecord(0, 0, 0.2, 0.7, True, **common),
        TestRecord(1, 0, 0.0, 1.0, False, 'gap', **common),
        TestRecord(1, 1, 0.0, 1.0, False, 'paused', broken_off=True, **common),
        TestRecord(1, 2, 0.0, 1.0, False, 'by the operator', skipped=True, **common),
        TestRecord(2, 0, 0.8, 1.6, True, **common),
        TestRecord(3, 0, 0.5, 0.4, True, **common),
    ]
    for each in counted_by(specification, attempts):
        told.on_counted('lab-1', each)
    span = Span(Phase.COMMAND, 4, 0, 0, SECOND, (0.0, 0.1, 0.2))
    told.on_phase('lab-1', replace(case(3), x=(0.0, 0.15, 0.3), index=4), span)
    return specification, told


def test_cases_are_where_they_belong_in_size_and_colour_by_weight_and_psi(scripted):
    specification, told = scripted
    shapes = all_shapes(BoardUpdater(specification), told)
    by_size = {shape.size: shape for shape in of_name(shapes, 'cases')}
    assert set(by_size) == {SIZES[0], SIZES[1], SIZES[2]}  # weights 0.4, 0.7, 1.6
    shades = {size: set(shape.shades) for size, shape in by_size.items()}
    low, high = around(0.2, 0.8)
    middle = int((0.5 - low) / (high - low) * SHADES)
    assert shades[SIZES[1]] < {0, 1} | set(range(middle))
    assert shades[SIZES[0]] == {middle}
    assert min(shades[SIZES[2]]) > middle
    pairs = panels.pair_panels(((-0.3, 0.3),) * 3, (0.0, 1.0))
    assert [(p.column, p.row) for p in pairs] == [(0, 1), (0, 2), (1, 2)]
    expected = [
        (pairs[0].panel.right, pairs[0].panel.bottom),
        (pairs[1].panel.right, (pairs[1].panel.bottom + pairs[1].panel.top) / 2),
        (pairs[2].panel.left, (pairs[2].panel.bottom + pairs[2].panel.top) / 2),
    ]
    assert by_size[SIZES[0]].places == [pytest.approx(place) for place in expected]


def test_what_gave_nothing_is_hollow_and_told_apart(scripted):
    specification, told = scripted
    shapes = all_shapes(BoardUpdater(specification), told)
    lost = {shape.key[1]: shape for shape in of_name(shapes, 'lost')}
    assert set(lost) == {0, 1, 2}
    assert [len(lost[k].places) for k in range(3)] == [24, 24, 12]  # square, diamond, cross
    assert len({shape.colour for shape in lost.values()}) == 3
    words = {text.text for text in of_name(shapes, 'legend') if isinstance(text, Text)}
    assert {'INVALID', 'broken off', 'skipped', 'under test', 'colour: psi'} <= words
    assert 'size: weight' in words


def test_the_case_under_test_is_marked_in_every_panel(scripted):
    specification, told = scripted
    shapes = all_shapes(BoardUpdater(specification), told)
    ring = shapes['under_test', 1]
    assert len(ring.places) == 3 * 24
    pairs = panels.pair_panels(((-0.3, 0.3),) * 3, (0.0, 1.0))
    for k, pair in enumerate(pairs):
        circle = np.array(ring.places[24 * k : 24 * (k + 1)])
        x = (0.0, 0.15, 0.3)
        middle = pair.panel.place(x[pair.column], x[pair.row])
        assert circle.mean(axis=0) == pytest.approx(middle)
    done = Span(Phase.DONE, 4, 0, 0, None, ())
    told.on_phase('lab-1', told.case, done)
    assert not of_name(all_shapes(BoardUpdater(specification), told), 'under_test')


def test_axes_have_names_units_and_numbers(scripted):
    specification, told = scripted
    said = {text.text for text in of_name(all_shapes(BoardUpdater(specification), told), 'labels')}
    assert {'linear_x [m/s]', 'linear_y [m/s]', 'angular_z', '[rad/s]', '-0.3', '0', '0.3'} <= said


def test_the_panel_says_what_happens(scripted):
    specification, told = scripted
    panel = of_name(all_shapes(BoardUpdater(specification), told), 'panel')
    latest = told.latest
    assert [text.text for text in panel][:3] == [
        'test 4: COMMAND',
        'case: linear_x 0, linear_y 0.15, angular_z 0.3',
        f'3 tests of about {latest.expected_n}, time left unknown',
    ]
    assert any('1 INVALID, 1 broken off, 1 skipped' in text.text for text in panel)
    assert {text.x for text in panel} == {panels.RIGHT_COLUMN}
    assert len({text.y for text in panel}) == len(panel)


def test_another_specification_than_the_campaigns_is_told():
    told = story(3, 3)
    told.on_phase('lab-1', case(3, 3, digest='f' * 64), told.span)
    panel = of_name(all_shapes(BoardUpdater(load(G1)), told), 'panel')
    assert any('differs from that of the campaign' in text.text for text in panel)


def test_the_axis_of_psi_shows_cells_interval_estimate_and_result(content, write):
    specification = load(write(content))
    campaign = Campaign(specification)
    told = CampaignState()
    for record in records_of([0.4, 0.5, 0.45] * 1000):
        made = campaign.add(replace(record, index=record.index))
        if made is not None:
            told.on_counted('lab-1', CountedAttempt(record, made))
    assert campaign.stopped
    result = campaign.result('lab-1')
    told.on_result('lab-1', result)
    shapes = all_shapes(BoardUpdater(specification), told)
    wide = panels.AXIS_RIGHT - panels.AXIS_LEFT

    def at(psi):
        return panels.AXIS_LEFT + psi * wide

    walls = sorted({x for x, _ in shapes['cells', 0].places})
    assert walls == pytest.approx([at(edge) for edge in specification.partition.edges])
    interval = shapes['interval', 0].places
    assert interval[0][0] == pytest.approx(at(result.lower))
    assert interval[1][0] == pytest.approx(at(result.upper))
    assert shapes['estimate', 0].x == pytest.approx(at(result.estimate))
    cell = shapes['result', 0]
    assert isinstance(cell, Plate)
    assert cell.width == pytest.approx((result.cell_upper - result.cell_lower) * wide)
    assert cell.x == pytest.approx(at((result.cell_lower + result.cell_upper) / 2))
    headline = shapes['result', 1]
    assert headline.text == f'RESULT {result.value:.6g}'
    assert headline.height == max(text.height for text in texts(shapes))
    promise = [text for text in of_name(shapes, 'result') if isinstance(text, Text)][1:]
    assert ' '.join(text.text for text in promise) == (result.objection or result.agreement)
    others = [text for text in texts(shapes) if text not in (headline, *promise)]
    assert min(text.height for text in promise) > max(text.height for text in others)
    numbers = [text.text for text in of_name(shapes, 'psi') if isinstance(text, Text)]
    assert {'0', '0.5', '1'} <= set(numbers)
    assert_legible(shapes)


def test_an_axis_of_a_wide_range_shows_the_part_that_counts(write):
    content = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
    content['measure']['upper'] = 100.0
    stage = BoardUpdater(load(write(content)))._axes
    near = estimate(9, mean=37.0, half=0.02, gamma=0.01)
    low, high = part_shown(stage, near, None)
    assert low < 36.98 and high > 37.02 and high - low == pytest.approx(20 * 0.02)
    wide = estimate(9, mean=37.0, half=30.0, gamma=0.01)
    low, high = part_shown(stage, wide, None)
    assert low <= 7.0 and high >= 67.0
    assert part_shown(stage, None, None) == (0.0, 100.0)
    assert_legible(all_shapes(BoardUpdater(load(write(content))), story(3, 3)))


# Densities ---------------------------------------------------------------------------------------


def test_uniform_cases_have_no_density_and_a_learnt_proposal_has(scripted):
    specification, told = scripted
    show = BoardUpdater(specification)
    assert not of_name(all_shapes(show, told), 'density')  # too few tests for a batch
    for k in range(4, 40):
        psi, x = (0.9, 0.28) if k % 2 else (0.1, -0.1)
        case_ = (x, 0.1 * (k % 3 - 1), 0.02 * (k % 5))
        record = TestRecord(k, 0, psi, 1.0, True, x=case_, weight_bound=2.0)
        told.on_counted('lab-1', CountedAttempt(record, estimate(k)))
    drawn = {s.key[1]: s for s in show.change(told).moving if s.key[0] == 'density'}
    proposal = specification.make_proposal()
    for counted in told.counted:
        if counted.record.valid:
            proposal.tell(counted.record.x, counted.record.psi, counted.record.weight)
    curve = densities.along(proposal.distribution, 0)
    heights = np.array([y for _, y in drawn[1].places])
    assert heights.argmax() == curve.argmax()
    rise = (heights - heights.min()) / (heights.max() - heights.min())
    assert rise == pytest.approx((curve - curve.min()) / (curve.max() - curve.min()))


def test_a_density_along_an_axis_is_the_mean_over_the_others(write):
    content = yaml.safe_load(G1.read_text())
    shapes = {name: {'a': 1.0, 'b': 1.0} for name in ('linear_y', 'angular_z')}
    betas = {'type': 'beta', 'linear_x': {'a': 0.9, 'b': 0.7}, **shapes}
    content['tester']['proposal'] = {'type': 'importance', 'distribution': betas}
    specification = load(write(content))
    distribution = specification.make_proposal().distribution
    exact = densities.along(distribution, 0)
    assert exact.mean() == pytest.approx(1.0, abs=0.05)
    assert densities.is_flat(densities.along(distribution, 1))

    class Own:
        box = distribution.box
        sample = staticmethod(distribution.sample)

    drawn = densities.along(Own(), 0)
    assert np.abs(drawn - exact).mean() < 0.13
    assert drawn[-5:].mean() > drawn[15:25].mean()
    # What differs by chance alone is shown as uniform.
    assert densities.is_flat(densities.along(Own(), 1))


# Many tests, few objects -------------------------------------------------------------------------


def test_ten_thousand_tests_are_few_shapes_and_one_more_changes_one():
    told = story(10_000, 3, under_test=False)
    show = BoardUpdater(load(G1))
    change = show.change(told)
    groups = [shape for shape in change.still if shape.key[0] == 'cases']
    assert sum(len(group.places) for group in groups) == 30_000
    assert len(groups) <= 30_000 / FULL + 1
    record = TestRecord(10_000, 0, 0.5, 1.0, True, x=(0.0, 0.0, 0.0))
    told.on_counted('lab-1', CountedAttempt(record, estimate(10_001)))
    again = show.change(told)
    assert not again.redraw and not again.still
    assert [len(group.places) <= FULL + 3 for group in again.grown] == [True]


def test_other_colours_draw_everything_anew_and_another_campaign_begins_an_empty_board():
    told = story(3, 3, psi=0.5)
    show = BoardUpdater(load(G1))
    show.change(told)
    record = TestRecord(3, 0, 0.99, 1.0, True, x=(0.0, 0.0, 0.0))
    told.on_counted('lab-1', CountedAttempt(record, estimate(4)))
    change = show.change(told)
    assert change.redraw
    assert sum(len(s.places) for s in change.still if s.key[0] == 'cases') == 4 * 3
    told.on_phase('lab-2', case(3), told.span or Span(Phase.IDLE, 0, 0, 0, None, ()))
    change = show.change(told)
    assert change.redraw
    assert not [s for s in change.still if s.key[0] == 'cases']


# The robot ---------------------------------------------------------------------------------------


def test_commanded_and_measured_are_drawn_over_time():
    shapes = all_shapes(BoardUpdater(load(G1)), story(3, 3), trail_of())
    measured, commanded = shapes['motion', 60], shapes['motion', 50]
    assert isinstance(measured, Lines) and measured.strip
    frame = np.array(shapes['motion', 10].places)
    reach = 0.4

    def height(velocity):
        bottom, top = frame[:, 1].min(), frame[:, 1].max()
        return bottom + (velocity + reach) / (2 * reach) * (top - bottom)

    assert {round(y, 6) for _, y in measured.places} == {round(height(0.12), 6)}
    assert {round(y, 6) for _, y in commanded.places} == {round(height(0.1), 6)}
    assert measured.places[-1][0] == pytest.approx(frame[:, 0].max())


def test_a_component_that_is_never_commanded_keeps_its_noise_small(content, write):
    """linear_y is no dimension: it is drawn on the scale of linear_x."""
    del content['target']['dimensions']['linear_y']
    shapes = all_shapes(BoardUpdater(load(write(content))), story(3, 2), trail_of())
    for row in (0, 1):
        ends = [shapes['motion', 20 + 2 * row + place].text for place in (0, 1)]
        assert ends == ['-0.4', '0.4']


def test_a_component_that_is_never_commanded_is_not_cut_off(content, write):
    """The yaw rate of a walking robot sways, whatever is commanded."""
    del content['target']['dimensions']['angular_z']
    trail = trail_of()
    trail.velocity[:, 2] = 0.7 * np.sin(np.arange(len(trail.seconds)))
    shapes = all_shapes(BoardUpdater(load(write(content))), story(3, 2), trail)
    assert [shapes['motion', 24 + place].text for place in (0, 1)] == ['-1', '1']
    frame = np.array(shapes['motion', 12].places)[:, 1]
    drawn = np.array(shapes['motion', 62].places)[:, 1]
    assert frame.min() < drawn.min() and drawn.max() < frame.max()


def test_beside_one_dimension_psi_is_shown_where_the_tests_are():
    shapes = all_shapes(BoardUpdater(None), story(20, 1))
    numbers = {text.text for text in of_name(shapes, 'labels')}
    assert {'0.3', '0.7'} <= numbers and '1' not in numbers


def test_the_path_keeps_its_shape_and_the_target_is_marked(write):
    specification = load(ROOT / 'config' / 'ur10e_positioning.yaml')
    trail = trail_of('pose')
    shapes = all_shapes(BoardUpdater(specification), story(3, 3), trail)
    drawn, true = np.array(shapes['motion', 70].places), trail.path[:, :2]
    scale = np.ptp(drawn, axis=0) / np.ptp(true, axis=0)
    assert scale[0] == pytest.approx(scale[1])
    cross = np.array(shapes['motion', 72].places).mean(axis=0)
    assert (cross - drawn[0]) / scale == pytest.approx(np.array([0.2, 0.1]) - true[0])
    assert isinstance(shapes['motion', 71], Dots)
    length = float(shapes['motion', 74].text.split()[0])
    (left, _), (right, _) = shapes['motion', 73].places
    assert (right - left) / scale[0] == pytest.approx(length)


def test_glimpses_are_of_one_test_and_not_too_many():
    seen = PathRecorder(Input('nav_msgs/msg/Odometry', 'odom', velocity='twist'))
    seen.begin((0, 0))
    for k in range(1000):
        seen.add(body_sample(k, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), (k, 0, 0), (0, 0, 0)), ())
    trail = seen.trail()
    assert len(trail.seconds) <= MOST
    assert trail.velocity[0, 0] == 0.0 and trail.velocity[-1, 0] == 999.0
    seen.begin((0, 0))
    assert seen.trail() is not None
    seen.begin((0, 1))
    assert seen.trail() is None


def test_a_broken_sample_is_left_out_and_a_clock_set_back_begins_anew():
    seen = PathRecorder(Input('nav_msgs/msg/Odometry', 'odom', velocity='twist'))
    still = (0.0, 0.0, 0.0)
    for k, x in enumerate((0.0, math.nan, 2.0)):
        seen.add(body_sample(k, (x, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), still, still), ())
    assert seen.trail().path[:, 0].tolist() == [0.0, 2.0]
    seen.add(body_sample(0, (5.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), still, still), ())
    assert seen.trail() is None


# Small parts -------------------------------------------------------------------------------------


def test_letters_are_as_wide_as_rviz_draws_them():
    """Pixels at a height of 27, from RViz 2's own font texture (Ogre 1.12.10)."""
    drawn = {'M': 20, 'A': 16, '0': 13, 'i': 5, '.': 7, '@': 24, '-': 8, '_': 13}
    assert {letter: width_of(letter, 27.0) for letter in drawn} == drawn
    assert width_of('AA', 27.0) == 32.0
    assert width_of('é', 27.0) == width_of('A', 27.0)


def test_a_blank_is_no_wider_than_its_text_is_high():
    """RViz draws half of what `scale.x` of a text marker says."""
    blank = width_of('a b', 20.0) - width_of('ab', 20.0)
    assert blank_scale(20.0) == pytest.approx(2.0 * blank)
    assert 0.2 < width_of(' ', 1.0) < 0.3


def test_long_texts_are_cut_or_wrapped():
    assert fitted('abc', 10.0, 100.0) == 'abc'
    cut = fitted('abcdefghijklmnop', 10.0, 40.0)
    assert cut.endswith('..') and width_of(cut, 10.0) <= 40.0
    lines = wrapped('one two three four five six seven', 10.0, 60.0, 2)
    assert len(lines) == 2 and all(width_of(line, 10.0) <= 60.0 for line in lines)
    assert plain('gamma 5 µm') == 'gamma 5 ?m'


@pytest.mark.parametrize(
    ('lower', 'upper', 'expected'),
    [(0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), (-0.3, 0.3, [-0.2, -0.1, 0.0, 0.1, 0.2]),
     (0.0, 0.5, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]), (36.8, 37.2, [36.8, 36.9, 37.0, 37.1, 37.2])],
)  # fmt: skip
def test_ticks_are_round_and_within(lower, upper, expected):
    most = 5
    found = ticks(lower, upper, most)
    assert set(expected) >= set(found) and len(found) >= 3
    assert all(lower - 1e-9 <= tick <= upper + 1e-9 for tick in found)


def test_time_left_is_the_robots_and_breaks_do_not_count():
    told = story(20, 3, under_test=False)
    assert seconds_per_test(told.counted) == pytest.approx(8.0)
    assert seconds_left(told.counted) == pytest.approx(8.0 * 80)
    late = TestRecord(
        20, 0, 0.5, 1.0, True, window_start_ns=90_000 * SECOND, window_end_ns=90_005 * SECOND,
        x=(0.0, 0.0, 0.0),
    )  # fmt: skip
    told.on_counted('lab-1', CountedAttempt(late, estimate(21)))
    assert seconds_per_test(told.counted) == pytest.approx(8.0)
    assert math.isnan(seconds_per_test(told.counted[:1]))


def test_who_heard_too_little_says_so():
    told = CampaignState()
    told.on_counted('lab-1', CountedAttempt(records_of([0.4])[0], estimate(40, invalid=2)))
    assert told.unheard == 41
    panel = of_name(all_shapes(BoardUpdater(load(G1)), told), 'panel')
    assert any('41 attempts were counted before' in text.text for text in panel)
