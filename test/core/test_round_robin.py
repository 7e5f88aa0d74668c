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

"""Campaigns side by side: drift, differences, and the table of many labs."""

import itertools
import json
import math
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT
from scipy import stats
from support.folders import leave_folder, records_of, seed_of, simulate_folder

from repsq_ros.campaign.drift import (
    DriftFinding,
    MeanInterval,
    drift_between,
    drift_of_sessions,
    intervals_of_sessions,
    mean_interval,
    means_apart,
)
from repsq_ros.campaign.folder import REPLICATION
from repsq_ros.campaign.mean_difference import case_values
from repsq_ros.campaign.records import TestRecord
from repsq_ros.certificate.document import CERTIFICATE
from repsq_ros.certificate.lab import read_lab
from repsq_ros.cli import main
from repsq_ros.estimation.precision import (
    LabSummary,
    critical_h,
    critical_k,
    mandel_h,
    mandel_k,
    median_of,
    precision,
    welch_p,
    zeta_scores,
)
from repsq_ros.specification.load import load

# The standards' statistics -----------------------------------------------------------------------


def summaries(*groups):
    return [LabSummary(len(g), float(np.mean(g)), float(np.std(g, ddof=1))) for g in groups]


GROUPS = [
    np.random.default_rng(place).normal(0.5 + 0.1 * (place == 2), 0.2, count)
    for place, count in enumerate((40, 60, 50, 30))
]


def test_precision_is_the_one_way_analysis_of_variance():
    """Against the sums of squares of all single results, written out."""
    found, everything = precision(summaries(*GROUPS)), np.concatenate(GROUPS)
    within = sum(((g - g.mean()) ** 2).sum() for g in GROUPS) / (180 - 4)
    between = sum(len(g) * (g.mean() - everything.mean()) ** 2 for g in GROUPS) / 3
    typical = (180 - (40**2 + 60**2 + 50**2 + 30**2) / 180) / 3
    assert found.repeatability == pytest.approx(math.sqrt(within))
    assert found.between == pytest.approx(math.sqrt((between - within) / typical))
    assert found.reproducibility == pytest.approx(
        math.hypot(found.repeatability, found.between)
    )  # fmt: skip
    alike = precision(summaries(GROUPS[0], GROUPS[0]))
    assert alike.between == 0.0
    assert alike.reproducibility == alike.repeatability


def test_h_and_k_of_mandel():
    means, spreads = [1.0, 2.0, 3.0, 6.0], [0.1, 0.2, 0.2, 0.4]
    labs = [LabSummary(5, m, s) for m, s in zip(means, spreads, strict=True)]
    assert mandel_h(labs) == pytest.approx([(m - 3.0) / np.std(means, ddof=1) for m in means])
    root = math.sqrt(sum(s * s for s in spreads) / 4)
    assert mandel_k(labs) == pytest.approx([s / root for s in spreads])
    assert mandel_h([LabSummary(5, 1.0, 0.1)] * 2) == [0.0, 0.0]


@pytest.mark.parametrize(
    ('p', 'level', 'h'),
    [(3, 0.05, 1.15), (5, 0.05, 1.57), (10, 0.05, 1.80), (5, 0.01, 1.72), (10, 0.01, 2.18)],
)
def test_critical_h_is_that_of_the_standards_table(p, level, h):
    assert critical_h(p, level) == pytest.approx(h, abs=0.005)


@pytest.mark.parametrize(
    ('p', 'n', 'level', 'k'),
    [(5, 2, 0.05, 1.81), (10, 2, 0.01, 2.32)],
)
def test_critical_k_is_that_of_the_standards_table(p, n, level, k):
    assert critical_k([LabSummary(n, 0.0, 1.0)] * p, 0, level) == pytest.approx(k, abs=0.005)


def test_critical_values_are_exceeded_by_so_many():
    """Labs that measure one thing: each is marked with probability 0.05."""
    random = np.random.default_rng(3)
    marked = np.zeros(2)
    for _ in range(2000):
        labs = summaries(*random.normal(0.5, 0.2, (6, 12)))
        marked += (
            abs(mandel_h(labs)[0]) > critical_h(6), mandel_k(labs)[1] > critical_k(labs, 1)
        )  # fmt: skip
    assert 0.035 < marked[0] / 2000 < 0.065
    assert 0.035 < marked[1] / 2000 < 0.065


