"""Random streams by name: every draw can be repeated alone, whatever was drawn before it."""

from __future__ import annotations

import enum

import numpy as np


class Stream(enum.IntEnum):
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


def generator(seed: int, stream: Stream, *key: int) -> np.random.Generator:
    """Return the generator of one stream, e.g. (seed, CASE, index).

    :param seed: the campaign's seed, >= 0
    :param key: whole numbers >= 0 that single out the stream, e.g. index and attempt
    """
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(int(stream), *key))
    return np.random.Generator(np.random.PCG64(sequence))
