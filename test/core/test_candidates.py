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

"""Stakes of their own for each candidate mean: valid whatever they are, and worth it."""

import math
import time

import numpy as np
import pytest
from scipy import stats

from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation import candidates
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.betting import Bet
from repsq_ros.estimation.candidates import CandidateSequence, Stakes
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_into_folder
from repsq_ros.specification.load import load

C, UNIT = 0.05, Bounds(0.0, 1.0)
OWN = (Stakes.EACH, Stakes.TARGET)


def beta(mean, sd):
    size = mean * (1.0 - mean) / sd**2 - 1.0
    return stats.beta(mean * size, (1.0 - mean) * size)


LAWS = {
    'wide': (0.47, lambda random, n, mean: beta(0.47, 0.28).rvs(n, random)),
    'narrow': (0.14, lambda random, n, mean: beta(0.14, 0.077).rvs(n, random)),
    'rare': (0.05, lambda random, n, mean: random.random(n) < 0.05),
    'even': (0.5, lambda random, n, mean: random.random(n) < 0.5),
    # Where its mean so far is high: seldom and large values, else often small ones.
    'adversary': (
        0.3,
        lambda random, n, mean: np.where(
            mean > 0.3, random.random(n) < 0.3, 0.25 + 0.5 * (random.random(n) < 0.1)
        ),
    ),
}


@pytest.mark.parametrize('stakes', OWN)
@pytest.mark.parametrize('law', LAWS)
def test_the_mean_leaves_the_interval_with_c_at_most(law, stakes, monkeypatch):
    """1500 campaigns of 400 tests; of the cells of each end that alone whose end is r*."""
    monkeypatch.setattr(candidates, 'CELLS', 0)
    monkeypatch.setattr(candidates, 'LEAST', 1)
    truth, draw = LAWS[law]
    gamma, runs, random = 0.04, 1500, np.random.default_rng(5)
    bet = Bet(gamma, 0.0, 1.0, np.zeros(runs), 2.0 * math.log(2.0 / C) / 60)
    ends = [
        (CandidateSequence(stakes, gamma, 2.0 / C, low, low + 0.1, runs), sign)
        for low, sign in ((truth - 0.1, 1.0), (-truth - 0.1, -1.0))
    ]
    for _ in range(400):
        z = np.asarray(draw(random, runs, bet.mean), dtype=float)
        for sequence, sign in ends:
            sequence.add(sign * z, bet, min(0.0, sign), sign)
        bet.learn(z)
    missed = int(sum(sequence._refuted for sequence, _ in ends).astype(bool).sum())
    print(f'{law}, {stakes.value}: ever missed {missed} of {runs}')
    assert missed > 0
    assert stats.binomtest(missed, runs, C, 'greater').pvalue > 1e-2


@pytest.mark.parametrize('stakes', OWN)
def test_each_cell_is_refuted_by_its_own_process(stakes, monkeypatch):
    """By the formulas, one cell after the other, its upper end in place of its means."""
    monkeypatch.setattr(candidates, 'LEAST', 50)
    monkeypatch.setattr(candidates, 'FAR', 1e9)
    z = beta(0.6, 0.2).rvs(90, np.random.default_rng(3)).tolist()
    gamma, threshold = 2.0, 40.0
    sequence, bet = CandidateSequence(stakes, gamma, threshold, 0.0, 1.0), Bet(0.1, 0.0, 1.0, 0.0)
    known = []
    for value in z:
        known.append((bet.mean, bet.variance))
        sequence.add(value, bet, 0.0, 1.0)
        bet.learn(value)
    refuted = []
    for end in (k / 50 for k in range(1, 51)):
        tracks = [1.0, 1.0, 1.0]
        best = 0.0
        for n, (value, (mean, variance)) in enumerate(zip(z, known, strict=True)):
            far, steady = max(mean - end, 0.1), 0.1 / (variance + 0.01)
            if stakes is Stakes.EACH:
                rest = variance - far**2
                laws = [(0.8, 0.99, far / rest if rest > 0 else math.inf),
                        (0.2, 0.9, far / (variance + far**2)), (0.0, 0.0, 0.0)]  # fmt: skip
            else:
                paid = tracks[2] * 0.6 / threshold
                quantile = stats.norm.ppf(1 - 0.6 / threshold)
                left = max(1.15 * quantile**2 * variance / gamma**2 - n, 8.0)
                slope = np.interp(paid, candidates.PLACES, candidates.SLOPES)
                laws = [(0.2, 0.5, steady), (0.2, 0.99, steady),
                        (0.6, 0.9, slope / math.sqrt(variance * left))]  # fmt: skip
            for track, (_, cap, stake) in enumerate(laws):
                tracks[track] *= 1.0 + min(stake, cap / end) * (value - end)
            total = sum(share * k for (share, _, _), k in zip(laws, tracks, strict=True))
            best = max(best, total)
        refuted.append(best >= threshold)
    assert sequence._refuted[0].tolist() == refuted
    assert 10 < refuted.index(False) < 40
    assert sequence.bound == refuted.index(False) / 50
    assert sequence.shortfall(sequence.bound - 1e-9) == 0.0
    assert 0.0 < sequence.shortfall(sequence.bound + 0.03) < math.log(threshold) + 20.0


