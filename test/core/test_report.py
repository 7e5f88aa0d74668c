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

"""The report of a campaign: whatever the campaign is like, a page that says so."""

import json
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
import yaml
from conftest import ROOT
from support.folders import leave_folder, patient_queue, records_of, simulate_folder

from repsq_ros.campaign.folder import REPLICATION, RESULT, SPECIFICATION
from repsq_ros.campaign.records import TestRecord
from repsq_ros.cli import main
from repsq_ros.errors import MissingError
from repsq_ros.report import browser, facts, figure_style, findings
from repsq_ros.report.campaign_data import gather
from repsq_ros.report.page import TEMPLATE, render
from repsq_ros.specification.load import load

pytest.importorskip('jinja2')
pytest.importorskip('matplotlib')

DEMO = ROOT / 'config' / 'g1_locomotion.yaml'
SIX = ('x', 'y', 'z', 'roll', 'pitch', 'yaw')


class Page(HTMLParser):
    """The text of a page, its pictures, and whether all that opens closes."""

    def __init__(self, text):
        super().__init__()
        self.words, self.pictures, self._open = [], [], []
        self.feed(text)
        assert not self._open, self._open
        self.text = ' '.join(' '.join(self.words).split())

    def handle_starttag(self, tag, attrs):
        if tag == 'img':
            self.pictures.append(dict(attrs))
        elif tag not in ('meta', 'br'):
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] != ['style']:
            self.words.append(data)


def shown(*folders):
    return Page(render([gather(folder) for folder in folders]))


def of_dimensions(count):
    """Return a specification whose cases have one dimension, or the six of a pose."""
    if count == 6:
        content = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
        for name in SIX[3:]:
            content['target']['dimensions'][name] = {'unit': 'rad', 'lower': -0.1, 'upper': 0.1}
        return content
    content = yaml.safe_load(DEMO.read_text())
    names = list(content['target']['dimensions'])[:count]
    content['target']['dimensions'] = {
        name: content['target']['dimensions'][name] for name in names
    }
    return content


def drawn_tests(specification, psi, seed=1):
    """Return VALID tests on cases of the proposal, with these psi."""
    proposal, found = specification.make_proposal(), []
    for index, value in enumerate(psi):
        draw = proposal.draw(index, seed)
        found.append(
            TestRecord(index, 0, float(value), draw.weight, True, samples=150, x=draw.x,
                       weight_bound=draw.weight_bound)
        )  # fmt: skip
    return found


CAMPAIGNS = {
    'no test': (3, 0, 0.5),
    'one test': (3, 1, 0.5),
    'three tests': (3, 3, 0.5),
    '1000 tests': (3, 1000, 0.5),
    'psi is constant': (3, 40, 0.0),
    'one dimension': (1, 60, 0.5),
    'two dimensions': (2, 60, 0.5),
    'six dimensions': (6, 60, 0.1),
}


@pytest.mark.parametrize('name', CAMPAIGNS)
def test_a_page_for_every_campaign(name, write, tmp_path, recwarn):
    dimensions, count, spread = CAMPAIGNS[name]
    content = of_dimensions(dimensions)
    content['tester'].update(
        stopping={'rule': 'fixed', 'tests': max(count, 2)}, max_tests=max(count, 2)
    )
    specification = load(write(content))
    low = 0.1 if dimensions == 6 else 0.25
    psi = low + spread * np.random.default_rng(1).random(count)
    folder = leave_folder(
        tmp_path / 'lab', write(content), drawn_tests(specification, psi), sessions=(0,)
    )
    text = render([gather(folder)])
    page = Page(text)
    pairs = dimensions * (dimensions - 1) // 2
    cases = pairs + (count > 0) if pairs else 1
    assert len(page.pictures) == (4 if count > 1 else 3) + cases
    assert all(each['src'].startswith('data:image/svg+xml;base64,') for each in page.pictures)
    assert all(each['alt'] for each in page.pictures)
    assert len(text) < 6_000_000
    assert 'http' not in re.sub(r'data:[^"]*', '', text)  # nothing is fetched from elsewhere
    assert 'nan' not in page.text
    assert f'tests counted {count} ' in page.text
    if count > 1:
        result = yaml.safe_load((folder / RESULT).read_text())
        assert repr(result['value']) in page.text
        assert result['guarantee'] in page.text
        assert result['agreement'] in page.text
        assert result['replication_digest'] in page.text
    else:
        assert 'Nothing is promised: the campaign has not come to its end.' in page.text
    assert not [str(each.message) for each in recwarn if 'repsq' in str(each.filename)]


