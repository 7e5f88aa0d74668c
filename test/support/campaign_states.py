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

"""Stories of campaigns as they are told to those who look on."""

import math

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.views.campaign_state import CampaignState, CaseHeard

SECOND = 1_000_000_000
NAMES = ('linear_x', 'linear_y', 'angular_z', 'x', 'y', 'yaw')


def estimate(n, mean=0.4, half=0.1, **more):
    """Return an estimate after so many tests."""
    values = {
        'index': n - 1, 'attempt': 0, 'n': n, 'invalid': 0, 'skipped': 0, 'broken_off': 0,
        'mean': mean, 'variance': 0.01, 'lower': mean - half, 'upper': mean + half,
        'half_width': half, 'gamma': 0.04, 'rule': 'anytime', 'expected_n': 100,
        'effective_sample_size': float(n), 'largest_weight': 1.0, 'stopped': False,
    }  # fmt: skip
    return EstimateRecord(**{**values, **more})


def case(dimensions, k=0, digest=''):
    """Return the k-th case of so many dimensions, spread over [-0.3, 0.3]."""
    x = tuple(0.3 * math.sin(1.7 * k + d) for d in range(dimensions))
    return CaseHeard(k, 0, NAMES[:dimensions], ('m/s',) * dimensions, x, 1.0, digest)


def story(tests, dimensions=3, psi=None, valid=True, under_test=True):
    """Return the story of so many tests of 8 s.

    :param psi: of all of them; None: each its own
    :param valid: False: all are INVALID
    """
    told = CampaignState()
    n = invalid = 0
    for k in range(tests):
        n, invalid = n + valid, invalid + (not valid)
        own = 0.5 + 0.2 * math.sin(k) if psi is None else psi
        record = TestRecord(
            k if valid else 0, 0 if valid else k, own,
            1.0, valid, '' if valid else 'gap: 0.41 s without a sample, at most 0.2 s', 100,
            (8 * k + 3) * SECOND, (8 * k + 8) * SECOND, case(dimensions, k).x,
        )  # fmt: skip
        if not valid:
            record = TestRecord(**{**vars(record), 'psi': 0.0, 'code': 'gap'})
        told.on_counted(
            'lab-1',
            CountedAttempt(record, estimate(n, invalid=invalid, mean=0.4 if n else math.nan)),
        )
    if under_test:
        span = Span(
            Phase.COMMAND, tests, 0, 8 * tests * SECOND, (8 * tests + 5) * SECOND, (0.1, 0.0, 0.0)
        )
        told.on_phase('lab-1', case(dimensions, tests), span)
    return told


def counted_by(specification, records):
    """Return records as a campaign of a specification counts them."""
    campaign = Campaign(specification)
    return [CountedAttempt(record, made) for record in records if (made := campaign.add(record))]
