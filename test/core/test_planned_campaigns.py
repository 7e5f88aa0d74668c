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

"""check, plan, fit and simulate say what the result will say, and what campaigns then take."""

import math

import numpy as np
import pytest
import yaml
from scipy import stats
from support.pilots import write_pilot

from repsq_ros.campaign.folder import read_tests
from repsq_ros.cli import main
from repsq_ros.console import simulate as simulate_command
from repsq_ros.estimation.moments import EmpiricalBernstein, Hoeffding
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.specification.load import load
from repsq_ros.studies.costs import _p_same, asked_for, count_of, offers
from repsq_ros.studies.expected_promise import expected_promise
from repsq_ros.studies.repeated_campaigns import Plan, Run, _campaign, run_plan
from repsq_ros.studies.spread import Pilot, Spread, starting_bounds
from repsq_ros.studies.summary import Share, summarize

ALPHA = {'alpha': 0.5}
DECLARED = {
    'type': 'importance',
    'weight_bound': 1.99,
    'accept_unproven_bound': True,
    'distribution': {'type': 'beta', 'linear_x': {'a': 1.0, 'b': 0.5}},
}

# One source of sentences -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('tester', 'partition'),
    [
        ({'stopping': {'rule': 'anytime'}}, ALPHA),
        ({'stopping': {'rule': 'anytime'}, 'control': 'regression'}, {'type': 'anchored'}),
        ({'stopping': {'rule': 'hoeffding'}}, {'type': 'anchored'}),
        ({'stopping': {'rule': 'certified_cell'}}, {'alpha': 0.6, 'first': 0.2}),
        ({'stopping': {'rule': 'anytime'}, 'gamma': 0.15}, {'type': 'anchored'}),
        ({'stopping': {'rule': 'relative_half_width', 'relative': 0.2}}, ALPHA),
        ({'stopping': {'rule': 'anytime'}, 'proposal': DECLARED}, ALPHA),
        ({'stopping': {'rule': 'anytime'}, 'proposal': 'adaptive'}, {'alpha': 0.5}),
        ({'stopping': {'rule': 'anytime'},
          'proposal': {'type': 'monte_carlo', 'sequence': 'sobol'}}, {'type': 'anchored'}),
        ({'stopping': {'rule': 'anytime'}}, {'alpha': 'iid', 'offset_seed': 1}),
    ],
)  # fmt: skip
def test_check_says_what_the_result_says(tester, partition, content, write, capsys):
    content['accuracy'].update(gamma=0.2, c=0.01)
    content['partition'] = partition
    content['tester'].update(tester)
    file = write(content)
    specification = load(file)
    result = _campaign(Plan(str(file), str(file), 'beta:0.47,0.1'), specification, 3)
    assert result.outcome == 'reached'
    promise = expected_promise(specification)
    assert promise.guarantee == result.guarantee
    assert promise.agreement == result.agreement
    assert promise.accurate == result.accurate
    assert promise.agreed == result.agreement.startswith('With probability')
    assert main(['check', str(file)]) == 0
    printed = ' '.join(capsys.readouterr().out.split())  # lines are folded
    assert result.guarantee in printed
    assert result.agreement in printed
    words = ['simulate', str(file), '--law', 'beta:0.47,0.1', '--pairs', '1', '--processes', '1']
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert result.guarantee in printed
    assert result.agreement in printed


def test_check_names_sobol_and_claims_nothing_for_it(content, write, capsys):
    content['tester']['proposal'] = {'type': 'monte_carlo', 'sequence': 'sobol'}
    content['tester']['stopping'] = {'rule': 'anytime'}
    assert main(['check', str(write(content))]) == 0
    printed = capsys.readouterr().out
    assert 'monte_carlo on a Sobol sequence' in printed
    assert 'promised    Nothing: the cases are points of a low-discrepancy sequence' in printed
    assert 'is within' not in printed


def test_check_counts_for_the_worst_psi(content, write, capsys):
    """Constant values at all 21 places of the range: none takes more than is said."""
    content['tester']['stopping'] = {'rule': 'anytime'}
    file = str(write(content))
    assert main(['check', file]) == 0
    said = int(capsys.readouterr().out.split('tests       ')[1].split()[0])
    taken = [
        run_plan(Plan(file, file, f'constant:{value}'), 1)[0][0].n
        for value in np.linspace(0.0, 1.0, 21).tolist()
    ]
    assert max(taken) == pytest.approx(said, rel=0.05)
    assert said > 1.2 * taken[10], 'psi in the middle is not the worst'


