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

"""A certificate that names a recording: its bytes, and psi of every test in it."""

import json
import re

import pytest
from conftest import ROOT
from support.folders import leave_folder
from support.recording import typestore

from repsq_ros import topics
from repsq_ros.cli import main
from repsq_ros.messages import campaign_messages

pytest.importorskip('rosbags')
pytest.importorskip('jsonschema')


@pytest.fixture(scope='module')
def measured(recorded):
    """The tests as the measurement node said them while the campaign ran."""
    from rosbags.highlevel import AnyReader

    bag, file, result, *_ = recorded
    records = {}  # one that is asked for again is said again
    with AnyReader([bag], default_typestore=typestore(ROOT)) as reader:
        wanted = [c for c in reader.connections if c.topic == f'/{topics.TEST_MEASUREMENT}']
        for connection, _, raw in reader.messages(connections=wanted):
            message = reader.deserialize(raw, connection.msgtype)
            record = campaign_messages.test_record_of(message)
            records.setdefault((record.index, record.attempt), record)
    assert sum(record.valid for record in records.values()) == result.n
    return bag, file, list(records.values())


def certified(folder, measured, change=lambda record: record):
    bag, file, records = measured
    leave_folder(folder, file, [change(record) for record in records], seed=7)
    assert main(['certify', str(folder), '--bag', str(bag)]) == 0
    return ['verify', str(folder), '--bag', str(bag)]


def test_psi_is_computed_anew_from_the_recording(measured, tmp_path, capsys):
    command = certified(tmp_path / 'lab', measured)
    assert main(command) == 0
    count = sum(not (record.skipped or record.broken_off) for record in measured[2])
    assert re.search(rf'ok psi again from bag +{count} tests', capsys.readouterr().out)


def test_a_journal_that_says_another_psi_than_its_recording_is_found(
    measured, tmp_path, capsys
):  # fmt: skip
    """Everything fits together, digests and all: only the sensor says otherwise."""
    from dataclasses import replace

    def better(record):
        return replace(record, psi=record.psi * 0.99) if record.index == 7 else record

    command = certified(tmp_path / 'lab', measured, better)
    assert main(['verify', command[1]]) == 0
    capsys.readouterr()
    assert main(command) == 9
    printed = capsys.readouterr().out
    assert re.search(r'psi again from bag .*FAILS: test 7, attempt 0: psi is', printed)
    assert 'test 8' not in printed


def test_a_recording_of_something_else_is_told(measured, tmp_path, capsys):
    command = certified(tmp_path / 'lab', measured)
    file = tmp_path / 'lab' / 'certificate.json'
    named = json.loads(file.read_text())['bags'][0]
    assert named['name'] == 'bag'
    (tmp_path / 'bag').mkdir()
    (tmp_path / 'bag' / 'bag_0.mcap').write_bytes(b'nothing')
    assert main([*command[:-1], str(tmp_path / 'bag')]) == 9
    assert 'recording bag' in capsys.readouterr().out
