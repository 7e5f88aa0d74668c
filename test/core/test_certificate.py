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

"""A certificate, and the check that nothing in a campaign was changed since."""

import base64
import json
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
import yaml
from conftest import ROOT
from support.folders import leave_folder, records_of, simulate_folder

from repsq_ros.campaign.folder import REPLICATION, RESULT, SPECIFICATION, TESTS
from repsq_ros.campaign.journal import JOURNAL, LEDGER
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.campaign.records import TestRecord
from repsq_ros.certificate.canonical import (
    SAFE,
    canonical,
    content_digest,
    plain,
    written_form,
)
from repsq_ros.certificate.document import CERTIFICATE, make_document
from repsq_ros.certificate.issuing import issue
from repsq_ros.certificate.signature import has_small_order, read_public
from repsq_ros.cli import main
from repsq_ros.specification.load import load

pytest.importorskip('cryptography')
pytest.importorskip('jsonschema')

DEMO = ROOT / 'config' / 'g1_locomotion.yaml'


@pytest.fixture(scope='module')
def original(tmp_path_factory):
    """A certified, signed campaign with a recording, and the keys of its lab and of another."""
    base = tmp_path_factory.mktemp('certified')
    lab = simulate_folder(base / 'lab', DEMO)
    bag = base / 'bag'
    bag.mkdir()
    (bag / 'metadata.yaml').write_text('of the recording')
    (bag / 'bag_0.mcap').write_bytes(bytes(range(256)) * 9000)
    for name in ('lab.key', 'other.key'):
        assert main(['keygen', str(base / name)]) == 0
    certify = ['certify', str(lab), '--bag', str(bag), '--key', str(base / 'lab.key')]
    assert main([*certify, '--lab', 'Lab One']) == 0
    return base


@pytest.fixture
def base(original, tmp_path):
    """A copy of it, to be changed by a test."""
    return shutil.copytree(original, tmp_path / 'base')


def verified(base, capsys, *options):
    """Return the exit code and which checks fail."""
    code = main(['verify', str(base / 'lab'), *map(str, options)])
    printed = capsys.readouterr().out
    return code, re.findall(r'^-  (.+?)  +FAILS: (.*)$', printed, re.MULTILINE)


def replace_in(file, old, new, count=1):
    data = file.read_bytes()
    assert old in data
    file.write_bytes(data.replace(old, new, count))


# What holds --------------------------------------------------------------------------------------


def test_an_unchanged_campaign_is_whole(base, capsys):
    assert verified(base, capsys, '--key', base / 'lab.key.pub') == (0, [])


def test_a_recording_with_the_right_bytes_that_holds_no_campaign_cannot_be_counted_anew(
    base, capsys
):  # fmt: skip
    pytest.importorskip('rosbags')
    assert main(['verify', str(base / 'lab'), '--bag', str(base / 'bag')]) == 4
    told = capsys.readouterr()
    assert re.search(r'^ok recording bag +2 files, SHA-256 as certified', told.out, re.M)
    assert 'cannot be read' in told.err


def test_a_certificate_alone_is_checked_by_itself(base, tmp_path, capsys):
    alone = shutil.copy(base / 'lab' / CERTIFICATE, tmp_path / 'c.json')
    assert main(['verify', str(alone), '--key', str(base / 'lab.key.pub')]) == 0
    printed = capsys.readouterr().out
    assert re.search(
        r'^valid .* 3 checks passed; not checked: registration$', printed, re.MULTILINE
    )


