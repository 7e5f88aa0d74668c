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

"""The outcome of a check, and the differences of two contents."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.campaign.records import close


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check."""

    what: str
    problems: tuple[str, ...] = ()  # empty: the check passed
    note: str = ''  # what was found
    not_checked: str = ''  # what could not be checked, and what is needed for it


def name_of(index: int, attempt: int) -> str:
    """Return the name of an attempt in all messages."""
    return f'test {index}, attempt {attempt}'


def differences(
    found: object, expected: object, where: str = '', by: str = 'the journal gives'
) -> list[str]:
    """Return where two contents differ by more than another machine's rounding.

    :param by: source of the expected content
    """
    if isinstance(found, dict) and isinstance(expected, dict):
        places = []
        for key in [*expected, *(key for key in found if key not in expected)]:
            place = f'{where}.{key}' if where else str(key)
            if key not in found or key not in expected:
                places.append(f'{place}: {"found none" if key in expected else "not expected"}')
            else:
                places += differences(found[key], expected[key], place, by)
        return places
    if isinstance(found, list) and isinstance(expected, list):
        if len(found) != len(expected):
            return [f'{where}: found {len(found)}, expected {len(expected)}']
        pairs = enumerate(zip(found, expected, strict=True))
        return [text for k, (a, b) in pairs for text in differences(a, b, f'{where}[{k}]', by)]
    if _same_value(found, expected):
        return []
    return [f'{where}: found {found!r}, {by} {expected!r}']


def _same_value(found: object, expected: object) -> bool:
    if isinstance(found, float) and isinstance(expected, float):
        return close(found, expected)
    return type(found) is type(expected) and found == expected
