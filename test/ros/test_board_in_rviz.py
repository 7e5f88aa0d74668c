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

"""The board, drawn by RViz 2's own rendering library: texts are where they were put."""

import itertools
from dataclasses import dataclass

import pytest
import yaml
from conftest import ROOT
from support.campaign_states import story
from support.folders import records_of
from support.rviz_pictures import MISSING, Picture, draw

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.nodes.markers import PIXEL, MarkerSheet
from repsq_ros.specification.load import load
from repsq_ros.views.board_updates import BoardUpdater
from repsq_ros.views.shapes import Text

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

G1 = ROOT / 'config' / 'g1_locomotion.yaml'
ARM = ROOT / 'config' / 'ur10e_positioning.yaml'
CAMERA = yaml.safe_load((ROOT / 'config' / 'repsq.rviz').read_text())['Visualization Manager']
DISTANCE = CAMERA['Views']['Current']['Distance']
HIGH = 628.0  # pixels of the board that the view shows from top to bottom
VIEWS = ((1280 - 32, 720 - 92), (1920 - 32, 1080 - 92))  # what RViz's bars leave of a window
NEAR = 2.0  # pixels that ink may stick out of the place of a text, or miss its ends by
SMALLEST = 15.0  # pixels


@dataclass(frozen=True)
class Board:
    """A board, and the ink of its texts in one window."""

    name: str
    texts: list[Text]
    picture: Picture
    inks: list

    @property
    def scale(self):
        """Pixels of the window for one of the board."""
        return self.picture.height / HIGH

    def place(self, text):
        """Return left, top, right, bottom of a text's place in the window."""
        left, bottom, right, top = text.box
        middle = (self.picture.width / 2, self.picture.height / 2)
        return (
            middle[0] + left * self.scale, middle[1] - top * self.scale,
            middle[0] + right * self.scale, middle[1] - bottom * self.scale,
        )  # fmt: skip


def specification_of(dimensions, folder):
    """Return a specification of so many dimensions: of a walking robot, or 6 of an arm."""
    content = yaml.safe_load((ARM if dimensions == 6 else G1).read_text())
    given = content['target']['dimensions']
    angles = {'unit': 'rad', 'lower': -0.3, 'upper': 0.3}
    given |= dict.fromkeys(('roll', 'pitch', 'yaw'), angles) if dimensions == 6 else {}
    content['target']['dimensions'] = dict(list(given.items())[:dimensions])
    file = folder / f'{dimensions}.yaml'
    file.write_text(yaml.safe_dump(content))
    return load(file)


def result_of(specification):
    """Return the result of a campaign whose psi hardly differ."""
    campaign, width = Campaign(specification), specification.measure.upper
    for record in records_of([width * each for each in (0.4, 0.5, 0.45)] * 1000):
        if campaign.add(record) is not None and campaign.stopped:
            break
    return campaign.result('lab-1')


@pytest.fixture(scope='module')
def boards(tmp_path_factory):
    """Boards of 1, 2, 3 and 6 dimensions, in the middle of a campaign and at its end."""
    folder = tmp_path_factory.mktemp('boards')
    made = []
    for dimensions, ended in itertools.product((1, 2, 3, 6), (False, True)):
        specification = specification_of(dimensions, folder)
        told = story(40, dimensions)
        if ended:
            told.on_result('lab-1', result_of(specification))
        update = BoardUpdater(specification).change(told)
        shapes = [*update.still, *update.grown, *update.moving]
        sheet = MarkerSheet('repsq')
        sheet.wipe()
        markers = sheet.message(shapes).markers
        texts = [shape for shape in shapes if isinstance(shape, Text)]
        for view in VIEWS if ended else VIEWS[:1]:
            name = f'{dimensions}{"_result" if ended else ""}_{view[0]}'
            made.append((name, texts, Picture(markers, folder / f'{name}.png', *view)))
    inks = draw([picture for *_, picture in made], DISTANCE)
    return [Board(*each, ink) for each, ink in zip(made, inks, strict=True)]


def test_every_text_is_where_it_was_put_and_whole(boards):
    for board in boards:
        assert len(board.inks) == len(board.texts) > 20
        for text, ink in zip(board.texts, board.inks, strict=True):
            left, top, right, bottom = board.place(text)
            wrong = (board.name, text.text, ink, (left, top, right, bottom))
            near = NEAR * board.scale
            assert left - near <= ink.left <= left + 2 * near, wrong
            assert right - 2 * near <= ink.right <= right + near, wrong
            assert top - near <= ink.top < ink.bottom <= bottom + near, wrong
            assert ink.left > 0 and ink.right < board.picture.width, wrong
            assert ink.top > 0 and ink.bottom < board.picture.height, wrong


def test_no_text_is_over_another(boards):
    for board in boards:
        pairs = itertools.combinations(zip(board.texts, board.inks, strict=True), 2)
        for (one, a), (other, b) in pairs:
            apart = (
                a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top
            )
            assert apart, (board.name, one.text, a, other.text, b)


def test_no_text_is_too_small_and_result_and_promise_are_the_largest_at_the_end(boards):
    for board in boards:
        assert all(text.height * board.scale >= SMALLEST for text in board.texts), board.name
        sizes = {}
        for text, ink in zip(board.texts, board.inks, strict=True):
            kind = ('result', text.key[1] > 1) if text.key[0] == 'result' else 'other'
            if any(letter in text.text for letter in 'RTABW('):  # as high as letters are
                sizes.setdefault(kind, []).append((text.height, ink.bottom - ink.top))
        if 'result' in board.name:
            result, promise = sizes['result', False], sizes['result', True]
            assert min(result) > max(promise) and min(promise)[0] > max(sizes['other'])[0]


def test_a_metre_is_as_many_pixels_as_the_board_supposes(boards):
    for board in boards:
        title = next(text for text in board.texts if text.key[0] == 'title')
        ink = board.inks[board.texts.index(title)]
        metres = (title.middle - title.box[0]) * 2 * PIXEL
        shown = (ink.right - ink.left) / metres
        assert shown == pytest.approx(100 * board.scale, rel=0.03)