def test_it_says_what_a_stranger_needs(base):
    certificate = json.loads((base / 'lab' / CERTIFICATE).read_text())
    result = yaml.safe_load((base / 'lab' / RESULT).read_text())
    assert certificate['result']['value'] == result['value']
    assert certificate['promise']['guarantee'] == result['guarantee']
    assert certificate['specification']['digest'] == load(DEMO).digest
    replication = load(base / 'lab' / REPLICATION)
    assert certificate['specification']['replication_digest'] == replication.digest
    assert tuple(certificate['partition']['edges']) == replication.partition.edges
    last = json.loads((base / 'lab' / JOURNAL).read_text().splitlines()[-1])
    assert certificate['journal'] == {
        'format': 2, 'lines': 2 * result['n'] + 1, 'head': last['digest'],
    }  # fmt: skip
    (bag,) = certificate['bags']
    assert {each['name']: each['bytes'] for each in bag['files']} == {
        'bag_0.mcap': 256 * 9000, 'metadata.yaml': 16,
    }  # fmt: skip
    assert set(certificate['files']) == {SPECIFICATION, JOURNAL, TESTS, RESULT, REPLICATION}
    assert certificate['lab'] == 'Lab One'


def test_software_and_clock_of_every_session_are_in_it(tmp_path):
    file = tmp_path / 'of.yaml'
    content = yaml.safe_load(DEMO.read_text())
    content['tester']['stopping'] = {'rule': 'fixed', 'tests': 6}
    file.write_text(yaml.safe_dump(content))
    folder = leave_folder(tmp_path / 'lab', file, records_of([0.4] * 6), sessions=(0, 4))
    sessions = make_document(recompute(folder))['sessions']
    assert [each['mean']['n'] for each in sessions] == [4, 2]
    assert set(sessions[0]['versions']) == {'python', 'numpy', 'scipy', 'ros'}
    assert set(sessions[0]['clock']) == {'unix', 'monotonic', 'synchronized'}


# What is found -----------------------------------------------------------------------------------


def line_changed(lab):
    replace_in(lab / JOURNAL, b'"psi":0.4', b'"psi":0.5')


def line_removed(lab):
    lines = (lab / JOURNAL).read_bytes().splitlines(keepends=True)
    (lab / JOURNAL).write_bytes(b''.join(lines[:7] + lines[8:]))


def last_line_removed(lab):
    lines = (lab / JOURNAL).read_bytes().splitlines(keepends=True)
    (lab / JOURNAL).write_bytes(b''.join(lines[:-1]))


def lines_swapped(lab):
    lines = (lab / JOURNAL).read_bytes().splitlines(keepends=True)
    lines[4], lines[5] = lines[5], lines[4]
    (lab / JOURNAL).write_bytes(b''.join(lines))


def byte_behind(lab):
    (lab / JOURNAL).write_bytes((lab / JOURNAL).read_bytes() + b'{')


def contract_changed(lab):
    replace_in(lab / SPECIFICATION, b'gain: 6.0', b'gain: 6.5')


def comment_changed(lab):
    replace_in(lab / SPECIFICATION, b'# Test specification', b'# A test specification')


def table_changed(lab):
    replace_in(lab / TESTS, b',0.4', b',0.3')


def row_added(lab):
    text = (lab / TESTS).read_text()
    (lab / TESTS).write_text(text + text.splitlines(keepends=True)[-1])


def column_added(lab):
    first, second, *rest = (lab / TESTS).read_text().splitlines(keepends=True)
    (lab / TESTS).write_text(''.join([first, f'0,{second}', *rest]))


def result_changed(lab):
    replace_in(lab / RESULT, b'\ninvalid: 0', b'\ninvalid: 1')


def sentence_changed(lab):
    replace_in(lab / RESULT, b'With probability 0.95', b'With probability 0.99')


def replication_changed(lab):
    replace_in(lab / REPLICATION, b'outcome: reached', b'outcome: budget ')


