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

"""How much an object holds on to."""

import numpy as np


def kept(thing, seen=None):
    """Return how many numbers an object holds on to, in arrays and views of them."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        return 0 if id(thing) in seen and thing.base is not None else thing.size
    if isinstance(thing, dict):
        return sum(kept(each, seen) for each in thing.values())
    if isinstance(thing, (list, tuple, set)):
        return len(thing) + sum(kept(each, seen) for each in thing)
    return kept(vars(thing), seen) if hasattr(thing, '__dict__') else 0
