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

"""Two subjects on the same cases: an interval of the difference, and a verdict that is kept."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import stats

from repsq_ros.campaign.mean_difference import case_values, compare_pairs, pair_up
from repsq_ros.campaign.records import TestRecord
from repsq_ros.cli import main
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.anytime import AnytimeBatch
from repsq_ros.estimation.difference import MeanDifference, Verdict
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.specification.load import load

WHOLE = Bounds(-1.0, 1.0)


def steep(u, gain, random):
    """psi of cases u on [0, 1]^3, with noise of its own."""
    noise = np.exp(random.normal(-0.03125, 0.25, u.shape[:-1]))
    reach = np.sum(np.abs(2 * u - 1) ** 4, axis=-1)
    return 1 - np.exp(-0.8154 * 5 / 3 * gain * reach * noise)


def sequence_of(d, aim=0.04, c=0.05, margin=0.0, stop=True):
    sequence = MeanDifference(WHOLE, aim, c)
    for each in d:
        sequence.add(float(each), float(each), WHOLE)
        if stop and sequence.verdict(margin) is not Verdict.OPEN:
            break
    return sequence


# The interval ------------------------------------------------------------------------------------


def test_pairs_tell_a_change_of_15_percent_far_sooner_than_two_campaigns():
    """About 140 pairs; two campaigns apart, each with half of c, take more than four times it."""
    random = np.random.default_rng(1)
    pairs = []
    for _ in range(15):
        u = random.random((2000, 3))
        found = sequence_of(steep(u, 1.15, random) - steep(u, 1.0, random))
        assert found.verdict() is Verdict.B_LOWER
        pairs.append(found.n)
    assert 100 < np.mean(pairs) < 238
    question = Question(0.018, 0.025, Bounds(0.0, 1.0))  # half of the difference of the means
    apart = AnytimeBatch(question, 30)
    u = random.random((1500, 30, 3))
    gains = np.where(np.arange(30) % 2, 1.15, 1.0)
    for z in steep(u, gains, random):
        apart.add(z)
        done = (apart.lower[1::2] > apart.upper[::2]).mean()
        if done > 0.5:
            break
    assert apart.n > 4 * np.mean(pairs)


@pytest.mark.parametrize('truth', [0.0, 0.1])
def test_it_is_missed_at_any_n_by_c_at_most(truth):
    """Differences of three values, asked after every pair: ever missed by c = 0.2 at most."""
    random, missed, wrong, runs, c = np.random.default_rng(2), 0, 0, 120, 0.2
    for _ in range(runs):
        d = random.choice([-1.0, 0.0, 1.0], 80, p=[0.2 - truth / 2, 0.6, 0.2 + truth / 2])
        sequence = MeanDifference(WHOLE, 0.02, c)
        for each in d.tolist():
            sequence.add(each, each, WHOLE)
        missed += not sequence.lower <= truth <= sequence.upper
        wrong += sequence.verdict() is (Verdict.A_LOWER if truth else Verdict.B_LOWER)
    assert missed <= stats.binom.ppf(0.999, runs, c)
    assert wrong <= stats.binom.ppf(0.999, runs, c / 2)


def test_the_interval_is_that_of_the_plain_formula():
    random, aim, c = np.random.default_rng(3), 0.05, 0.05
    d = np.clip(random.normal(0.2, 0.3, 60), -1, 1)
    sequence = sequence_of(d, aim, c, stop=False)
    grid = np.linspace(-1, 1, 4001)
    ends, logs = [-1.0, 1.0], np.zeros((2, 2, len(grid)))
    square, mean = 1.0, 0.0  # var0 a quarter of the squared width, mu0 the middle
    for n, each in enumerate(d):
        at = max(aim, abs(mean * n / (n + 1)))
        stake = at / (square / (n + 1) + at**2)
        for side, sign in ((0, 1), (1, -1)):
            room = grid + 1 if sign > 0 else 1 - grid
            for place, cap in enumerate((0.5, 0.99)):
                with np.errstate(divide='ignore'):
                    logs[side, place] += np.log1p(
                        np.minimum(stake, cap / room) * sign * (each - grid)
                    )
            out = grid[np.logaddexp(*logs[side]) - math.log(2) >= math.log(2 / c)]
            if out.size:
                ends[side] = max(ends[0], out[-1]) if sign > 0 else min(ends[1], out[0])
        mean = float(np.mean(d[: n + 1]))
        square += (each - float(np.sum(d[: n + 1])) / (n + 2)) ** 2
    assert sequence.lower == pytest.approx(ends[0], abs=1e-3)
    assert sequence.upper == pytest.approx(ends[1], abs=1e-3)
    assert sequence.mean == pytest.approx(np.mean(d))
    assert 0 < ends[0] < 0.2 < ends[1] < 0.5


def test_a_verdict_is_that_of_the_interval():
    random = np.random.default_rng(4)
    small = np.clip(random.normal(0.001, 0.05, 3000), -1, 1)
    assert sequence_of(small, 0.05, margin=0.05).verdict(0.05) is Verdict.WITHIN
    assert sequence_of(small[:20], 0.05, margin=0.05).verdict(0.05) is Verdict.OPEN
    for sign, verdict in ((1, Verdict.B_LOWER), (-1, Verdict.A_LOWER)):
        d = sign * np.clip(random.normal(0.2, 0.1, 500), -1, 1)
        found = sequence_of(d, 0.05, margin=0.05)
        assert found.verdict(0.05) is found.verdict() is verdict
        assert found.n < 60
    # Both: it is there, and does not matter.
    tiny = sequence_of(np.full(3000, 0.02), 0.05, margin=0.05, stop=False)
    assert tiny.lower > 0
    assert (tiny.verdict(), tiny.verdict(0.05)) == (Verdict.B_LOWER, Verdict.WITHIN)


def test_what_breaks_the_assumptions_ends_every_claim():
    sequence = sequence_of([0.9] * 40, stop=False)
    assert sequence.verdict() is Verdict.B_LOWER
    sequence.add(1.3, 1.3, WHOLE)
    assert 'pair 41: a difference in [1.3, 1.3] is outside its bounds [-1, 1]' in sequence.broken
    assert sequence.verdict() is Verdict.OPEN
    drifting = sequence_of([0.9] * 60 + [-0.9] * 400, stop=False)
    assert 'the difference drifts' in drifting.broken
    assert math.isinf(drifting.lower)


# Pairs -------------------------------------------------------------------------------------------


def record(index, psi, attempt=0, valid=True, x=None, weight=1.0):
    x = (0.01 * index, 0.0, 0.0) if x is None else x
    return TestRecord(index, attempt, psi, weight, valid, x=x, weight_bound=1.0)


def pairs_of(specification, a, b, widens=None):
    sides = [case_values(specification, side, widens) for side in (a, b)]
    return pair_up(specification, *sides)


def test_pairs_are_by_case_and_what_was_lost_counts_at_its_worst(content, write):
    specification = load(write(content))
    nan = math.nan
    a = [record(0, 0.4), record(1, nan, valid=False), record(1, 0.5, attempt=1),
         record(2, nan, valid=False), record(3, 0.7), record(4, 0.2), record(5, 0.9)]  # fmt: skip
    b = [record(0, 0.1), record(1, 0.3), record(2, 0.6), record(3, nan, valid=False),
         record(4, 0.2)]  # fmt: skip
    found = {p.index: (p.least, p.most) for p in pairs_of(specification, a, b)}
    assert found == {
        0: pytest.approx((0.3, 0.3)),
        1: pytest.approx((-0.3, 0.7)),
        2: pytest.approx((-0.6, 0.4)),
        3: pytest.approx((-0.3, 0.7)),
        4: (0.0, 0.0),
    }
    found = {p.index: p.least for p in pairs_of(specification, a, b, lambda cause: False)}
    assert found == {0: pytest.approx(0.3), 1: pytest.approx(0.2), 4: 0.0}


def test_pairs_that_were_lost_move_each_end_against_the_claim():
    whole = [(0.3, 0.3)] * 60
    bounds = WHOLE
    plain, disturbed = MeanDifference(WHOLE, 0.05, 0.05), MeanDifference(WHOLE, 0.05, 0.05)
    for place, (least, most) in enumerate(whole):
        plain.add(least, most, bounds)
        lost = place % 6 == 5
        disturbed.add(-0.7 if lost else least, 1.0 if lost else most, bounds)
    assert disturbed.lower < plain.lower - 0.01
    assert disturbed.upper > plain.upper + 0.01
    assert disturbed.mean == plain.mean


def test_skipping_what_speaks_against_it_brings_no_verdict(content, write):
    """No difference at all; whoever skips the pairs in which A is worse gets nothing by it."""
    specification, random, verdicts, runs = load(write(content)), np.random.default_rng(5), 0, 20
    for _ in range(runs):
        psi = (random.random((250, 2)) < 0.3).astype(float)
        a, b = [], []
        for index, (one, other) in enumerate(psi.tolist()):
            skip = one > other and random.random() < 0.5
            a.append(record(index, math.nan if skip else one, valid=not skip))
            b.append(record(index, other))
        pairs = pairs_of(specification, a, b)
        verdicts += compare_pairs(pairs, WHOLE, 0.04, 0.1, 0.0).verdict is Verdict.A_LOWER
    assert verdicts <= stats.binom.ppf(0.999, runs, 0.05)
    assert (
        compare_pairs(
            pairs_of(specification, a, b, lambda cause: False), WHOLE, 0.04, 0.1, 0.0
        ).verdict
        is Verdict.A_LOWER
    ), 'the assumption is what the promise then rests on'


def test_other_cases_are_no_pairs(content, write):
    specification = load(write(content))
    with pytest.raises(ParameterError, match='other cases from test 1 on, expected the same ones'):
        pairs_of(
            specification,
            [record(0, 0.1), record(1, 0.1)],
            [record(0, 0.1), record(1, 0.1, x=(0.2, 0.0, 0.0))],
        )


# The command -------------------------------------------------------------------------------------


@pytest.fixture
def campaigns(content, tmp_path):
    """Two folders as `repsq run` leaves them, on one seed; the gain of B is given."""

    def made(gain, count=400, seed=1):
        content['tester'].update(stopping={'rule': 'anytime'}, proposal='monte_carlo')
        folders = []
        for name, its in (('a', 1.0), ('b', gain)):
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            (folder / 'specification.yaml').write_text(yaml.safe_dump(content))
            specification = load(folder / 'specification.yaml')
            random, proposal = np.random.default_rng(len(name) + ord(name)), None
            proposal = specification.make_proposal()
            lines = [
                'index,attempt,valid,linear_x,linear_y,angular_z,psi,weight,weight_bound,'
                'samples,mean,half_width,reason'
            ]
            for index in range(count):
                draw = proposal.draw(index, seed if name == 'a' else 1)
                psi = float(steep(np.array(specification.box.to_unit(draw.x)), its, random))
                x = ','.join(map(repr, draw.x))
                lines.append(f'{index},0,1,{x},{psi!r},1.0,1.0,150,0,0,""')
            (folder / 'tests.csv').write_text('\n'.join(lines) + '\n')
            folders.append(str(folder))
        return folders

    return made


def test_repsq_compare_subjects_tells_who_is_better(campaigns, capsys):
    folders = campaigns(1.3)
    assert main(['compare-subjects', *folders]) == 0
    printed = capsys.readouterr().out
    assert 'pairs       400\n' in printed
    assert 'verdict     A better (A lower, and lower is better), since pair ' in printed
    assert 0 < int(printed.split('since pair ')[1]) < 200
    assert 'with probability 0.95 the mean of A less that of B lies in it' in printed
    assert main(['compare-subjects', *folders[::-1], '--better', 'higher', '--c', '0.01']) == 0
    printed = capsys.readouterr().out
    assert 'verdict     A better (B lower, and higher is better)' in printed
    assert 'with probability 0.99' in printed
    folders = campaigns(1.0)
    assert main(['compare-subjects', *folders, '--margin', '0.1']) == 0
    assert 'verdict     equal within the margin of 0.1, since pair ' in capsys.readouterr().out
    assert main(['compare-subjects', *campaigns(1.0, 15)]) == 0
    assert 'verdict     open: go on with both' in capsys.readouterr().out


def test_one_seed_and_two_robots_are_two_subjects(campaigns, capsys):
    folders = campaigns(1.3)
    for folder, robot in zip(folders, ('gait 1', 'gait 2'), strict=True):
        file = Path(folder) / 'specification.yaml'
        content = yaml.safe_load(file.read_text())
        content['robot'] = robot
        content['measure']['direction'] = 'higher_is_better'
        file.write_text(yaml.safe_dump(content))
    assert main(['compare', *folders, '--json']) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['better'] == 'higher'
    assert told['verdict'].startswith('B better (A lower')
    assert (
        told['difference']['lower'] < told['difference']['mean'] < told['difference']['upper'] < 0
    )


def test_what_cannot_be_compared_is_told(campaigns, content, tmp_path, capsys):
    folders = campaigns(1.3, 5, seed=2)
    for words, told, code in (
        ([], 'other cases from test 0 on', 2),
        (['--c', '1'], 'parameter c: found 1', 2),
        (['--margin', 'nan'], 'parameter margin: found nan', 2),
    ):
        assert main(['compare-subjects', *folders, *words]) == code
        line = capsys.readouterr().err
        assert told in line
        assert line.count('\n') == 1
    assert main(['compare', folders[0], str(tmp_path / 'nowhere'), '--subjects']) == 2
    capsys.readouterr()
    content['measure']['gain'] = 5.0
    (tmp_path / 'b' / 'specification.yaml').write_text(yaml.safe_dump(content))
    assert main(['compare-subjects', *folders]) == 2
    assert 'found another measure in' in capsys.readouterr().err
    del content['measure']['gain']