CHANGES = [
    (line_changed, r'recomputed from the journal: .*line \d+: found a digest that does not fit'),
    (line_removed, 'recomputed from the journal: .*line 8: found a line that does not follow'),
    (lines_swapped, 'recomputed from the journal: .*line 5: found a line that does not follow'),
    (byte_behind, 'journal.jsonl, line by line: 1 bytes after the last valid line'),
    (contract_changed, 'recomputed from the journal: .*found specification digest'),
    (table_changed, r'tests.csv, recomputed: row \d+, psi: found 0.3\S*, the journal gives 0.4'),
    (row_added, r'tests.csv, recomputed: 68 rows, the journal gives 67'),
    (column_added, r'tests.csv, recomputed: row 1: \d+ columns, expected \d+'),
    (result_changed, 'result.yaml, recomputed: invalid: found 1, the journal gives 0'),
    (sentence_changed, "result.yaml, recomputed: guarantee: found 'With probability 0.99"),
    (replication_changed, "replication.yaml, recomputed: partition.initiator.outcome: found"),
]  # fmt: skip
ONLY_CERTIFIED = [
    (last_line_removed, 'recomputed from the journal: .*66 tests without a result'),
    (comment_changed, 'specification.yaml: SHA-256 is'),
]


@pytest.mark.parametrize(('change', 'told'), CHANGES + ONLY_CERTIFIED)
def test_a_change_is_found_and_named(change, told, base, capsys):
    change(base / 'lab')
    code, failed = verified(base, capsys)
    assert code == 9
    texts = [f'{what}: {problem}' for what, problem in failed]
    assert any(re.match(told, text) for text in texts), texts
    # The file itself is named, by its bytes.
    assert any('SHA-256 is' in text for text in texts)


@pytest.mark.parametrize(('change', 'told'), CHANGES)
def test_it_is_found_without_a_certificate(change, told, base, capsys):
    (base / 'lab' / CERTIFICATE).unlink()
    change(base / 'lab')
    code, failed = verified(base, capsys)
    assert code == 9
    assert any(re.match(told, f'{what}: {problem}') for what, problem in failed), failed


def test_any_flipped_byte_of_any_file_is_found(base, capsys):
    """Every file, at its first, a middle and its last byte."""
    lab = base / 'lab'
    for file in sorted(lab.iterdir()):
        whole = file.read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            flipped = bytearray(whole)
            flipped[place] ^= 1
            file.write_bytes(flipped)
            code, failed = verified(base, capsys)
            assert code in (9, 10), f'{file.name}, byte {place}'
            assert any(file.name in f'{what} {problem}' for what, problem in failed)
        file.write_bytes(whole)
    assert verified(base, capsys) == (0, [])


@pytest.mark.parametrize('name', [SPECIFICATION, JOURNAL, TESTS, RESULT, REPLICATION])
def test_a_file_that_is_gone_is_missed(name, base, capsys):
    (base / 'lab' / name).unlink()
    code, failed = verified(base, capsys)
    assert code == 9
    assert (name, 'is gone') in failed


def test_a_byte_of_the_recording_is_found(base, capsys):
    file = base / 'bag' / 'bag_0.mcap'
    data = bytearray(file.read_bytes())
    data[1_500_000] ^= 1
    file.write_bytes(data)
    code, failed = verified(base, capsys, '--bag', base / 'bag')
    assert (code, len(failed)) == (9, 1)
    assert failed[0] == ('recording bag', 'bag_0.mcap: its SHA-256 is another one, it changed')
    (base / 'bag' / 'more.mcap').write_bytes(b'')
    assert 'more.mcap is not in the certificate' in str(
        verified(base, capsys, '--bag', base / 'bag')
    )
    file.unlink()
    assert 'bag_0.mcap is gone' in str(verified(base, capsys, '--bag', base / 'bag'))


# An edited certificate ---------------------------------------------------------------------------


def edited(base, change, again=False):
    """Edit the certificate; `again`: as somebody would who knows how its digest is made."""
    file = base / 'lab' / CERTIFICATE
    content = json.loads(file.read_text())
    change(content)
    if again:
        content['digest'] = content_digest(content)
    file.write_bytes(written_form(content))
    return content


def a_better_value(content):
    content['result']['value'] -= 0.1


