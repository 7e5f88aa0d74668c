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

"""Printing the page by an installed browser, so that PDF and screen are the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from repsq_ros.errors import MissingError, OutputError

BROWSERS = (
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
    'chrome',
    'microsoft-edge',
)
PATIENCE = 120.0  # [s]


def find_browser() -> str:
    """Return the path of a browser that prints without a screen.

    :raises MissingError: none is installed
    """
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    raise MissingError(
        f'--pdf needs a browser (one of {", ".join(BROWSERS[:3])}): apt install chromium, or open '
        'the HTML file in any browser and print it'
    )


def print_pdf(page: Path, target: Path) -> None:
    """Print a page of HTML to a PDF.

    :raises MissingError: no browser is installed
    :raises OutputError: it did not print
    """
    browse(page, target, f'--print-to-pdf={target.resolve()}', '--no-pdf-header-footer')


def browse(page: Path, target: Path, *options: str) -> None:
    """Open a page with options that make a browser write a file.

    :raises MissingError: no browser is installed
    :raises OutputError: it wrote nothing
    """
    browser = find_browser()
    with TemporaryDirectory() as profile:
        command = [
            browser,
            '--headless=new',
            '--disable-gpu',
            f'--user-data-dir={profile}',
            '--no-first-run',
            '--disable-extensions',
            *options,
            page.resolve().as_uri(),
        ]
        if os.geteuid() == 0:
            command.insert(1, '--no-sandbox')  # root cannot use the sandbox
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=PATIENCE
            )
            told = done.stderr.strip().splitlines()[-1:]
        except (subprocess.TimeoutExpired, OSError) as error:
            told = [str(error)]
    if not target.exists():
        raise OutputError(f'output {target}: {browser} wrote nothing ({"".join(told)})')
