"""Metadata for pip: name and version come from package.xml, entry points from setup.cfg."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import setup

PACKAGE = ElementTree.parse(Path(__file__).parent / 'package.xml').getroot()
MAINTAINER = PACKAGE.find('maintainer')


def text(tag: str) -> str:
    """Return the text of one element of package.xml, white space folded."""
    return ' '.join((PACKAGE.findtext(tag) or '').split())


setup(
    name=text('name'),
    version=text('version'),
    description=text('description'),
    maintainer=MAINTAINER.text,
    maintainer_email=MAINTAINER.get('email'),
    license=text('license'),
)