def test_zeta_is_against_the_median_of_the_others():
    labs = [LabSummary(4, 0.40, 0.02), LabSummary(9, 0.50, 0.03), LabSummary(16, 0.52, 0.08)]
    median, uncertainty = median_of(labs[1:])
    assert median == pytest.approx(0.51)
    assert uncertainty == pytest.approx(math.hypot(0.01, 0.02) / 2)
    assert zeta_scores(labs)[0] == pytest.approx((0.40 - 0.51) / math.hypot(0.01, uncertainty))
    _, of_four = median_of([LabSummary(4, 0.5, 0.02)] * 4)
    assert of_four == pytest.approx(0.01 / 2 * math.sqrt(math.pi / 2))
    _, of_three = median_of([LabSummary(4, 0.5, 0.02)] * 3)
    assert of_three == pytest.approx(0.01 / math.sqrt(3) * math.sqrt(math.pi / 2))
    constant = [LabSummary(4, 0.5, 0.0), LabSummary(4, 0.5, 0.0), LabSummary(4, 0.6, 0.0)]
    assert zeta_scores(constant) == [-math.inf, -math.inf, math.inf]
    assert zeta_scores(constant[:2]) == [0.0, 0.0]


def test_welch_of_two_labs_is_welchs_t_test():
    one, other = GROUPS[0], GROUPS[2]
    expected = stats.ttest_ind(one, other, equal_var=False).pvalue
    assert welch_p(summaries(one, other)) == pytest.approx(expected)
    assert welch_p(summaries(*GROUPS)) < 0.05
    assert math.isnan(welch_p([LabSummary(4, 0.5, 0.0), LabSummary(4, 0.6, 0.1)]))


# Drift -------------------------------------------------------------------------------------------


@pytest.fixture
def specification(content, write):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 300})
    return load(write(content))


def test_drift_is_told_where_intervals_have_nothing_in_common(specification):
    random = np.random.default_rng(4)
    steady = records_of(random.beta(2, 2, 300).tolist())
    worn = records_of([*random.beta(2, 2, 150), *random.beta(5, 2, 150)])
    for tests, apart in ((steady, ()), (worn, ((0, 1),))):
        intervals = intervals_of_sessions(specification, [tests[:150], tests[150:]])
        assert [each.c for each in intervals] == [0.025, 0.025]
        found = drift_between(intervals)
        assert (found.apart, found.level) == (apart, pytest.approx(0.05))
        for interval, part in zip(intervals, (tests[:150], tests[150:]), strict=True):
            psi = [test.psi for test in part]
            assert interval.mean == pytest.approx(np.mean(psi))
            assert interval.standard_deviation == pytest.approx(np.std(psi, ddof=1))
            assert interval.lower < interval.mean < interval.upper


def test_it_is_told_of_steady_labs_by_c_at_most(specification):
    """Intervals of one mean miss it by c at most, all tests of a session looked at."""
    random, missed = np.random.default_rng(5), 0
    for _ in range(100):
        found = mean_interval(
            specification, records_of(random.binomial(1, 0.3, 60).astype(float).tolist()), 0.1
        )
        missed += not found.lower <= 0.3 <= found.upper
    assert missed <= 15


@pytest.fixture
def fine(content, write):
    """Return a specification of a gamma of .04, whose lost tests widen the interval."""
    content['accuracy'].update(gamma=0.04, selection='widen')
    return load(write(content))


def test_one_bet_tells_sessions_apart_that_intervals_do_not(fine):
    """Two sessions of 150, sd .28, .12 apart."""
    random, told, by_intervals = np.random.default_rng(6), 0, 0
    for _ in range(12):
        sessions = [
            records_of(random.beta(mean * 2.18, (1.0 - mean) * 2.18, 150).tolist())
            for mean in (0.47, 0.59)
        ]
        told += bool(drift_of_sessions(fine, sessions).apart)
        intervals = intervals_of_sessions(fine, sessions)
        by_intervals += bool(drift_between(intervals).apart)
    assert told >= by_intervals + 4


def test_equal_sessions_are_told_apart_by_c_at_most(fine):
    random, told, runs = np.random.default_rng(7), 0, 60
    specification = replace(fine, accuracy=replace(fine.accuracy, c=0.2))
    for _ in range(runs):
        sessions = [records_of(random.binomial(1, 0.5, n).astype(float)) for n in (40, 60, 50)]
        told += bool(drift_of_sessions(specification, sessions).apart)
    assert stats.binomtest(told, runs, 0.2, alternative='greater').pvalue > 0.01


def test_all_pairs_of_groups_share_c(fine):
    """As few tests as tell two groups apart at c; not among three, which have three pairs."""
    for n in range(2, 60):
        high, low = records_of([0.9] * n), records_of([0.1] * n)
        groups = [(fine, high), (fine, low)]
        if means_apart(groups, 0.05, same_cases=False).apart:
            break
    assert n > 3
    assert not means_apart([*groups, (fine, high)], 0.05, same_cases=False).apart
    assert means_apart([*groups, (fine, high)], 0.15, same_cases=False).apart == ((0, 1), (1, 2))


