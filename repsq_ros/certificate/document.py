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

"""The content of a certificate: everything that is needed to check a lab's result."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy

from repsq_ros import __version__
from repsq_ros.campaign.drift import intervals_of_sessions, mean_interval
from repsq_ros.campaign.folder import REPLICATION, RESULT, SPECIFICATION, TESTS
from repsq_ros.campaign.journal import JOURNAL, LEDGER
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign
from repsq_ros.campaign.result import ACCEPTANCE
from repsq_ros.campaign.station import SELF_TEST
from repsq_ros.certificate.canonical import plain_object, sha256_of
from repsq_ros.certificate.registration import certified_registration
from repsq_ros.certificate.timestamp import TIMESTAMP
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.specification.copies import companions
from repsq_ros.timebase import date_now

CERTIFICATE = 'certificate.json'
FORMAT = 1  # version of the certificate's format
TYPE = 'repsq_ros campaign certificate'
PROMISE = ('accurate', 'guarantee', 'agreement', 'objection', 'provisos', 'p_same')
# fields that are elsewhere in the certificate
IDENTITY = ('campaign_id', 'specification_digest', 'replication_digest')
PRICE = ('bench', 'extra_tests', 'lost_time')  # cost of losses: not part of the promise
# fields that are not in the journal
ISSUED = ('issued', 'software', 'bags', 'topics', 'lab', 'registration')


def make_document(
    recomputed: RecomputedCampaign,
    bags: Sequence[dict[str, object]] = (),
    lab: str = '',
    topics: dict[str, object] | None = None,
) -> dict[str, Any]:
    """Return the content of a campaign's certificate, without digest and signature.

    :param bags: as `bag_entry` describes them
    :param lab: name of the lab that issues it
    :param topics: names of the topics in the recordings; None: those of the specification
    :raises JournalError: the campaign has no result
    :raises CertificateError: the ledger that it was registered in was changed
    """
    import scipy

    document = {
        **counted_anew(recomputed),
        'files': file_digests(recomputed),
        'bags': list(bags),
        'lab': lab,
        'issued': date_now(),
        'software': {
            'repsq_ros': __version__,
            'python': platform.python_version(),
            'numpy': numpy.__version__,
            'scipy': scipy.__version__,
        },
    }
    if topics is not None:
        document['topics'] = topics
    registration = certified_registration(recomputed)
    if registration is not None:
        document['registration'] = registration
    return plain_object(document)


def counted_anew(recomputed: RecomputedCampaign) -> dict[str, Any]:
    """Return the recomputable part of a certificate, which depends on no issuer and no time.

    :raises JournalError: the campaign has no result
    """
    return plain_object({'format': FORMAT, 'type': TYPE, **counted_content(recomputed)})


def counted_content(recomputed: RecomputedCampaign) -> dict[str, object]:
    """Return the content that follows from specification and journal.

    :raises JournalError: the campaign has no result
    """
    specification, contents = recomputed.specification, recomputed.contents
    result = recomputed.finished()
    published = result.published(specification)
    tester, accuracy = specification.tester, specification.accuracy
    told = result.content()
    partition = published.partition
    sessions = recomputed.sessions
    of_sessions = intervals_of_sessions(specification, [each.tests for each in sessions])
    if len(sessions) == 1 and list(sessions[0].tests) == list(contents.tests):
        of_all = of_sessions[0]  # the same tests, the same c: not computed twice
    else:
        of_all = mean_interval(specification, contents.tests, accuracy.c)
    return {
        'campaign': {
            'id': contents.campaign_id,
            'seed': contents.seed,
            'proposal': tester.proposal.kind.value,
            'control': tester.control is not None,
            'max_tests': tester.max_tests,
        },
        'specification': {
            'name': specification.name,
            'digest': specification.digest,
            'replication_digest': result.replication_digest,
            'shared': published.shared(),
        },
        'partition': {
            'type': published.cells.kind.value,
            'edges': list(partition.edges) if partition is not None else [],
            'anchor': partition.anchor if partition is not None else None,
        },
        'rule': {
            'name': result.rule,
            'statement': tester.stopping.statement,
            'gamma': specification.gamma,
            'c': accuracy.c,
            'beta': accuracy.beta,
            'runs': accuracy.runs,
            'selection': accuracy.selection.value,
        },
        'promise': {name: told[name] for name in (*PROMISE, *ACCEPTANCE) if name in told},
        'result': {
            name: value
            for name, value in told.items()
            if name not in (*PROMISE, *ACCEPTANCE, *IDENTITY, *PRICE)
        },
        'mean': asdict(of_all),
        'sessions': [
            {**_session(each.content), 'mean': asdict(interval)}
            for each, interval in zip(sessions, of_sessions, strict=True)
        ],
        'journal': {
            'format': contents.format,
            'lines': len(recomputed.entries),
            'head': recomputed.head,
        },
    }


def _session(content: dict[str, Any]) -> dict[str, object]:
    """Return the certified part of a session's line; fields of later versions are empty."""
    return {
        'date': str(content.get('date', '')),
        'note': str(content.get('note', '')),
        'software': str(content.get('software', '')),
        'versions': content.get('versions', {}),
        'machine': str(content.get('machine', '')),
        'clock': content.get('clock', {}),
    }


def certified_files(folder: Path) -> list[str]:
    """Return the names of the existing files that a certificate lists with checksums."""
    named = [
        SPECIFICATION, JOURNAL, TESTS, RESULT, REPLICATION, LEDGER, TIMESTAMP, SELF_TEST,
    ]  # fmt: skip
    beside = [str(name) for name in companions(folder / SPECIFICATION)]
    return [name for name in dict.fromkeys([*named, *beside]) if (folder / name).is_file()]


def file_digests(recomputed: RecomputedCampaign) -> dict[str, str]:
    """Return the SHA-256 of each file that a certificate lists."""
    folder = recomputed.folder
    return {name: sha256_of(folder / name) for name in certified_files(folder)}


def bag_entry(bag: Path) -> dict[str, object]:
    """Return a certificate's entry for a recording, with each of its files.

    :param bag: the folder of a rosbag2 recording, or one file
    :raises ParameterError: not there
    :raises BagError: empty
    """
    files = bag_files(bag)
    return {
        'name': bag.name,
        'files': [
            {'name': name, 'bytes': path.stat().st_size, 'sha256': sha256_of(path)}
            for name, path in files.items()
        ],
    }


def bag_files(bag: Path) -> dict[str, Path]:
    """Return the files of a recording by their names, in order.

    :raises ParameterError: not there
    :raises BagError: empty
    """
    if not bag.exists():
        raise ParameterError('bag', f'{bag}, which is not there', 'a recording')
    paths = [bag] if bag.is_file() else sorted(each for each in bag.rglob('*') if each.is_file())
    if not paths:
        raise BagError(f'{bag}: found no file, expected a recording')
    return {path.name if path == bag else str(path.relative_to(bag)): path for path in paths}
