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

"""What a lab registers before its first test, and what its ledger tells of it afterwards."""

import json
import re
import shutil
import subprocess
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
import yaml
from conftest import ROOT
from support.folders import patient_queue
from support.forged import forge, lines_of

from repsq_ros.campaign.folder import SPECIFICATION
from repsq_ros.campaign.journal import JOURNAL, LEDGER, Journal, read_journal
from repsq_ros.campaign.journal_contents import CASE
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.certificate.canonical import content_digest
from repsq_ros.certificate.document import CERTIFICATE, make_document
from repsq_ros.certificate.issuing import issue
from repsq_ros.certificate.lab import read_lab, require_one_ledger
from repsq_ros.certificate.ledger import derived_seed, read_ledger
from repsq_ros.certificate.signature import read_private, sign
from repsq_ros.certificate.timestamp import TIMESTAMP, fetch_timestamp
from repsq_ros.cli import main
from repsq_ros.errors import ParameterError
from repsq_ros.launching.arguments import OUTPUT, REGISTRATION, SEED, SEED_VALUE
from repsq_ros.launching.first_look import closing_text, look_first
from repsq_ros.launching.registered_campaign import begin_registered, close_registered
from repsq_ros.report import facts
from repsq_ros.report.campaign_data import gather
from repsq_ros.specification.load import load

pytest.importorskip('cryptography')
pytest.importorskip('jsonschema')

DEMO = ROOT / 'config' / 'g1_locomotion.yaml'
SIMULATED = ['--simulate', '--in-process']


def specification_in(folder, seed=None, **tester):
    """Write a specification of six tests."""
    content = yaml.safe_load(DEMO.read_text())
    fixed = {'rule': 'fixed', 'tests': 6}
    content['tester'] = {'proposal': 'monte_carlo', 'stopping': fixed, **tester}
    if seed is not None:
        content['tester']['seed'] = seed
    file = folder / 'of.yaml'
    file.write_text(yaml.safe_dump(content))
    return file


@pytest.fixture(scope='module')
def original(tmp_path_factory):
    """A lab with its keys, and a campaign that it registered, ran and certified."""
    base = tmp_path_factory.mktemp('registered')
    for name in ('lab.key', 'other.key'):
        assert main(['certify', '--keygen', str(base / name)]) == 0
    specification_in(base)
    assert register(base, '--seed', '3') == 0
    assert ran(base, 'a', 1) == 0
    certify = ['certify', str(base / 'a'), '--ledger', str(base / 'ledger'), '--lab', 'Lab One']
    assert main([*certify, '--key', str(base / 'lab.key')]) == 0
    return base


@pytest.fixture
def base(original, tmp_path, capsys):
    """A copy of it, to be changed by a test."""
    capsys.readouterr()
    return shutil.copytree(original, tmp_path / 'base')


def register(base, *options, file='of.yaml', key='lab.key'):
    words = ['register', str(base / file), '--lab', 'Lab One', '--key', str(base / key)]
    return main([*words, '--ledger', str(base / 'ledger'), *options])


def ran(base, name, number, *options, file='of.yaml'):
    registration = base / 'ledger' / f'registration-{number}.json'
    words = ['run', str(base / file), *SIMULATED, '--output', str(base / name)]
    return main([*words, '--registration', str(registration), *options])


def verified(folder, capsys, *options):
    """Return the exit code and the line about the registration."""
    capsys.readouterr()
    code = main(['verify', str(folder), *map(str, options)])
    printed = capsys.readouterr().out
    lines = re.findall(r'^(?:ok|-|\?\?) +registration +(.*)$', printed, re.MULTILINE)
    return code, ' '.join(lines) or printed


def ledger_lines(folder):
    entries, _, _ = read_journal(folder / LEDGER)
    return [(entry.event, dict(entry.content)) for entry in entries]


def rewrite(folder, lines):
    """Chain a ledger again."""
    (folder / LEDGER).unlink()
    journal = Journal(folder / LEDGER)
    for event, content in lines:
        journal.append(event, **content)
    journal.close()


# What holds --------------------------------------------------------------------------------------


