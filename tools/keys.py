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

"""Write the JSON Schema of specifications and the tables of keys in docs/specification.md.

    .venv/bin/python3 tools/keys.py

Both follow from the keys that the package declares (repsq_ros/keys.py); here stands only where in
a file each group of keys belongs. A test holds the written files against the declared keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_origin

from repsq_ros.estimation.acceptance import Acceptance
from repsq_ros.keys import REQUIRED, Key, keys_of
from repsq_ros.measurement.inputs import Extrinsics, Input
from repsq_ros.measurement.limits import Condition, Fall, Limits
from repsq_ros.measurement.pose import Pose
from repsq_ros.protocols.command_space import COMPONENTS, UNITS
from repsq_ros.protocols.protocol import Positions
from repsq_ros.sampling.adaptive import Adaptation
from repsq_ros.sampling.box import Dimension
from repsq_ros.sampling.marginals import Beta, TruncatedNormal
from repsq_ros.specification.accuracy_section import RequiredAccuracy
from repsq_ros.specification.control_section import ControlChoice
from repsq_ros.specification.input_section import OF_BODIES, SOURCES
from repsq_ros.specification.measure_section import TYPES
from repsq_ros.specification.model import FORMAT, About
from repsq_ros.specification.partition_section import CELLS, Initiator
from repsq_ros.specification.proposal_section import ACCEPT, UNLIMITED, ProposalChoice
from repsq_ros.specification.proposal_section import TYPES as PROPOSALS
from repsq_ros.specification.protocol_section import (
    ENDS,
    GOALS,
    PROTOCOLS,
    WINDOW,
    Reference,
)
from repsq_ros.specification.reader import RPY
from repsq_ros.specification.tester_section import RULES, Tester
from repsq_ros.specification.twin_section import TwinChoice

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / 'repsq_ros' / 'specification' / 'specification.schema.json'
PAGE = ROOT / 'docs' / 'specification.md'
NAMES = tuple(name for names in COMPONENTS.values() for name in names)
OWN = 'module:Class'
BODIES = (*OF_BODIES, 'velocity', 'velocity_span', 'velocity_frame')
UNSAID = ('', float('inf'), float('-inf'))  # defaults that mean: not there
OWN_PATTERN = r'^[A-Za-z_][\w.]*:[A-Za-z_]\w*$'


@dataclass(frozen=True)
class Ref:
    """A mapping with the keys of a group."""

    group: str


@dataclass(frozen=True)
class Many:
    """A list of such mappings."""

    group: str


@dataclass(frozen=True)
class Named:
    """A mapping of names (none: any) to values of a kind."""

    names: tuple[str, ...]
    kind: Any


@dataclass(frozen=True)
class Form:
    """The keys of one variant of a group; `word` is the value of the group's tag."""

    keys: tuple[Key, ...]
    word: str = ''


@dataclass(frozen=True)
class Group:
    """Keys that stand together in one mapping.

    :ivar path: where the mapping stands in a file
    :ivar tag: key whose word says which form it is
    :ivar plain: the word alone may stand in place of the mapping
    :ivar usual: the word where the tag is left out
    """

    path: str
    forms: tuple[Form, ...]
    tag: str = ''
    plain: bool = False
    usual: str = ''


def one(name: str, kind: Any, meaning: str, default: Any = REQUIRED, **more: Any) -> Key:
    """Return a key that is no field of a value."""
    return Key(meaning, kind=kind, name=name, default=default, **more)


def of(
    kind: type, *more: Key, without: Iterable[str] = (), only: Iterable[str] | None = None
) -> tuple[Key, ...]:
    """Return the keys of a dataclass, some with another kind, and further ones."""
    own = {each.name for each in more}
    found = []
    for field, key in keys_of(kind).items():
        if field in without or (only is not None and field not in only) or key.name in own:
            continue
        found.append(replace(key, kind=REFERENCES.get(key.kind, key.kind)))
        if key.rotation:
            found.append(replace(RPY, default=None))
    return (*found, *more)


