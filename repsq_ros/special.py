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

"""The functions of scipy.special, loaded at first use: help of a verb starts without scipy."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Return a function of scipy.special; from then on it is an attribute of this module."""
    if name.startswith('_'):
        raise AttributeError(name)
    from scipy import special

    found = globals()[name] = getattr(special, name)
    return found