def test_a_registered_campaign_is_told_with_its_number_and_date(base, capsys):
    code, line = verified(base / 'a', capsys, '--key', base / 'lab.key.pub')
    assert code == 0
    assert re.match(r'number 1 of Lab One, 20\d\d-.*, seed 3 chosen by the lab; of 1 reg', line)
    first = json.loads((base / 'a' / JOURNAL).read_text().splitlines()[0])
    assert first['ledger'] == read_ledger(base / 'ledger').heads[1]
    assert first['seed'] == 3


def test_certificate_and_published_folder_name_the_head_of_the_ledger(base, capsys):
    assert main(['certify', str(base / 'a'), '--publish', '--output', str(base / 'pub')]) == 0
    key = ['--key', base / 'lab.key.pub', '--strict']
    assert verified(base / 'pub', capsys, *key)[0] == 0
    certificate = json.loads((base / 'pub' / CERTIFICATE).read_text())
    heads = read_ledger(base / 'ledger').heads
    assert certificate['registration']['ledger'] == {'lines': 3, 'head': heads[2]}
    # Away from its ledger it says what it was registered as, and what nobody can tell.
    alone = shutil.copy(base / 'pub' / CERTIFICATE, base / 'alone.json')
    code, line = verified(alone, capsys, *key)
    assert code == 11
    assert 'number 1 of Lab One' in line
    assert 'the ledger, which lists the other campaigns, is missing' in line
    assert verified(alone, capsys, *key, '--ledger', base / 'ledger')[0] == 0


def test_abandoned_campaigns_and_those_without_a_result_are_counted(base, capsys):
    for seed in '456':
        assert register(base, '--seed', seed) == 0
    assert ran(base, 'b', 3) == 0
    abandon = ['register', '--abandon', '2', '--ledger', str(base / 'ledger')]
    assert main(abandon) == 2  # without a reason
    assert main([*abandon, '--reason', 'the battery died']) == 0
    code, line = verified(base / 'a', capsys, '--ledger', base / 'ledger')
    assert code == 0
    assert 'of 4 registrations in the ledger, 4 of this specification, 2 without a result' in line
    assert '(number 2: abandoned: the battery died; number 3: value ' in line
    assert line.endswith('number 4: not begun)')
    assert 'of 1 registrations' in verified(base / 'a', capsys)[1]  # as of its own copy


def test_a_public_value_gives_the_seed(base, capsys):
    assert register(base, '--seed-from', 'drand quicknet, round 4711') == 0
    assert ran(base, 'b', 2) == 2
    assert 'expected the value of drand quicknet, round 4711' in capsys.readouterr().err
    assert ran(base, 'b', 2, '--seed-value', 'c0ffee') == 0
    code, line = verified(base / 'b', capsys)
    statement = json.loads((base / 'ledger' / 'registration-2.json').read_text())
    seed = derived_seed(statement['digest'], 'c0ffee')
    assert code == 0
    assert recompute(base / 'b').contents.seed == seed < 2**48
    assert f'seed {seed} from drand quicknet, round 4711 = c0ffee' in line


def test_labs_are_told_apart_by_what_they_registered(base, capsys):
    replication, target = str(base / 'a' / 'replication.yaml'), str(base / 'b')
    assert main(['run', replication, *SIMULATED, '--seed', '9', '--output', target]) == 0
    capsys.readouterr()
    main(['compare', str(base / 'a'), str(base / 'b'), '--ledger', str(base / 'ledger')])
    printed = capsys.readouterr().out
    assert re.search(r'^register  .*/a: number 1 of Lab One', printed, re.MULTILINE), printed
    assert re.search(r'^register  .*/b: not registered', printed, re.MULTILINE)


def test_a_report_tells_what_was_registered_and_what_became_of_the_others(base, capsys):
    pytest.importorskip('jinja2')
    pytest.importorskip('matplotlib')
    for seed in '45':
        assert register(base, '--seed', seed) == 0
    assert ran(base, 'b', 3) == 0
    words = ['run', str(base / 'of.yaml'), *SIMULATED, '--seed', '3', '--output', str(base / 'c')]
    assert main(words) == 0
    assert main(['report', str(base / 'b'), str(base / 'c')]) == 0
    page = (base / 'b' / 'report.html').read_text()
    assert page.count('number 3 of Lab One, 20') == 2  # of the campaign, and side by side
    assert 'of 3 registrations in the ledger, 3 of this specification, 1 without a result' in page
    assert page.count('not registered: nobody can tell') == 2
    assert page.count('it was not registered</li>') == 1
    line_changed(base, 'b')
    assert 'DOES NOT FIT: ' in facts.registration(gather(base / 'b'))