def test_an_edited_certificate_is_found_by_its_digest(base, capsys):
    edited(base, a_better_value)
    code, failed = verified(base, capsys)
    assert code == 9
    assert (CERTIFICATE, 'its content is not that of its digest: it was edited') in failed


@pytest.mark.parametrize('name', ['lab', 'issued', 'software', 'bags', 'sessions', 'rule'])
def test_the_digest_is_of_every_member(name, base, capsys):
    def change(content):
        content.pop('signature')
        if name in ('lab', 'issued'):
            content[name] += ' '
        elif name == 'rule':
            content[name]['statement'] += ' '
        elif name == 'software':
            content[name]['numpy'] += '1'
        elif name == 'bags':
            content[name][0]['name'] += 'x'
        else:
            content[name].append(
                {**dict.fromkeys(('date', 'note', 'software', 'machine'), ''), 'versions': {},
                 'clock': {}, 'mean': content['mean']}
            )  # fmt: skip

    edited(base, change)
    code, failed = verified(base, capsys)
    assert code == 9
    assert failed[0] == (CERTIFICATE, 'its content is not that of its digest: it was edited')


def test_one_that_was_given_a_fitting_digest_by_its_signature_and_by_the_journal(base, capsys):
    edited(base, a_better_value, again=True)
    code, failed = verified(base, capsys)
    assert code == 9
    assert [what for what, _ in failed] == ['signature', 'certificate, recomputed']
    assert failed[1][1].startswith('result.value: found 0.39')


def test_away_from_its_campaign_the_signature_alone_tells(base, tmp_path, capsys):
    edited(base, a_better_value, again=True)
    alone = shutil.copy(base / 'lab' / CERTIFICATE, tmp_path)
    assert main(['verify', str(alone)]) == 10
    assert 'signature' in capsys.readouterr().out


def test_an_edited_space_is_found(base, capsys):
    replace_in(base / 'lab' / CERTIFICATE, b'"format": 1', b'"format":  1')
    code, failed = verified(base, capsys)
    assert code == 9
    assert 'bytes of the file are not as they were written' in failed[0][1]


def test_another_specification_in_it_is_found(base, capsys):
    edited(base, lambda c: c['specification']['shared']['measure'].update(gain=7.0), again=True)
    _, failed = verified(base, capsys)
    assert 'digest of the specification in it' in [what for what, _ in failed]


@pytest.mark.parametrize(
    ('change', 'told'),
    [
        (lambda c: c.pop('promise'), "'promise' is a required property"),
        (lambda c: c.update(colour='blue'), "('colour' was unexpected)"),
        (lambda c: c['result'].update(value='high'), "result.value: 'high' is not of type"),
        (lambda c: c['result'].update(n=-3), 'result.n'),
        (lambda c: c['journal'].update(head='00'), 'journal.head'),
        (lambda c: c['files'].update({'../key': '0' * 64}), 'files'),
        (lambda c: c.update(format=2), 'format: 1 was expected'),
    ],
)
def test_what_the_schema_does_not_allow_is_told_with_its_place(change, told, base, capsys):
    edited(base, change)
    code, failed = verified(base, capsys)
    assert code == 9
    assert told in failed[0][1]


@pytest.mark.parametrize(
    'text', ['', '[1]', '{"format": NaN}', '[' * 100_000, '\xff'],
    ids=['empty', 'a list', 'NaN', 'deep', 'no UTF-8'],
)  # fmt: skip
def test_what_is_no_certificate_is_told_in_one_line(text, base, capsys):
    (base / 'lab' / CERTIFICATE).write_bytes(text.encode('latin-1'))
    code, failed = verified(base, capsys)
    assert (code, len(failed)) == (9, 1)


