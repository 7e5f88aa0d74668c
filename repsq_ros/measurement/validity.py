"""Whether a window of samples can be measured at all; if not, the reason with its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from repsq_ros.measurement.samples import BodySample
from repsq_ros.timebase import to_seconds


def invalid_reason(
    samples: Sequence[BodySample], start_ns: int, end_ns: int, largest_gap_ns: int
) -> str:
    """Return why the samples do not cover [start, end), or '' where they do.

    Instants are told in s from the start of the window.
    """
    if not samples:
        return f'silent: no sample in a window of {to_seconds(end_ns - start_ns):g} s'
    for sample in samples:
        fault = sample_fault(sample)
        if fault:
            return f'{fault} at {to_seconds(sample.stamp_ns - start_ns):.3f} s of the window'
    stamps = [start_ns, *(sample.stamp_ns for sample in samples), end_ns]
    gap_ns, at_ns = max((later - sooner, sooner) for sooner, later in pairwise(stamps))
    if gap_ns > largest_gap_ns:
        return (
            f'gap: {to_seconds(gap_ns):.3f} s without a sample from '
            f'{to_seconds(at_ns - start_ns):.3f} s of the window on, at most '
            f'{to_seconds(largest_gap_ns):g} s allowed'
        )
    return ''


def sample_fault(sample: BodySample) -> str:
    """Return what is wrong with one sample, or ''."""
    values = [*sample.position, *sample.orientation]
    values += [*(sample.linear_velocity or ()), *(sample.angular_velocity or ())]
    if not all(map(math.isfinite, values)):
        return 'not finite: NaN or infinity in a sample'
    if not any(sample.orientation):
        return 'no orientation: a quaternion of norm zero (tracking lost)'
    return ''
