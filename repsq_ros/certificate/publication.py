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

"""The folder for replicators, which others may check."""

from __future__ import annotations

import shutil
from pathlib import Path

from repsq_ros.campaign.folder import REPLICATION, RESULT, SPECIFICATION, TESTS
from repsq_ros.campaign.journal import JOURNAL, LEDGER
from repsq_ros.certificate.document import CERTIFICATE
from repsq_ros.certificate.timestamp import TIMESTAMP
from repsq_ros.errors import OutputError
from repsq_ros.specification.copies import copy_specification

README = 'README.md'
EVIDENCE = (SPECIFICATION, JOURNAL, TESTS, RESULT)

TEXT = """# {name}: to be replicated

Published by {lab}from campaign {campaign}.
Its result: {value} (estimate {estimate:.6g} from {n} tests).

{agreement}

Repeat it with your own robot, seed and proposal (`tester.yaml`: a section `tester` of your own;
see docs/specification.md of repsq_ros):

    repsq verify .
    repsq run replication.yaml --tester tester.yaml --output mine
    repsq compare . mine

| file | is |
|---|---|
| `replication.yaml` | the specification with its partition laid: digest {digest} |
| `certificate.json` | what the lab vouches for; `repsq verify` holds everything here against it |
{more}"""


def publish(
    campaign: Path, target: Path, certificate: dict[str, object], evidence: bool = False
) -> list[str]:
    """Copy everything that a replicator needs to a new folder; return the file names.

    :param campaign: the folder of a campaign, with its certificate
    :param certificate: its content
    :param evidence: include journal, tests and result, so that everything can be recomputed
    :raises OutputError: the folder is there already, or cannot be written
    """
    if target.exists():
        raise OutputError(f'output {target}: found it there, expected a new folder')
    source = campaign / REPLICATION
    if not source.exists():  # a given partition: all testers share one file
        source = campaign / SPECIFICATION
    try:
        target.mkdir(parents=True)
        copy_specification(source, target / REPLICATION)
        shutil.copyfile(campaign / CERTIFICATE, target / CERTIFICATE)
        for name in (LEDGER, TIMESTAMP):
            if (campaign / name).exists():
                shutil.copyfile(campaign / name, target / name)
        for name in EVIDENCE if evidence else ():
            shutil.copyfile(campaign / name, target / name)
        (target / README).write_text(_text(certificate, evidence), encoding='utf-8')
    except OSError as error:
        raise OutputError.unwritable(target, error) from None
    return sorted(str(path.relative_to(target)) for path in target.rglob('*') if path.is_file())


def _text(certificate: dict[str, object], evidence: bool) -> str:
    specification, result, promise, campaign = (
        certificate[name] for name in ('specification', 'result', 'promise', 'campaign')
    )
    assert isinstance(specification, dict)
    assert isinstance(result, dict)
    assert isinstance(promise, dict)
    assert isinstance(campaign, dict)
    more = '| other files | tables and classes that the specification names |\n'
    if evidence:
        names = ', '.join(f'`{name}`' for name in EVIDENCE)
        more += f'| {names} | evidence: everything can be recomputed |\n'
    return TEXT.format(
        name=specification['name'],
        lab=f'{certificate["lab"]} ' if certificate['lab'] else '',
        campaign=campaign['id'],
        value=repr(result['value']),
        estimate=result['estimate'],
        n=result['n'],
        agreement=promise['agreement'],
        more=more,
        digest=specification['replication_digest'],
    )


def pack(folder: Path) -> Path:
    """Zip a folder; return the zip file, which is beside it.

    :raises OutputError: it cannot be written
    """
    try:
        made = shutil.make_archive(str(folder), 'zip', folder.parent, folder.name)
    except OSError as error:
        raise OutputError.unwritable(folder.parent, error) from None
    return Path(made)
