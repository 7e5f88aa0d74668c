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

"""One byte form for each content, so that digests and signatures depend only on content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repsq_ros.campaign.journal import encode
from repsq_ros.digests import digest_of
from repsq_ros.errors import BagError

SAFE = 2**53  # integers below this are exact in every language's JSON


def plain(value: object) -> object:
    """Return a value for JSON: numbers that are infinite, NaN or huge become text."""
    found = encode(value)
    if isinstance(found, dict):
        return {key: plain(each) for key, each in found.items()}
    if isinstance(found, list):
        return [plain(each) for each in found]
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) >= SAFE:
        return str(found)
    return found


def plain_object(value: Mapping[str, object]) -> dict[str, Any]:
    """Return an object converted by `plain`."""
    return {key: plain(each) for key, each in value.items()}


def canonical(document: object) -> bytes:
    """Return the bytes for digests and signatures.

    ASCII, keys sorted, no spaces, numbers in the shortest decimal form that reads back as the
    same double. The digest of a specification uses the same form.
    """
    return json.dumps(document, sort_keys=True, separators=(',', ':'), allow_nan=False).encode(
        'ascii'
    )


def content_digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 (hex) of a document without its digest and signature."""
    content = {key: value for key, value in document.items() if key not in ('digest', 'signature')}
    return hashlib.sha256(canonical(content)).hexdigest()


def written_form(document: object) -> bytes:
    """Return the bytes of a document's file, readable for people."""
    return (json.dumps(document, indent=2, allow_nan=False) + '\n').encode('ascii')


def sha256_of(file: Path) -> str:
    """Return the SHA-256 (hex) of a file.

    :raises BagError: it cannot be read
    """
    try:
        return digest_of(file)
    except OSError as error:
        raise BagError(f'{file}: {error.strerror}, expected a file that can be read') from None
