"""Tab-separated tables: what samples and results are kept in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]


def to_text(value: object) -> str:
    """Write one field: floats in their shortest exact form, None empty, flags as on and off."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value) if isinstance(value, float) else str(value)


def from_text(text: str) -> int | float | str | None:
    """Read one field back: an integer, a float, text, or None when empty."""
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def write_tsv(rows: Iterable[Row], columns: Sequence[str]) -> str:
    """Write rows under a header line, as one text."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(to_text(row[name]) for name in columns) for row in rows]
    return "\n".join(lines) + "\n"


def read_tsv(text: str) -> list[Row]:
    """Read rows below a header line.

    Raises
    ------
    ValueError
        When a line has another number of fields than the header.
    """
    lines = text.splitlines()
    if not lines:
        raise ValueError("no header line")
    columns = lines[0].split("\t")
    return [dict(zip(columns, map(from_text, line.split("\t")), strict=True)) for line in lines[1:]]


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lay out rows of texts in columns; the first `left` of them to the left, others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"