@pytest.mark.parametrize(
    ('value', 'error', 'expected'),
    [
        (0.497008292, 0.03976, ('0.50', '0.04')),
        (0.497008292, 0.0431, ('0.497', '0.044')),
        (0.497008292, 0.3, ('0.5', '0.3')),
        (36.98765, 0.0123, ('36.988', '0.013')),
        (0.5, 0.0951, ('0.50', '0.10')),
        (1234.5, 100.0, ('1200', '100')),
        (0.5, math.inf, ('0.5', 'no bound')),
    ],
)
def test_a_value_has_as_many_digits_as_its_error_warrants(value, error, expected):
    assert facts.rounded(value, error) == expected


def test_the_page_answers_in_its_first_sentence_and_says_what_it_could_not_see(write, tmp_path):
    content = yaml.safe_load(DEMO.read_text())
    specification = load(write(content))
    psi = 0.4 + 0.2 * np.random.default_rng(1).random(400)
    folder = leave_folder(tmp_path / 'lab', write(content), drawn_tests(specification, psi))
    campaign = gather(folder)
    page = shown(folder)
    error = max(campaign.result.upper - campaign.result.value,
                campaign.result.value - campaign.result.lower)  # fmt: skip
    value, plus_minus = facts.rounded(campaign.result.value, error)
    assert (
        f'Velocity tracking loss of the Unitree G1, 0 to 1, lower is better: {value} ± '
        f'{plus_minus} from {campaign.result.n} tests; accuracy promised.' in page.text
    )
    assert f'accuracy promised: within {plus_minus} with probability 0.95' in page.text
    assert f', within {plus_minus} of this value.' in page.text
    assert float(plus_minus) >= error  # never rounded down
    exact = campaign.result.value
    assert f'exact value {exact!r}' in page.text
    for other in (f'{exact:.3g}', f'{exact:.4g}', f'{exact:.6g}'):
        assert other == value or f' {other} ' not in page.text, 'the same value reads the same'
    assert 'What this run could not see drift from day to day' in page.text
    assert 'a sensor whose scale is off' in page.text


def test_readme_tutorial_and_theory_quote_what_the_two_labs_find(labs):
    first, second = (gather(lab) for lab in labs)
    result, other = first.result, second.result
    readme, tutorial, theory = (
        ' '.join((ROOT / name).read_text().split())
        for name in ('README.md', 'docs/tutorial.md', 'docs/theory.md')
    )
    found = findings.summary(first).rstrip('.')
    assert found.lower().replace('\u00b1', 'plus or minus') in readme.lower()
    assert (
        f'result {result.value:.6g} (cell {result.cell}: {result.cell_lower:.6g} to '
        f'{result.cell_upper:.6g}) estimate {result.estimate:.6g} +- {result.half_width:.4g} '
        f'from {result.n} tests, 0 INVALID'
    ) in tutorial
    within = facts.rounded(other.value, second.error)[1]
    for quoted in (
        f'psi = {", ".join(f"{psi:.3f}" for psi in first.psi[:3])}',
        f'After {result.n} tests that is [{result.lower:.4f}, {result.upper:.4f}], around the '
        f'mean {result.estimate:.4f}. The half-width {result.half_width:.4f} is below gamma',
        f'goes from {result.cell_lower:.4f} to {result.cell_upper:.4f}. '
        f'Its middle, {result.value:.4f}, is the result',
        f'after {other.n} tests at {other.estimate:.4f} +- {other.half_width:.4f}',
        f'[{other.lower:.4f}, {other.upper:.4f}], so r* is within {within} of the value',
    ):
        assert quoted in theory
    assert other.value == result.value


def test_a_campaign_in_which_every_test_is_invalid(content, write, tmp_path):
    tests = [
        TestRecord(0, k, math.nan, 1.0, False, f'gap of 0.{k} s', x=(0.1, 0.1, 0.1), code='gap')
        for k in range(7)
    ]
    page = shown(leave_folder(tmp_path / 'lab', write(content), tests))
    assert 'no test has been counted; 7 attempts were lost' in page.text
    assert 'INVALID gap 7' in page.text
    assert 'INVALID, broken off, skipped 7, 0, 0' in page.text


