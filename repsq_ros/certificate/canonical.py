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

"""One form for each content, so that digests and signatures are of the content and no accident."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repsq_ros.campaign.journal import encode
from repsq_ros.digests import digest_of
from repsq_ros.errors import BagError

SAFE = 2**53  # whole numbers below this are the same in every language's JSON


def plain(value: object) -> object:
    """Return a value as JSON holds it: numbers that are not finite, or huge, become words."""
    found = encode(value)
    if isinstance(found, dict):
        return {key: plain(each) for key, each in found.items()}
    if isinstance(found, list):
        return [plain(each) for each in found]
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) >= SAFE:
        return str(found)
    return found


def plain_object(value: Mapping[str, object]) -> dict[str, Any]:
    """Return an object as `plain` gives it."""
    return {key: plain(each) for key, each in value.items()}


def canonical(document: object) -> bytes:
    """Return the bytes that digests and signatures are made of.

    ASCII, keys sorted, no spaces, numbers in the shortest decimal form that reads back as the
    same double: the form that the digest of a specification is made of, too.
    """
    return json.dumps(document, sort_keys=True, separators=(',', ':'), allow_nan=False).encode(
        'ascii'
    )


def content_digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 (hex) of a document's content: all but digest and signature."""
    content = {key: value for key, value in document.items() if key not in ('digest', 'signature')}
    return hashlib.sha256(canonical(content)).hexdigest()


def written_form(document: object) -> bytes:
    """Return the bytes of the file that holds a document, for people to read."""
    return (json.dumps(document, indent=2, allow_nan=False) + '\n').encode('ascii')


def sha256_of(file: Path) -> str:
    """Return the SHA-256 (hex) of a file.

    :raises BagError: it cannot be read
    """
    try:
        return digest_of(file)
    except OSError as error:
        raise BagError(f'{file}: {error.strerror}, expected a file that can be read') from None