@pytest.mark.parametrize(
    'words',
    [
        ('verify', '/nowhere'), ('certify', '/nowhere'), ('publish', '/nowhere'),
        ('compare', '/nowhere', '/neither'), ('compare-subjects', '/nowhere', '/neither'),
        ('report', '/nowhere'), ('watch', '/nowhere'), ('run', '--resume', '/nowhere'),
        ('inspect', '/nowhere'), ('reevaluate', '/nowhere', '--specification', str(DEMO)),
        ('import-poses', '/nowhere'), ('iso9283', '/nowhere'),
        ('compare', '/neither', '/neither', '--ledger', '/nowhere'),
        ('register', '--abandon', '1', '--reason', 'rain', '--ledger', '/nowhere'),
    ],
)  # fmt: skip
def test_a_folder_that_is_not_there_is_2_everywhere(words, capsys):
    assert main(list(words)) == 2
    assert '/nowhere' in capsys.readouterr().err


def test_a_recording_that_is_not_there_is_2(base, capsys):
    for verb in ('verify', 'certify'):
        assert main([verb, str(base / 'lab'), '--bag', '/nowhere']) == 2


@pytest.mark.parametrize('name', [JOURNAL, TESTS, RESULT, SPECIFICATION, CERTIFICATE, 'my.html'])
@pytest.mark.parametrize('force', [(), ('--force',)])
def test_what_a_campaign_rests_on_is_never_overwritten(name, force, base, tmp_path, capsys):
    lab = tmp_path / 'lab'
    shutil.copytree(base / 'lab', lab)
    (lab / 'my.html').write_text('notes of the lab')
    if name == JOURNAL:  # a note that reads like the command's own file
        (lab / name).write_bytes((lab / name).read_bytes() + b'content="repsq report" repsq watch')
    for words in (
        ('report', str(lab), '--output', str(lab / name)),
        ('watch', str(lab), '--once', '--svg', str(lab / name)),
    ):
        before = (lab / name).read_bytes()
        assert main([*words, *force]) == 6
        assert (lab / name).read_bytes() == before
    assert 'found a file of a campaign' in capsys.readouterr().err


def test_a_ledger_is_never_overwritten(base, tmp_path, capsys):
    file = tmp_path / LEDGER
    file.write_text('{}')
    assert main(['report', str(base / 'lab'), '--output', str(file), '--force']) == 6
    assert file.read_text() == '{}'


@pytest.mark.parametrize('verb', ['report', 'watch'])
def test_an_output_is_replaced_where_it_is_the_commands_own_or_by_force(
    verb, base, tmp_path, capsys
):
    words = {
        'report': ['report', str(base / 'lab'), '--output'],
        'watch': ['watch', str(base / 'lab'), '--once', '--svg'],
    }[verb]
    file = tmp_path / 'output'
    assert main([*words, str(file)]) == 0
    assert main([*words, str(file)]) == 0  # its own
    file.write_text('a thesis')
    assert main([*words, str(file)]) == 6
    assert file.read_text() == 'a thesis'
    assert 'that this command did not write' in capsys.readouterr().err
    assert main([*words, str(file), '--force']) == 0
    assert file.read_text() != 'a thesis'


@pytest.mark.parametrize('option', ['--csv', '--tests', '--json'])
def test_tables_are_not_written_over_other_files(option, base, tmp_path, capsys):
    file = tmp_path / 'mine'
    file.write_text('a thesis')
    words = ['reevaluate', '/nowhere', '--specification', str(base / 'lab' / SPECIFICATION)]
    assert main([*words, option, str(file)]) == 6  # before any work
    assert file.read_text() == 'a thesis'


# A stranger's certificate ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('old', 'new', 'told'),
    [
        (b'"gamma": 0.04', b'"gamma": 1e400', '1e400 is beyond every double'),
        (b'"format": 1,', b'"format": 1, "format": 1,', "the key 'format' appears twice"),
        (b'"max_tests": 1000', b'"max_tests": 1' + b'0' * 400, 'is beyond 2**53'),
        (b'"gamma": 0.04', b'"gamma": -Infinity', '-Infinity is no number of JSON'),
    ],
)
def test_numbers_and_keys_that_json_does_not_settle_are_refused(old, new, told, base, capsys):
    replace_in(base / 'lab' / CERTIFICATE, old, new)
    code, failed = verified(base, capsys)
    assert (code, len(failed)) == (9, 1)
    assert told in failed[0][1]


