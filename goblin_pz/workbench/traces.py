"""From the name of an input to its trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .arraycols import array_trace
from .blocks import Columns, Operation, Trace, TraceError
from .gitlog import git_trace
from .shapes import FULL_SCALE_PAGES, ShapeTrace, shape_trace
from .textcols import SUFFIXES, bare_suffix, text_trace

ARRAY_SUFFIXES = (".npy", ".npz", ".parquet")


@dataclass(frozen=True)
class ShapeChoice:
    """What only synthetic inputs take.

    Attributes
    ----------
    entities : int or None
        Pages or players; None is a million, or 2,524,999 for full-scale ids.
    seed : int
    ids : str
    """

    entities: int | None = None
    seed: int = 1
    ids: str = "dense"


def open_shape(kind: str, shape: ShapeChoice) -> ShapeTrace:
    """Make the trace of a shape; `TraceError` for an unknown kind."""
    default = FULL_SCALE_PAGES if shape.ids == "full-scale" else 1_000_000
    return shape_trace(kind, shape.entities or default, shape.seed, shape.ids)


def open_trace(
    name: str, operation: Operation, columns: Columns | None, shape: ShapeChoice
) -> Trace:
    """Find out what an input is.

    Parameters
    ----------
    name : str
        ``git:PATH``, ``shape:wikipedia``, ``shape:lichess``, or a file: .tsv, .csv, .txt or .tab
        (also .gz, .bz2, .zst), .npy, .npz, .parquet.
    operation : Operation
        Of files; the others have their own.
    columns : Columns or None
        Of files; the others have their own.
    shape : ShapeChoice

    Returns
    -------
    Trace

    Raises
    ------
    TraceError
        When the input is of no known kind, not there, or lacks its columns.
    """
    scheme, colon, rest = name.partition(":")
    if colon and scheme == "git":
        return git_trace(Path(rest))
    if colon and scheme == "shape":
        return open_shape(rest, shape)
    path = Path(name)
    if not path.is_file():
        raise TraceError(f"{name}: no such file (other inputs: git:PATH, shape:wikipedia, ...)")
    if columns is None:
        raise TraceError(f"{name}: name the column of the members (--member)")
    if path.suffix in ARRAY_SUFFIXES:
        return array_trace(path, operation, columns)
    if bare_suffix(path) in SUFFIXES:
        return text_trace(path, operation, columns)
    known = ", ".join((*SUFFIXES, *ARRAY_SUFFIXES))
    raise TraceError(f"{path.name}: not one of {known} (text also .gz, .bz2, .zst)")