REFERENCES = {
    Extrinsics: Ref('extrinsics'),
    Pose: Ref('pose'),
    Initiator: Ref('initiator'),
}
NUMBERS = tuple[float, ...]
FILE = one('file', str, 'a CSV file beside the specification')
OPTIONS = one('options', dict, 'arguments of the class', None)
FEEDBACK = one('feedback', Ref('input'), 'pose of the body, for phases that end by settle', None)
DISTRIBUTION = one('distribution', Ref('distribution'), 'how cases are distributed')


def distributions(*more: Key) -> tuple[Form, ...]:
    """Return the forms of a distribution, each with further keys."""
    of_each = 'one dimension; those left out are uniform'
    kinds = {'beta': Ref('beta'), 'truncated_normal': Ref('truncated_normal')}
    forms = [Form(more, 'uniform')]
    for word, kind in kinds.items():
        forms.append(Form((*(one(n, kind, of_each, None) for n in NAMES), *more), word))
    values = 'values of one dimension; all combinations are equally likely'
    forms.append(Form((*(one(n, NUMBERS, values, None) for n in NAMES), *more), 'grid'))
    table = replace(
        FILE, meaning=f'{FILE.meaning} with a column for each dimension, and weight if they differ'
    )
    forms.append(Form((table, *more), 'table'))
    parts = one('components', Many('component'), 'distributions whose shares add up to 1')
    forms.append(Form((parts, *more), 'mixture'))
    return (*forms, Form((OPTIONS, *more), OWN))


def quantities(*more: Key) -> tuple[Form, ...]:
    """Return the forms of a measure, each with further keys."""
    inner = one('of', Ref('quantity'), 'the measure that is compared')
    forms = [
        Form((*of(kind, *((inner,) if word == 'indicator' else ())), *more), word)
        for word, kinds in TYPES.items()
        for kind in kinds
    ]
    return (*forms, Form((OPTIONS, *more), OWN))


def endings(*more: Key) -> tuple[Form, ...]:
    """Return the forms of an ending, each with further keys."""
    return tuple(Form((*of(kind), *more), word) for word, kind in ENDS.items())


def protocols() -> tuple[Form, ...]:
    """Return the forms of a protocol."""
    poses = of(
        Positions,
        one('reference', Ref('reference'), 'the pose from which each test starts'),
        one('approach', Ref('approach'), 'last part of each move, for example from above'),
        without=('direction', 'distance'),
    )
    ways = (
        one('move', Ref('ending'), 'how each move ends', None, default_text='settle, speed 0.002'),
        one('settle', Ref('ending'), 'how settling at the reference ends', None,
            default_text='settle, speed 0.002'),
    )  # fmt: skip
    free = (
        one('commands', str, "type of the robot's commands", choices=tuple(GOALS)),
        one('phases', Many('phase'), 'the phases of one test, in their order'),
        *(replace(each, default=None) for each in poses),
        FEEDBACK,
    )
    forms = {
        'locomotion': of(PROTOCOLS['locomotion'], FEEDBACK),
        'positioning': (*poses, *of(PROTOCOLS['positioning']), *ways, FEEDBACK),
        'free': free,
    }
    return tuple(Form(keys, word) for word, keys in forms.items())


def proposals() -> tuple[Form, ...]:
    """Return the forms of a proposal."""
    more = {
        'importance': (DISTRIBUTION, ACCEPT),
        'adaptive': (*of(Adaptation), UNLIMITED, ACCEPT),
        'external': (ACCEPT,),
    }
    return tuple(
        Form((*of(ProposalChoice, only=fields), *more.get(word, ())), word)
        for word, fields in PROPOSALS.items()
    )


def rules() -> tuple[Form, ...]:
    """Return the forms of a stopping rule."""
    parts = one('rules', Many('rule'), 'rules that share c, at least two')
    return tuple(
        Form(of(kind, *((parts,) if word == 'first_of' else ())), word)
        for word, kind in RULES.items()
    )


PHASES = tuple(dict.fromkeys(phase for phases in GOALS.values() for phase in phases))
TARGETS = tuple(
    dict.fromkeys(
        goal.value for ways in GOALS.values() for goals in ways.values() for goal in goals
        if len(goals) > 1
    )
)  # fmt: skip
PHASE = (
    one('phase', str, 'what the phase is', choices=PHASES),
    one('to', str, 'destination of move and return', None, choices=TARGETS,
        default_text='target, reference'),
    WINDOW,
)  # fmt: skip
SOURCE = one('source', str, 'the sensor in one word, in place of input', None,
             choices=tuple(SOURCES))  # fmt: skip
