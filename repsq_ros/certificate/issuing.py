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

"""The file of a certificate: written, read, and held against its schema."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repsq_ros.certificate.canonical import SAFE, canonical, written_form
from repsq_ros.certificate.document import CERTIFICATE
from repsq_ros.certificate.signature import sign
from repsq_ros.errors import CertificateError, MissingError, OutputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SCHEMA = Path(__file__).with_name('certificate.schema.json')


def issue(document: dict[str, Any], folder: Path, key: Ed25519PrivateKey | None = None) -> Path:
    """Write a certificate into a folder, with its digest, and signed where a key is given.

    :raises OutputError: it cannot be written
    """
    whole = {**document, 'digest': content_digest(document)}
    if key is not None:
        whole['signature'] = sign(whole, key)
    path = folder / CERTIFICATE
    partial = path.with_suffix('.part')
    try:
        partial.write_bytes(written_form(whole))
        partial.replace(path)
    except OSError as error:
        raise OutputError.unwritable(folder, error) from None
    return path


def content_digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 (hex) of a certificate's content: all but digest and signature."""
    content = {key: value for key, value in document.items() if key not in ('digest', 'signature')}
    return hashlib.sha256(canonical(content)).hexdigest()


def read_certificate(file: Path) -> tuple[dict[str, Any], bytes]:
    """Return the content of a certificate, and the bytes of its file.

    :raises CertificateError: it cannot be read, or is none
    """
    try:
        data = file.read_bytes()
        document = json.loads(
            data,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_safe,
            object_pairs_hook=_unique,
        )
    except OSError as error:
        raise CertificateError(
            f'{file}: {error.strerror}, expected the certificate of a campaign'
        ) from None
    except (ValueError, RecursionError) as error:
        raise CertificateError(
            f'{file}: found no valid JSON ({error}), expected the certificate of a campaign'
        ) from None
    problem = schema_problem(document)
    if problem:
        raise CertificateError(f'{file}: {problem}')
    return dict(document), data


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


def schema_problem(document: object) -> str:
    """Say where a document is no certificate, and what was expected; '' where it is one.

    :raises MissingError: jsonschema is not installed
    """
    try:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match
    except ImportError:
        raise MissingError.of_package('reading a certificate', 'jsonschema') from None
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding='utf-8')))
    error = best_match(validator.iter_errors(document))
    if error is None:
        return ''
    where = error.json_path.removeprefix('$.').removeprefix('$') or 'the whole'
    return f'{where}: {" ".join(error.message.split())[:300]}'
