"""Snapshots on disk: where files are opened, named and replaced.

The bytes themselves are written and read by the compiled module; this module knows nothing of
their form.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from ._core import PackedZSet

    Set = TypeVar("Set", bound=PackedZSet)


def save(zset: PackedZSet, file: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write a snapshot; see `PackedZSet.save`.

    Parameters
    ----------
    zset : PackedZSet
        The set.
    file : path, or a binary file open for writing
        A path is replaced in one step.
    """
    if hasattr(file, "write"):
        cast("IO[bytes]", file).write(zset._to_bytes())
        return
    target = os.path.realpath(os.fspath(file))
    descriptor, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".goblin_pz-")
    try:
        try:
            os.fchmod(descriptor, _mode_for(target))
            zset._save_fd(descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    _sync_folder(os.path.dirname(target))


def load(
    cls: type[Set],
    file: str | os.PathLike[str] | IO[bytes],
    *,
    score_rle: bool | None = None,
    merge_exponent: float | None = None,
) -> Set:
    """Read a snapshot; see `PackedZSet.load`.

    Parameters
    ----------
    cls : type
        PackedZSet or a subclass.
    file : path, or a binary file open for reading
        What `save` wrote.
    score_rle : bool, optional
        By default as in the file.
    merge_exponent : float, optional
        By default as in the file.

    Returns
    -------
    PackedZSet
        A new set.
    """
    data: bytes
    if hasattr(file, "read"):
        data = cast("IO[bytes]", file).read()
    else:
        with open(file, "rb") as opened:
            data = opened.read()
    return cls._from_bytes(data, score_rle=score_rle, merge_exponent=merge_exponent)


def _mode_for(target: str) -> int:
    """Give the mode of the file that is replaced, or that of a new file."""
    try:
        return os.stat(target).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: str) -> None:
    """Make the new name as durable as the bytes, where the system can."""
    descriptor: Any = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