def test_a_campaign_that_was_not_registered_is_not_called_so(base, capsys):
    words = ['run', str(base / 'of.yaml'), *SIMULATED, '--seed', '3', '--output', str(base / 'b')]
    assert main(words) == 0
    code, line = verified(base / 'b', capsys)
    assert code == 0
    assert line.startswith('not checked: not registered')


# Time stamps -------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def authority(tmp_path_factory):
    """Give an authority (RFC 3161) of openssl: its certificate, and what answers a request."""
    pytest.importorskip('rfc3161_client')
    if shutil.which('openssl') is None:
        pytest.skip('openssl is not installed')
    base = tmp_path_factory.mktemp('authority')
    (base / 'serial').write_text('01')
    (base / 'openssl.cnf').write_text(AUTHORITY)

    def openssl(*words):
        subprocess.run(['openssl', *words], cwd=base, check=True, capture_output=True)

    for name in ('tsa', 'other'):
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                '-keyout', f'{name}.key', '-out',
                f'{name}.pem', '-days', '2', '-subj', f'/CN={name}', '-config', 'openssl.cnf',
                '-extensions', 'stamping')  # fmt: skip

    def answer(request):
        (base / 'request').write_bytes(request)
        openssl('ts', '-reply', '-queryfile', 'request', '-out', 'reply', '-config', 'openssl.cnf')
        return (base / 'reply').read_bytes()

    return base, answer


