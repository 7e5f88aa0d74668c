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

"""The studies of the paper, each run small: it shows what it is made to show."""

import csv
import json
import math
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import yaml
from conftest import ROOT

from repsq_ros.cli import main
from repsq_ros.errors import ParameterError, SpecificationError
from repsq_ros.estimation.alpha import paper_alpha
from repsq_ros.estimation.moments import EmpiricalBernstein
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.paper.all_studies import STUDIES, specification_of
from repsq_ros.paper.compared_rules import ANCHORED, ISO, QUERY
from repsq_ros.paper.driving import SQUARED
from repsq_ros.paper.methods import PAPER
from repsq_ros.paper.stops import StoppedCampaigns, anytime_stops, cell_stops, moment_stops
from repsq_ros.paper.study_interface import StudyRequest, row_of, run_study
from repsq_ros.paper.traffic import Traffic, drive
from repsq_ros.paper.walker import Walker
from repsq_ros.paper.wear import NEVER, sessions_alarm
from repsq_ros.paper.written import shown, write_table
from repsq_ros.simulation.g1_mujoco import G1Changes, G1Mujoco
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load
from repsq_ros.specification.yaml_file import read


def setting_of(name, file=None, **asked):
    top = read(file or specification_of(name))
    assert top.text('study') == name
    setting = STUDIES[name].read(top, StudyRequest(quick=True, **asked))
    top.finish()
    return setting


def findings(found):
    return {finding.text: finding.holds for finding in found.findings}


def assert_found(found):
    assert found.findings
    assert not [text for text, holds in findings(found).items() if not holds]


# What each shows ---------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def manipulator():
    setting = replace(setting_of('manipulator'), trials=60, most_tests=700)
    return setting, run_study(STUDIES['manipulator'], setting)


def test_manipulator_a_fixed_partition_at_an_edge_agrees_half_the_time(manipulator):
    _, found = manipulator
    assert_found(found)
    edge = row_of(found.tables[''], subject='hand at an edge', method=PAPER)
    assert edge['same_low'] < 0.5 < edge['same_high']
    inside = row_of(found.tables[''], subject='hand', method=PAPER)
    assert inside['same'] > 0.9
    assert 595 <= inside['tests_least'] <= inside['tests_most'] <= 607  # paper: 598 to 601


def test_manipulator_anchored_cells_agree_as_promised_wherever_the_mean_is(manipulator):
    setting, found = manipulator
    for name in setting.subjects:
        row = row_of(found.tables[''], subject=name, method='anytime, anchored')
        assert row['same'] >= 0.9025
        assert row['tests_mean'] < 260
        assert row['missed_count'] == 0


def test_manipulator_the_figures_show_the_trials_of_the_tables(manipulator):
    _, found = manipulator
    row = row_of(found.tables[''], subject='hand', method='ISO 9283')
    first = row_of(found.tables['_trials'], subject='hand', method='ISO 9283', trial=1)
    assert first['deviation'] == pytest.approx(0.124, rel=0.1)
    assert row['deviation'] == pytest.approx(0.124, rel=0.02)
    assert row['mean_sd'] == pytest.approx(0.124 / math.sqrt(700), rel=0.3)


@pytest.fixture(scope='module')
def driving():
    setting = replace(setting_of('driving'), pairs=10, truth=400_000, most_tests=20_000)
    return setting, run_study(STUDIES['driving'], setting)


def test_driving_with_the_range_squared_more_than_c_miss(driving):
    setting, found = driving
    assert_found(found)
    for name in setting.scenarios:
        row = row_of(found.tables[''], scenario=name, method=SQUARED)
        assert row['missed_low'] > 0.01
        assert row['tests_least'] < 100


def test_driving_nobody_crashes_without_the_event_and_no_weight_exceeds_its_bound(driving):
    setting, found = driving
    for name, (traffic, _) in setting.scenarios.items():
        truth = row_of(found.tables['_truth'], scenario=name)
        assert truth['without_event'] == 0
        assert 0.5 * traffic.largest < truth['largest'] <= traffic.largest