def test_what_was_lost_and_what_held_the_campaign_is_listed(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 3})
    tests = records_of([0.2, 0.3, 0.9, 0.4])
    tests[1:1] = [
        TestRecord(1, 0, math.nan, 1.0, False, 'rigid body <lost>', x=(0.1, 0.1, 0.1)),
        TestRecord(1, 1, math.nan, 1.0, False, 'a cable', x=(0.1, 0.1, 0.1), broken_off=True),
    ]
    tests[3] = TestRecord(1, 2, math.nan, 1.0, False, 'slippery', x=(0.1,) * 3, skipped=True)
    folder = tmp_path / 'lab'
    leave_folder(folder, write(content), tests)
    journal = patient_queue(folder, load(folder / SPECIFICATION), 'lab', 1, resume=True)
    journal.write('pause', {'reason': 'the battery & more', 'broken_off': False})
    journal.close()
    page = shown(folder)
    for words in ('INVALID rigid body <lost> 1', 'broken off a cable 1', 'skipped slippery 1',
                  'paused: the battery & more', 'Events on the result'):  # fmt: skip
        assert words in page.text
    assert '<lost>' not in render([gather(folder)])  # escaped


def test_sessions_their_clocks_and_drift(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 200})
    random = np.random.default_rng(2)
    psi = [*random.beta(2, 5, 100), *random.beta(6, 2, 100)]
    page = shown(
        leave_folder(tmp_path / 'lab', write(content), records_of(psi), sessions=(0, 100))
    )
    assert 'Drift: sessions 1 and 2 have different means (tested at level 0.05).' in page.text
    assert re.search(r'synchronized|not known', page.text)
    assert page.text.count('repsq_ros 0.') >= 3


@pytest.fixture(scope='module')
def labs(tmp_path_factory):
    """The folders of an initiator and of a replicator."""
    folder = tmp_path_factory.mktemp('labs')
    first = simulate_folder(folder / 'a', DEMO)
    tester = ROOT / 'config' / 'replicator.yaml'
    return first, simulate_folder(folder / 'b', first / REPLICATION, tester)


@pytest.fixture(scope='module')
def pages(labs):
    """The page of the initiator, and that of both."""
    return [render([gather(each) for each in folders]) for folders in (labs[:1], labs)]


def test_weights_and_their_worth(labs, pages):
    _, second = labs
    page = shown(second)
    result = yaml.safe_load((second / RESULT).read_text())
    assert f'effective sample size {result["effective_sample_size"]:.1f} of {result["n"]}' in (
        page.text
    )
    assert f'bound {result["weight_bound"]:.4g} (computed from p and q)' in page.text
    assert len(page.pictures) == 5 + 4
    together = Page(pages[1])
    assert 'Velocity tracking loss of the Unitree G1, 0 to 1, lower is better: ' in together.text
    assert 'tests in 17 minutes; two labs agree.' in together.text
    assert 'The same value to the last digit: 0.497.' in together.text
    assert 'No difference between the means was found (tested at level 0.05).' in together.text
    assert len(together.pictures) == 8 + 9 + 2
    assert re.findall('class="value">(.*?)<', pages[1]) == ['0.497', '0.497']


@pytest.mark.parametrize(
    ('psi', 'partition', 'told'),
    [
        ((0.44, 0.56), {'alpha': 0.1}, 'Different values: 0.45, 0.55'),
        ((0.44, 0.44), {'type': 'anchored'}, 'Not comparable: values of different partitions'),
    ],
)
def test_campaigns_side_by_side_are_told_apart(psi, partition, told, content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    content['partition'] = partition
    folders = []
    for place, value in enumerate(psi):
        content['measure']['gain'] = 6.0 + (place if partition.get('type') else 0)
        folders.append(
            leave_folder(tmp_path / f'lab{place}', write(content), records_of([value] * 4))
        )
    assert told in shown(*folders).text


def test_versions_of_a_robot_are_told_as_a_change_from_the_first(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 200})
    folders = []
    for version, centre in (('1.0', 0.3), ('1.1', 0.3), ('2.0', 0.7)):
        content['robot'] = f'walker, software {version}'
        psi = centre + 0.1 * np.random.default_rng(3).random(200)
        file = write(content)
        folders.append(leave_folder(tmp_path / version, file, records_of(psi), seed=len(folders)))
    page = shown(*folders)
    assert 'Different means: 1.0 and 2.0, 1.1 and 2.0' in page.text
    assert 'From walker, software 1.0 to walker, software 2.0 the mean changed by +0.4 (' in (
        page.text
    )
    assert re.search(r'change of the mean - \+0 \(-0\.\d+ to \+0\.\d+\) \+0\.4 \(', page.text)
    assert 'three labs' in page.text


