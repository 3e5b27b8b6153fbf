"""Figures of the published study, taken from its files; data/SOURCES names them one by one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from .tables import Row, read_tsv

GIB = 2**30
SOURCE = "Published curves: goblin-core, benchmarks/wikimedia_history_2026_08 (one trial)"


def table(name: str) -> list[Row]:
    """Read one of the published tables by its file name."""
    file = resources.files(__package__).joinpath("data").joinpath(name)
    return read_tsv(file.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Curve:
    """Memory of one engine while the full English Wikipedia history was replayed.

    Attributes
    ----------
    engine, label : str
    members : list of int
        At every sample, five minutes apart; the last is the final reading.
    rss_bytes : list of int
        Resident memory of the whole server process.
    """

    engine: str
    label: str
    members: list[int]
    rss_bytes: list[int]

    @property
    def bytes_per_member(self) -> float:
        """Of the final reading."""
        return self.rss_bytes[-1] / self.members[-1]


def growth_curves() -> list[Curve]:
    """Give the seven published curves, the smallest final memory first."""
    rows: dict[str, list[Row]] = {}
    for row in table("wikimedia-memory-growth-samples.tsv"):
        rows.setdefault(str(row["engine"]), []).append(row)
    curves = [
        Curve(
            engine,
            str(samples[0]["label"]),
            [int(sample["live_members"]) for sample in samples],
            [int(sample["os_rss_kib"]) * 1024 for sample in samples],
        )
        for engine, samples in rows.items()
    ]
    return sorted(curves, key=lambda curve: curve.rss_bytes[-1])


def rle_matrix() -> dict[tuple[str, bool], Row]:
    """Give the published counters by layout and RLE setting; bytes are whole-set figures."""
    return {
        (str(row["layout"]), row["rle"] == "on"): row
        for row in table("wikimedia-rle-matrix-goblin-memory.tsv")
    }


def allocated_per_member(layout: str, *, rle: bool) -> float:
    """Give the published allocated bytes a member of a layout."""
    row = rle_matrix()[(layout, rle)]
    return int(row["total_allocated_bytes"]) / int(row["member_count"])
