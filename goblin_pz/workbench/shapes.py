"""The two synthetic workloads, as traces and as files. Their definition: docs/workbench.md."""

from __future__ import annotations

import bz2
import contextlib
import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from goblin_pz import _workload

from .blocks import Block, Float64Array, Int64Array, Operation, Skipped, Trace, TraceError
from .extras import need

WIKIPEDIA_START = 979_516_800  # 2001-01-15 00:00 UTC
WIKIPEDIA_SECONDS = 9_328 * 86_400
LICHESS_START = 1_356_912_000  # 2012-12-31 00:00 UTC
LICHESS_SECONDS = 4_657 * 86_400
FULL_SCALE_PAGES = 2_524_999
WRITE_ROWS = 1 << 18


@dataclass
class ShapeTrace(Trace):
    """A synthetic workload; the same seed gives the same events.

    Attributes
    ----------
    kind : str
        ``wikipedia`` (increments of pages) or ``lichess`` (ratings of players).
    entities : int
        Pages or players.
    seed : int
    ids : str
        ``dense``, ``full-scale`` or ``random``; players are dense.
    """

    kind: str = field(default="wikipedia", kw_only=True)
    entities: int = field(default=1_000_000, kw_only=True)
    seed: int = field(default=1, kw_only=True)
    ids: str = field(default="dense", kw_only=True)

    def inputs(self) -> list[dict[str, Any]]:
        """Describe the arguments, which the events follow from."""
        return [
            {
                "name": f"shape:{self.kind}",
                "synthetic": True,
                "entities": self.entities,
                "seed": self.seed,
                "ids": self.ids,
            }
        ]

    def blocks(self, rows: int) -> Iterator[Block]:
        """Generate; see `Trace.blocks`.

        Costs 20 to 40 ns an event on one core and at most 2 GiB beside 4 bytes an entity.
        """
        self.skipped = Skipped()
        for members, values, _ in self.columns(rows, ticks=False):
            yield Block(members, values)

    def columns(
        self, rows: int, *, ticks: bool
    ) -> Iterator[tuple[Int64Array, Float64Array | None, npt.NDArray[np.uint32] | None]]:
        """Generate blocks of members, ratings (lichess only) and, if asked for, times.

        Times are uint32 in units of 2**-32 of the whole span. The arrays are used again for the
        next block.
        """
        try:
            shape = _workload.Shape(self.kind, self.entities, seed=self.seed, ids=self.ids)
        except ValueError as error:
            raise TraceError(f"shape:{self.kind}: {error}") from None
        members = np.empty(rows, np.int64)
        values = np.empty(rows, np.float64) if self.kind == "lichess" else None
        times = np.empty(rows, np.uint32) if ticks else None
        while written := shape.fill(members, values, times):
            yield (
                members[:written],
                None if values is None else values[:written],
                None if times is None else times[:written],
            )


def shape_trace(kind: str, entities: int, seed: int, ids: str = "dense") -> ShapeTrace:
    """Make the trace of a synthetic workload.

    Parameters
    ----------
    kind : {"wikipedia", "lichess"}
    entities : int
        Pages or players, 1 to 2,147,483,647.
    seed : int
    ids : {"dense", "full-scale", "random"}
        Page ids; see docs/workbench.md.
    """
    if kind not in ("wikipedia", "lichess"):
        raise TraceError(f"no shape {kind!r}: there are wikipedia and lichess")
    noun = "pages" if kind == "wikipedia" else "players"
    return ShapeTrace(
        Operation.ZINCRBY if kind == "wikipedia" else Operation.ZADD,
        f"synthetic {kind.capitalize()} shape, {entities:,} {noun}, {ids} ids, seed {seed}",
        synthetic=True,
        kind=kind,
        entities=entities,
        seed=seed,
        ids=ids,
    )


def unix_times(kind: str, ticks: npt.NDArray[np.uint32]) -> Int64Array:
    """Turn ticks into seconds since 1970, over the span of the real data set."""
    start, seconds = (
        (WIKIPEDIA_START, WIKIPEDIA_SECONDS)
        if kind == "wikipedia"
        else (LICHESS_START, LICHESS_SECONDS)
    )
    scaled = (ticks.astype(np.uint64) * np.uint64(seconds)) >> np.uint64(32)
    return np.asarray(scaled.astype(np.int64) + start)


def column_names(kind: str) -> list[str]:
    """Name the columns of a written shape."""
    return ["unix_time", "page_id"] if kind == "wikipedia" else ["unix_time", "rating", "player"]


def written_columns(trace: ShapeTrace) -> Iterator[list[Int64Array]]:
    """Generate blocks of the columns that `column_names` names."""
    for members, values, ticks in trace.columns(WRITE_ROWS, ticks=True):
        assert ticks is not None
        times = unix_times(trace.kind, ticks)
        if values is None:
            yield [times, members]
        else:
            yield [times, values.astype(np.int64), members]


def write_shape(trace: ShapeTrace, path: Path) -> int:
    """Write a shape to a file, by its name: .tsv or .csv (also .gz, .bz2, .zst), .npz, .parquet.

    Parameters
    ----------
    trace : ShapeTrace
    path : Path
        A new file.

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    TraceError
        For a name of another kind.
    FileExistsError
    """
    if path.exists():
        raise FileExistsError(f"{path} exists")
    if path.suffix == ".parquet":
        return _write_parquet(trace, path)
    if path.suffix == ".npz":
        return _write_npz(trace, path)
    packed = path.suffix in (".gz", ".bz2", ".zst")
    kind = Path(path.stem).suffix if packed else path.suffix
    if kind not in (".tsv", ".csv"):
        raise TraceError(
            f"{path.name}: write .tsv or .csv (also .gz, .bz2, .zst), .npz or .parquet"
        )
    return _write_text(trace, path, "," if kind == ".csv" else "\t")


def _create_packed(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(path, "wb", compresslevel=6, mtime=0))
    if path.suffix == ".bz2":
        return cast(IO[bytes], bz2.open(path, "wb"))
    if path.suffix == ".zst":
        zstandard = need("zstandard", f"writing {path.name}")
        packer = zstandard.ZstdCompressor()
        return cast(IO[bytes], packer.stream_writer(path.open("wb"), closefd=True))
    return path.open("wb")


def _write_text(trace: ShapeTrace, path: Path, separator: str) -> int:
    rows = 0
    with contextlib.closing(_create_packed(path)) as file:
        file.write((separator.join(column_names(trace.kind)) + "\n").encode())
        for columns in written_columns(trace):
            file.write(_workload.write_lines(tuple(columns), separator))
            rows += len(columns[0])
    return rows


def _write_npz(trace: ShapeTrace, path: Path) -> int:
    blocks = [[column.copy() for column in columns] for columns in written_columns(trace)]
    merged = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    named: dict[str, Any] = dict(zip(column_names(trace.kind), merged, strict=True))
    np.savez(path, **named)
    return len(merged[0])


def _write_parquet(trace: ShapeTrace, path: Path) -> int:
    arrow = need("pyarrow", f"writing {path.name}")
    parquet = need("pyarrow.parquet", f"writing {path.name}")
    names = column_names(trace.kind)
    schema = arrow.schema([(name, arrow.int64()) for name in names])
    rows = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for columns in written_columns(trace):
            writer.write_batch(arrow.record_batch(list(columns), schema=schema))
            rows += len(columns[0])
    return rows
