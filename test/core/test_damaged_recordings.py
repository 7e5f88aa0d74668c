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

"""Damaged recordings: psi is right, or a line says why not; --recover uses what is readable."""

import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repsq_ros.cli import main
from repsq_ros.errors import BagError
from repsq_ros.recordings.mcap_records import (
    LARGEST_CHUNK,
    ChunkHead,
    DamagedError,
    unpacked,
    zstd_module,
)
from repsq_ros.recordings.recording import Recording

pytest.importorskip('rosbags')

from support.made_bags import (
    CHANNELS,
    FORMS,
    START,
    STORE,
    TYPES,
    mcap_of,
    raw_poses,
    storage_of,
    walk,
    write_bag,
)

TESTS = 6
TOPICS = ('--sensor-topic', '/mocap', '--command-topic', '/cmd_vel', '--settle', '1')


@pytest.fixture(scope='module')
def walks(tmp_path_factory):
    """Return one recording in each form."""
    folder = tmp_path_factory.mktemp('walks')
    return {form: write_bag(folder / form, walk(TESTS, tail=0.5), form) for form in FORMS}


@pytest.fixture
def specification(content, write):
    content['measure']['source'] = 'mocap'
    return write(content)


@pytest.fixture
def psi_of(specification, capsys):
    """Return exit code, psi by test, and what standard error says, of a recording."""

    def evaluate(path, *options):
        capsys.readouterr()
        words = ['reevaluate', str(path), '--specification', str(specification), *TOPICS]
        code = main([*words, *options])
        out, err = capsys.readouterr()
        rows = [line.split() for line in out.splitlines() if line[:4].strip().isdigit()]
        found = {row[0]: row[4] for row in rows if row[4] != 'INVALID'}
        assert 'Traceback' not in err
        return code, found, err

    return evaluate


def copied(source, folder, change):
    """Copy a recording and change its file: from bytes to bytes."""
    copy = shutil.copytree(source, folder)
    file = storage_of(copy)
    file.write_bytes(change(bytearray(file.read_bytes())))
    return copy


def held(code, found, err, good):
    """Require psi to be right, or a line that says why not."""
    if code == 4:
        assert not found or err
        assert err.startswith('repsq: ')
        assert err.count('\n') >= 1
        return
    assert code == 0
    wrong = {test for test, psi in found.items() if good.get(test) != psi}
    lost = set(good) - set(found)
    assert not (wrong or lost) or err.startswith('repsq: '), (wrong, lost)


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('recover', [(), ('--recover',)], ids=['', 'recover'])
def test_whole_recordings_are_read_without_a_word(walks, psi_of, form, recover):
    code, found, err = psi_of(walks[form], *recover)
    assert (code, len(found), err) == (0, TESTS, '')
    assert found == psi_of(walks['plain'])[1]


@pytest.mark.parametrize('form', FORMS)
def test_truncations(walks, psi_of, tmp_path, form):
    good = psi_of(walks[form])[1]
    size = storage_of(walks[form]).stat().st_size
    recovered = 0
    for k, end in enumerate(np.linspace(1, size - 1, 20).astype(int)):
        copy = copied(walks[form], tmp_path / f'{k}', lambda data, end=end: data[:end])
        code, found, err = psi_of(copy)
        assert code == 4
        assert not found
        assert err.count('\n') == 1
        code, found, err = psi_of(copy, '--recover')
        held(code, found, err, good)
        assert err
        recovered += code == 0
        if form != 'sqlite3':  # what was whole before the cut is right, but for the last test
            assert all(good[test] == psi for test, psi in list(found.items())[:-1])
    # A packed chunk gives what was whole of its blocks, and this one is a single block.
    assert recovered >= {'plain': 8, 'zstd': 1, 'sqlite3': 8}[form]


@pytest.mark.parametrize('form', FORMS)
def test_flipped_bytes(walks, psi_of, tmp_path, form):
    """Where chunks have no checksum, a flip in a number passes: it is what the digest is for."""
    rng = np.random.default_rng(11)
    good = psi_of(walks[form])[1]
    size = storage_of(walks[form]).stat().st_size
    for k in range(12):
        at, bit = int(rng.integers(size)), 1 << int(rng.integers(8))

        def flip(data, at=at, bit=bit):
            data[at] ^= bit
            return data

        copy = copied(walks[form], tmp_path / f'{k}', flip)
        for options in ((), ('--recover',)):
            code, found, err = psi_of(copy, *options)
            if code == 0 and not err:
                silent = [test for test in good if found.get(test) != good[test]]
                assert len(silent) <= 1, (at, bit)
            else:
                assert err.startswith('repsq: ')