def test_sessions_of_a_proposal_that_learns_are_told_apart_by_intervals(content, write):
    content['tester'].update(proposal={'type': 'adaptive', 'batch': 10})
    specification = load(write(content))
    sessions = [records_of([value] * 60) for value in (0.1, 0.9)]
    found = drift_of_sessions(specification, sessions)
    assert found == drift_between(intervals_of_sessions(specification, sessions))


def test_groups_share_a_letter_where_they_were_not_told_apart():
    means = [0.3, 0.1, 0.2, 0.4]
    assert DriftFinding(0.05, ()).letters(means) == ['a', 'a', 'a', 'a']
    apart = DriftFinding(0.05, ((0, 1), (1, 3), (2, 3)))
    letters = apart.letters(means)
    assert letters == ['bc', 'a', 'ab', 'c']
    for i, j in itertools.combinations(range(4), 2):
        assert bool(set(letters[i]) & set(letters[j])) == ((i, j) not in apart.apart)


def test_what_the_bench_breaks_off_costs_no_width(fine):
    tests = records_of([0.9] * 40)
    lost = replace(tests[0], valid=False, broken_off=True)
    for cause, width in (('bench', 0.0), ('operator', 1.0)):
        broken = [replace(lost, cause=cause), replace(tests[0], attempt=1), *tests[1:]]
        value = case_values(fine, broken)[0]
        assert value.psi.width == width
    late = case_values(fine, [replace(tests[0], attempt=1), *tests[1:]])[0]
    assert late.psi.width == 1.0, 'lost in a session before, by nobody knows whom'


def test_touching_intervals_are_no_drift():
    one, other = (MeanInterval(9, 0.5, 0.1, *ends, 0.05) for ends in ((0.4, 0.5), (0.5, 0.6)))
    assert drift_between([one, other]).apart == ()
    beyond = MeanInterval(9, 0.5, 0.1, 0.51, 0.6, 0.05)
    assert drift_between([one, beyond]).apart == ((0, 1),)


def test_an_attempt_lost_in_the_session_before_widens_the_interval(content, write):
    content['accuracy']['selection'] = 'widen'
    specification = load(write(content))
    tests = records_of([0.5] * 30)
    late = [TestRecord(0, 1, 0.5, 1.0, True, x=tests[0].x, weight_bound=1.0), *tests[1:]]
    whole, widened = (mean_interval(specification, each, 0.05) for each in (tests, late))
    assert widened.n == 30
    assert widened.upper > whole.upper
    assert widened.lower < whole.lower
    lost = replace(late[0], attempt=0, valid=False, psi=math.nan)
    assert widened == mean_interval(specification, [lost, *late], 0.05)


def test_points_that_avoid_one_another_have_no_interval(content, write):
    content['tester']['proposal'] = {'type': 'monte_carlo', 'sequence': 'sobol'}
    found = mean_interval(load(write(content)), records_of([0.4, 0.6]), 0.05)
    assert (found.lower, found.upper) == (-math.inf, math.inf)
    assert drift_between([found, found]).apart == ()


# repsq compare -----------------------------------------------------------------------------------


@pytest.fixture
def lab(content, write, tmp_path):
    """Leave the folder of a lab that measured these values, from a session on as said."""
    content['partition'] = {'alpha': 0.1}

    def leave(name, psi, sessions=(0,), seed=None, **change):
        content['tester'].update(stopping={'rule': 'fixed', 'tests': len(psi)})
        file = write({**content, **change}, f'{name}.yaml')
        return str(
            leave_folder(
                tmp_path / name, file, records_of(psi), seed or seed_of(name), sessions=sessions
            )
        )

    return leave


def drawn(seed, count=60, a=2.0):
    return np.random.default_rng(seed).beta(a, 2.0, count).tolist()


def test_many_labs_have_a_table(lab, capsys):
    labs = [lab(name, drawn(seed)) for seed, name in enumerate('abcde')]
    main(['compare', *labs, lab('far', drawn(9, a=6.0))])
    printed = capsys.readouterr().out
    rows = re.findall(
        r'^\S+/(\w+)  +(\S+)  +60 .* (\S+)  +(\S+)  +(\S+)  +(yes|NO)$', printed, re.M
    )
    assert [row[0] for row in rows] == [*'abcde', 'far']
    assert [row[0] for row in rows if row[2].endswith('*')] == ['far']  # h
    assert [row[0] for row in rows if row[4].endswith('*')] == ['far']  # zeta
    assert rows[-1][-1] == 'NO'
    assert re.search(r'^s_r +0\.\d+, s_L 0\.\d+, s_R 0\.\d+: repeatability', printed, re.M)
    assert 'drift     FOUND between' in printed
    assert "Welch's test, approximate: p < 0.001" in printed


