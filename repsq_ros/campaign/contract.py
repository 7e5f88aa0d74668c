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

"""Whether a journal belongs to a specification: the part that all testers share must match."""

from __future__ import annotations

import math
from pathlib import Path

from repsq_ros.campaign.journal_contents import FORMAT, JournalContents
from repsq_ros.errors import JournalError
from repsq_ros.specification.model import Specification

ROUNDING = 1e-12  # relative: the edges computed by version 0.1.0 differ in their last bits


def check_contract(contents: JournalContents, file: Path, specification: Specification) -> None:
    """Refuse to continue a journal with another contract, or with other answers of a twin.

    :raises JournalError: with both digests
    """
    twin = '' if specification.twin is None else specification.twin.digest
    if contents.twin != twin:
        raise JournalError(
            f"{file}: found a twin's answers of digest {contents.twin[:12] or 'none'}, expected "
            f'{twin[:12] or "none"} of {specification.file}'
        )
    if contents.specification_digest == specification.digest:
        return
    if contents.format < FORMAT and _is_covered(contents.shared, _as_version_0_1_0(specification)):
        return
    raise JournalError(
        f'{file}: found specification digest {contents.specification_digest[:12]}, expected '
        f'{specification.digest[:12]} of {specification.file}'
    )


def _as_version_0_1_0(specification: Specification) -> dict[str, object]:
    """Return the shared part as version 0.1.0 described it: with edges instead of their rule."""
    shared = specification.shared()
    if specification.partition is not None:
        shared['partition'] = {'edges': list(specification.partition.edges)}
    return shared


def _is_covered(before: object, now: object) -> bool:
    """Tell whether `now` has everything that is in `before`; new keys have defaults."""
    if isinstance(before, dict):
        return isinstance(now, dict) and all(
            key in now and _is_covered(value, now[key]) for key, value in before.items()
        )
    if isinstance(before, list):
        return (
            isinstance(now, list | tuple)
            and len(before) == len(now)
            and all(map(_is_covered, before, now))
        )
    if isinstance(before, float) and isinstance(now, int | float):
        return math.isclose(before, now, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return before == now
