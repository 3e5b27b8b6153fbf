"""Increments one by one: ours from C and from Python, SortedList + dict from Python.

Claim: from C at least 15 times SortedList + dict. The C program (bench/c/points.c) is built with
the core's own files; both read the same stream, and hold the same members before it is timed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import common
import numpy as np
from sortedcontainers import SortedList

from goblin_pz import PackedZSet

sys.path.insert(0, str(common.TOP / "tests" / "c"))
import cbuild


def program() -> Path:
    """Build the C program and give its path."""
    (made,) = cbuild.build("release", [common.TOP / "bench" / "c" / "points.c"])
    return made


def run_c(*words: Any) -> dict[str, float]:
    """Run the C program and give its figures."""
    argv = [str(program()), *map(str, words)]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class SortedListAndDict:
    """The usual way in Python: scores by member, and a sorted list of (score, member)."""

    def __init__(self, members: np.ndarray, scores: np.ndarray) -> None:
        self.known = dict(zip(members.tolist(), scores.tolist(), strict=True))
        self.order = SortedList((s, m) for m, s in self.known.items())

    def feed(self, members: list[int]) -> None:
        known, order = self.known, self.order
        for member in members:
            old = known.get(member)
            if old is not None:
                order.remove((old, member))
            known[member] = new = (old or 0.0) + 1.0
            order.add((new, member))


def main() -> int:
    """Time the last events of the stream: all of them in each round in C, a share in Python."""
    parser = common.options(__doc__.split("\n", 1)[0], 10_000_000)
    parser.add_argument("--events", type=int, default=200_000, help="timed a round in Python")
    args = parser.parse_args()
    before = common.facts()
    events = common.stream(args.members)
    first = len(events) - args.events * args.rounds
    if first <= 0:
        parser.error("the stream is shorter than what is timed: fewer rounds or --events")
    members, counts = np.unique(events[:first], return_counts=True)
    pieces = [piece.tolist() for piece in np.split(np.array(events[first:]), args.rounds)]
    theirs = SortedListAndDict(members, counts.astype(float))
    ours = PackedZSet("int32", "float32")
    ours.add(members, counts.astype(np.float32))

    def feed_ours(piece: list[int]) -> None:
        incrby = ours.incrby
        for member in piece:
            incrby(member)

    turn = {"python": 0, "theirs": 0}

    def way(name: str, call: Any) -> common.Way:
        def prepare() -> Any:
            piece = pieces[turn[name]]
            turn[name] += 1
            return lambda: call(piece)

        return prepare

    figures: list[dict[str, float]] = []
    ways = {
        "C": lambda: lambda: figures.append(run_c(events.filename, first, 1)),
        common.OURS: way("python", feed_ours),
        "SortedList + dict": way("theirs", theirs.feed),
    }
    times = common.alternate(ways, args.rounds)
    assert ours.range()[0].tolist() == [m for _, m in theirs.order]
    # The program times the increments themselves, not its start and its loading.
    times["C"] = [args.events / (f["increments"] * 1e6) for f in figures]
    rows = common.rows_of(times, args.events, ours="C")
    common.record("points", args.out, rows, before, c=figures)
    failed: list[str] = []
    if args.members >= 10_000_000:
        ratio = {row["way"]: row["ours_is_times_faster"] for row in rows}["SortedList + dict"]
        common.claim(failed, ratio >= 15, f"{ratio:.1f} times SortedList + dict, at least 15")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
