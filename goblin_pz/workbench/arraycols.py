"""Traces from typed columns: NumPy files and Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .blocks import (
    Block,
    Columns,
    Float64Array,
    Int64Array,
    Operation,
    Skipped,
    Trace,
    TraceError,
    file_facts,
    rebatch,
)
from .extras import need

AnyArray = npt.NDArray[Any]
PIECE = 1 << 20


def to_members(column: AnyArray, name: str) -> Int64Array:
    """Convert a column of members to int64, exactly.

    Raises
    ------
    TraceError
        When it does not hold integers, or one is beyond 64 bits signed; names the first row.
    """
    if column.dtype.kind not in "iu":
        raise TraceError(f"column {name!r} holds {column.dtype}, not integers")
    if column.dtype.kind == "u" and column.dtype.itemsize == 8:
        beyond = np.flatnonzero(column > np.uint64(np.iinfo(np.int64).max))
        if len(beyond):
            raise TraceError(f"column {name!r}, row {beyond[0]}: beyond 64-bit signed integers")
    return column.astype(np.int64, copy=False)


def to_values(column: AnyArray, name: str) -> Float64Array:
    """Convert a column of scores or increments to float64; NaN and infinities are refused."""
    if column.dtype.kind not in "iuf":
        raise TraceError(f"column {name!r} holds {column.dtype}, not numbers")
    values = column.astype(np.float64, copy=False)
    broken = np.flatnonzero(~np.isfinite(values))
    if len(broken):
        raise TraceError(f"column {name!r}, row {broken[0]}: not a finite number")
    return values


def matches(column: AnyArray, text: str, name: str) -> npt.NDArray[np.bool_]:
    """Say where a column equals a value given as text, read by the column's type."""
    try:
        if column.dtype.kind in "iu":
            return np.asarray(column == int(text))
        if column.dtype.kind == "f":
            return np.asarray(column == float(text))
        if column.dtype.kind == "b":
            return np.asarray(column == {"true": True, "false": False}[text.lower()])
    except (ValueError, KeyError):
        raise TraceError(f"filter on {name!r}: {text!r} is no {column.dtype}") from None
    if column.dtype.kind == "S":
        return np.asarray(column == text.encode())
    return np.asarray(column == text)


def select(table: Mapping[str, AnyArray], columns: Columns, skipped: Skipped) -> Block:
    """Make one block of a table's columns: filters, then conversions; does not sort."""
    keep: npt.NDArray[np.bool_] | None = None
    for name, text in columns.filters:
        found = matches(table[name], text, name)
        keep = found if keep is None else keep & found
    members, value = table[columns.member], None
    if columns.value is not None:
        value = table[columns.value]
    if keep is not None:
        skipped.filtered += int(len(keep) - np.count_nonzero(keep))
        members = members[keep]
        value = None if value is None else value[keep]
    block_values = None if value is None else to_values(value, columns.value or "")
    return Block(np.ascontiguousarray(to_members(members, columns.member)), block_values)


def sort_rows(table: Mapping[str, AnyArray], key: str) -> dict[str, AnyArray]:
    """Sort every column of a table by one of them, stably."""
    order = np.argsort(table[key], kind="stable")
    return {name: column[order] for name, column in table.items()}


def check_names(known: list[str], columns: Columns, path: Path) -> None:
    """Raise `TraceError` for the first named column that the table lacks."""
    for name in columns.names:
        if name not in known:
            raise TraceError(f"{path.name}: no column {name!r} (columns: {', '.join(known)})")


