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

"""The page: one self-contained HTML file, with the figures."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from repsq_ros import __version__
from repsq_ros.campaign.drift import MeanInterval, mean_interval, means_apart
from repsq_ros.errors import MissingError
from repsq_ros.report import facts, findings
from repsq_ros.report.campaign_data import CampaignData
from repsq_ros.report.case_charts import charts_of_cases
from repsq_ros.report.charts import (
    chart_of_estimate,
    chart_of_partition,
    chart_of_psi,
    chart_of_sessions,
    chart_of_weights,
)
from repsq_ros.report.forest import chart_of_campaigns, chart_of_running_estimates

TEMPLATE = Path(__file__).with_name('report.html')
SHOWN = 200  # largest number of lines in a list


def render(campaigns: Sequence[CampaignData]) -> str:
    """Return the report of one campaign, or of several side by side.

    :raises MissingError: jinja2 or matplotlib is not installed
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise MissingError.of_package('a report', 'jinja2') from None
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    errors = [each.error for each in campaigns if math.isfinite(each.error)]
    campaigns = [replace(each, page_error=max(errors, default=math.nan)) for each in campaigns]
    template = environment.from_string(TEMPLATE.read_text(encoding='utf-8'))
    return template.render(
        cards=[_card(each, campaigns) for each in campaigns],
        summary=findings.summary_of_all(campaigns) if len(campaigns) > 1 else '',
        side=_side_by_side(campaigns) if len(campaigns) > 1 else None,
        made=time.strftime('%Y-%m-%d %H:%M'),
        version=__version__,
        most=SHOWN,
    )


def _card(campaign: CampaignData, beside: Sequence[CampaignData]) -> dict[str, object]:
    value, below = facts.headline(campaign)
    specification = campaign.specification
    return {
        'name': campaign.name,
        'campaign': campaign.recomputed.contents.campaign_id,
        'specification': specification.name,
        'title': specification.about.description or specification.name,
        'finished': campaign.result is not None,
        'accurate': campaign.result is not None and campaign.result.accurate,
        'summary': findings.summary(campaign),
        'badge': findings.badge(campaign),
        'exact': '' if campaign.result is None else repr(campaign.result.value),
        'unseen': findings.unseen(campaign),
        'value': value,
        'below': below,
        'promise': facts.promise(campaign),
        'counts': facts.counts(campaign),
        'cells': facts.cells(campaign),
        'weights': facts.weights(campaign),
        'sessions': facts.sessions(campaign),
        'reasons': campaign.reasons(),
        'events': facts.events(campaign),
        'response': () if campaign.result is None else campaign.result.response,
        'stops': campaign.stops(),
        'samples': campaign.samples(),
        'audits': campaign.audits,
        'poses': campaign.poses,
        'needed': facts.needed(campaign),
        'torn': campaign.recomputed.torn,
        'digest': specification.digest,
        'said': {
            'estimate': findings.of_estimate(campaign),
            'partition': findings.of_partition(campaign),
            'psi': findings.of_psi(campaign),
            'sessions': findings.of_sessions(campaign),
            'cases': findings.of_cases(campaign),
            'weights': findings.of_weights(campaign),
        },
        'estimate': chart_of_estimate(campaign, beside),
        'psi': chart_of_psi(campaign),
        'over_tests': chart_of_sessions(campaign),
        'cases': charts_of_cases(campaign),
        'weight': chart_of_weights(campaign),
        'partition': chart_of_partition(campaign),
    }


def _side_by_side(campaigns: Sequence[CampaignData]) -> dict[str, object]:
    """Return the comparison of several campaigns."""
    intervals = [
        mean_interval(
            each.specification,
            [one.record for one in each.recomputed.counted],
            each.specification.accuracy.c / len(campaigns),
        )
        for each in campaigns
    ]
    groups = [
        (each.specification, [one.record for one in each.recomputed.counted]) for each in campaigns
    ]
    apart = means_apart(groups, groups[0][0].accuracy.c)
    digests = set(map(findings.contract, campaigns))
    rows = [[name, *(cell for cell in values)] for name, values in _rows(campaigns, intervals)]
    return {
        'verdict': _verdict(campaigns, digests),
        'drift': findings.of_all(campaigns, intervals, apart),
        'rows': rows,
        'chart': chart_of_campaigns(campaigns, intervals),
        'running': chart_of_running_estimates(campaigns),
    }


def _verdict(campaigns: Sequence[CampaignData], digests: set[str]) -> str:
    results = [each.result for each in campaigns]
    if any(result is None for result in results):
        return 'Not comparable yet: a campaign has no result.'
    if len(digests) > 1:
        told = ', '.join(sorted(digest[:12] for digest in digests))
        return f'Not comparable: values of different partitions or contracts (digests {told}).'
    values = {result.value for result in results if result is not None}
    same = 'The same value to the last digit' if len(values) == 1 else 'Different values'
    return f'{same}: {findings.values_text(campaigns)}.'


def _rows(
    campaigns: Sequence[CampaignData], intervals: Sequence[MeanInterval]
) -> list[tuple[str, list[str]]]:
    """Return the table's rows: a name, and one cell per campaign."""
    results, first = [each.result for each in campaigns], campaigns[0]
    return [
        (
            'result',
            ['-' if r is None else facts.mean_text(first, r.value) for r in results],
        ),
        ('tests', [str(len(each.counted)) for each in campaigns]),
        ('robot', [each.specification.about.robot or '-' for each in campaigns]),
        ('mean of psi w', [facts.mean_text(first, each.mean) for each in intervals]),
        (
            'interval of the mean',
            [facts.ends_text(first, i.lower, i.upper) for i in intervals],
        ),
        (
            'change of the mean',
            ['-', *(findings.change(intervals[0], each) for each in intervals[1:])],
        ),
        ('outcome', [r.outcome if r else 'not ended' for r in results]),
        ('rule', [each.specification.tester.stopping.name for each in campaigns]),
        ('proposal', [each.specification.tester.proposal.kind for each in campaigns]),
        ('seed', [str(each.recomputed.contents.seed) for each in campaigns]),
        ('registration', [facts.registration(each) for each in campaigns]),
        ('attempts lost', [str(len(each.lost)) for each in campaigns]),
        ('promised accuracy', [('yes' if r.accurate else 'no') if r else '-' for r in results]),
    ]