UNITS_OF = tuple(dict.fromkeys(unit for units in UNITS.values() for unit in units))
MEASURE = (
    *of(About, only=('measure', 'direction')),
    SOURCE,
    one('input', Ref('input'), 'the sensor', None),
    keys_of(Limits)['largest_gap_ns'],
    one('validity', Ref('validity'), 'thresholds beyond which a test is INVALID', None),
    one('conditions', Named((), Ref('condition')),
        'other inputs that must be nominal while a test runs', None),
    one('fall', Ref('fall'), 'when the subject counts as fallen: psi is then its upper end', None),
)  # fmt: skip

GROUPS: dict[str, Group] = {
    'specification': Group('', (Form((
        one('format', int, 'version of this format', choices=(FORMAT,)),
        one('name', str, 'goes into results and folder names: one line, no slash'),
        *of(About, only=('description', 'robot')),
        one('target', Ref('target'), 'p(x): the cases that the result describes'),
        one('protocol', Ref('protocol'), 'what one test is'),
        one('measure', Ref('measure'), 'psi: what is measured in a test'),
        one('accuracy', Ref('accuracy'), 'required accuracy of the result'),
        one('partition', Ref('partition'), 'how the range of psi is cut into cells'),
        one('accept', Ref('accept'), 'a limit for the mean: pass or fail', None),
        one('tester', Ref('tester'), "this lab's own choices: no part of the digest", None),
    )),)),
    'target': Group('target.', (Form((
        DISTRIBUTION,
        one('dimensions', Named(NAMES, Ref('dimension')),
            'dimensions of a case; a velocity left out is 0, a pose left out as in the reference'),
    )),)),
    'dimension': Group('target.dimensions.NAME.', (Form(of(
        Dimension, one('unit', str, 'SI unit of both ends', choices=UNITS_OF))),)),
    'distribution': Group('', distributions(), 'type', plain=True),
    'component': Group('', distributions(
        one('share', float, 'share of the mixture', above=0)), 'type'),
    'beta': Group('', (Form(of(Beta)),)),
    'truncated_normal': Group('', (Form(of(TruncatedNormal)),)),
    'protocol': Group('protocol.', protocols(), 'type'),
    'reference': Group('protocol.reference.', (Form(of(
        Reference, one('rotation', tuple[float, float, float, float],
                       'x, y, z, w, in place of rpy', None))),)),
    'approach': Group('protocol.approach.', (Form(of(
        Positions, only=('direction', 'distance'))),)),
    'ending': Group('', endings(), 'ends'),
    'phase': Group('', endings(*PHASE), 'ends'),
    'measure': Group('measure.', quantities(*MEASURE), 'type'),
    'quantity': Group('', quantities(), 'type'),
    'input': Group('measure.input.', (Form(of(Input)),)),
    'extrinsics': Group('measure.input.extrinsics.', (Form(of(Extrinsics)),)),
    'pose': Group('', (Form(of(Pose)), Form((replace(
        FILE, meaning=f'{FILE.meaning} with columns x, y, z in m: their mean'),)))),
    'validity': Group('measure.validity.', (Form(of(Limits)),)),
    'fall': Group('measure.fall.', (Form(of(Fall)),)),
    'condition': Group('measure.conditions.NAME.', (Form((
        *of(Input, without=BODIES), *of(Condition))),)),
    'accuracy': Group('accuracy.', (Form(of(RequiredAccuracy)),)),
    'partition': Group('partition.', tuple(
        Form(of(kind), word) for word, kind in CELLS.items()), 'type', usual='uniform'),
    'initiator': Group('partition.initiator.', (Form(of(Initiator)),)),
    'accept': Group('accept.', (Form(of(Acceptance)),)),
    'tester': Group('tester.', (Form((
        one('proposal', Ref('proposal'), 'who draws the cases'),
        one('stopping', Ref('rule'), 'when to stop'),
        one('control', Ref('control'), 'a control variate, beside rule anytime', None,
            default_text='none'),
        *of(Tester),
    )),)),
    'proposal': Group('tester.proposal.', proposals(), 'type', plain=True),
    'rule': Group('tester.stopping.', rules(), 'rule'),
    'control': Group('tester.control.', (
        Form((), 'none'), Form(of(ControlChoice), 'regression'), Form(of(TwinChoice), 'twin')),
        'type', plain=True),
}  # fmt: skip