@pytest.mark.parametrize('event', ['brake', 'cut_in'])
def test_driving_the_weights_are_exact(event):
    """Where the event is frequent, both models tell the same: crashes and the sum of weights."""
    traffic = Traffic(event, 10, 0.02, 0.9)
    random = np.random.default_rng(3)
    crude = drive(traffic, random, 150_000, importance=False)
    driven = drive(traffic, random, 150_000, importance=True)
    z = driven.crash * driven.weight
    error = math.hypot(crude.crash.std(), z.std()) / math.sqrt(150_000)
    assert z.mean() == pytest.approx(crude.crash.mean(), abs=4 * error)
    assert error < 0.03 * z.mean()
    spread = driven.weight.std() / math.sqrt(150_000)
    assert driven.weight.mean() == pytest.approx(1.0, abs=4 * spread)
    assert driven.weight[driven.happened].max() <= traffic.largest
    assert np.all(crude.weight == 1.0)
    happened = 1.0 - 0.98**10
    assert crude.happened.mean() == pytest.approx(happened, abs=0.01)


def test_baselines_take_many_tests_or_promise_nothing():
    setting = setting_of('baselines')
    names = ('tracking loss', "steep loss, paper's Betas")
    setting = replace(setting, pairs=20, scenarios={n: setting.scenarios[n] for n in names})
    found = run_study(STUDIES['baselines'], setting)
    assert_found(found)
    for name in names:
        query = row_of(found.tables[''], scenario=name, rule=QUERY)
        assert query['same_high'] >= 0.9
        # Over an edge even the query agrees half the time: its promise is over random offsets.
        assert query['edge_low'] < 0.5 < query['edge_high'] or query['edge'] < 0.9
        anchored = row_of(found.tables[''], scenario=name, rule=ANCHORED)
        assert anchored['edge'] >= 0.95
        assert row_of(found.tables[''], scenario=name, rule=ISO)['promised_half_width'] == ''
    assert row_of(found.tables[''], scenario=names[1], rule='hoeffding')['tests_mean'] == 710


def test_drift_is_told_by_the_sessions_and_not_by_the_rules_of_the_paper():
    setting = replace(setting_of('drift'), campaigns=30)
    found = run_study(STUDIES['drift'], setting)
    assert_found(found)
    fast = row_of(found.tables['_alarms'], wear='fast', alarm='sessions apart')
    assert fast['risen_count'] == 30
    assert fast['late_median'] > 0


def test_drift_sessions_that_do_not_differ_seldom_seem_to():
    z = np.random.default_rng(4).random((200, 300))
    alarm = sessions_alarm(z, 60, 0.1, 0.05)
    assert np.mean(alarm != NEVER) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    z[:, 180:] *= 0.2
    alarm = sessions_alarm(z, 60, 0.1, 0.05)
    assert np.all(alarm > 180)
    assert np.median(alarm) < 240


def test_selection_the_widened_interval_holds_where_the_assumed_one_misses():
    setting = setting_of('selection')
    names = ('nothing is lost', 'instruments, where psi is high')
    setting = replace(setting, runs=20, losses={n: setting.losses[n] for n in names})
    found = run_study(STUDIES['selection'], setting)
    assert_found(found)
    lossy = {way: row_of(found.tables[''], loss=names[1], counted=way) for way in
             ('widen', 'assume_independent')}  # fmt: skip
    assert lossy['widen']['interval_missed_count'] == 0
    assert lossy['assume_independent']['interval_missed_low'] > 0.05
    assert -0.12 < lossy['widen']['shift_mean'] < -0.03


def published(folder):
    """Return a folder with a campaign, and with widths as if somebody had published them."""
    head = 'data,column,lower,upper,method,valid_at_any_n,n5,n10,n20,n30,n_last,last'
    rows = ('theirs,yes,.9,.6,.4,.3,.25,40', 'lucky,yes,.9,.6,.1,.3,.25,40',
            'biased,yes,.1,.1,.1,.1,.1,40', 'normal law,no,.2,.1,.1,.1,.1,40')  # fmt: skip
    lines = [head, *(f'arm,error,0,2,{row}' for row in rows)]
    (folder / 'published_widths.csv').write_text('\n'.join(lines))
    (folder / 'arm.csv').write_text('error\n' + '0.3\n0.5\n' * 20)
    return str(folder)


def test_peers_our_widths_stand_beside_the_narrowest_published_one(tmp_path):
    setting = setting_of('peers', data=published(tmp_path))
    found = run_study(STUDIES['peers'], setting)
    assert_found(found)
    rows = found.tables['_beside']
    assert [row['published'] for row in rows] == [0.9, 0.6, 0.1, 0.3, 0.25]
    assert [row['reachable'] for row in rows] == ['yes', 'yes', 'no', 'yes', 'yes']
    assert [row['tests'] for row in rows] == [5, 10, 20, 30, 40]
    for row in rows:
        assert row['hindsight'] < row['expected'] < row['ours']
        assert row['ratio'] == row['expected'] / row['published']
    assert '4 of 4 places' in next(iter(findings(found)))