@dataclass
class NumpyTrace(Trace):
    """A .npy or .npz file as a trace.

    A .npy file holds a structured array, whose fields are the columns, or a plain array of shape
    (n,), the column ``members``, or (n, 2), the columns ``members`` and ``values``; it is mapped,
    not loaded. A .npz file holds one array a column.
    """

    path: Path = field(default=Path(), kw_only=True)
    columns: Columns = field(default=Columns("members"), kw_only=True)

    def inputs(self) -> list[dict[str, Any]]:
        """Describe the file."""
        return [file_facts(self.path)]

    def _table(self) -> dict[str, AnyArray]:
        if self.path.suffix == ".npz":
            with np.load(self.path, allow_pickle=False) as archive:
                table = {
                    name: archive[name] for name in archive.files if name in self.columns.names
                }
                check_names(archive.files, self.columns, self.path)
        else:
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
            table = _columns_of(array, self.path)
            check_names(list(table), self.columns, self.path)
        lengths = {len(column) for column in table.values()}
        if len(lengths) != 1 or any(column.ndim != 1 for column in table.values()):
            raise TraceError(f"{self.path.name}: columns must be one-dimensional, of one length")
        return table

    def blocks(self, rows: int) -> Iterator[Block]:
        """Read the file; see `Trace.blocks`."""
        self.skipped = Skipped()
        table = self._table()
        table = {name: table[name] for name in self.columns.names}
        if self.columns.sort is not None:
            table = sort_rows(table, self.columns.sort)
        total = len(table[self.columns.member])
        pieces = (
            select(
                {name: column[at : at + PIECE] for name, column in table.items()},
                self.columns,
                self.skipped,
            )
            for at in range(0, total, PIECE)
        )
        yield from rebatch(pieces, rows)


def _columns_of(array: AnyArray, path: Path) -> dict[str, AnyArray]:
    if array.dtype.names is not None:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim == 1:
        return {"members": array}
    if array.ndim == 2 and array.shape[1] == 2:
        return {"members": array[:, 0], "values": array[:, 1]}
    raise TraceError(f"{path.name}: shape {array.shape} is neither (n,) nor (n, 2)")


@dataclass
class ParquetTrace(Trace):
    """A Parquet file as a trace; needs pyarrow. Read in batches unless it is sorted."""

    path: Path = field(default=Path(), kw_only=True)
    columns: Columns = field(default=Columns("member"), kw_only=True)

    def inputs(self) -> list[dict[str, Any]]:
        """Describe the file."""
        return [file_facts(self.path)]

    def blocks(self, rows: int) -> Iterator[Block]:
        """Read the file; see `Trace.blocks`."""
        self.skipped = Skipped()
        parquet = need("pyarrow.parquet", f"reading {self.path.name}")
        with parquet.ParquetFile(self.path) as file:
            check_names(list(file.schema_arrow.names), self.columns, self.path)
            batches = file.iter_batches(PIECE, columns=self.columns.names)
            tables: Iterator[dict[str, AnyArray]] = (self._numpy(batch) for batch in batches)
            if self.columns.sort is not None:
                tables = iter([self._sorted(list(tables))])
            pieces = (select(table, self.columns, self.skipped) for table in tables if table)
            yield from rebatch(pieces, rows)

    def _numpy(self, batch: Any) -> dict[str, AnyArray]:
        member = batch.column(self.columns.member)
        if member.null_count:
            self.skipped.without_member += member.null_count
            batch = batch.filter(member.is_valid())
        for name in self.columns.names:
            if batch.column(name).null_count and name in (self.columns.value, self.columns.sort):
                raise TraceError(f"{self.path.name}: column {name!r} has missing values")
        return {
            name: batch.column(name).to_numpy(zero_copy_only=False) for name in self.columns.names
        }

    def _sorted(self, tables: list[dict[str, AnyArray]]) -> dict[str, AnyArray]:
        if not tables or self.columns.sort is None:
            return {}
        whole = {
            name: np.concatenate([table[name] for table in tables]) for name in self.columns.names
        }
        return sort_rows(whole, self.columns.sort)


def array_trace(path: Path, operation: Operation, columns: Columns) -> Trace:
    """Make a trace of a NumPy or Parquet file, by its name."""
    if path.suffix == ".parquet":
        return ParquetTrace(operation, path.name, path=path, columns=columns)
    return NumpyTrace(operation, path.name, path=path, columns=columns)