def test_campaigns_of_one_seed_are_no_independent_labs(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    content['partition'] = {'alpha': 0.1}
    folders = [
        leave_folder(tmp_path / name, write(content), records_of([0.5] * 4)) for name in 'ab'
    ]
    assert 'no independent replication' in shown(*folders).text


def test_captions_and_alternative_texts_tell_the_finding(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 40})
    psi = 0.2 + 0.4 * np.random.default_rng(1).random(40)
    folder = leave_folder(tmp_path / 'lab', write(content), records_of(psi))
    campaign, page = gather(folder), shown(folder)
    told = {each['alt'] for each in page.pictures}
    assert {findings.of_estimate(campaign), findings.of_partition(campaign),
            findings.of_psi(campaign), findings.of_cases(campaign)} <= told  # fmt: skip
    assert f'highest ({psi.max():.3g}) at linear_x' in findings.of_cases(campaign)
    assert f'psi lies between {psi.min():.3g} and {psi.max():.3g};' in findings.of_psi(campaign)
    means = [each.mean for each in campaign.estimates]
    moved = max(abs(mean - means[-1]) for mean in means[20:])
    assert findings.of_estimate(campaign).endswith(f'stayed within {moved:.2g} of that.')


# Contrast ----------------------------------------------------------------------------------------


def luminance(colour):
    """Return the relative luminance of #rgb or #rrggbb (WCAG 2.1)."""
    digits = colour.lstrip('#')
    digits = ''.join(2 * each for each in digits) if len(digits) == 3 else digits
    channels = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_texts_and_lines_have_the_contrast_of_level_aa():
    assert contrast('#000', '#fff') == pytest.approx(21.0)
    themes = re.findall(r':root \{([^}]*--ink[^}]*)\}', TEMPLATE.read_text())
    assert len(themes) == 2  # light, dark
    for theme in themes:
        colours = dict(re.findall(r'--(\w+): (#\w+)', theme))
        for text in ('ink', 'soft'):
            assert contrast(colours[text], colours['paper']) >= 4.5
    for line in (figure_style.BLUE, figure_style.GREEN, figure_style.RED, figure_style.GREY):
        assert contrast(line, '#fff') >= 3.0


def test_two_folders_of_one_name_are_told_apart(content, write, tmp_path, capsys):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    for lab in ('one', 'two'):
        leave_folder(tmp_path / lab / 'campaign', write(content), records_of([0.5] * 4))
    folders = [str(tmp_path / lab / 'campaign') for lab in ('one', 'two')]
    assert main(['report', *folders, '--output', str(tmp_path / 'out' / 'r.html')]) == 0
    text = (tmp_path / 'out' / 'r.html').read_text()
    assert 'one/campaign' in text
    assert 'two/campaign' in text