def test_spreads_of_other_proposals_are_not_held_together(tmp_path, capsys):
    first = simulate_folder(tmp_path / 'a', ROOT / 'config' / 'g1_locomotion.yaml')
    second = simulate_folder(
        tmp_path / 'b', first / REPLICATION, ROOT / 'config' / 'replicator.yaml'
    )
    assert main(['compare', str(first), str(second), '--table']) == 0
    printed = capsys.readouterr().out
    assert 'k         unknown, as are s_r and s_R' in printed
    assert 'none found between 2 labs (tested at level 0.05)' in printed
    told = re.search(
        r'A - B     in \[(\S+), (\S+)\] with probability 0.95, by \d+ pairs of tests', printed
    )
    lower, upper = map(float, told.groups())
    assert lower < 0.0 < upper
    one, other = read_lab(first).mean, read_lab(second).mean
    assert upper - lower < one.upper - one.lower + other.upper - other.lower


def test_drift_between_the_sessions_of_a_lab_is_told(lab, capsys):
    steady = lab('a', drawn(1, 200), sessions=(0, 100))
    worn = lab('b', [*drawn(2, 100), *drawn(3, 100, a=9.0)], sessions=(0, 100))
    main(['compare', steady, worn])
    printed = capsys.readouterr().out
    assert f'drift     {steady}: none found between 2 sessions (tested at level 0.05)' in printed
    assert f'drift     {worn}: FOUND between session 1 and session 2' in printed


def test_the_same_cases_are_compared_in_pairs(lab, capsys):
    values = np.array(drawn(6, 300)) * 0.8
    labs = [lab('a', values.tolist(), seed=3), lab('b', (values + 0.1).tolist(), seed=3)]
    assert main(['compare', *labs]) == 8
    told = re.search(
        r'A - B     in \[(\S+), (\S+)\] with probability 0.95, by 300 pairs',
        capsys.readouterr().out,
    )
    lower, upper = map(float, told.groups())
    assert lower < -0.1 < upper < 0.0


def test_certificates_are_compared_as_their_campaigns_are(lab, tmp_path, capsys):
    pytest.importorskip('jsonschema')
    labs = [lab(name, drawn(seed)) for name, seed in (('a', 1), ('b', 2), ('c', 3))]
    code = main(['compare', *labs])
    of_folders = capsys.readouterr().out
    alone = []
    for path in labs:
        assert main(['certify', path]) == 0
        name = path.rsplit('/', 1)[1]
        (tmp_path / 'certificates' / name).mkdir(parents=True)
        alone.append(tmp_path / 'certificates' / name / CERTIFICATE)
        shutil.copy(f'{path}/{CERTIFICATE}', alone[-1])
    capsys.readouterr()
    assert main(['compare', *map(str, alone)]) == code
    of_certificates = capsys.readouterr().out
    for line in ('promise', 'p_same', 's_r', 'same', 'DIFFERENT'):
        kept = [re.findall(rf'^{line} .*$', text, re.M) for text in (of_folders, of_certificates)]
        assert kept[0] == kept[1]
    assert 'A certificate is not enough to compute' in of_certificates
    assert 'tested at level 0.15' in of_certificates
    edited = alone[0].read_text().replace('"estimate": 0.', '"estimate": 1.', 1)
    alone[0].write_text(edited)
    assert main(['compare', *map(str, alone)]) == 9
    assert 'it was edited' in capsys.readouterr().err


def test_no_estimate_of_agreement_is_above_its_cap(lab, capsys):
    quiet = [0.52 + 0.001 * (k % 3) for k in range(100)]
    labs = [lab(name, quiet, seed=seed) for name, seed in (('a', 1), ('b', 2))]
    assert main(['compare', *labs]) == 0
    assert 'p_same    0.999, 0.999 (' in capsys.readouterr().out
    assert main(['compare', *labs, '--json']) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each['p_same'] for each in told['labs']] == [0.999, 0.999]


def test_two_initiators_are_not_comparable_and_their_difference_is_told(lab, capsys):
    labs = [
        lab(name, drawn(seed), partition={'type': 'anchored'})
        for name, seed in (('a', 1), ('b', 2))
    ]
    assert main(['compare', *labs]) == 2
    told = capsys.readouterr()
    assert 'not comparable' in told.err
    assert re.search(r'^A - B +in \[', told.out, re.M)
    assert 'same' not in told.out.splitlines()[2]


def test_what_was_measured_otherwise_has_no_difference(lab, content, capsys):
    one = lab('a', drawn(1))
    content['measure']['gain'] = 5.0
    assert main(['compare', one, lab('b', drawn(2))]) == 2
    assert 'A - B' not in capsys.readouterr().out


def test_labs_of_two_tests_have_a_table(lab, capsys):
    labs = [lab('a', drawn(1, 2)), lab('b', drawn(2, 2)), lab('c', drawn(3, 2))]
    assert main(['compare', *labs]) in (0, 8)
    assert 'NaN' not in capsys.readouterr().out