def test_flips_in_chunks_with_a_checksum_never_pass(tmp_path):
    whole = mcap_of(CHANNELS, raw_poses(205))
    begin, end = whole.index(b'world'), whole.rindex(b'world')
    rng = np.random.default_rng(2)
    for k in range(20):
        data = bytearray(whole)
        data[int(rng.integers(begin, end))] ^= 1 << int(rng.integers(8))
        file = tmp_path / f'{k}.mcap'
        file.write_bytes(data)
        with (
            pytest.raises(BagError, match=r'mcap recover, or --recover'),
            Recording(file) as recording,
        ):
            list(recording.messages('/mocap'))
        with Recording(file, recover=True) as recording:
            found = [item.log_ns for item in recording.messages('/mocap')]
            assert 160 <= len(found) < 205
            assert set(found) <= {log_ns for _, log_ns, _ in raw_poses(205)}
            assert any('byte' in loss for loss in recording.losses)
            assert any('statistics at its end say 205' in loss for loss in recording.losses)


@pytest.mark.parametrize('form', ['plain', 'zstd'])
def test_a_footer_that_is_cut_loses_nothing(walks, psi_of, tmp_path, form):
    good = psi_of(walks[form])[1]
    copy = copied(walks[form], tmp_path / 'copy', lambda data: data[:-20])
    code, _, err = psi_of(copy)
    assert code == 4
    assert 'no footer' in err
    assert 'mcap recover, or --recover' in err
    code, found, err = psi_of(copy, '--recover')
    assert (code, found) == (0, good)
    assert 'no footer' in err


@pytest.mark.parametrize('chunk', [0, 40])
@pytest.mark.parametrize('crc', [True, False])
def test_what_lies_before_a_cut_is_read_to_the_last_message(tmp_path, chunk, crc):
    poses = raw_poses(205)
    whole = mcap_of(CHANNELS, poses, chunk=chunk, crc=crc)
    ends = [whole.index(raw) + len(raw) for _, _, raw in poses]
    for cut in (ends[7], ends[100] - 1, ends[180] + 3, ends[204]):
        file = tmp_path / 'x.mcap'
        file.write_bytes(whole[:cut])
        with Recording(file, recover=True) as recording:
            found = [item.log_ns for item in recording.messages('/mocap')]
            assert recording.losses
        assert found == [
            log_ns for (_, log_ns, _), end in zip(poses, ends, strict=True) if end <= cut
        ]


def test_a_chunk_in_the_middle_that_is_overwritten_loses_itself_alone(tmp_path):
    whole = bytearray(mcap_of(CHANNELS, raw_poses(205), crc=False))
    at = whole.index(raw_poses(205)[90][2]) - 3000
    whole[at : at + 600] = bytes(600)
    file = tmp_path / 'x.mcap'
    file.write_bytes(whole)
    with Recording(file, recover=True) as recording:
        found = [item.log_ns for item in recording.messages('/mocap')]
        assert 165 <= len(found) < 205
        assert recording.losses


@pytest.mark.parametrize('form', FORMS)
def test_a_folder_without_metadata_is_read_by_recover(walks, psi_of, tmp_path, form):
    copy = shutil.copytree(walks[form], tmp_path / 'copy')
    (copy / 'metadata.yaml').unlink()
    code, _, err = psi_of(copy)
    assert code == 4
    assert 'ros2 bag reindex' in err
    code, found, err = psi_of(copy, '--recover')
    assert (code, found) == (0, psi_of(walks[form])[1])
    assert 'no metadata.yaml' in err


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('options', [(), ('--recover',)], ids=['', 'recover'])
def test_counts_that_were_altered_are_told(walks, psi_of, tmp_path, form, options):
    copy = shutil.copytree(walks[form], tmp_path / 'copy')
    metadata = copy / 'metadata.yaml'
    told = yaml.safe_load(metadata.read_text())
    for each in told['rosbag2_bagfile_information']['topics_with_message_count']:
        each['message_count'] += 3
    metadata.write_text(yaml.safe_dump(told))
    code, found, err = psi_of(copy, *options)
    assert (code, found) == (0, psi_of(walks[form])[1])
    assert 'metadata.yaml says 1228: ros2 bag reindex' in err