AUTHORITY = """
[req]
distinguished_name = name
[name]
[stamping]
extendedKeyUsage = critical, timeStamping
basicConstraints = critical, CA:true
[tsa]
default_tsa = config
[config]
serial = serial
signer_cert = tsa.pem
certs = tsa.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def served(answer):
    """Answer one request; returns the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            assert self.headers['Content-Type'] == 'application/timestamp-query'
            reply = answer(self.rfile.read(int(self.headers['Content-Length'])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(reply)

    server = HTTPServer(('127.0.0.1', 0), Handler)
    Thread(target=server.handle_request, daemon=True).start()
    return f'http://127.0.0.1:{server.server_port}'


def stamp_of(folder, capsys, *options):
    capsys.readouterr()
    code = main(['verify', str(folder), *map(str, options)])
    found = re.search(r'^(?:ok|-|\?\?) +time stamp +(.*)$', capsys.readouterr().out, re.MULTILINE)
    return code, found and found[1]


def test_an_authority_tells_when_a_registration_was_there(base, authority, tmp_path, capsys):
    of_authority, answer = authority
    tsa, other = (['--tsa', of_authority / f'{name}.pem'] for name in ('tsa', 'other'))
    assert stamp_of(base / 'a', capsys) == (0, None)
    assert stamp_of(base / 'a', capsys, *tsa) == (9, 'FAILS: there is none')
    assert register(base, '--seed', '4', '--timestamp-url', served(answer)) == 0
    time.sleep(1.1)  # the ledger counts whole seconds
    assert ran(base, 'b', 2) == 0
    assert main(['certify', str(base / 'b'), '--publish', '--output', str(base / 'pub')]) == 0
    for folder in ('b', 'pub'):
        code, line = stamp_of(base / folder, capsys, *tsa)
        assert code == 0
        assert re.fullmatch(r'20\d\d-.*\+0000, before the campaign began', line)
        assert 'not by an authority that you named' in stamp_of(base / folder, capsys)[1]
        code, line = stamp_of(base / folder, capsys, *other)
        assert code == 9
        assert 'Error while verifying certificates' in line
    # The stamp of another registration, and what is none.
    shutil.copy(base / 'b' / TIMESTAMP, base / 'a' / TIMESTAMP)
    assert re.search(
        'FAILS: of 20.*Mismatch between messages', stamp_of(base / 'a', capsys, *tsa)[1]
    )
    (base / 'a' / TIMESTAMP).write_bytes(b'\x30\x03\x02\x01\x00')
    assert stamp_of(base / 'a', capsys, *tsa)[1] == f'FAILS: {TIMESTAMP} is none of RFC 3161'
    # One that was asked for later proves less.
    stamped = base / 'ledger' / 'registration-1.json'
    late = fetch_timestamp(stamped, served(answer))
    shutil.copy(late, base / 'a' / TIMESTAMP)
    code, line = stamp_of(base / 'a', capsys, *tsa)
    assert 'after the campaign had begun' in line
    assert line.startswith('not checked')


def test_an_authority_that_gives_none_is_told_and_the_registration_stands(base, authority, capsys):
    assert register(base, '--timestamp-url', served(lambda _: b'no')) == 2
    assert 'found http://127.0.0.1:' in capsys.readouterr().err
    assert len(read_ledger(base / 'ledger').campaigns) == 2
    assert register(base, '--timestamp-url', 'nowhere') == 2


# What is refused before the first test -----------------------------------------------------------


@pytest.mark.parametrize(
    ('tester', 'options', 'told'),
    [
        ({}, ['--seed', '4'], 'found 4, expected 3, which was registered'),
        ({'seed': 4}, [], 'found 4, expected 3, which was registered'),
        ({'max_tests': 7}, [], r'another campaign \(tester.max_tests: not expected\)'),
        ({}, ['--seed-value', 'ff'], 'found ff, expected none: the seed was registered'),
    ],
)
def test_another_campaign_than_the_registered_one_is_refused(tester, options, told, base, capsys):
    assert register(base, '--seed', '3') == 0
    seed = tester.pop('seed', None)
    specification_in(base, seed, **tester)
    capsys.readouterr()
    assert ran(base, 'b', 2, *options) == 2
    error = capsys.readouterr().err
    assert re.search(told, error), error
    assert error.count('\n') == 1
    assert not (base / 'b').exists()
    assert ran(base, 'b', 2, *options, file='a/specification.yaml') == (2 if options else 0)


def test_another_specification_is_refused(base, capsys):
    assert register(base) == 0
    file = base / 'of.yaml'
    file.write_text(file.read_text().replace('gain: 6.0', 'gain: 6.5'))
    assert ran(base, 'b', 2) == 2
    assert 'another campaign (specification.digest: found' in capsys.readouterr().err


def begun_by_run(base, registration):
    """A campaign whose nodes did not start."""
    begin_registered(registration, base / 'x', 'of-1', 'c0ffee')
    assert 'may be used again' in close_registered(registration, base / 'x')
    return base / 'x'


def begun_by_launch(base, registration):
    """... whose scheduler had made its journal."""
    arguments = [SEED, REGISTRATION, SEED_VALUE, OUTPUT]
    values = {
        'specification': f'{base / "of.yaml"}', 'output': f'{base / "x"}', 'seed': SEED.default,
        'registration': f'{registration}', 'seed_value': 'c0ffee',
    }  # fmt: skip
    for name, told in [('output', 'found none'), ('seed_value', 'found none'), ('seed', '7')]:
        with pytest.raises(ParameterError, match=told):
            look_first(arguments, {**values, name: '7' if name == 'seed' else ''})
    given = look_first(arguments, values)
    queue = patient_queue(base / 'x', load(base / 'of.yaml'), given['campaign_id'],
                         int(given['seed']))  # fmt: skip
    queue.close()
    again = {**values, 'resume': 'true'}
    assert look_first(arguments, again) == {'seed': given['seed']}
    with pytest.raises(ParameterError, match='registration: found none'):
        look_first(arguments, {**again, 'registration': '', 'seed_value': ''})
    assert 'result    none: no test was commanded' in closing_text(base / 'x', 3, registration)
    return base / 'x'


def test_a_registration_serves_once(base, capsys):
    assert ran(base, 'b', 1) == 2
    assert 'found number 1, which has begun as of-' in capsys.readouterr().err.replace(
        'g1_locomotion-', 'of-'
    )
    assert register(base) == 0
    abandon = ['register', '--ledger', str(base / 'ledger'), '--reason', 'rain', '--abandon']
    assert main([*abandon, '2']) == 0
    assert ran(base, 'b', 2) == 2
    assert 'has been abandoned' in capsys.readouterr().err
    for number in ('1', '2', '3'):  # with a result, abandoned, not there
        assert main([*abandon, number]) == 2


@pytest.mark.parametrize('begin', [begun_by_run, begun_by_launch])
def test_a_registration_serves_again_where_no_test_was_commanded(begin, base, tmp_path, capsys):
    assert register(base, '--seed-from', 'drand 4711') == 0
    registration = base / 'ledger' / 'registration-2.json'
    released = begin(base, registration)
    # Its folder goes on with nothing, and another public value would be another campaign.
    resume = ['run', '--resume', str(released), '--registration', str(registration)]
    assert main(resume) == 2
    assert ran(base, 'b', 2, '--seed-value', 'decade') == 2
    assert 'expected c0ffee, with which it began' in capsys.readouterr().err
    assert ran(base, 'b', 2, '--seed-value', 'c0ffee') == 0
    code, line = verified(base / 'b', capsys)
    assert code == 0
    assert '= c0ffee, begun 1 times before without a test' in line
    code, line = verified(base / 'a', capsys, '--ledger', base / 'ledger')
    assert re.search(r'number 2: value .*, begun 1 times before without a test', line)
    # Who shows a campaign that "had no test" is found.
    shown = shutil.copytree(base / 'b', tmp_path / 'shown')
    told = lines_of(shown)
    told[0][1]['ledger'] = read_ledger(base / 'ledger').heads[4]
    ledger = (shown / LEDGER).read_bytes()
    forge(shown, base / 'of.yaml', told)
    (shown / LEDGER).write_bytes(ledger)
    code, line = verified(shown, capsys)
    assert code == 9
    assert 'says that this campaign ended before its first test' in line


def test_a_registration_is_used_where_a_test_may_have_been_commanded(base):
    assert register(base, '--seed', '4') == 0
    registration = base / 'ledger' / 'registration-2.json'
    begin_registered(registration, base / 'b', 'of-1', '')
    queue = patient_queue(base / 'b', load(base / 'of.yaml'), 'of-1', 4)
    queue.write(CASE, dict(lines_of(base / 'a')[2][1]))
    queue.close()
    assert close_registered(registration, base / 'b') == ''
    assert read_ledger(base / 'ledger').campaigns[1].fate == 'begun, no result'
    assert ran(base, 'c', 2) == 2


def test_a_campaign_goes_on_with_its_registration(base, capsys):
    assert main(['run', '--resume', str(base / 'a')]) == 2
    assert 'found none, expected the one that the campaign began with' in capsys.readouterr().err


@pytest.mark.parametrize('missing', ['--lab', '--key'])
def test_a_registration_is_signed_by_a_lab(missing, base, capsys):
    words = ['register', str(base / 'of.yaml'), '--lab', 'x', '--key', str(base / 'lab.key')]
    place = words.index(missing)
    assert main(words[:place] + words[place + 2 :]) == 2
    assert f'parameter {missing[2:]}: found none' in capsys.readouterr().err


# Cheats ------------------------------------------------------------------------------------------


def again(base, folder, registered=True):
    """Certify a folder as one does who cheats: with a `certify` that asks nothing."""
    document = make_document(recompute(folder))
    if not registered:
        document.pop('registration')
    issue(document, folder, read_private(base / 'lab.key'))


def campaign_left_out(base):
    """The first registration, whose result displeased, never was: the second one is shown."""
    register(base, '--seed', '4')
    ran(base, 'b', 2)
    kept = [line for line in ledger_lines(base / 'ledger') if line[1].get('number') != 1]
    rewrite(base / 'b', kept[1:])
    return (base / 'b',)


def result_left_out(base):
    """The first campaign "has no result": it is not to be told what it was."""
    register(base, '--seed', '4')
    ran(base, 'b', 2)
    rewrite(base / 'b', [line for k, line in enumerate(ledger_lines(base / 'b')) if k != 2])
    return (base / 'b',)


def campaign_left_out_and_signed_again(base):
    """... and all that follows is signed again: the journal's first line names another one."""
    register(base, '--seed', '4')
    ran(base, 'b', 2)
    lines = ledger_lines(base / 'ledger')[3:]
    statement = {**lines[0][1]['statement'], 'number': 1, 'ledger': {'lines': 0, 'head': '0' * 64}}
    del statement['digest'], statement['signature']
    statement['digest'] = content_digest(statement)
    statement['signature'] = sign(statement, read_private(base / 'lab.key'))
    lines = [(event, {**content, 'number': 1}) for event, content in lines[1:]]
    rewrite(base / 'b', [('registered', {'statement': statement}), *lines])
    return (base / 'b',)


def line_changed(base, name='a'):
    file = base / name / LEDGER
    file.write_text(file.read_text().replace('"tests":6', '"tests":7'))
    return (base / 'a',)


def later_lines_left_out(base):
    """A campaign that was abandoned leaves the ledger again."""
    register(base, '--seed', '4')
    main(['certify', str(base / 'a'), '--ledger', str(base / 'ledger')])
    rewrite(base / 'ledger', ledger_lines(base / 'ledger')[:3])
    return base / 'a', '--ledger', base / 'ledger'


def more_tests_than_registered(base):
    """The number of tests is chosen with the result before one's eyes."""
    content = yaml.safe_load((base / 'a' / SPECIFICATION).read_text())
    content['tester']['stopping']['tests'] = 5
    lines = lines_of(base / 'a')
    kept = [line for line in lines if line[1].get('index') != 5]
    file = base / 'five.yaml'
    file.write_text(yaml.safe_dump(content))
    ledger = (base / 'a' / LEDGER).read_bytes()
    forge(base / 'a', file, kept)
    (base / 'a' / LEDGER).write_bytes(ledger)
    again(base, base / 'a')
    return (base / 'a',)


def another_campaign_in_its_place(base):
    """A second campaign with another seed takes the name of the registered one."""
    main(['run', str(base / 'of.yaml'), *SIMULATED, '--seed', '8', '--output', str(base / 'b')])
    lines = lines_of(base / 'b')
    first = dict(lines_of(base / 'a')[0][1])
    lines[0][1].update(campaign_id=first['campaign_id'], ledger=first['ledger'])
    forge(base / 'b', base / 'of.yaml', lines)
    shutil.copy(base / 'a' / LEDGER, base / 'b' / LEDGER)
    again(base, base / 'b')
    return (base / 'b',)


def a_second_try(base):
    """The same cases once more, since the robot may do better."""
    lines = lines_of(base / 'a')
    for _, content in lines:
        if 'psi' in content:
            content['psi'] *= 0.9
    ledger = (base / 'a' / LEDGER).read_bytes()
    forge(base / 'a', base / 'of.yaml', lines)
    (base / 'a' / LEDGER).write_bytes(ledger)
    again(base, base / 'a')
    return (base / 'a',)


def another_public_value(base):
    """The seed is not the one that the public value gives."""
    register(base, '--seed-from', 'drand 4711')
    ran(base, 'b', 2, '--seed-value', 'c0ffee')
    lines = ledger_lines(base / 'b')
    lines[4][1]['seed_value'] = 'decade'
    rewrite(base / 'b', lines)
    heads = read_ledger(base / 'b').heads
    told = lines_of(base / 'b')
    told[0][1]['ledger'] = heads[4]
    ledger = (base / 'b' / LEDGER).read_bytes()
    forge(base / 'b', base / 'of.yaml', told)
    (base / 'b' / LEDGER).write_bytes(ledger)
    again(base, base / 'b')
    return (base / 'b',)


def abandoned_and_shown(base):
    lines = ledger_lines(base / 'a')[:2]
    rewrite(base / 'a', [*lines, ('abandoned', {'date': '', 'number': 1, 'reason': 'rain'})])
    again(base, base / 'a')
    return (base / 'a',)


def certificate_says_nothing_of_it(base):
    again(base, base / 'a', registered=False)
    return (base / 'a',)


def signed_by_a_stranger(base):
    lines = ledger_lines(base / 'a')
    statement = lines[0][1]['statement']
    del statement['signature']
    statement['signature'] = sign(statement, read_private(base / 'other.key'))
    rewrite(base / 'a', lines)
    told = lines_of(base / 'a')
    told[0][1]['ledger'] = read_ledger(base / 'a').heads[1]
    ledger = (base / 'a' / LEDGER).read_bytes()
    forge(base / 'a', base / 'of.yaml', told)
    (base / 'a' / LEDGER).write_bytes(ledger)
    again(base, base / 'a')
    return base / 'a', '--key', base / 'lab.key.pub'


def begun_twice(base):
    lines = ledger_lines(base / 'a')
    rewrite(base / 'a', [*lines[:2], (lines[1][0], {**lines[1][1], 'campaign_id': 'b'})])
    return (base / 'a',)


CHEATS = [
    (campaign_left_out, 'line 1: found registration 2 out of turn'),
    (result_left_out, 'line 3: found a registration that was signed for another place'),
    (campaign_left_out_and_signed_again, 'has no line .*, by which this campaign began'),
    (line_changed, 'line 1: found a digest that does not fit'),
    (later_lines_left_out, 'line 4 is not the one that the certificate names'),
    (more_tests_than_registered, 'tester.stopping.tests: found 5, the registration has 6'),
    (another_campaign_in_its_place, 'seed 8, the registration gives 3'),
    (a_second_try, 'the ledger names another journal for its result'),
    (another_public_value, r'seed \d+, the registration gives \d+'),
    (abandoned_and_shown, 'the ledger says that it was abandoned: rain'),
    (certificate_says_nothing_of_it, 'the certificate names another line of the ledger'),
    (signed_by_a_stranger, 'its signature is made with another key'),
    (begun_twice, 'line 3: found a second beginning of one registration'),
]


@pytest.mark.parametrize(('cheat', 'told'), CHEATS, ids=[each.__name__ for each, _ in CHEATS])
def test_a_cheat_with_the_ledger_is_found(cheat, told, base, capsys):
    folder, *options = cheat(base)
    code, line = verified(folder, capsys, *options)
    assert code == 9
    assert line.startswith('FAILS: ')
    assert re.search(told, line), line


def test_two_ledgers_of_one_key_are_found_and_two_states_of_one_are_none(base, capsys):
    replication = 'a/replication.yaml'
    assert register(base, '--seed', '4', file=replication) == 0
    assert ran(base, 'b', 2, file=replication) == 0
    compare = ['compare', str(base / 'a'), str(base / 'b')]
    assert main(compare) in (0, 8)
    other = base / 'ledger'
    other.rename(base / 'first')
    assert register(base, '--seed', '5', file=replication) == 0
    assert ran(base, 'c', 1, file=replication) == 0
    capsys.readouterr()
    assert main([*compare[:2], str(base / 'c')]) == 9
    assert 'found two ledgers of Lab One' in capsys.readouterr().err
    # A stranger who names the lab's key signs nothing.
    lines = ledger_lines(base / 'c')
    lines[0][1]['statement']['lab'] = 'Lab Two'
    rewrite(base / 'c', lines)
    require_one_ledger([read_lab(base / 'a'), replace(read_lab(base / 'b'), ledger=base / 'c')])


def test_a_ledger_that_is_not_there_is_not_made(base, capsys):
    assert main(['certify', str(base / 'a'), '--ledger', str(base / 'none')]) == 2
    assert main(['verify', str(base / 'a'), '--ledger', str(base / 'none')]) == 2
    assert 'which is not there' in capsys.readouterr().err
    assert not (base / 'none').exists()


def test_two_processes_never_write_a_ledger_at_once(base, capsys):
    held = Journal(base / 'ledger' / LEDGER)
    try:
        assert register(base) == 6
        assert 'another process writes it' in capsys.readouterr().err
    finally:
        held.close()
    assert register(base) == 0
    (base / 'ledger' / LEDGER).write_text('{}\n')
    assert register(base) == 9
    assert 'line 1: found no event' in capsys.readouterr().err


def test_a_registration_that_was_edited_or_is_in_no_ledger_is_refused(base, capsys):
    assert register(base) == 0
    file = base / 'ledger' / 'registration-2.json'
    whole = file.read_text()
    for text, told in [
        (whole.replace('"Lab One"', '"Lab Two"'), 'it was edited'),
        (whole[:50], 'no valid JSON'),
        ('{}', 'is a required property'),
    ]:
        file.write_text(text)
        assert ran(base, 'b', 2) == 9
        assert told in capsys.readouterr().err
    file.write_text(whole)
    rewrite(base / 'ledger', ledger_lines(base / 'ledger')[:3])
    assert ran(base, 'b', 2) == 9
    assert 'found no such line' in capsys.readouterr().err
    assert not (base / 'b').exists()