def test_the_slopes_are_those_of_the_normal_law():
    for place, slope in zip(candidates.PLACES, candidates.SLOPES, strict=True):
        assert slope == pytest.approx(stats.norm.pdf(stats.norm.ppf(place)) / place, rel=1e-4)


@pytest.mark.parametrize('stakes', OWN)
def test_a_campaign_counts_as_one_of_many_does(stakes):
    z = beta(0.4, 0.2).rvs((3, 60), np.random.default_rng(8))
    question, rule = Question(0.05, C, UNIT, (), 60), Anytime(stakes=stakes, reachable=1.0)
    many, alone = AnytimeBatch(question, 3, rule), rule.begin(question)
    total = Accumulator()
    for n in range(60):
        many.add(z[:, n].copy())
        total.add(float(z[1, n]))
        alone.add(total, float(z[1, n]), UNIT)
        assert alone.lower == pytest.approx(many.lower[1], abs=1e-12)
        assert alone.upper == pytest.approx(many.upper[1], abs=1e-12)
    assert alone.upper - alone.lower < 0.3
    many.keep(np.array([False, True, False]))
    many.add(z[1:2, 0].copy())
    assert many.lower.shape == (1,)


def test_a_lost_test_widens_the_interval():
    rule, question = Anytime(stakes=Stakes.EACH), Question(0.1, C, UNIT)
    seen, lost, total = rule.begin(question), rule.begin(question), Accumulator()
    for n in range(40):
        total.add(0.4 if n % 2 else 0.6)
        seen.add(total, 0.4 if n % 2 else 0.6, UNIT)
        lost.add(total, 0.4 if n % 2 else 0.6, UNIT, UNIT if n == 7 else None)
    assert lost.lower < seen.lower < 0.5 < seen.upper < lost.upper
    assert lost.expected_n(total) > 40


def test_fewer_tests_to_gamma_and_narrower_early():
    random, ends = np.random.default_rng(2), {}
    z = beta(0.47, 0.28).rvs((40, 1000), random)
    for stakes in (Stakes.ONE, Stakes.TARGET):
        batch, left, ends[stakes] = AnytimeBatch(Question(0.04, C, UNIT), 40,
                                                 Anytime(stakes=stakes)), z, []  # fmt: skip
        while len(left):
            batch.add(left[:, batch.n].copy())
            stop = batch.reached
            ends[stakes] += [batch.n] * int(stop.sum())
            batch.keep(~stop)
            left = left[~stop]
    assert np.mean(ends[Stakes.TARGET]) < 0.88 * np.mean(ends[Stakes.ONE])
    widths = {}
    for stakes in (Stakes.ONE, Stakes.EACH):
        question = Question(0.04, C, UNIT, (), 60)
        batch = AnytimeBatch(question, 40, Anytime(stakes=stakes, reachable=2.0))
        for n in range(10):
            batch.add(z[:, n].copy())
        widths[stakes] = (batch.upper - batch.lower).mean()
    assert widths[Stakes.EACH] < 0.75 * widths[Stakes.ONE]


def test_a_specification_asks_for_stakes_and_its_campaign_is_counted_again(short, write, tmp_path):
    short['tester'] = {'proposal': 'monte_carlo', 'seed': 3}
    short['tester']['stopping'] = {'rule': 'anytime', 'stakes': 'each'}
    short['tester']['max_tests'] = 8
    file, folder = write(short), tmp_path / 'lab'
    specification = load(file)
    assert specification.tester.stopping.stakes is Stakes.EACH
    subject = make_subject('surrogate', '')
    result = run_into_folder(specification, subject, 3, folder, 'lab', {}, lambda *_: None)
    assert recompute(folder).finished() == result
    assert result.upper - result.lower < 0.6
    short['tester']['control'] = 'regression'
    with pytest.raises(SpecificationError, match="stakes 'one'"):
        load(write(short))


@pytest.mark.parametrize('stakes', OWN)
def test_a_test_is_counted_in_two_milliseconds(stakes):
    progress, total = Anytime(stakes=stakes).begin(Question(0.04, C, UNIT)), Accumulator()
    z = beta(0.47, 0.28).rvs(100, np.random.default_rng(1)).tolist()
    began = time.process_time()
    for value in z:
        total.add(value)
        progress.add(total, value, UNIT)
    assert (time.process_time() - began) / len(z) < 0.002