def test_a_second_value_in_the_result_is_found_without_a_certificate(base, capsys):
    (base / 'lab' / CERTIFICATE).unlink()
    file = base / 'lab' / RESULT
    file.write_text('value: 0.1\n' + file.read_text())
    code, failed = verified(base, capsys)
    assert code == 9
    assert "key 'value' appears twice" in str(failed)


def test_a_certificate_that_names_no_file_vouches_for_none(base, capsys):
    edited(base, lambda c: c.update(files={}), again=True)
    _, failed = verified(base, capsys)
    unnamed = [what for what, problem in failed if 'not in the certificate' in problem]
    assert unnamed == [SPECIFICATION, JOURNAL, TESTS, RESULT]


def test_a_signature_by_a_key_that_nobody_named_is_not_called_valid(base, capsys):
    assert main(['verify', str(base / 'lab')]) == 0
    printed = capsys.readouterr().out
    named = r'^\?\? signature .*not signed by a lab that you named'
    assert re.search(named, printed, re.MULTILINE)
    assert 'not checked: signature' in printed
    assert main(['verify', str(base / 'lab'), '--strict']) == 11


SMALL_ORDER = ['00' * 32, '01' + '00' * 31, 'ec' + 'ff' * 30 + '7f', 'ed' + 'ff' * 30 + '7f']


@pytest.mark.parametrize('key', SMALL_ORDER)
def test_a_key_of_small_order_signs_nothing(key, base, capsys):
    """y = 0, 1, -1, and p: points of order 4, 1, 2, 4, under which signatures fit anything."""
    named = base64.b64encode(bytes.fromhex(key)).decode()
    value = base64.b64encode(bytes.fromhex(key) + bytes(32)).decode()
    edited(base, lambda c: c.update(
        signature={'algorithm': 'Ed25519', 'public_key': named, 'value': value}))  # fmt: skip
    code, failed = verified(base, capsys)
    assert code == 10
    assert 'small order' in failed[0][1]


def test_an_honest_key_is_of_no_small_order(base):
    key = read_public(base / 'lab.key.pub').public_bytes_raw()
    assert not has_small_order(key)
    assert all(has_small_order(bytes.fromhex(each)) for each in SMALL_ORDER)


# Signatures --------------------------------------------------------------------------------------


def test_a_signature_of_another_key_is_found(base, capsys):
    code, failed = verified(base, capsys, '--key', base / 'other.key.pub')
    assert (code, [what for what, _ in failed]) == (10, ['signature'])
    assert 'made with another key' in failed[0][1]


def test_a_signature_laid_under_another_certificate_is_found(base, capsys):
    content = edited(base, lambda c: c.update(lab='Lab Two'), again=True)
    assert content['lab'] == 'Lab Two'
    code, failed = verified(base, capsys, '--key', base / 'lab.key.pub')
    assert (code, failed) == (10, [('signature', 'not of this content')])


@pytest.mark.parametrize('value', ['', 'AAAA', 'no base64'])
def test_a_signature_that_is_none_is_found(value, base, capsys):
    edited(base, lambda c: c['signature'].update(value=value))
    assert verified(base, capsys)[0] == 10


def test_where_a_key_is_given_there_has_to_be_a_signature(base, capsys):
    edited(base, lambda c: c.pop('signature'))
    assert verified(base, capsys) == (0, [])
    assert verified(base, capsys, '--key', base / 'lab.key.pub') == (
        10, [('signature', 'there is none')],
    )  # fmt: skip


