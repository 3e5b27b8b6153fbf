"""Increments in batches: ours, which keeps every rank current, beside what a Python user has.

Claim: at 10 million members and batches of 1 million, at least 5 times NumPy columns that keep
ranks, and 0.4 of NumPy columns that keep no order. Every way holds the same ranking and is given
the same batch in the same round; dense counts are shown as the floor that needs dense, bounded ids.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

import common
import numpy as np

from goblin_pz import PackedZSet

SLOW_ROUNDS_NOTE = "kept ranks: ranks and order of every member are current after each batch"


class Holder(Protocol):
    """A ranking that takes batches of unit increments."""

    def step(self, batch: np.ndarray) -> None:
        """Apply one increment a row."""


class Packed:
    """Ours; ranks are always current."""

    def __init__(self, members: np.ndarray, scores: np.ndarray) -> None:
        self.z = PackedZSet("int32", "float32")
        self.z.add(members, scores.astype(np.float32))

    def step(self, batch: np.ndarray) -> None:
        self.z.incrby(batch)


class Dense:
    """Counts in an array indexed by the id itself; no order."""

    def __init__(self, members: np.ndarray, scores: np.ndarray) -> None:
        self.counts = np.zeros(int(members.max()) + 1, np.float32)
        self.counts[members] = scores

    def step(self, batch: np.ndarray) -> None:
        if batch.max() >= len(self.counts):
            self.counts = np.append(self.counts, np.zeros(int(batch.max()) + 1, np.float32))
        self.counts += np.bincount(batch, minlength=len(self.counts))


class Columns:
    """Ids ascending beside their scores; no order by score."""

    def __init__(self, members: np.ndarray, scores: np.ndarray) -> None:
        order = np.argsort(members)
        self.ids, self.scores = members[order], scores[order].astype(np.float32)

    def step(self, batch: np.ndarray) -> None:
        ids, amounts = np.unique(batch, return_counts=True)
        at = np.searchsorted(self.ids, ids)
        known = self.ids[np.minimum(at, len(self.ids) - 1)] == ids
        self.scores[at[known]] += amounts[known]
        if not known.all():
            self.ids = np.insert(self.ids, at[~known], ids[~known])
            self.scores = np.insert(self.scores, at[~known], amounts[~known])


class RankedColumns(Columns):
    """The same, with the order by (score, id) and every rank made anew after each batch."""

    def step(self, batch: np.ndarray) -> None:
        super().step(batch)
        self.order = np.argsort(self.scores, kind="stable")
        self.ranks = np.empty(len(self.order), np.int32)
        self.ranks[self.order] = np.arange(len(self.order), dtype=np.int32)


class Pandas:
    """A Series by id; `ranked` keeps the rank of every member as well."""

    def __init__(self, members: np.ndarray, scores: np.ndarray, ranked: bool) -> None:
        import pandas as pd

        self.pd, self.ranked = pd, ranked
        self.series = pd.Series(scores.astype(np.float32), index=members)

    def step(self, batch: np.ndarray) -> None:
        amounts = self.pd.Series(batch).value_counts()
        self.series = self.series.add(amounts, fill_value=0)
        if self.ranked:
            self.ranks = self.series.rank(method="first")


class Polars:
    """A frame of ids and scores, grouped anew with each batch."""

    def __init__(self, members: np.ndarray, scores: np.ndarray) -> None:
        import polars as pl

        self.pl = pl
        self.frame = pl.DataFrame({"id": members, "score": scores.astype(np.float32)})

    def step(self, batch: np.ndarray) -> None:
        more = self.pl.DataFrame({"id": batch, "score": np.ones(len(batch), np.float32)})
        both = self.pl.concat([self.frame, more])
        self.frame = both.group_by("id").agg(self.pl.col("score").sum())


class DuckDB:
    """A table with a primary key, and an upsert."""

    def __init__(self, members: np.ndarray, scores: np.ndarray) -> None:
        import duckdb

        self.db = duckdb.connect()
        self.db.execute("create table z (id integer primary key, score real)")
        self.db.register("first", {"id": members, "score": scores.astype(np.float32)})
        self.db.execute("insert into z select id, score from first")

    def step(self, batch: np.ndarray) -> None:
        self.db.register("more", {"id": batch})
        self.db.execute(
            "insert into z select id, count(*) from more group by id "
            "on conflict do update set score = score + excluded.score"
        )


def holders() -> dict[str, Callable[[np.ndarray, np.ndarray], Any]]:
    """Give every way there is on this machine."""
    ways: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
        common.OURS: Packed,
        "numpy dense counts": Dense,
        "numpy columns, no order": Columns,
        "numpy columns, ranks kept": RankedColumns,
    }
    if common.available("pandas"):
        ways["pandas add"] = lambda m, s: Pandas(m, s, ranked=False)
        ways["pandas add and rank"] = lambda m, s: Pandas(m, s, ranked=True)
    if common.available("polars"):
        ways["polars group_by"] = Polars
    if common.available("duckdb"):
        ways["duckdb upsert"] = DuckDB
    return ways


def main() -> int:
    """Hold the ranking as it stands before the last batches of the stream, then feed those."""
    parser = common.options(__doc__.split("\n", 1)[0], 10_000_000)
    parser.add_argument("--batch", type=int, default=1_000_000)
    args = parser.parse_args()
    before = common.facts()
    events = common.stream(args.members)
    first = len(events) - args.batch * args.rounds
    if first <= 0:
        parser.error("the stream is shorter than the batches: fewer rounds or smaller batches")
    members, counts = np.unique(events[:first], return_counts=True)
    held = {name: make(members, counts) for name, make in holders().items()}
    batches = [np.array(b) for b in np.split(events[first:], args.rounds)]
    turn = dict.fromkeys(held, 0)

    def way(name: str) -> common.Way:
        def prepare() -> Callable[[], None]:
            batch = batches[turn[name]]
            turn[name] += 1
            return lambda: held[name].step(batch)

        return prepare

    times = common.alternate({name: way(name) for name in held}, args.rounds)
    ours, columns = held[common.OURS].z, held["numpy columns, ranks kept"]
    assert np.array_equal(ours.range()[0], columns.ids[columns.order])
    assert np.array_equal(ours.range()[1], columns.scores[columns.order])
    rows = common.rows_of(times, args.batch)
    common.record("increments", args.out, rows, before, note=SLOW_ROUNDS_NOTE, batch=args.batch)
    failed: list[str] = []
    if args.members >= 10_000_000:
        ratio = {row["way"]: row["ours_is_times_faster"] for row in rows}
        for name, least in (("numpy columns, ranks kept", 5), ("numpy columns, no order", 0.4)):
            text = f"{ratio[name]:.2f} times {name}, at least {least}"
            common.claim(failed, ratio[name] >= least, text)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
