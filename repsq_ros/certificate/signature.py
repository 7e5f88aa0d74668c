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

"""A lab's signature of its certificates: Ed25519 (RFC 8032), keys as PEM files."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repsq_ros.certificate.canonical import canonical
from repsq_ros.errors import MissingError, OutputError, ParameterError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

ALGORITHM = 'Ed25519'
FIELD = 2**255 - 19  # p of Ed25519
CURVE_D = -121665 * pow(121666, -1, FIELD) % FIELD
PUBLIC = '.pub'  # suffix of the public key beside the private one


def _need_cryptography() -> None:
    try:
        import cryptography  # noqa: F401 (whether it is there)
    except ImportError:
        raise MissingError.of_package('a signature', 'cryptography') from None


def make_keys(file: Path) -> Path:
    """Write a new private key, readable only by its owner, and the public key beside it.

    :returns: the file of the public key
    :raises OutputError: a file already exists, or cannot be written
    :raises MissingError: cryptography is not installed
    """
    _need_cryptography()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key, public = Ed25519PrivateKey.generate(), file.with_name(file.name + PUBLIC)
    for path in (file, public):
        if path.exists():
            raise OutputError(f'output {path}: found a file, expected none: keys are never lost')
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, 'wb') as opened:
            opened.write(private)
        public.write_bytes(
            key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
    except OSError as error:
        raise OutputError(
            f'output {file}: {error.strerror}, expected a file that can be written'
        ) from None
    return public


def read_private(file: Path) -> Ed25519PrivateKey:
    """Return the private key of a PEM file.

    :raises ParameterError: there is none
    """
    _need_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_content(file), None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError(
            'key', f'{file}, which is none', 'a private key of repsq certify --keygen'
        )
    return key


def read_public(file: Path) -> Ed25519PublicKey:
    """Return the public key of a PEM file.

    :raises ParameterError: there is none
    """
    _need_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(_content(file))
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ParameterError('key', f'{file}, which is none', f'the {PUBLIC} file of a lab')
    return key


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ParameterError('key', f'{file}: {error.strerror}', 'a file of a key') from None


def sign(document: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, str]:
    """Return the signature of a document that has none."""
    return {
        'algorithm': ALGORITHM,
        'public_key': _text(key.public_key().public_bytes_raw()),
        'value': _text(key.sign(canonical(document))),
    }


def signature_problem(
    document: dict[str, Any], signature: dict[str, str], key: Ed25519PublicKey | None
) -> str:
    """Return what is wrong with a signature; '' if it is valid for this document.

    :param document: without the signature
    :param key: required signer; None: the key in the signature
    :raises MissingError: cryptography is not installed
    """
    _need_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        named = base64.b64decode(signature['public_key'], validate=True)
        value = base64.b64decode(signature['value'], validate=True)
        own = Ed25519PublicKey.from_public_bytes(named)
    except ValueError:
        return 'neither key nor signature can be read'
    if has_small_order(named):
        return 'made with a key of small order, under which anybody can sign anything'
    if key is not None and key.public_bytes_raw() != named:
        return f'made with another key ({signature["public_key"]})'
    try:
        own.verify(value, canonical(document))
    except InvalidSignature:
        return 'not of this content'
    return ''


def has_small_order(key: bytes) -> bool:
    """Tell whether eight times a public key is the neutral element (RFC 8032, 5.1).

    A signature with such a key fits many contents, and needs no private key.

    :param key: the 32 bytes of a point: y, little-endian, and the sign of x in the highest bit
    """
    y = int.from_bytes(key, 'little') % 2**255 % FIELD
    # Doubling needs only x squared: -x^2 + y^2 = 1 + d x^2 y^2.
    x_squared = (y * y - 1) * pow(CURVE_D * y * y + 1, -1, FIELD) % FIELD
    for _ in range(3):
        product = CURVE_D * x_squared * y * y
        x_squared, y = (
            4 * x_squared * y * y * pow(1 + product, -2, FIELD) % FIELD,
            (y * y + x_squared) * pow(1 - product, -1, FIELD) % FIELD,
        )
    return x_squared == 0 and y == 1


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode('ascii')
