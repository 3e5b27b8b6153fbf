"""What a trace is: an operation, and events that come in blocks of columns."""

from __future__ import annotations

import enum
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]


class TraceError(ValueError):
    """An input that cannot be read as asked; the message says what and where."""


class Operation(enum.Enum):
    """What one event does to the set."""

    ZADD = "ZADD"
    ZINCRBY = "ZINCRBY"


@dataclass(frozen=True)
class Block:
    """Events in order.

    Attributes
    ----------
    members : ndarray of int64, shape (n,)
    values : ndarray of float64, shape (n,), or None
        Scores (ZADD) or increments (ZINCRBY); None is an increment of 1 for every event.
    """

    members: Int64Array
    values: Float64Array | None

    def __len__(self) -> int:
        """Events."""
        return len(self.members)


@dataclass
class Skipped:
    """Rows of an input that are no events, by reason; complete when all blocks were read."""

    filtered: int = 0
    without_member: int = 0


@dataclass
class Trace(ABC):
    """A stream of events that can be read more than once, the same each time.

    Attributes
    ----------
    operation : Operation
    title : str
        What a chart calls it.
    synthetic : bool
        Whether the events were made up.
    skipped : Skipped
        Of the latest reading.
    """

    operation: Operation
    title: str
    synthetic: bool = False
    skipped: Skipped = field(default_factory=Skipped)

    @abstractmethod
    def blocks(self, rows: int) -> Iterator[Block]:
        """Read from the start, in blocks of `rows` events (the last may be shorter).

        A block's arrays are the reader's until the next block is asked for.
        """

    @abstractmethod
    def inputs(self) -> list[dict[str, Any]]:
        """Describe what is read, with its SHA-256 where it is a file: one dict an input."""


def file_facts(path: Path) -> dict[str, Any]:
    """Give name, size and SHA-256 of a file; reads it whole, about a second a GB."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest.hexdigest()}


@dataclass
class _Filling:
    members: Int64Array
    values: Float64Array | None
    used: int = 0


def rebatch(pieces: Iterator[Block], rows: int) -> Iterator[Block]:
    """Cut blocks of any lengths into blocks of `rows` events.

    Parameters
    ----------
    pieces : iterator of Block
        All with values, or all without.
    rows : int
        Positive.

    Yields
    ------
    Block
        Of `rows` events; the last may be shorter. Each event is copied at most once, none when the
        pieces already have the length.
    """
    filling: _Filling | None = None
    for piece in pieces:
        start = 0
        while start < len(piece):
            if filling is None and len(piece) - start >= rows:
                yield _slice(piece, start, start + rows)
                start += rows
                continue
            if filling is None:
                values = None if piece.values is None else np.empty(rows, np.float64)
                filling = _Filling(np.empty(rows, np.int64), values)
            take = min(rows - filling.used, len(piece) - start)
            stop = filling.used + take
            filling.members[filling.used : stop] = piece.members[start : start + take]
            if filling.values is not None and piece.values is not None:
                filling.values[filling.used : stop] = piece.values[start : start + take]
            filling.used = stop
            start += take
            if filling.used == rows:
                yield Block(filling.members, filling.values)
                filling = None
    if filling is not None and filling.used:
        yield _slice(Block(filling.members, filling.values), 0, filling.used)


def _slice(block: Block, start: int, stop: int) -> Block:
    values = None if block.values is None else block.values[start:stop]
    return Block(block.members[start:stop], values)


@dataclass(frozen=True)
class Columns:
    """Which columns of a table make the events.

    Attributes
    ----------
    member : str
        Column of the members. Rows where it is empty are left out and counted.
    value : str or None
        Column of scores or increments; None is an increment of 1.
    filters : tuple of (str, str)
        Column and text: only rows where all are equal are events.
    sort : str or None
        Column to sort by first, stably; the whole table is then held in memory.
    separator : str or None
        Of text files; None follows the file's name (comma for .csv, else tab).
    header : bool
        Whether a text file's first line names its columns. Without, columns are named by number
        from 1.
    """

    member: str
    value: str | None = None
    filters: tuple[tuple[str, str], ...] = ()
    sort: str | None = None
    separator: str | None = None
    header: bool = True

    @property
    def names(self) -> list[str]:
        """All columns named, each once."""
        wanted = [self.member, self.value, self.sort, *(name for name, _ in self.filters)]
        return list(dict.fromkeys(name for name in wanted if name is not None))
