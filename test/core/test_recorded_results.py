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

"""Campaigns recorded with an earlier version give the same results, to the last bit.

test/data/recorded_results.json holds campaigns that the code of commit 0369181 counted: the
specification, every attempt, the estimate after each, and the result.
"""

import json
import math
import os

import pytest
import yaml
from conftest import ROOT

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.specification.load import load

RECORDED = json.loads((ROOT / 'test' / 'data' / 'recorded_results.json').read_text())
# Capital is a product of logarithms, whose last digit is each machine's own. On the machine that
# recorded the campaigns REPSQ_EXACT=1 asks for every bit.
TOLERANCE = 0.0 if os.environ.get('REPSQ_EXACT') else 1e-12


def attempt_of(row):
    index, attempt, kind, psi, weight, weight_bound, *x = row
    return TestRecord(
        index,
        attempt,
        math.nan if psi is None else psi,
        weight,
        kind == 'valid',
        reason='' if kind == 'valid' else 'lost',
        x=tuple(x),
        weight_bound=weight_bound,
        skipped=kind == 'skipped',
        broken_off=kind == 'broken_off',
    )


def within_range(text):
    """Return an end of a recorded interval: since then it stays in the range of psi, [0, 1]."""
    return min(max(float(text), 0.0), 1.0)


@pytest.mark.parametrize('name', RECORDED)
def test_an_earlier_version_gave_the_same(name, tmp_path):
    recorded = RECORDED[name]
    file = tmp_path / 'specification.yaml'
    file.write_text(yaml.safe_dump(recorded['specification']))
    specification = load(file)
    assert specification.digest == recorded['digest']
    campaign = Campaign(specification)
    for row, (n, mean, lower, upper, expected_n) in zip(
        recorded['tests'], recorded['estimates'], strict=True
    ):
        found = campaign.add(attempt_of(row))
        assert (found.n, found.expected_n) == (n, expected_n)
        assert found.mean == mean or (mean is None and math.isnan(found.mean))
        ends = [within_range(lower), within_range(upper)]
        assert [found.lower, found.upper] == pytest.approx(ends, rel=TOLERANCE, abs=TOLERANCE)
    result = campaign.result(name)
    for key, expected in recorded['result'].items():
        # The middle of a cell was rounded twice, p_same comes of another erfc: a last digit off.
        rounding = 1e-15 if key in ('value', 'p_same') else 0.0
        assert (
            getattr(result, key) == pytest.approx(expected, rel=rounding, abs=0, nan_ok=True)
            or getattr(result, key) == expected
        ), key