def test_keys_are_never_overwritten_and_the_private_one_is_its_owners(base, capsys):
    assert (base / 'lab.key').stat().st_mode & 0o777 == 0o600
    assert main(['keygen', str(base / 'lab.key')]) == 6
    assert 'keys are never lost' in capsys.readouterr().err
    for option, file in (('--key', 'lab.key'), ('--key', 'nowhere')):
        assert main(['verify', str(base / 'lab'), option, str(base / file)]) == 2
    assert main(['certify', str(base / 'lab'), '--key', str(base / 'lab.key.pub')]) == 2


# Forms -------------------------------------------------------------------------------------------


def test_the_canonical_form_is_one_whatever_the_order():
    one, other = {'b': 1.0, 'a': [1e-7, True]}, {'a': [1e-7, True], 'b': 1.0}
    assert canonical(one) == canonical(other) == b'{"a":[1e-07,true],"b":1.0}'
    assert plain({'a': (float('nan'), float('inf')), 'n': SAFE, 't': True}) == {
        'a': ['nan', 'inf'], 'n': str(SAFE), 't': True,
    }  # fmt: skip


@pytest.mark.parametrize(
    'name', ['g1_locomotion', 'ur10e_positioning', 'paper/g1_locomotion']
)  # fmt: skip
def test_every_configuration_gives_a_certificate_that_holds(name, tmp_path):
    file = ROOT / 'config' / f'{name}.yaml'
    content = yaml.safe_load(file.read_text())
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 5}, max_tests=5)
    content['accuracy']['gamma'] = min(content['accuracy']['gamma'], 0.04)
    changed = tmp_path / 'of.yaml'
    changed.write_text(yaml.safe_dump(content))
    x = {'ur10e_positioning': (-0.5, 0.1, 0.4)}.get(name, (0.1, 0.1, 0.1))
    tests = [
        TestRecord(i, 0, 0.1 + 0.01 * i, 1.0, True, x=x, weight_bound=1.0) for i in range(5)
    ]  # fmt: skip
    folder = leave_folder(tmp_path / 'lab', changed, tests)
    issue(make_document(recompute(folder)), folder)
    assert main(['verify', str(folder)]) == 0


