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

"""Metadata for pip: name and version come from package.xml, entry points from setup.cfg."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
PACKAGE = ElementTree.parse(ROOT / 'package.xml').getroot()
# A wheel has the folder config/ as repsq_ros/config/ (configurations.py finds it).
SETTINGS = {
    '.'.join(['repsq_ros', *folder.relative_to(ROOT).parts]): str(folder.relative_to(ROOT))
    for folder in (ROOT / 'config', *sorted((ROOT / 'config').glob('*/')))
    if folder.is_dir()
}
MAINTAINER = PACKAGE.find('maintainer')
EMAIL = MAINTAINER.get('email')


def text(tag: str) -> str:
    """Return the text of one element of package.xml, white space folded."""
    return ' '.join((PACKAGE.findtext(tag) or '').split())


setup(
    name=text('name'),
    version=text('version'),
    description=text('description'),
    maintainer=MAINTAINER.text,
    author=text('author'),
    # What package.xml does not know is left out: an address that reaches nobody, a web page.
    maintainer_email=None if EMAIL.endswith('.invalid') else EMAIL,
    license=text('license'),
    url=PACKAGE.findtext('url'),
    packages=[*find_packages(include=['repsq_ros', 'repsq_ros.*']), *SETTINGS],
    package_dir=SETTINGS,
    package_data={
        'repsq_ros': ['py.typed', 'certificate/*.json', 'report/*.html', 'specification/*.json'],
        **{package: ['*.yaml', '*.csv', '*.rviz', '*.json'] for package in SETTINGS},
    },
)