# Plan against campaigns --------------------------------------------------------------------------


def find(found, partition, rule):
    return next(o for o in found if (o.partition, o.rule) == (partition, rule))


def simulated(file, law, pairs):
    return np.array([run.n for pair in run_plan(Plan(file, file, law), pairs) for run in pair])


def planned(file, spread, bounds=None, controlled=None, rule=None):
    """Tests to the specification's own gamma and c."""
    specification = load(file)
    accuracy, known = specification.accuracy, (spread, bounds or starting_bounds(specification))
    rule = rule or specification.tester.stopping
    return count_of(specification, rule, specification.gamma, accuracy.c, known, controlled)


def anytime(content, write, gamma=0.04, **tester):
    content['accuracy']['gamma'] = gamma
    content['partition'] = {'alpha': 2 * gamma}
    content['tester'].update(stopping={'rule': 'anytime'}, **tester)
    return str(write(content))


@pytest.mark.parametrize(
    ('mean', 'sd', 'law', 'tolerance'),
    [
        (0.47, 0.28, 'beta:0.47,0.28', 0.04),
        (0.01, math.sqrt(0.01 * 0.99), 'bernoulli:0.01', 0.1),  # 124 were planned for 173
        (0.2, 0.05, 'beta:0.2,0.05', 0.04),
    ],
)
def test_counts_and_ranges_are_those_of_campaigns(mean, sd, law, tolerance, content, write):
    file = anytime(content, write)
    count = planned(file, Spread(mean, sd))
    n = simulated(file, law, 150)
    assert count.mean == pytest.approx(np.mean(n), rel=tolerance)
    if not law.startswith('bernoulli'):  # there it leaps, with the number of ones
        assert count.median == pytest.approx(np.median(n), rel=2 * tolerance)
    assert count.most == pytest.approx(np.quantile(n, 0.95), rel=2 * tolerance)


def test_truncation_is_taken_off_gamma(content, write):
    """68 tests were planned where 626 were made."""
    distribution = {'type': 'beta', 'linear_x': {'a': 1.3, 'b': 1.3}}
    proposal = {'type': 'importance', 'truncation': 1.6, 'distribution': distribution}
    file = anytime(content, write, 0.08, proposal=proposal)
    specification = load(file)
    bias = specification.tester.proposal.truncation_bias
    assert 0.01 < bias < 0.05
    count = planned(file, Spread(0.46, 0.3))
    assert find(offers(specification, Spread(0.46, 0.3)), 'as specified', 'anytime').count == count
    n = simulated(file, 'beta:0.47,0.28', 2)
    assert count.mean == pytest.approx(np.mean(n), rel=0.3)
    content['accuracy']['gamma'] = 0.08 - bias
    content['tester']['proposal'] = 'monte_carlo'
    plain = str(write(content, 'plain.yaml'))
    assert planned(plain, Spread(0.46, 0.3), starting_bounds(specification)) == count


def test_an_adaptive_proposal_is_planned_with_the_bounds_of_its_steps(content, write, tmp_path):
    """578 tests were planned where 275 were made, and Monte Carlo was called cheaper."""
    plain = load(anytime(content, write))
    pilot = write_pilot(tmp_path / 'pilot.csv', plain, 'steep:5', 200)
    tests = read_tests(pilot, plain.box.names)
    file = anytime(content, write, proposal={'type': 'adaptive', 'batch': 10})
    specification = load(file)
    spread, bounds, size = Pilot(specification, tests).planned(250)
    assert 1.1 < bounds.upper < 2.0, 'not the bound of all shapes that can be, which is 4.7'
    assert size > 100
    count = planned(file, spread, bounds)
    assert count.mean == pytest.approx(np.mean(simulated(file, 'steep:5', 4)), rel=0.2)
    spread, bounds, _ = Pilot(plain, tests).planned(250)
    assert (
        count.mean < planned(anytime(content, write, proposal='monte_carlo'), spread, bounds).mean
    )


