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

"""The style of all figures: colours for the colour-blind, and no information by colour alone.

Colours are those of Okabe and Ito, shades those of viridis, which rise in lightness.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

from repsq_ros.errors import MissingError

BLUE, ORANGE, GREEN, RED, BLACK = '#0072b2', '#e69f00', '#009e73', '#d55e00', '#000000'
GREY, PALE = '#666666', '#d9d9d9'
SHADES = 'viridis'
WIDTH = 4.8  # [inches]: text of 10 points stays readable on a phone
STYLE = {
    'svg.fonttype': 'path',  # independent of installed fonts
    'svg.hashsalt': 'repsq_ros',  # makes figures reproducible, byte by byte
    'font.size': 10.0,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.titlesize': 10.0,
    'legend.fontsize': 9.0,
    'legend.frameon': False,
    'savefig.facecolor': 'none',  # transparent, for light and dark pages
    'axes.facecolor': 'none',
}


def figure(draw: Callable[[Any], None], height: float = 3.2, width: float = WIDTH) -> str:
    """Return a figure as the data URI of an SVG.

    :param draw: draws into matplotlib's figure
    :param height: [inches]
    :raises MissingError: matplotlib is not installed
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingError.of_package('a report', 'matplotlib') from None
    with matplotlib.rc_context(STYLE):
        made = Figure(figsize=(width, height), layout='constrained', dpi=110)
        draw(made)
        kept = io.BytesIO()
        made.savefig(kept, format='svg', metadata={'Date': None})
    return f'data:image/svg+xml;base64,{base64.b64encode(kept.getvalue()).decode()}'