def test_rows_of_a_damaged_page_are_left_out(walks, psi_of, tmp_path):
    """A page of the table, zeroed: what the other pages hold is used."""

    def zero(data):
        at = len(data) // 2 // 4096 * 4096
        data[at : at + 4096] = bytes(4096)
        return data

    copy = copied(walks['sqlite3'], tmp_path / 'copy', zero)
    code, found, err = psi_of(copy)
    assert code == 4
    assert 'sqlite3 .recover, or --recover' in err
    code, found, err = psi_of(copy, '--recover')
    assert code == 0
    assert len(found) >= TESTS - 2
    assert 'rows cannot be read' in err or 'metadata.yaml says' in err


def test_a_listed_file_that_is_missing_is_told(walks, psi_of, tmp_path):
    copy = shutil.copytree(walks['plain'], tmp_path / 'copy')
    file = storage_of(copy)
    file.rename(copy / 'other.mcap')
    code, _, err = psi_of(copy)
    assert code == 4
    assert 'listed in metadata.yaml, and not there' in err
    code, found, err = psi_of(copy, '--recover')
    assert (code, len(found)) == (0, TESTS)


def test_inspect_tells_digests_and_losses(walks, tmp_path, capsys):
    copy = copied(walks['plain'], tmp_path / 'copy', lambda data: data[:-20])
    assert main(['inspect', str(copy)]) == 4
    capsys.readouterr()
    assert main(['inspect', str(copy), '--recover']) == 0
    out, err = capsys.readouterr()
    assert 'sha256    ' in out
    assert 'no footer' in err
    assert '/mocap  (geometry_msgs/msg/PoseStamped)' in out


@pytest.mark.parametrize('packing', ['zstd', 'lz4'])
def test_no_more_is_unpacked_than_the_head_of_a_chunk_says(tmp_path, packing):
    """1 GB of zeros in some kB: the process stays small."""
    many, million = 1000, bytes(1_000_000)
    if packing == 'zstd':
        compressor = zstd_module().ZstdCompressor()
        bomb = b''.join([*(compressor.compress(million) for _ in range(many)), compressor.flush()])
    else:
        frame = pytest.importorskip('lz4.frame')
        with frame.LZ4FrameCompressor() as compressor:
            begin = compressor.begin()
            packed = [compressor.compress(million) for _ in range(many)]
            bomb = b''.join([begin, *packed, compressor.flush()])
    file = tmp_path / 'x.mcap'
    file.write_bytes(mcap_of(CHANNELS, raw_poses(40), pack=(packing, lambda _: bomb)))
    look = (
        'import sys; from repsq_ros.cli import main; code = main(sys.argv[1:]); '
        "status = open('/proc/self/status').read(); "
        "print(code, status.split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, '-c', look, 'inspect', str(file)],
        check=False,
        capture_output=True,
        text=True,
    )
    code, kilobytes = done.stdout.split()
    assert code == '4'
    assert 'bytes that its head says' in done.stderr
    assert int(kilobytes) < 250_000


def test_a_chunk_that_claims_too_much_is_not_unpacked():
    head = ChunkHead(0, 1, LARGEST_CHUNK + 1, 0, 'zstd', 10, 40)
    with pytest.raises(DamagedError, match='claims'):
        unpacked(head, zstd_module().compress(b'little'))


@pytest.mark.parametrize('options', [(), ('--recover',)], ids=['', 'recover'])
def test_a_packed_message_that_is_damaged_is_one_message(tmp_path, capsys, options):
    told = walk(1)
    packed = [
        (log_ns, topic, kind, zstd_module().compress(bytes(STORE.serialize_cdr(message, kind))))
        for log_ns, topic, kind, message in told
    ]
    packed[3] = (*packed[3][:3], packed[3][3][:-4])
    folder = write_bag(tmp_path / 'bag', packed)
    metadata = folder / 'metadata.yaml'
    content = yaml.safe_load(metadata.read_text())
    information = content['rosbag2_bagfile_information']
    information.update(compression_mode='MESSAGE', compression_format='zstd')
    metadata.write_text(yaml.safe_dump(content))
    code = main(['inspect', str(folder), *options])
    err = capsys.readouterr().err
    assert code == (0 if options else 4)
    assert ('1 messages cannot be unpacked' in err) if options else ('cannot be unpacked' in err)