def test_a_control_variate_is_planned_from_a_pilot(content, write, tmp_path, capsys):
    plain = load(anytime(content, write))
    pilot = write_pilot(tmp_path / 'pilot.csv', plain, 'steep:5', 200)
    file = anytime(content, write, control='regression')
    both = Pilot(load(file), read_tests(pilot, plain.box.names))
    spread, bounds, _ = both.planned(250)
    controlled = both.controlled()
    count = planned(file, spread, bounds, controlled)
    assert count.mean == pytest.approx(np.mean(simulated(file, 'steep:5', 4)), rel=0.25)
    # No other rule has a part in it.
    for rule in (Hoeffding(), EmpiricalBernstein()):
        its = [planned(file, spread, bounds, each, rule) for each in (controlled, None)]
        assert its[0] == its[1]
    offer = find(offers(load(file), spread, bounds, controlled), 'as specified', 'anytime')
    assert offer.count == count
    assert 'the mean of v' in offer.promise.guarantee
    assert main(['plan', file, '--pilot', str(pilot)]) == 0
    assert 'with the control variate the standard deviation is' in capsys.readouterr().out


def test_a_pilot_tells_the_spread_under_the_proposal_that_is_planned(content, write, tmp_path):
    """Drawn by importance sampling, planned by Monte Carlo, and the other way round."""
    plain = load(anytime(content, write))
    weighted = {'type': 'importance', 'distribution': {'type': 'mixture', 'components': [
        {'share': 0.3, 'type': 'uniform'},
        {'share': 0.7, 'type': 'beta', **{
            name: {'a': 0.6, 'b': 0.6} for name in plain.box.names}}]}}  # fmt: skip
    other = load(anytime(content, write, proposal=weighted))
    truth = {}
    for name, specification in (('plain', plain), ('other', other)):
        file = write_pilot(tmp_path / f'{name}.csv', specification, 'steep:4', 3000)
        tests = read_tests(file, plain.box.names)
        truth[name] = float(np.std([test.psi * test.weight for test in tests])), tests
    assert abs(truth['plain'][0] - truth['other'][0]) > 0.02
    for of, drawn, planned in (('plain', 'other', plain), ('other', 'plain', other)):
        spread, _, size = Pilot(planned, truth[drawn][1]).planned(300)
        assert spread.sd == pytest.approx(truth[of][0], rel=0.04)
        assert spread.mean == pytest.approx(0.47, abs=0.02)
        assert 500 < size < 3000


# What a plan promises ----------------------------------------------------------------------------


def test_declared_bounds_are_not_called_proven(content, write, capsys):
    file = anytime(content, write, proposal=DECLARED)
    assert main(['plan', file, '--sd', '0.28', '--mean', '0.47']) == 0
    printed = capsys.readouterr().out
    assert 'proven  ' not in printed
    assert 'assumed ' in printed
    assert 'and no weight exceeds 1.99, which is declared and not proven' in ' '.join(
        printed.split()
    )


def test_no_estimate_of_a_plan_is_printed_as_certain(content, write, capsys):
    content['tester']['max_tests'] = 50
    assert main(['plan', str(write(content)), '--sd', '0.28', '--mean', '0.47']) == 0
    printed = ' '.join(capsys.readouterr().out.split())
    assert 'max_tests = 50 ends such a campaign first with probability 0.999;' in printed
    assert ' 0.99 ' in printed
    assert ' 1.00 ' not in printed
    assert main(['plan', str(write(content)), '--sd', '0', '--mean', '0.47']) == 0
    assert ' 1.00 ' not in capsys.readouterr().out


def test_a_random_offset_is_offered_at_the_c_that_is_asked_for(content, write):
    """Of an accuracy asked for with c = 0.001 nothing is offered that misses more often."""
    for c in (0.001, 0.02):
        content['accuracy'].update(c=c, beta=0.1)
        found = offers(load(write(content)), Spread(0.47, 0.28))
        rows = [o for o in found if o.partition.startswith('random offset')]
        assert len(rows) == 6
        assert all(o.c == pytest.approx(min(c, 0.01)) for o in rows)
        assert all(o.c <= c for o in found)
        # Half a cell and gamma make up what was asked for.
        total = asked_for(load(write(content)))
        assert all(o.gamma + o.alpha / 2 == pytest.approx(total) for o in rows)
        each = [o for o in found if o.partition == 'anchored, each lab within']
        assert all(o.gamma + o.alpha / 2 == pytest.approx(total) for o in each)
        assert all(3 * o.gamma == pytest.approx(total) for o in each)


def test_a_replicator_is_offered_what_its_contract_leaves_open(content, write):
    content['partition'] = {'type': 'anchored', 'anchor': 0.5}
    content['tester']['stopping'] = {'rule': 'anytime'}
    specification = load(write(content))
    assert asked_for(specification) == pytest.approx(0.04 + 0.08)
    found = offers(specification, Spread(0.47, 0.28))
    assert {o.partition for o in found} == {'as specified'}
    assert {o.gamma for o in found} == {0.04}