# JSON Schema -------------------------------------------------------------------------------------


def schema() -> dict[str, object]:
    """Return the JSON Schema (draft 7) of a specification."""
    return {
        '$schema': 'http://json-schema.org/draft-07/schema#',
        'title': 'Test specification of repsq_ros',
        'anyOf': [
            {'$ref': '#/definitions/specification'},
            {
                'type': 'object',
                'properties': {'tester': {'$ref': '#/definitions/tester'}},
                'required': ['tester'],
                'additionalProperties': False,
            },
        ],
        'definitions': {name: _group_schema(group) for name, group in GROUPS.items()},
    }


def _group_schema(group: Group) -> dict[str, object]:
    forms = [_form_schema(group, form) for form in group.forms]
    if group.plain:
        words = [
            form.word for form in group.forms
            if form.word != OWN and not any(key.required for key in form.keys)
        ]  # fmt: skip
        forms.append({'enum': words})
        if any(form.word == OWN for form in group.forms):
            forms.append({'type': 'string', 'pattern': OWN_PATTERN})
    return forms[0] if len(forms) == 1 else {'anyOf': forms}


def _form_schema(group: Group, form: Form) -> dict[str, object]:
    properties = {key.name: _key_schema(key) for key in form.keys}
    required = [key.name for key in form.keys if key.required]
    if group.tag:
        tag = {'const': form.word} if form.word != OWN else {'pattern': OWN_PATTERN}
        properties = {group.tag: tag, **properties}
        required += [group.tag] if form.word != group.usual else []
    return {
        'type': 'object',
        'properties': properties,
        **({'required': required} if required else {}),
        'additionalProperties': False,
    }


def _key_schema(key: Key) -> dict[str, object]:
    said: dict[str, object] = {'description': key.meaning + (f' [{key.unit}]' if key.unit else '')}
    if isinstance(key.default, int | float | str) and key.default not in UNSAID:
        said['default'] = _word(key, key.default)
    found = _kind_schema(key, key.kind)
    if key.words:
        found = {'anyOf': [{'enum': list(key.words)}, found]}
    return {**said, **found}


def _kind_schema(key: Key, kind: Any) -> dict[str, object]:
    if isinstance(kind, Ref):
        return {'allOf': [{'$ref': f'#/definitions/{kind.group}'}]}
    if isinstance(kind, Many):
        return {
            'type': 'array', 'minItems': 1, 'items': {'$ref': f'#/definitions/{kind.group}'}
        }  # fmt: skip
    if isinstance(kind, Named):
        one_of = _kind_schema(key, kind.kind)
        if not kind.names:
            return {'type': 'object', 'additionalProperties': one_of}
        return _mapping(dict.fromkeys(kind.names, one_of), minProperties=1)
    if key.names:
        number = _kind_schema(replace(key, names=()), float)
        return _mapping(dict.fromkeys(key.names, number))
    if get_origin(kind) is tuple:
        item, *others = get_args(kind)
        count = {'minItems': 1} if item is float else {}
        if Ellipsis not in others:
            count = {'minItems': len(others) + 1, 'maxItems': len(others) + 1}
        return {'type': 'array', 'items': _kind_schema(replace(key, kind=item), item), **count}
    if key.choices:
        return {'enum': [int(c) if isinstance(c, float) else c for c in key.choices]}
    if kind is str:
        return {'type': 'string', 'pattern': r'\S'}
    if kind is bool:
        return {'type': 'boolean'}
    if kind is dict:
        return {'type': 'object'}
    return {'type': 'integer' if kind is int else 'number', **_limits(key, kind)}


def _mapping(properties: dict[str, dict[str, object]], **more: int) -> dict[str, object]:
    return {'type': 'object', 'properties': properties, 'additionalProperties': False, **more}


def _limits(key: Key, kind: type) -> dict[str, object]:
    lowest = max(key.at_least, 0) if kind is int else key.at_least
    ends = {
        'exclusiveMinimum': key.above,
        'minimum': lowest,
        'exclusiveMaximum': key.below,
        'maximum': key.at_most,
    }
    return {name: end for name, end in ends.items() if abs(end) != float('inf')}