def test_the_neighbours_of_the_result_are_its_neighbours(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    content['partition'] = {'alpha': 0.1}
    for value, cells in ((0.44, ['3', '4', '5']), (0.04, ['0', '1']), (0.99, ['8', '9'])):
        folder = leave_folder(tmp_path / f'{value}', write(content), records_of([value] * 4))
        rows = facts.cells(gather(folder))
        assert [row[0] for row in rows] == cells
        (own,) = (row for row in rows if row[-1] == 'result')
        assert float(own[1]) <= value < float(own[2])


def test_poses_are_reported_by_the_standards_quantities(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    folder = leave_folder(tmp_path / 'lab', write(content), records_of([0.5] * 4))
    table = tmp_path / 'poses.csv'
    rows = [f'{0.001 * k},0,0,0,0,0,1,0,0,0,0,0,0,1' for k in (-1, 1, -1, 1)]
    names = 'x,y,z,qx,qy,qz,qw'
    goal = ','.join(f'goal_{name}' for name in names.split(','))
    table.write_text('\n'.join([f'{names},{goal}', *rows]) + '\n')
    assert main(['report', str(folder), '--poses', str(table)]) == 0
    page = Page((folder / 'report.html').read_text())
    # Attained 1 mm to either side of the goal: AP 0, RP = 1 + 3 * 0 mm.
    assert 'ISO 9283' in page.text
    assert 'AP accuracy 0.0000 mm on average' in page.text
    assert 'RP repeatability 1.0000 mm on average' in page.text


def test_the_sensors_of_a_recording_are_audited(content, write, tmp_path, recordings):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    folder = leave_folder(tmp_path / 'lab', write(content), records_of([0.5] * 4))
    bag = recordings / 'optitrack_static_mcap'
    assert main(['report', str(folder), '--bag', str(bag)]) == 0
    page = Page((folder / 'report.html').read_text())
    assert '/vrpn_client_node/IndexFinger/pose (geometry_msgs/msg/PoseStamped)' in page.text
    assert re.search(r'rate 99\.\d+ Hz', page.text)


def test_what_cannot_be_reported_is_said_in_one_line(content, write, tmp_path, capsys):
    assert main(['report', str(tmp_path / 'nowhere')]) == 2
    folder = leave_folder(tmp_path / 'lab', write(content), records_of([0.5] * 4))
    assert main(['report', str(folder), '--output', '/proc/none/r.html']) == 6
    (folder / 'journal.jsonl').unlink()
    assert main(['report', str(folder)]) == 7
    assert len(capsys.readouterr().err.splitlines()) == 3


# In a browser ------------------------------------------------------------------------------------


@pytest.fixture
def chromium():
    try:
        return browser.find_browser()
    except MissingError:
        pytest.skip('no browser is installed')


def test_without_a_browser_a_pdf_is_refused_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('PATH', str(tmp_path))
    assert main(['report', str(tmp_path), '--pdf']) == 5
    assert 'apt install chromium' in capsys.readouterr().err


def test_the_page_is_seen_in_a_browser_wide_and_narrow(chromium, pages, tmp_path):
    """The picture's parts are where they belong: nothing stands beyond the right edge."""
    matplotlib_image = pytest.importorskip('matplotlib.image')
    page = tmp_path / 'report.html'
    page.write_text(pages[0], encoding='utf-8')
    for width in (500, 1200):
        picture = tmp_path / f'{width}.png'
        browser.browse(
            page,
            picture,
            f'--screenshot={picture}',
            f'--window-size={width},2600',
            '--hide-scrollbars',
        )
        pixels = matplotlib_image.imread(picture)[:, :, :3]
        assert pixels.shape[:2] == (2600, width)
        assert (pixels[:, -8:] > 0.98).all()  # the margin is white
        ink = (pixels.min(axis=2) < 0.6).mean()
        assert 0.01 < ink < 0.2
        # The blue of the estimate and the hatched cell's orange have been drawn.
        for colour in ((0.0, 0.447, 0.698), (0.835, 0.369, 0.0)):
            assert (np.abs(pixels - colour).max(axis=2) < 0.02).sum() > 50


MEASURED = """<iframe id="phone" width="390" height="900"></iframe><script>
const phone = document.getElementById("phone");
phone.onload = () => {
  const clipped = [...phone.contentDocument.querySelectorAll("body, .scroll, .scroll *")].filter(
    each => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0);
  document.title = "clipped " + clipped.length + " of " +
    phone.contentDocument.querySelectorAll(".scroll").length;
};
phone.srcdoc = PAGE;
</script>"""


def test_on_a_phone_no_table_and_no_command_is_clipped(chromium, pages, tmp_path):
    for each in pages:
        text = json.dumps(each).replace('</', '<\\/')
        page = tmp_path / 'phone.html'
        page.write_text(MEASURED.replace('PAGE', text), encoding='utf-8')
        done = subprocess.run(
            [chromium, '--headless=new', '--no-sandbox', '--disable-gpu', '--dump-dom',
             f'--user-data-dir={tmp_path / "profile"}', page.as_uri()],
            capture_output=True, text=True, check=True, timeout=browser.PATIENCE,
        )  # fmt: skip
        assert re.search(r'<title>clipped 0 of \d\d?</title>', done.stdout), re.findall(
            '<title>.*</title>', done.stdout
        )


def test_the_page_is_printed(chromium, labs):
    folder = labs[0]
    assert main(['report', str(folder), '--pdf']) == 0
    pdf = folder / 'report.pdf'
    assert pdf.read_bytes()[:5] == b'%PDF-'
    if shutil.which('pdftotext'):
        told = subprocess.run(
            ['pdftotext', '-layout', str(pdf), '-'], capture_output=True, text=True, check=True
        ).stdout
        result = yaml.safe_load((folder / RESULT).read_text())
        assert repr(result['value']) in told
        assert re.search(r'g1_locomotion, digest [0-9a-f]{12} +1 ?/ ?\d', told)
        assert 'To repeat it' in told
        assert result['replication_digest'] in ''.join(told.split())