@pytest.mark.parametrize(('alpha', 'anchored'), [(0.08, False), (0.05, False), (0.04, True)])
def test_p_same_is_that_of_gaussian_means(alpha, anchored):
    """Over all places of the mean in its cell; or of the anchor's cell around the first run."""
    random, sd, n = np.random.default_rng(1), 0.28, 400
    r = random.normal(0.0, sd / math.sqrt(n), (200_000, 2))
    if anchored:
        same = np.mean(np.abs(r[:, 0] - r[:, 1]) <= alpha / 2)
    else:
        offset = random.random(len(r)) * alpha
        same = np.mean(
            np.floor((r[:, 0] + offset) / alpha) == np.floor((r[:, 1] + offset) / alpha)
        )
    assert _p_same(sd, n, alpha, anchored) == pytest.approx(same, abs=0.01)


def test_what_cannot_be_planned_is_told(content, write, tmp_path, capsys):
    file = anytime(content, write)
    assert main(['plan', file, '--sd', '0.52', '--mean', '0.5']) == 2
    told = capsys.readouterr().err
    assert (
        'parameter sd: found 0.52, expected at most 0.5, the largest that psi w in [0, 1]' in told
    )
    assert main(['plan', file, '--sd', '0.3', '--tests', '1']) == 2
    assert 'parameter tests: found 1' in capsys.readouterr().err
    pilot = write_pilot(tmp_path / 'pilot.csv', load(file), 'steep:4', 12)
    assert main(['plan', file, '--pilot', str(pilot)]) == 0
    printed = capsys.readouterr().out
    assert 'pilot       12 tests; their standard deviation is between' in printed
    assert 'warning     fewer than 30' in printed


def test_the_interval_of_a_pilots_sd_holds_it(content, write):
    specification = load(write(content))
    random, held = np.random.default_rng(3), 0
    from repsq_ros.campaign.records import TestRecord

    for _ in range(60):
        psi = random.beta(2, 2, 60)
        pilot = Pilot(specification, [TestRecord(i, 0, p, 1.0, True) for i, p in enumerate(psi)])
        low, high = pilot.sd_interval()
        held += low <= math.sqrt(0.05) <= high
    assert held >= stats.binom.ppf(0.001, 60, 0.9)  # resampling falls a little short of 95 %