# The humanoid ------------------------------------------------------------------------------------


def test_a_walk_that_goes_on_from_standing_is_the_whole_walk(g1_model):
    specification = load(ROOT / 'config' / 'paper' / 'g1_locomotion.yaml')
    walker = Walker(g1_model, specification, G1Changes())
    records = []
    two = replace(specification, tester=replace(specification.tester, max_tests=2))
    run_in_process(two, G1Mujoco(Path(g1_model)), 5, on_test=lambda r, e: records.append(r))
    assert len(records) == 2
    for record in records:
        assert walker.walk(record.x).rms == record.psi


def test_humanoid_trials_agree_and_a_changed_robot_is_told(g1_model):
    setting = setting_of('humanoid', model=g1_model)
    setting = replace(
        setting, trials=1, pairs=12,
        campaigns={name: setting.campaigns[name] for name in ('Monte Carlo', 'adaptive d 10')},
        robots={'softer': G1Changes(gains=0.8)},
    )  # fmt: skip
    found = run_study(STUDIES['humanoid'], setting)
    assert_found(found)
    rows = found.tables['']
    assert row_of(rows, proposal='all', rule='anytime, anchored')['same_count'] == 2
    forms = {row['form']: row['mean'] for row in found.tables['_forms']}
    assert forms['sum'] > 0.999
    assert forms['rms'] == pytest.approx(0.46, abs=0.03)
    assert forms['mean'] == pytest.approx(0.063, abs=0.015)
    robot = row_of(found.tables['_robots'], robot='softer')
    assert robot['lower'] < robot['difference'] < robot['upper']
    assert robot['difference'] == pytest.approx(robot['mean'] - robot['mean_unchanged'])


def test_every_change_of_the_robot_changes_the_walk(g1_model):
    specification = load(ROOT / 'config' / 'paper' / 'g1_locomotion.yaml')
    changes = [G1Changes(), G1Changes(friction=0.5), G1Changes(payload=5.0),
               G1Changes(gains=0.8), G1Changes(latency=0.02)]  # fmt: skip
    x = (0.2, -0.1, 0.1)
    psi = [Walker(g1_model, specification, each).walk(x).rms for each in changes]
    assert len(set(psi)) == 5


# Stops on data that is there ---------------------------------------------------------------------


def test_rules_on_an_array_stop_as_campaigns_do(content, write):
    """The values of a law, once through whole campaigns and once as an array."""
    from repsq_ros.campaign.campaign import Campaign
    from repsq_ros.campaign.records import TestRecord

    content['accuracy'].update(gamma=0.15)
    z = np.random.default_rng(6).random((4, 400))
    for rule, stops in (
        ('empirical_bernstein', lambda q: moment_stops(z, EmpiricalBernstein(), q)),
        ('anytime', lambda q: anytime_stops(z, q)),
        ('certified_cell', lambda q: cell_stops(z, q)),
    ):
        content['tester']['stopping'] = {'rule': rule}
        specification = load(write(content))
        bounds = Bounds(0.0, 1.0)
        found = stops(Question(0.15, 0.05, bounds, specification.partition.edges))
        values = found.values(specification.partition)
        for row, n, value in zip(z.tolist(), found.n, values, strict=True):
            campaign = Campaign(specification, forecasts=False)
            for index, psi in enumerate(row):
                if campaign.stopped:
                    break
                campaign.add(TestRecord(index, 0, psi, 1.0, True))
            if campaign.stopped:
                result = campaign.result('one')
                assert (result.n, result.value) == (n, value)
            else:
                assert n == len(row)


def test_pairs_of_which_one_did_not_meet_its_rule_are_left_out():
    mean = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.9])
    met = np.array([True, True, True, False, True, True])
    stopped = StoppedCampaigns(np.ones(6, dtype=np.int64), mean, met, mean)
    assert stopped.same(Partition.almost_uniform(0.0, 1.0, 0.5)) == (1, 2)
    assert stopped.same_as_initiator(0.0, 1.0, 0.2) == (1, 2)
    assert stopped.same_as_initiator(0.0, 1.0, 0.9) == (2, 2)


# The command -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_processes():
    """In other processes, pieces end in another order; other seeds give other numbers."""
    study = STUDIES['manipulator']
    setting = replace(setting_of('manipulator'), trials=8, most_tests=120)
    alone = run_study(study, setting)
    with ProcessPoolExecutor(2, mp_context=get_context('spawn')) as executor:
        beside = run_study(study, setting, executor)
    assert beside.tables == alone.tables
    other = run_study(study, replace(setting, seed=2))
    assert other.tables != alone.tables


