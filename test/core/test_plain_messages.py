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

"""Messages by the layout of an earlier one are those that rosbags reads."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

rosbags_typesys = pytest.importorskip('rosbags.typesys')

from repsq_ros.recordings import plain_messages  # noqa: E402
from repsq_ros.recordings.cdr_layout import Layout  # noqa: E402
from repsq_ros.recordings.message_block import Channel  # noqa: E402
from repsq_ros.recordings.recorded_types import RecordedTypes  # noqa: E402
from repsq_ros.recordings.table import LAYOUTS, Decoder  # noqa: E402

NAME = 'repsq_ros/msg/Mixed'
DEFINITION = """
bool yes
bool[3] three
uint8 small
int16 near
string word
float32 rough
string[] words
int64 far
bool[] any
float64[] numbers
uint8[] bytes
repsq_ros/Inner[] inner
repsq_ros/Inner one
================================================================================
MSG: repsq_ros/Inner
uint16 count
string what
float64 value
"""
STORE = rosbags_typesys.get_typestore(rosbags_typesys.Stores.EMPTY)
STORE.register(rosbags_typesys.get_types_from_msg(DEFINITION, NAME))
INNER, MIXED = STORE.types['repsq_ros/msg/Inner'], STORE.types[NAME]


def plainly(value):
    """Return a message, of rosbags or plain, as namespaces with tuples for arrays."""
    if hasattr(value, '_asdict'):
        return SimpleNamespace(**{n: plainly(each) for n, each in value._asdict().items()})
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, list):
        return [plainly(each) for each in value]
    if hasattr(value, '__dataclass_fields__'):
        names = [n for n in value.__dataclass_fields__ if n != '__msgtype__']
        return SimpleNamespace(**{n: plainly(getattr(value, n)) for n in names})
    return value


def decoder():
    return Decoder(Channel('/t', NAME, 'cdr', DEFINITION, 'ros2msg'), RecordedTypes())


FLOATS = st.floats(allow_nan=False, width=64)
TEXTS = st.sampled_from(['', 'a', 'bc', 'd\u00e9'])
INNERS = st.builds(INNER, st.integers(0, 65535), TEXTS, FLOATS)
MESSAGES = st.builds(
    MIXED,
    st.booleans(),
    st.lists(st.booleans(), min_size=3, max_size=3).map(lambda v: np.array(v, dtype=bool)),
    st.integers(0, 255), st.integers(-(2**15), 2**15 - 1), TEXTS,
    st.floats(allow_nan=False, width=32), st.lists(TEXTS, max_size=2),
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.booleans(), max_size=3).map(lambda v: np.array(v, dtype=bool)),
    st.lists(FLOATS, max_size=3).map(lambda v: np.array(v, dtype=np.float64)),
    st.lists(st.integers(0, 255), max_size=3).map(lambda v: np.array(v, dtype=np.uint8)),
    st.lists(INNERS, max_size=2), INNERS,
)  # fmt: skip


@given(st.lists(st.tuples(MESSAGES, st.booleans()), min_size=1, max_size=6), st.booleans())
def test_every_field_is_that_of_rosbags(messages, again):
    """Whether or not parts are held against those of the message before."""
    reader = decoder()
    for message, little in messages * 2:
        raw = bytes(STORE.serialize_cdr(message, NAME, little_endian=little))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plain_messages, 'LARGE', 1 if again else 48)
            found = reader.plain(raw)
        assert repr(plainly(found)) == repr(plainly(reader.message(raw))), 'to the sign of 0'
        assert type(found.yes) is bool
        assert {type(each) for each in (*found.three, *found.any)} <= {bool}


def mixed(word='a', numbers=(1.0,)):
    none = np.empty(0, dtype=bool)
    return MIXED(
        True, np.array([True, False, True]), 1, 2, word, 0.5, ['x'], 3, none,
        np.array(numbers), np.empty(0, dtype=np.uint8), [], INNER(1, 'in', 2.0),
    )  # fmt: skip


def test_a_part_that_is_what_it_was_is_the_same_object(monkeypatch):
    monkeypatch.setattr(plain_messages, 'LARGE', 1)
    reader, message = decoder(), mixed()
    first = reader.plain(raw_of(message))
    message.far += 1
    assert reader.plain(raw_of(message)).one is first.one
    message.one.value = -message.one.value
    assert reader.plain(raw_of(message)).one.value == -first.one.value


def test_a_field_may_have_any_name():
    name, definition = 'repsq_ros/msg/Odd', 'float64 from\nfloat64 index\nint8 count\n'
    types = rosbags_typesys.get_types_from_msg(definition, name)
    fields = {name: types[name]}
    raw = b'\0\1\0\0' + struct.pack('<ddb', 1.0, 2.0, 3)
    found = plain_messages.PlainReader(Layout(raw, name, fields)).read(raw)
    assert (getattr(found, 'from'), found.index, found.count) == (1.0, 2.0, 3)


def raw_of(message):
    return bytes(STORE.serialize_cdr(message, NAME))


def test_messages_of_more_layouts_than_are_kept_are_read_too():
    reader = decoder()
    for n in range(2 * LAYOUTS):
        message = mixed('a' * n)
        assert plainly(reader.plain(raw_of(message))) == plainly(message)
    assert len(reader._plain) == LAYOUTS


@pytest.mark.parametrize('known', [False, True])
@pytest.mark.parametrize('damage', ['short', 'long', 'text without an end', 'encapsulation'])
def test_damage_is_an_error_as_ever(known, damage):
    reader, raw = decoder(), raw_of(mixed('abc'))
    if known:
        reader.plain(raw)
    spoiled = {
        'short': raw[:-1],
        'long': raw + bytes(4),
        'text without an end': raw.replace(b'abc\0', b'abcd'),
        'encapsulation': b'\7\7' + raw[2:],
    }[damage]
    with pytest.raises(Exception) as expected:
        reader.message(spoiled)
    with pytest.raises(type(expected.value)):
        reader.plain(spoiled)
