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

"""Time stamps of registrations by an authority (RFC 3161): they prove when one existed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign
from repsq_ros.certificate.canonical import written_form
from repsq_ros.certificate.differences import CheckResult
from repsq_ros.certificate.ledger import RegisteredCampaign, read_ledger
from repsq_ros.errors import CertificateError, MissingError, OutputError, ParameterError

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

TIMESTAMP = 'registration.tsr'  # in a campaign's folder
REPLY = '.tsr'  # suffix of the authority's reply beside a registration
CHECK = 'time stamp'
LIBRARY = ('a time stamp', 'rfc3161-client')
TIMEOUT = 30.0  # [s] to wait for the reply


def fetch_timestamp(registration: Path, url: str) -> Path:
    """Let an authority stamp a registration, and write its reply beside it.

    :raises MissingError: rfc3161-client is not installed
    :raises ParameterError: the authority gives no time stamp
    :raises OutputError: the reply cannot be written
    """
    try:
        from rfc3161_client import HashAlgorithm, TimestampRequestBuilder
    except ImportError:
        raise MissingError.of_package(*LIBRARY) from None
    import urllib.request

    asked = TimestampRequestBuilder(registration.read_bytes(), HashAlgorithm.SHA256).build()
    try:
        request = urllib.request.Request(
            url, asked.as_bytes(), {'Content-Type': 'application/timestamp-query'}
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            reply = answer.read(2**20)
        problem = '' if _info(reply) else 'no time stamp'
    except (OSError, ValueError) as error:
        problem = str(error)
    if problem:
        raise ParameterError(
            'timestamp-url',
            f'{url}: {problem}',
            f'an authority; {registration} is valid without it',
        )
    file = registration.with_suffix(REPLY)
    try:
        file.write_bytes(reply)
    except OSError as error:
        raise OutputError.unwritable(file, error) from None
    return file


def read_authorities(file: Path) -> list[Certificate]:
    """Return the certificates of a PEM file.

    :raises ParameterError: there is none
    """
    try:
        from cryptography.x509 import load_pem_x509_certificates
    except ImportError:
        raise MissingError.of_package('a time stamp', 'cryptography') from None
    try:
        return load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError) as error:
        raise ParameterError('tsa', f'{file}: {error}', 'certificates (PEM)') from None


def check_timestamp(
    folder: Path,
    certificate: dict[str, Any] | None,
    recomputed: RecomputedCampaign | None,
    ledger_path: Path | None,
    authorities: Sequence[Certificate],
) -> list[CheckResult]:
    """Check when a campaign's registration was stamped, and by whom.

    :param folder: of the campaign; without a time stamp in it, nothing is checked
    :param certificate: None: only a journal
    :param recomputed: None: only a certificate
    :param ledger_path: None: not available
    :param authorities: trusted certificates; empty: none
    """
    file = folder / TIMESTAMP
    if not file.exists():
        return [CheckResult(CHECK, ('there is none',))] if authorities else []
    campaign = _registered(certificate, recomputed, ledger_path)
    if campaign is None:
        return [CheckResult(CHECK, ('it stamps no registration of this campaign',))]
    try:
        from rfc3161_client import VerifierBuilder, decode_timestamp_response
    except ImportError:
        return [CheckResult(CHECK, not_checked=str(MissingError.of_package(*LIBRARY)))]
    reply = file.read_bytes()
    info = _info(reply)
    if info is None:
        return [CheckResult(CHECK, (f'{file.name} is none of RFC 3161',))]
    when: datetime = info.gen_time
    told = f'{when:%Y-%m-%dT%H:%M:%S%z}'
    if not authorities:
        return [
            CheckResult(
                CHECK, not_checked=f'{told}, not by an authority that you named with --tsa'
            )
        ]
    try:
        verifier = VerifierBuilder(roots=list(authorities)).build()
        verifier.verify_message(decode_timestamp_response(reply), written_form(campaign.statement))
    except Exception as error:  # the libraries raise many errors for invalid bytes
        return [CheckResult(CHECK, (f'of {told}: {error}',))]
    begun = (campaign.begun or {}).get('date', '')
    try:
        late = bool(begun) and datetime.strptime(begun, '%Y-%m-%dT%H:%M:%S%z') < when
    except ValueError:
        late = True
    if late:
        text = f'{told}, after the campaign had begun ({begun} by its clock)'
        return [CheckResult(CHECK, not_checked=text)]
    return [CheckResult(CHECK, note=f'{told}, before the campaign began')]


def _registered(
    certificate: dict[str, Any] | None,
    recomputed: RecomputedCampaign | None,
    ledger_path: Path | None,
) -> RegisteredCampaign | None:
    """Return the registration of a campaign; None: not registered, or a damaged ledger."""
    certified = (certificate or {}).get('registration') or {}
    line = certified.get('begun', '') if recomputed is None else recomputed.contents.ledger
    try:
        if ledger_path is not None:
            return read_ledger(ledger_path).begun_by(line)
    except CertificateError:
        return None
    return RegisteredCampaign(certified['statement']) if certified else None


def _info(reply: bytes) -> Any:
    """Return the content of a reply; None: it is not a time stamp."""
    from rfc3161_client import PKIStatus, decode_timestamp_response

    try:
        found = decode_timestamp_response(reply)
        return found.tst_info if PKIStatus(found.status) is PKIStatus.GRANTED else None
    except ValueError:
        return None