def small(tmp_path):
    content = yaml.safe_load(specification_of('manipulator').read_text())
    content['quick'] = {'trials': 4, 'most_tests': 100}
    content['subjects'] = {name: content['subjects'][name] for name in ('arm', 'hand')}
    file = tmp_path / 'small.yaml'
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file, content


def test_repsq_study_writes_tables_and_figure(tmp_path, capsys):
    pytest.importorskip('matplotlib')
    file, _ = small(tmp_path)
    words = ['study', 'manipulator', '--quick', '--processes', '1']
    output = tmp_path / 'new' / 'folder'
    assert main([*words, '--specification', str(file), '--output', str(output)]) == 0
    printed = capsys.readouterr().out
    assert '| subject | method |' in printed
    assert 'NOT FOUND: arm' in printed  # in so few tests no rule stops
    assert (output / 'manipulator.png').read_bytes().startswith(b'\x89PNG')
    with (output / 'manipulator.csv').open(newline='') as opened:
        rows = list(csv.DictReader(opened))
    assert [row['subject'] for row in rows] == ['arm'] * 6 + ['hand'] * 6
    assert (output / 'manipulator_trials.csv').is_file()
    assert main([*words, '--specification', str(file), '--output', str(output), '--json']) == 0
    (study,) = json.loads(capsys.readouterr().out)['studies']
    assert list(study['tables']) == ['manipulator', 'manipulator_trials']
    assert study['tables']['manipulator']['file'] == str(output / 'manipulator.csv')
    assert [row['subject'] for row in study['tables']['manipulator']['rows']] == ['arm'] * 6 + [
        'hand'
    ] * 6
    assert {each['holds'] for each in study['findings']} == {True, False}
    assert study['figure'] == str(output / 'manipulator.png')


@pytest.mark.parametrize(
    ('words', 'told', 'code'),
    [
        ([], 'parameter name: found none', 2),
        (['--all', 'drift'], 'parameter name: found both', 2),
        (['drift', '--seed', '-1'], 'parameter seed: found -1', 2),
        (['--all', '--specification', 'x.yaml'], 'parameter specification', 2),
        (['drift', '--specification', 'nowhere.yaml'], 'nowhere.yaml', 2),
        (['humanoid', '--quick', '--processes', '1'], 'parameter model: found nothing', 2),
        (['peers', '--quick'], 'parameter data: found nothing', 2),
        (['peers', '--data', '/nowhere'], 'published_widths.csv: No such file', 2),
        (['drift', '--table', 'x.csv'], 'parameter table: found one beside drift', 2),
        (['driving', '--table', 'nowhere.csv'], 'parameter table: found nowhere.csv', 2),
        (['drift', '--output', '/proc/none'], '/proc/none', 6),
    ],
)  # fmt: skip
def test_what_cannot_be_studied_is_told_in_one_line(words, told, code, tmp_path, capsys):
    given = words if '--output' in words else [*words, '--output', str(tmp_path)]
    assert main(['study', *given]) == code
    line = capsys.readouterr().err
    assert told in line
    assert line.count('\n') == 1


