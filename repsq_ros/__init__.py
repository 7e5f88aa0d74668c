"""Repeatable measures of robot performance by statistical query, on ROS 2."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _installed_version
from pkgutil import extend_path

# The messages are generated into an installed folder of the same name: where the sources are found
# first (a checkout, pip install -e), this lets `repsq_ros.msg` be found beside them.
__path__ = extend_path(__path__, __name__)

try:
    __version__ = _installed_version('repsq_ros')
except PackageNotFoundError:  # the sources alone, neither built nor installed
    __version__ = '0+unknown'
