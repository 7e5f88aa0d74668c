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

"""A package with the layout of Unitree's messages, built where the real one is not installed."""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

MESSAGES = {
    'Request': 'RequestHeader header\nstring parameter\nuint8[] binary\n',
    'RequestHeader': 'RequestIdentity identity\nRequestLease lease\nRequestPolicy policy\n',
    'RequestIdentity': 'int64 id\nint64 api_id\n',
    'RequestLease': 'int64 id\n',
    'RequestPolicy': 'int32 priority\nbool noreply\n',
    'Response': 'ResponseHeader header\nstring data\nint8[] binary\n',
    'ResponseHeader': 'RequestIdentity identity\nResponseStatus status\n',
    'ResponseStatus': 'int32 code\n',
}
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(unitree_api)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
rosidl_generate_interfaces(unitree_api {files})
ament_package()
"""
PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>unitree_api</name>
  <version>0.0.0</version>
  <description>For tests alone</description>
  <maintainer email="repsq_ros@example.org">repsq_ros maintainers</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""


def unitree_api_in(builds: Path) -> dict[str, str]:
    """Build the package in a folder of builds, where it is kept for later runs.

    :returns: the environment variables that a process needs to use it
    """
    if importlib.util.find_spec('colcon_core') is None:
        pytest.skip('colcon is not installed')
    made_of = (Path(__file__), Path(__file__).parents[2] / 'tools' / 'constraints.txt')
    digest = hashlib.sha256(b''.join(file.read_bytes() for file in made_of))
    digest.update(f'{sys.prefix} {sys.version}'.encode())
    name = f'unitree_api-{digest.hexdigest()[:16]}'
    builds.mkdir(parents=True, exist_ok=True)
    with (builds / f'{name}.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, done = builds / name, builds / name / 'done'
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _build(folder)
            done.touch()
    return _variables(folder / 'install')


def _build(folder: Path) -> None:
    source = folder / 'unitree_api'
    (source / 'msg').mkdir(parents=True)
    for name, text in MESSAGES.items():
        (source / 'msg' / f'{name}.msg').write_text(text)
    files = ' '.join(f'msg/{name}.msg' for name in MESSAGES)
    (source / 'CMakeLists.txt').write_text(CMAKE.format(files=files))
    (source / 'package.xml').write_text(PACKAGE)
    prefixes = {
        name: os.environ.get(name) or sys.prefix
        for name in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH')
    }
    done = subprocess.run(
        [
            sys.executable, '-m', 'colcon', '--log-base', str(folder / 'log'), 'build',
            '--merge-install', '--base-paths', str(source), '--build-base', str(folder / 'build'),
            '--install-base', str(folder / 'install'), '--cmake-args',
            f'-DPython3_EXECUTABLE={sys.executable}', '-DBUILD_TESTING=OFF', '-Wno-dev',
        ],
        env={**os.environ, **prefixes}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def _variables(install: Path) -> dict[str, str]:
    packages = Path(sysconfig.get_path('purelib', vars={'base': str(install)}))
    added = {
        'AMENT_PREFIX_PATH': install,
        'PYTHONPATH': packages,
        'LD_LIBRARY_PATH': install / 'lib',
    }
    return {
        name: os.pathsep.join(filter(None, (str(path), os.environ.get(name, ''))))
        for name, path in added.items()
    }
