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

"""Whatever a stranger writes into a campaign's folder: one line, no traceback, and never valid.

One value of one file is replaced, left out or added; digests are made again, and certificates are
signed again by a key of the stranger.
"""

import copy
import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from repsq_ros.campaign.folder import RESULT, SPECIFICATION, TESTS
from repsq_ros.campaign.journal import JOURNAL, LEDGER, Journal, read_journal
from repsq_ros.certificate.canonical import content_digest
from repsq_ros.certificate.document import CERTIFICATE
from repsq_ros.certificate.signature import read_private, sign
from repsq_ros.cli import main

pytest.importorskip('cryptography')
pytest.importorskip('jsonschema')

DEMO = ROOT / 'config' / 'g1_locomotion.yaml'
STRANGE = [
    None, True, False, -1, 0, 1, 1.0, -0.0, 2.5, 2**52, 2**60, 1e308, -1e308, 5e-324, '', 'nan',
    'inf', '-inf', 'x', '12345678901234567890', '\u0661', [], {}, [1], [None], {'a': 1}, [[[]]],
    '0' * 64, '\ud800', 'a/../b', '..', float('inf'), float('nan'),
]  # fmt: skip


@pytest.fixture(scope='module')
def base(tmp_path_factory):
    """A registered, certified, published campaign, and a stranger's key."""
    base = tmp_path_factory.mktemp('strange')
    content = yaml.safe_load(DEMO.read_text())
    fixed = {'rule': 'fixed', 'tests': 4}
    content['tester'] = {'proposal': 'monte_carlo', 'stopping': fixed, 'seed': 3}
    (base / 'of.yaml').write_text(yaml.safe_dump(content))
    file, key, ledger, lab = (str(base / name) for name in ('of.yaml', 'key', 'ledger', 'lab'))
    registration = f'{ledger}/registration-1.json'
    for words in (
        ['certify', '--keygen', key],
        ['certify', '--keygen', str(base / 'other')],
        ['register', file, '--lab', 'Lab', '--key', key, '--ledger', ledger],
        [
            'run',
            file,
            '--simulate',
            '--in-process',
            '--output',
            lab,
            '--registration',
            registration,
        ],
        [
            'certify',
            lab,
            '--key',
            key,
            '--ledger',
            ledger,
            '--publish',
            '--output',
            f'{base}/open',
        ],
    ):
        assert main(words) == 0
    return base


def places(document, place=()):
    """Yield where the values of a document are: no more than three of a list."""
    inner = document.items() if isinstance(document, dict) else ()
    if isinstance(document, list):
        inner = enumerate(document[:3])
    for key, value in inner:
        yield (*place, key)
        yield from places(value, (*place, key))


def changed(document, data):
    """Return a copy with one value replaced, left out, or added."""
    document = copy.deepcopy(document)
    *way, last = data.draw(st.sampled_from(list(places(document))))
    holder = document
    for key in way:
        holder = holder[key]
    how = data.draw(st.sampled_from(['replaced'] * 4 + ['left out', 'added']))
    if how == 'left out':
        del holder[last]
    elif how == 'added' and isinstance(holder, dict):
        holder[data.draw(st.sampled_from(['', 'x', 'value', 'index']))] = data.draw(
            st.sampled_from(STRANGE)
        )
    else:
        holder[last] = data.draw(st.sampled_from(STRANGE))
    return document


def change_certificate(folder, data, key):
    """Change the certificate; where its numbers have a canonical form, sign it again."""
    before = json.loads((folder / CERTIFICATE).read_text())
    document = changed(before, data)
    own = data.draw(st.booleans())
    try:
        document['digest'] = content_digest(document)
        if own:
            document.pop('signature', None)
            document['signature'] = sign(document, key)
        text = json.dumps(document, indent=2) + '\n'
    except ValueError:  # no finite number
        text = json.dumps(document).replace('Infinity', '1e400')
    (folder / CERTIFICATE).write_text(text)
    return repr(document) != repr(before)  # 1 is not 1.0, nor True


def change_lines(file, data):
    """Change a line of a journal or of a ledger, and chain all of them again."""
    lines = [[entry.event, dict(entry.content)] for entry in read_journal(file)[0]]
    number = data.draw(st.integers(0, len(lines) - 1))
    lines[number] = changed(lines[number], data)
    file.unlink()
    journal = Journal(file)
    try:
        for event, content in lines:
            journal.append(event, **content)
    except (TypeError, ValueError):
        pass  # no line of a journal: it ends here
    finally:
        journal.close()


def change_yaml(file, data):
    file.write_text(yaml.safe_dump(changed(yaml.safe_load(file.read_text()), data)))


def change_bytes(file, data):
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    strange = [b'\xff', b'\x00', b'"', b'\n', b',', b':', b'- ', b'1e400', b'&a *a', b'']
    content[place : place + 1] = data.draw(st.sampled_from(strange))
    changes = bytes(content) != file.read_bytes()
    file.write_bytes(content)
    return changes


FILES = {
    'certificate': None,
    JOURNAL: change_lines,
    LEDGER: change_lines,
    RESULT: change_yaml,
    SPECIFICATION: change_yaml,
    TESTS: change_bytes,
}


@pytest.mark.parametrize('name', FILES)
@settings(max_examples=settings.default.max_examples // 4)
@given(data=st.data())
def test_a_strange_value_is_told_in_one_line_and_never_valid(name, base, data):
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / 'lab'
        published = name == 'certificate' and data.draw(st.booleans())
        shutil.copytree(base / ('open' if published else 'lab'), folder)
        change = FILES[name]
        if change is None:
            changes = change_certificate(folder, data, read_private(base / 'other'))
        else:
            changes = change(folder / name, data) is not False
            if data.draw(st.booleans()):
                (folder / CERTIFICATE).unlink()
        verify = ['verify', str(folder), '--strict']
        for words in (
            verify,
            [*verify, '--key', str(base / 'key.pub')],
            ['compare', str(folder), str(base / 'open')],
        ):
            with redirect_stderr(io.StringIO()) as told, redirect_stdout(io.StringIO()):
                code = main(words)
            assert code in (2, 7, 9, 10, 11) or (code == 0 and not changes), words
            assert told.getvalue().count('\n') <= 1