# sqlite3, page by page ---------------------------------------------------------------------------


def rows_before(file, end):
    """Return the log times of messages that lie in complete pages before a place."""
    data, found = file.read_bytes(), []
    with sqlite3.connect(file) as base:
        for log_ns, raw in base.execute('SELECT timestamp, data FROM messages ORDER BY id'):
            at = data.index(raw)
            assert data.count(raw) == 1
            if at // 4096 * 4096 + 4096 <= end:
                found.append(log_ns)
    return found


@pytest.mark.parametrize('part', [0.5, 0.9])
def test_all_rows_in_complete_pages_of_a_cut_database_are_read(walks, tmp_path, part):
    file = storage_of(walks['sqlite3'])
    end = round(file.stat().st_size * part)
    cut = tmp_path / 'x.db3'
    cut.write_bytes(file.read_bytes()[:end])
    with Recording(cut, recover=True) as recording:
        found = [item.log_ns for item in recording.messages('/mocap', '/cmd_vel', raw=True)]
        assert any(loss.endswith(f'cut: {end} of {file.stat().st_size} bytes')
                   for loss in recording.losses)  # fmt: skip
    assert found == rows_before(file, end)
    assert len(found) > 100


def test_topics_are_known_by_their_rows_where_the_first_page_is_lost(walks, tmp_path):
    file = storage_of(walks['sqlite3'])
    data = file.read_bytes()
    damaged = tmp_path / 'x.db3'
    damaged.write_bytes(data[:18] + bytes(4096 - 18) + data[4096:])
    with Recording(file) as whole, Recording(damaged, recover=True) as recording:
        assert recording.topics() == whole.topics()
        assert list(recording.messages('/mocap', raw=True)) == list(
            whole.messages('/mocap', raw=True)
        )
        assert len(recording.losses) == 1


def test_rows_that_are_missing_in_between_are_counted(walks, tmp_path):
    file = storage_of(walks['sqlite3'])
    data = bytearray(file.read_bytes())
    at = data.index(b'\x0d', len(data) // 2 // 4096 * 4096) // 4096 * 4096
    data[at : at + 4096] = bytes(4096)
    damaged = tmp_path / 'x.db3'
    damaged.write_bytes(data)
    with Recording(file) as whole, Recording(damaged, recover=True) as recording:
        every = {item.log_ns for item in whole.messages('/mocap', '/cmd_vel', raw=True)}
        found = [item.log_ns for item in recording.messages('/mocap', '/cmd_vel', raw=True)]
        missing = len(every) - len(found)
        assert 0 < missing < 40
        assert any(f'{missing} rows are missing' in loss for loss in recording.losses)
    assert set(found) <= every


@pytest.mark.parametrize('size', [10, 4060, 4061, 4062, 5000, 100_000])
def test_rows_that_go_on_in_other_pages_are_read(tmp_path, size):
    told = [
        (START + k, '/text', 'std_msgs/msg/String', TYPES['std_msgs/msg/String']('x' * (size + k)))
        for k in range(12)
    ]
    file = storage_of(write_bag(tmp_path / 'bag', told, 'sqlite3'))
    with Recording(file) as whole, Recording(file, recover=True) as recording:
        assert list(recording.messages('/text', raw=True)) == list(
            whole.messages('/text', raw=True)
        )
        assert recording.losses == []


@given(st.data())
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_no_damage_of_a_database_stops_its_recovery(walks, tmp_path_factory, data):
    content = bytearray(storage_of(walks['sqlite3']).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 9))
        content[at : at + 8] = data.draw(st.binary(min_size=8, max_size=8))
    file = tmp_path_factory.mktemp('damaged') / 'x.db3'
    file.write_bytes(content[: data.draw(st.integers(100, len(content)))])
    try:
        with Recording(file, recover=True) as recording:
            for _ in recording.messages(*recording.topics(), raw=True):
                pass
    except BagError as error:
        assert str(file) in str(error)
