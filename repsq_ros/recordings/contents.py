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

"""The files of a recording, and the contents of its metadata.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import yaml

from repsq_ros.errors import AbsentError, BagError

SUFFIXES = ('.mcap', '.db3')
PACKED = '.zstd'  # suffix of files that are compressed as a whole
METADATA = 'metadata.yaml'
# With a hundred topics, libyaml takes a tenth of the time.
LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
POINTER = b'version https://git-lfs'


@dataclass
class RecordedFiles:
    """The files of one recording."""

    path: Path
    files: list[Path]
    counts: dict[str, int] = field(default_factory=dict)  # messages of each topic, by the metadata
    qos: dict[str, str] = field(default_factory=dict)  # of each topic, by the metadata
    packed_messages: bool = False  # each message is compressed separately
    notes: list[str] = field(default_factory=list)  # what is wrong, one line each


def files_of(path: Path, recover: bool) -> RecordedFiles:
    """Return the files of a folder with metadata.yaml, or the single file that is given.

    :param recover: read all files in the folder, whatever the metadata lists
    :raises BagError: no file, or files are missing
    """
    if not path.exists():
        raise AbsentError(f'{path}: does not exist, expected a folder or file of a recording')
    if not path.is_dir():
        return RecordedFiles(path, [path])
    there = sorted((file for file in path.iterdir() if is_storage(file)), key=_by_number)
    metadata = path / METADATA
    if not metadata.exists():
        if recover and there:
            note = f'{path}: found no {METADATA}; {len(there)} files are read as they lie there'
            return RecordedFiles(path, there, notes=[note])
        remedy = 'a folder that ros2 bag record has written'
        if there:
            names = ', '.join(file.name for file in there)
            remedy = f'ros2 bag reindex {path}, or --recover, or give one file: {names}'
        raise BagError(f'{path}: found no {METADATA}, expected a recorded bag: {remedy}')
    try:
        return _listed(path, metadata, there, recover)
    except BagError as error:
        if not (recover and there):
            raise
        note = f'{error}; {len(there)} files are read as they lie there'
        return RecordedFiles(path, there, notes=[note])


def metadata_of(file: Path) -> Any:
    """Return the contents of a metadata.yaml.

    :raises OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError: it cannot be used
    """
    told = yaml.load(file.read_text(encoding='utf-8'), LOADER)
    return told['rosbag2_bagfile_information']


def _listed(path: Path, metadata: Path, there: list[Path], recover: bool) -> RecordedFiles:
    try:
        told = metadata_of(metadata)
        names = _names(told['relative_file_paths'])
        topics = [
            (each['topic_metadata'], int(each['message_count']))
            for each in told['topics_with_message_count']
        ]
        counts = {str(topic['name']): count for topic, count in topics}
        qos = {str(topic['name']): _qos(topic) for topic, _ in topics}
        mode = str(told.get('compression_mode') or '').lower()
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise BagError(_unreadable(path, ' '.join(str(error).split())[:120])) from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        why = ' '.join(f'{type(error).__name__} {error}'.split())[:120]
        raise BagError(_unreadable(path, why)) from None
    found = RecordedFiles(path, [], counts, qos, mode == 'message')
    for name in names:
        file = path / name
        if not file.exists() and (path / (name + PACKED)).exists():
            file = path / (name + PACKED)
        if file.is_file():
            found.files.append(file)
        elif recover:
            found.notes.append(f'{file}: listed in {METADATA}, and not there')
        else:
            raise BagError(
                f'{path}: cannot be read ({name} is listed in {METADATA}, and not there), '
                'expected the whole recording: fetch the file, or --recover'
            )
    for file in there:
        if file not in found.files and file.stem not in names:
            note = f'{file}: not listed in {METADATA}'
            if recover:
                found.files.append(file)
                found.notes.append(f'{note}; read all the same')
            else:
                found.notes.append(f'{note}, not read: ros2 bag reindex {path}, or --recover')
    found.files.sort(key=lambda file: names.index(file.name) if file.name in names else len(names))
    return found


def _names(paths: Any) -> list[str]:
    """Return the names of the listed files, without duplicates.

    :raises TypeError: not a list of files
    """
    listed = isinstance(paths, list) and all(isinstance(path, str) for path in paths)
    names = [PurePath(path).name for path in paths] if listed else []
    if not names or not all(names):
        raise TypeError(f'relative_file_paths {paths!r}, expected a list of files')
    return list(dict.fromkeys(names))


def _unreadable(path: Path, why: str) -> str:
    return (
        f'{path}: cannot be read ({METADATA}: {why}), expected what ros2 bag record writes: '
        f'ros2 bag reindex {path}, or --recover'
    )


def _qos(topic: dict[str, Any]) -> str:
    offered = topic.get('offered_qos_profiles') or ''
    return offered if isinstance(offered, str) else yaml.safe_dump(offered)


def is_storage(file: Path) -> bool:
    """Tell whether a file's name is that of a recording."""
    return file.suffix in SUFFIXES or (file.suffix == PACKED and file.stem.endswith(SUFFIXES))


def _by_number(file: Path) -> list[str]:
    """Sort key that puts bag_10 after bag_9."""
    return [part.zfill(12) for part in re.split(r'(\d+)', file.name)]


def objection_to(file: Path) -> str:
    """Return why a file cannot be a recording, with the remedy; '': it may be one."""
    size = file.stat().st_size
    if not size:
        return 'empty, expected a recording: was it copied while it was written?'
    with file.open('rb') as opened:
        if opened.read(len(POINTER)) == POINTER:
            return 'a pointer of Git LFS, not the recording: git lfs pull'
    return ''
