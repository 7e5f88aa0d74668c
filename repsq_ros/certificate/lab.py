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

"""One lab's result, from its campaign's folder or from its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repsq_ros.campaign.comparison import FinishedCampaign
from repsq_ros.campaign.drift import (
    DriftFinding,
    MeanInterval,
    drift_between,
    drift_of_sessions,
    means_apart,
)
from repsq_ros.campaign.journal import JOURNAL, LEDGER
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign, recompute
from repsq_ros.certificate.canonical import content_digest
from repsq_ros.certificate.differences import CheckResult
from repsq_ros.certificate.document import CERTIFICATE, counted_anew
from repsq_ros.certificate.issuing import read_certificate
from repsq_ros.certificate.ledger import Ledger, read_ledger
from repsq_ros.certificate.registration import check_registration, statement_problem
from repsq_ros.errors import CertificateError
from repsq_ros.estimation.precision import LabSummary

MEASURED = ('target', 'protocol', 'measure')  # parts of the contract that define the mean


@dataclass(frozen=True)
class LabResult:
    """One lab's campaign."""

    path: Path
    content: dict[str, Any]  # its certificate's content, existing or not yet written
    campaign: FinishedCampaign | None  # None: read from a certificate, which has no tests
    registration: CheckResult
    ledger: Path | None  # in which it was registered; None: not available, or not registered

    @property
    def result(self) -> dict[str, Any]:
        """Return the fields of its result."""
        return dict(self.content['result'])

    @property
    def digest(self) -> str:
        """Digest of the specification that all labs with its partition share."""
        return str(self.content['specification']['replication_digest'])

    @property
    def seed(self) -> int:
        """Return the seed of its cases; a huge seed is text in a certificate."""
        return int(self.content['campaign']['seed'])

    @property
    def journal_head(self) -> str:
        """Digest of its journal's last line, which is unique to the campaign."""
        return str(self.content['journal']['head'])

    @property
    def measured(self) -> list[object]:
        """Return the parts of the contract that define its mean."""
        shared = self.content['specification']['shared']
        return [shared[part] for part in MEASURED]

    @property
    def mean(self) -> MeanInterval:
        """The interval of its mean."""
        return _interval(self.content['mean'])

    @property
    def sessions(self) -> list[MeanInterval]:
        """The interval of each session's mean."""
        found = [_interval(each['mean']) for each in self.content['sessions']]
        return [each for each in found if each.n]

    @property
    def drift_of_sessions(self) -> DriftFinding:
        """Tell whether its sessions differ."""
        if self.campaign is None:
            return drift_between(self.sessions)
        return drift_of_sessions(self.campaign.specification, self.campaign.sessions)

    @property
    def summary(self) -> LabSummary:
        """Return count, mean and spread of its tests."""
        mean = self.mean
        return LabSummary(mean.n, mean.mean, mean.standard_deviation)


def read_lab(path: Path, ledgers: Sequence[Ledger] = ()) -> LabResult:
    """Return a lab's result.

    :param path: folder of a campaign, a published folder, or a certificate
    :param ledgers: of labs; the copy in the folder is used as well
    :raises SpecificationError: the specification of a campaign cannot be read
    :raises JournalError: its journal is damaged, of another contract, or without a result
    :raises CertificateError: the certificate cannot be read, or was edited
    """
    file = path if path.is_file() else path / CERTIFICATE
    if not path.is_file() and ((path / JOURNAL).exists() or not file.exists()):
        found = recompute(path)
        contents, result = found.contents, found.finished()
        content = counted_anew(found)
        campaign = FinishedCampaign(
            path,
            found.specification,
            contents.seed,
            contents.tests,
            result,
            tuple(each.tests for each in found.sessions if each.tests),
        )
        return LabResult(path, content, campaign, *_registration(None, found, ledgers, path))
    content, _ = read_certificate(file)
    if content_digest(content) != content['digest']:
        raise CertificateError(f'{file}: its content is not that of its digest: it was edited')
    return LabResult(path, content, None, *_registration(content, None, ledgers, file.parent))


def _registration(
    certificate: dict[str, Any] | None,
    recomputed: RecomputedCampaign | None,
    ledgers: Sequence[Ledger],
    folder: Path,
) -> tuple[CheckResult, Path | None]:
    """Check a registration with the ledger that has it; return that ledger, too.

    :raises CertificateError: a different campaign was registered
    """
    line = recomputed.contents.ledger if recomputed is not None else ''
    if certificate is not None and 'registration' in certificate:
        line = certificate['registration']['begun']
    given = [each.file for each in ledgers if line and each.begun_by(line) is not None]
    beside = [folder / LEDGER] if (folder / LEDGER).exists() else []
    ledger = next(iter([*given, *beside]), None)
    check = check_registration(certificate, recomputed, ledger)
    if check.problems:
        raise CertificateError(f'{folder}: {check.problems[0]}')
    return check, ledger


def require_one_ledger(labs: Sequence[LabResult]) -> None:
    """Refuse two ledgers signed with one key if neither continues the other.

    :raises CertificateError: a lab has two ledgers
    """
    of_key: dict[str, Ledger] = {}
    for path in dict.fromkeys(lab.ledger for lab in labs):
        ledger = Ledger(Path()) if path is None else read_ledger(path)
        for statement in (each.statement for each in ledger.campaigns):
            if statement_problem(statement, None):
                continue  # anybody may have put it there
            other = of_key.setdefault(statement['signature']['public_key'], ledger)
            if any(one != two for one, two in zip(ledger.heads, other.heads, strict=False)):
                raise CertificateError(
                    f'{other.file} and {ledger.file}: found two ledgers of {statement["lab"]}, '
                    'expected one that goes on with the other'
                )
            if len(ledger.heads) > len(other.heads):
                of_key[statement['signature']['public_key']] = ledger


def _interval(content: dict[str, Any]) -> MeanInterval:
    """Return an interval from its JSON form, in which infinite numbers are text."""
    return MeanInterval(
        int(content['n']),
        *(float(content[name]) for name in ('mean', 'standard_deviation', 'lower', 'upper', 'c')),
    )


def drift_between_labs(labs: Sequence[LabResult]) -> DriftFinding:
    """Return whether labs measured different means: at c, or for k certificates at k c."""
    campaigns = [lab.campaign for lab in labs if lab.campaign is not None]
    if len(campaigns) < len(labs):
        return drift_between([lab.mean for lab in labs])
    groups = [(each.specification, each.tests) for each in campaigns]
    return means_apart(groups, groups[0][0].accuracy.c)