def test_attempts_that_were_lost_are_certified_too(tmp_path, content, write):
    """INVALID, broken off, skipped, and a session that begins between two attempts."""
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 8})
    tests = records_of([0.2, 0.3, 0.9, 0.4, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    lost = [
        TestRecord(2, 0, float('nan'), 1.0, False, 'gap of 0.4 s, "cable"', x=tests[2].x),
        TestRecord(2, 1, float('nan'), 1.0, False, 'a pause', x=tests[2].x, broken_off=True),
    ]
    again = TestRecord(2, 2, 0.9, 1.0, True, x=tests[2].x, weight_bound=1.0)
    skipped = TestRecord(3, 0, float('nan'), 1.0, False, 'by hand', x=tests[3].x, skipped=True)
    kept = [*tests[:2], *lost, again, skipped, *tests[4:8]]
    folder = leave_folder(tmp_path / 'lab', write(content), kept, sessions=(0, 3))
    issue(make_document(recompute(folder)), folder)
    assert main(['verify', str(folder)]) == 0
    one, two = (each['mean'] for each in json.loads(
        (folder / CERTIFICATE).read_text())['sessions'])  # fmt: skip
    assert (one['n'], two['n']) == (2, 5)


def test_without_a_result_there_is_nothing_to_certify(tmp_path, content, write, capsys):
    folder = leave_folder(tmp_path / 'lab', write(content), records_of([0.5] * 3))
    assert main(['certify', str(folder)]) == 7
    assert 'found 3 tests without a result' in capsys.readouterr().err
    assert not (folder / CERTIFICATE).exists()
    assert main(['verify', str(folder)]) == 0  # under way, and unchanged
    assert '3 tests without a result: not at its end yet' in capsys.readouterr().out
    (folder / RESULT).write_text('value: 0.5\n')
    assert main(['verify', str(folder)]) == 9
    assert main(['verify', str(tmp_path)]) == 2
    assert 'found neither journal.jsonl nor certificate.json' in capsys.readouterr().err


def test_a_campaign_that_was_changed_is_neither_certified_nor_published(base, capsys):
    table_changed(base / 'lab')
    assert main(['certify', str(base / 'lab')]) == 9
    assert main(['publish', str(base / 'lab')]) == 9
    assert not (base / 'lab-published').exists()
    assert 'tests.csv, recomputed' in capsys.readouterr().out


# Published ---------------------------------------------------------------------------------------


def test_what_is_published_is_enough_elsewhere(base, tmp_path, capsys):
    target = tmp_path / 'elsewhere'
    assert main(['publish', str(base / 'lab'), '--output', str(target), '--zip']) == 0
    names = {path.name for path in target.iterdir()}
    assert names == {REPLICATION, CERTIFICATE, 'README.md'}
    with zipfile.ZipFile(tmp_path / 'elsewhere.zip') as packed:
        assert f'elsewhere/{CERTIFICATE}' in packed.namelist()
    assert main(['verify', str(target), '--key', str(base / 'lab.key.pub')]) == 0
    capsys.readouterr()
    second = simulate_folder(
        tmp_path / 'second', target / REPLICATION, ROOT / 'config' / 'replicator.yaml'
    )
    assert main(['compare', str(target), str(second)]) == 0
    assert 'to the last digit' in capsys.readouterr().out
    replace_in(target / REPLICATION, b'gain: 6.0', b'gain: 5.0')
    assert main(['verify', str(target)]) == 9
    assert 'replication.yaml, its digest' in capsys.readouterr().out


def test_a_published_specification_is_held_to_its_digest(content, write, tmp_path, capsys):
    """Its partition was given: replication.yaml is no file of the campaign's own folder."""
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    folder = leave_folder(tmp_path / 'campaign', write(content), records_of([0.3] * 4))
    target = tmp_path / 'published'
    assert main(['publish', str(folder), '--output', str(target)]) == 0
    assert main(['verify', str(target)]) == 0
    replace_in(target / REPLICATION, b'gain: 6.0', b'gain: 5.0')
    capsys.readouterr()
    assert main(['verify', str(target)]) == 9
    assert re.search(r'^-  replication.yaml, its digest +FAILS', capsys.readouterr().out, re.M)


def test_tables_and_own_classes_travel_along(content, tmp_path, capsys):
    lab = tmp_path / 'first'
    lab.mkdir()
    (lab / 'cases.csv').write_text(
        'linear_x,linear_y,angular_z\n0.1,0.1,0.1\n0.2,0.2,0.2\n0.1,0.2,0.1\n'
    )
    content['target']['distribution'] = {'type': 'table', 'file': 'cases.csv'}
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4}, proposal='monte_carlo')
    (lab / 'of.yaml').write_text(yaml.safe_dump(content))
    folder = leave_folder(tmp_path / 'campaign', lab / 'of.yaml', records_of([0.3] * 4))
    assert main(['publish', str(folder), '--evidence']) == 0
    target = tmp_path / 'campaign-published'
    assert (target / 'cases.csv').read_bytes() == (lab / 'cases.csv').read_bytes()
    assert load(target / REPLICATION).digest == load(folder / SPECIFICATION).digest
    assert main(['verify', str(target)]) == 0
    assert 'recomputed' in capsys.readouterr().out
    replace_in(target / 'cases.csv', b'0.2,0.2,0.2', b'0.2,0.2,0.1')
    assert main(['verify', str(target)]) == 9
    assert 'cases.csv' in capsys.readouterr().out
    assert main(['publish', str(folder)]) == 6  # never over what is there


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from repsq_ros.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize('missing', ['jsonschema', 'cryptography'])
def test_what_has_to_be_installed_is_said(missing, base):
    done = subprocess.run(
        [sys.executable, '-c', WITHOUT, missing, 'verify', str(base / 'lab')],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 5
    assert f'needs {missing}, not installed here: ' in done.stderr
