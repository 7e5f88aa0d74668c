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

"""Random streams by name: every draw can be repeated alone, whatever was drawn before it."""

from __future__ import annotations

import enum

import numpy as np


class RandomStream(enum.IntEnum):
    """What a stream of random numbers is for; the values are part of the format."""

    CASE = 0
    SUBJECT = 1
    ODOMETRY = 2
    MOCAP = 3
    SOBOL = 4
    PARTITION = 5
    STUDY = 6
    GAUGE = 7
    TOOL_POSE = 8
    TWIN = 9


def generator(seed: int, stream: RandomStream, *key: int) -> np.random.Generator:
    """Return the generator of one stream, e.g. (seed, CASE, index).

    :param seed: the campaign's seed, >= 0
    :param key: whole numbers >= 0 that single out the stream, e.g. index and attempt
    """
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(int(stream), *key))
    return np.random.Generator(np.random.PCG64(sequence))