@pytest.mark.parametrize(
    ('key', 'value', 'told'),
    [
        ('study', 'drift', r"study: found 'drift'"),
        ('seed', -1, 'seed'),
        ('quick', {'trials': 5, 'most_tests': 9}, r'quick\.trials: found 5'),
        ('full', {'trials': 2, 'most_tests': 9}, r'full\.trials: found 2'),
        ('full', {'trials': 4, 'most_tests': 9, 'more': 1}, 'more'),
        ('other', 1, 'other'),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_of_a_study_is_told(tmp_path, capsys, key, value, told):
    file, content = small(tmp_path)
    content[key] = value
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    words = ['study', 'manipulator', '--quick', '--specification', str(file)]
    assert main([*words, '--processes', '1', '--output', str(tmp_path)]) == 2
    assert re.search(told, capsys.readouterr().err)


@pytest.mark.parametrize('name', [name for name in STUDIES if name != 'humanoid'])
def test_every_study_can_be_read_in_both_sizes(name, tmp_path):
    data = published(tmp_path)
    sizes = [STUDIES[name].pieces(setting_of(name, data=data))]
    top = read(specification_of(name))
    top.text('study')
    sizes.append(STUDIES[name].pieces(STUDIES[name].read(top, StudyRequest(data=data))))
    top.finish()
    assert 0 < len(sizes[0]) <= len(sizes[1])


@pytest.mark.parametrize('name', list(STUDIES))
def test_settings_and_pieces_travel_to_other_processes(name, tmp_path):
    setting = setting_of(name, data=published(tmp_path))
    travelled = pickle.loads(pickle.dumps((STUDIES[name].work, setting)))
    assert STUDIES[name].pieces(travelled[1]) == STUDIES[name].pieces(setting)


def test_a_law_that_depends_on_the_case_is_none_for_the_manipulator(tmp_path):
    file, content = small(tmp_path)
    content['subjects'] = {'arm': {**content['subjects']['arm'], 'law': 'steep:4', 'range': 1.0}}
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    with pytest.raises(SpecificationError, match='law'):
        setting_of('manipulator', file)


# psi and weights of another simulation -----------------------------------------------------------


def test_a_table_of_psi_and_weights_is_judged_as_the_study_judges_its_own(tmp_path, capsys):
    content = yaml.safe_load(specification_of('driving').read_text())
    content['table'] = {'range': 0.5, 'relative': 0.1,
                        'accuracy': {'gamma': 0.05, 'c': 0.05, 'beta': 0.1}}  # fmt: skip
    specification, table = tmp_path / 'driving.yaml', tmp_path / 'z.csv'
    specification.write_text(yaml.safe_dump(content))
    random = np.random.default_rng(7)
    psi, weight = random.random(3000) < 0.4, random.uniform(0.1, 0.5, 3000)
    lines = [f'{int(p)},{w!r}' for p, w in zip(psi.tolist(), weight.tolist(), strict=True)]
    table.write_text('\n'.join(['psi,weight', *lines]) + '\n')
    words = ['study', 'driving', '--table', str(table), '--specification', str(specification)]
    assert main(words) == 0
    printed = {
        cells[1].strip(): [cell.strip() for cell in cells[2:-1]]
        for cells in (line.split('|') for line in capsys.readouterr().out.splitlines() if line)
    }
    z, question = (psi * weight)[None, :], Question(0.05, 0.05, Bounds(0.0, 0.5))
    anytime = anytime_stops(z, question)
    assert printed['anytime'][:3] == [str(anytime.n[0]), 'yes', shown(float(anytime.mean[0]))]
    bernstein = moment_stops(z, EmpiricalBernstein(), question)
    assert printed['empirical Bernstein'][0] == str(bernstein.n[0])
    hoeffding = math.ceil(0.25 * math.log(40) / (2 * 0.05**2))
    assert printed['Hoeffding'][0] == str(hoeffding)
    cells = Partition.almost_uniform(0.0, 0.5, paper_alpha(0.05, 0.05, 0.1))
    assert printed['anytime'][5] == shown(cells.quantize(float(anytime.mean[0])).value)
    assert printed['anytime'][6] == '0'

    table.write_text(table.read_text().replace('psi,weight\n', 'psi,weight\n1,0.6\n'))
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.endswith('| 1 | nothing |') for line in lines[2:])


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('psi,weight\n', 'without a row'),
        ('psi,w\n1,1\n', "row 1: 'weight'"),
        ('psi,weight\n1,1\n2,1\n', 'row 2: psi = 2.0'),
        ('psi,weight\n1,-1\n', 'row 1: weight = -1.0'),
        ('psi,weight\n1,inf\n', 'row 1: weight = inf'),
        ('psi,weight\nnan,1\n', 'row 1: psi = nan'),
        ('psi,weight\n1\n', 'row 1: '),
        ('psi,weight\nx,1\n', 'row 1: could not convert'),
    ],
)  # fmt: skip
def test_a_table_that_holds_no_tests_is_told(tmp_path, text, told):
    from repsq_ros.paper.weighted_table import read_weighted

    file = tmp_path / 'z.csv'
    file.write_text(text)
    with pytest.raises(ParameterError, match=re.escape(told)):
        read_weighted(file)


def test_cells_are_written_with_six_digits_and_nothing_for_none(tmp_path):
    assert shown(0.123456789) == '0.123457'
    assert shown(math.nan) == ''
    assert shown(7) == '7'
    write_table(tmp_path / 't.csv', [{'a': 'x, y', 'b': 1 / 3}, {'a': 'z', 'b': ''}])
    assert (tmp_path / 't.csv').read_text() == 'a,b\n"x, y",0.333333\nz,\n'
