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

"""Strict parsing of other people's JSON: only what all parsers read alike, checked by schema."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from repsq_ros.certificate.canonical import SAFE
from repsq_ros.errors import MissingError

SCHEMA = Path(__file__).with_name('certificate.schema.json')


def parse(data: bytes) -> Any:
    """Parse JSON that all parsers read alike.

    :raises ValueError: not JSON, a duplicate key, a number that is no double or beyond 2**53
    :raises RecursionError: nested too deep
    """
    return json.loads(
        data,
        parse_constant=_refuse,
        parse_float=_finite,
        parse_int=_safe,
        object_pairs_hook=_unique,
    )


def _refuse(word: str) -> None:
    raise ValueError(f'{word} is no number of JSON')


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f'{word[:40]} is beyond every double')
    return number


def _safe(word: str) -> int:
    if len(word) > len(str(SAFE)) or abs(int(word)) >= SAFE:
        raise ValueError(f'{word[:40]} is beyond 2**53, expected it as text')
    return int(word)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f'the key {twice[:40]!r} appears twice')
    return found


def schema_problem(document: object, part: str = '') -> str:
    """Return where a document violates the schema, and what was expected; '' if it is valid.

    :param part: use this definition of the schema instead of the whole certificate
    :raises MissingError: jsonschema is not installed
    """
    try:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match
    except ImportError:
        raise MissingError.of_package('reading a certificate', 'jsonschema') from None
    error = best_match(Draft202012Validator(_schema(part)).iter_errors(document))
    if error is None:
        return ''
    where = error.json_path.removeprefix('$.').removeprefix('$') or 'the whole'
    return f'{where}: {" ".join(error.message.split())[:300]}'


@cache
def _schema(part: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(SCHEMA.read_text(encoding='utf-8'))
    return {'$ref': f'#/$defs/{part}', '$defs': whole['$defs']} if part else whole