def test_a_budget_of_tests_is_good_for_a_gamma(content, write, capsys):
    """95 of 100 campaigns at that gamma take no more tests."""
    tests = 60
    file = anytime(content, write)
    words = ['plan', file, '--sd', '0.28', '--mean', '0.47', '--tests', str(tests)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    line = next(line for line in printed.splitlines() if line.endswith('anytime'))
    gamma = float(line.split()[0])
    n = simulated(anytime(content, write, gamma), 'beta:0.47,0.28', 100)
    assert stats.binom.ppf(0.001, 200, 0.95) <= np.sum(n <= tests) <= 200
    n = simulated(anytime(content, write, 0.93 * gamma), 'beta:0.47,0.28', 100)
    assert np.sum(n <= tests) < 190
    hoeffding = next(line for line in printed.splitlines() if line.endswith('hoeffding'))
    exact = math.sqrt(math.log(2 / 0.05) / (2 * tests))
    assert float(hoeffding.split()[0]) == pytest.approx(exact, rel=0.02)


# Fit ---------------------------------------------------------------------------------------------


def test_a_fit_tells_the_spread_that_its_proposal_has(content, write, tmp_path, capsys):
    """Printed with its error, against 20,000 tests under the proposal that is printed."""
    file = anytime(content, write)
    pilot = write_pilot(tmp_path / 'pilot.csv', load(file), 'steep:4', 400)
    assert main(['fit', str(pilot), '--specification', file]) == 0
    printed = capsys.readouterr().out
    told = {}
    for line in printed.splitlines():
        if 'standard deviation of psi w' in line:
            name, _, rest = line[2:].partition('standard deviation of psi w ')
            told[name.strip()] = [float(word.rstrip(';')) for word in rest.split()[0:3:2]]
    proposal = yaml.safe_load(printed)['proposal']
    for name, its in (('the fit', proposal), ('Monte Carlo', 'monte_carlo')):
        specification = load(anytime(content, write, proposal=its))
        many = write_pilot(tmp_path / 'many.csv', specification, 'steep:4', 20_000, seed=8)
        tests = read_tests(many, specification.box.names)
        truth = float(np.std([test.psi * test.weight for test in tests]))
        sd, error = told[name]
        assert 0.002 < error < 0.02
        assert abs(sd - truth) <= 3 * error
    assert told['the fit'][0] < told['Monte Carlo'][0]


@pytest.mark.parametrize('law', ['beta:0.47,0.28', 'steep:4'])
def test_a_fit_that_is_worse_is_not_praised(law, content, write, tmp_path, capsys):
    """30 tests: what they show of the cases is chance, and was printed as a gain."""
    file = anytime(content, write)
    pilot = write_pilot(tmp_path / 'pilot.csv', load(file), law, 30)
    assert main(['fit', str(pilot), '--specification', file]) == 0
    printed = capsys.readouterr().out
    assert yaml.safe_load(printed) == {'proposal': {'type': 'monte_carlo'}}
    assert '# keep Monte Carlo' in printed
    assert main(['fit', str(pilot), '--specification', file, '--anyway']) == 0
    printed = capsys.readouterr().out
    assert yaml.safe_load(printed)['proposal']['type'] == 'importance'
    assert '# keep Monte Carlo' in printed


# Simulate ----------------------------------------------------------------------------------------


def run(estimate, n=10, outcome='reached', value=0.5, cell=(0.4, 0.6)):
    return Run(value, estimate, n, outcome, 0.0, 1.0, *cell)


def test_coverage_and_agreement_are_of_campaigns_that_met_their_rule():
    runs = [
        (run(0.50), run(0.54)),  # within 0.04 and 0.05 of 0.5
        (run(0.5401), run(0.5501, value=0.7)),  # neither
        (run(0.50), run(0.9, outcome='budget', value=0.9)),
        (run(0.46, outcome='void'), run(0.45)),
    ]
    found = summarize(runs, (0.04, 0.05), 0.5)
    assert (found.coverage.count, found.coverage.of) == (4, 6)
    assert (found.agreement.count, found.agreement.of) == (1, 2)
    assert found.outcomes == {'budget': 1, 'reached': 6, 'void': 1}
    assert (found.truth, found.truth_error) == (0.5, 0.0)


def test_a_certified_cell_is_held_to_its_cell():
    runs = [
        (run(0.9), run(0.5, cell=(0.51, 0.6))),
        (run(0.5), run(0.5, outcome='unresolved', value=0.1)),
    ]
    found = summarize(runs, (0.04, 0.04), 0.5, by_cell=True)
    assert (found.coverage.count, found.coverage.of) == (2, 3)
    assert (found.agreement.count, found.agreement.of) == (1, 1)


@pytest.mark.parametrize(('count', 'of'), [(0, 7), (7, 7), (3, 10), (190, 200)])
def test_shares_have_exact_intervals(count, of):
    exact = stats.binomtest(count, of).proportion_ci(0.95, 'exact')
    assert Share(count, of).interval == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert f'({count} of {of}; 95 %: ' in str(Share(count, of))
    assert str(Share(0, 0)) == 'none'


def test_a_missing_folder_is_told_before_the_work(content, write, monkeypatch, capsys):
    def work(*_):
        raise AssertionError('the work was begun')

    monkeypatch.setattr(simulate_command, 'run_plan', work)
    file = anytime(content, write)
    words = ['simulate', file, '--law', 'constant:0.5', '--figure', '/nowhere/f.svg']
    assert main(words) == 6
    assert 'figure /nowhere/f.svg: No such folder as /nowhere' in capsys.readouterr().err


def test_a_figure_shows_an_anchored_cell(content, write, tmp_path):
    pytest.importorskip('matplotlib')
    file = anytime(content, write, 0.1)
    content['partition'] = {'type': 'anchored'}
    write(content)
    figure = tmp_path / 'f.svg'
    words = ['simulate', file, '--law', 'beta:0.5,0.2', '--pairs', '4', '--processes', '1']
    assert main([*words, '--figure', str(figure)]) == 0
    assert "cell of the first pair's initiator" in figure.read_text()


def test_spreads_are_drawn_as_they_are_said():
    random, bounds = np.random.default_rng(2), Bounds(-1.0, 3.0)
    for mean, sd in ((0.0, 0.5), (2.0, math.sqrt(3.0)), (1.0, 0.0)):
        z = Spread(mean, sd).draw(random, (100, 200), bounds)
        assert np.mean(z) == pytest.approx(mean, abs=0.05)
        assert np.std(z) == pytest.approx(sd, abs=0.03)
        assert -1.0 <= z.min() <= z.max() <= 3.0
