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

"""Writing and reading the file of a certificate, and checking its schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from repsq_ros.certificate.canonical import content_digest, written_form
from repsq_ros.certificate.document import CERTIFICATE
from repsq_ros.certificate.signature import sign
from repsq_ros.certificate.strict_json import parse, schema_problem
from repsq_ros.errors import CertificateError, OutputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def issue(document: dict[str, Any], folder: Path, key: Ed25519PrivateKey | None = None) -> Path:
    """Write a certificate into a folder, with its digest, and a signature if a key is given.

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


def read_certificate(file: Path) -> tuple[dict[str, Any], bytes]:
    """Return the content of a certificate, and the bytes of its file.

    :raises CertificateError: it cannot be read, or is not a certificate
    """
    try:
        data = file.read_bytes()
        document = parse(data)
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