# Tables of docs/specification.md -----------------------------------------------------------------


def table(name: str) -> str:
    """Return the table of a group's keys, in Markdown."""
    group = GROUPS[name]
    lines = ['| key | meaning | values |', '|---|---|---|']
    if group.tag:
        words = ', '.join(dict.fromkeys(f'`{form.word}`' for form in group.forms))
        usual = f'; default `{group.usual}`' if group.usual else ''
        lines.append(f'| `{group.path}{group.tag}` | the type, one of these | {words}{usual} |')
    rows: dict[tuple[str, str, str], list[str]] = {}
    for form in group.forms:
        for key in form.keys:
            shown = 'NAME' if key.name in NAMES else key.name
            words_of = rows.setdefault((shown, key.meaning, _values(key)), [])
            if form.word not in words_of:
                words_of.append(form.word)
    for (shown, meaning, values), words_of in rows.items():
        everywhere = len(words_of) == len({form.word for form in group.forms})
        of_which = '' if everywhere else f'of {", ".join(f"`{w}`" for w in words_of)}: '
        lines.append(f'| `{group.path}{shown}` | {of_which}{meaning} | {values} |')
    return '\n'.join(lines).replace('||', '\\|\\|')


def _values(key: Key) -> str:
    parts = [_kind_words(key)]
    if key.unit:
        parts[0] = f'{parts[0]} [{key.unit}]'.strip()
    if key.required:
        parts.append('required')
    elif key.default_text:
        parts.append(f'default {key.default_text}')
    elif key.default in (None, '', ()) or key.default in (float('inf'), float('-inf')):
        parts.append('optional')
    elif isinstance(key.default, str | int | float):
        shown = _word(key, key.default)
        shown = {True: 'true', False: 'false'}[shown] if isinstance(shown, bool) else shown
        parts.append(f'default {shown:g}' if isinstance(shown, float) else f'default {shown}')
    elif isinstance(key.default, tuple):
        parts.append(f'default {", ".join(f"{each:g}" for each in key.default)}')
    else:
        parts.append('optional')
    return '; '.join(part for part in parts if part)


def _word(key: Key, default: object) -> object:
    """Return a default as a file says it."""
    if isinstance(key.choices, dict):
        return next(word for word, value in key.choices.items() if value == default)
    return default


def _kind_words(key: Key) -> str:
    kind = key.kind
    words = ''.join(f'`{word}`, ' for word in key.words or ())
    if isinstance(kind, Ref | Many):
        plural = 'a list of ' if isinstance(kind, Many) else ''
        return f'{words}{plural}[{kind.group}](#{kind.group})'
    if isinstance(kind, Named):
        return ', '.join(f'`{name}`' for name in kind.names) or 'any name'
    if key.choices:
        return words + ', '.join(
            f'{each:g}' if isinstance(each, float) else f'`{each}`' for each in key.choices
        )
    if get_origin(kind) is tuple and not key.names:
        others = get_args(kind)[1:]
        if Ellipsis in others:
            return 'a list'
        return f'{len(others) + 1} numbers'
    if key.names:
        return ', '.join(f'`{name}`' for name in key.names)
    return (
        words
        + {str: 'text', bool: 'true or false', int: 'whole number'}.get(kind, '')
        + (
            ' and '.join(key.limits)
            if key.kind is float
            else f' {" and ".join(key.limits)}'.rstrip()
        )
    )


BLOCK = re.compile(r'<!-- keys of (\w+) -->\n.*?<!-- end of keys -->', re.DOTALL)


def with_tables(page: str) -> str:
    """Return a page with the tables of its blocks written again."""
    write: Callable[[re.Match[str]], str] = lambda block: (  # noqa: E731
        f'<!-- keys of {block[1]} -->\n{table(block[1])}\n<!-- end of keys -->'
    )
    return BLOCK.sub(write, page)


def main() -> None:
    """Write both."""
    SCHEMA.write_text(json.dumps(schema(), indent=1) + '\n', encoding='utf-8')
    PAGE.write_text(with_tables(PAGE.read_text(encoding='utf-8')), encoding='utf-8')


if __name__ == '__main__':
    main()
