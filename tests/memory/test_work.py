"""What one operation costs does not grow with the set: leaves written, bytes coded, bytes moved.

`_work()` counts what was done since a set was made; each call here is watched by itself, in orders
that are meant to hurt, on a small and on a large set, with the same bounds.
"""

from __future__ import annotations

import uuid

import numpy as np
import pytest

from goblin_pz import PackedZSet

# One change touches a leaf in each tree; each may split or take in a neighbour. Cleaning moves
# blocks up to a budget a call; a block is at most a leaf at its largest.
LEAVES, CODED, MOVED, BRANCHES = 8, 64 * 1024, 160 * 1024, 12
CALLS = 1_000
SIZES = [3_000, 100_000]
LAYOUTS = [("int32", "float32"), ("int64", "float64"), ("uuid", "float64")]


class Watched:
    """A set of n members with few scores, and the most that one call has cost it."""

    def __init__(self, member: str, score: str, n: int, rle: bool) -> None:
        self.member, self.n = member, n
        self.rng = np.random.default_rng(n)
        self.z = PackedZSet(member, score, score_rle=rle)
        ids = np.arange(n, dtype=np.int64)
        if member == "uuid":
            column = np.frombuffer(b"".join(self.name(i).bytes for i in ids), dtype="V16")
        else:
            column = (ids * 2).astype(member)
        self.z.add(column, self.rng.integers(0, 50, n).astype(score))
        self.most = dict.fromkeys(self.z._work(), 0)

    def name(self, i: int):
        return uuid.UUID(int=int(i) * 2 + 2**100) if self.member == "uuid" else int(i) * 2

    def between(self, i: int):
        """A member that is not there, behind member i."""
        return uuid.UUID(int=self.name(i).int + 1) if self.member == "uuid" else int(i) * 2 + 1

    def anyone(self):
        return self.name(self.rng.integers(self.n))

    def call(self, function, *args) -> None:
        before = self.z._work()
        function(*args)
        after = self.z._work()
        for key, value in after.items():
            self.most[key] = max(self.most[key], value - before[key])


def flip_across_widths(w: Watched, i: int) -> None:
    """A score that no longer fits the column's narrow slots, and back."""
    w.call(w.z.add, w.name(7), [1.0, 300.0, 70_000.0, 0.1, -1.0, 1e30][i % 6])


def flip_anywhere(w: Watched, i: int) -> None:
    w.call(w.z.add, w.anyone(), [1.0, 300.0, 70_000.0, 0.1, -1.0, 1e30][i % 6])


def count_up(w: Watched, i: int) -> None:
    w.call(w.z.incrby, w.anyone())


def grow_one_place(w: Watched, i: int) -> None:
    """New members next to each other with one score: leaves split again and again."""
    w.call(w.z.add, w.between(i % w.n), 25.0)


def come_and_go_at_an_edge(w: Watched, i: int) -> None:
    """One member more, one less, where a leaf is about to split or to merge."""
    if i % 2 == 0:
        w.call(w.z.add, w.between(w.n // 2), 50.0)
    else:
        w.call(w.z.remove, w.between(w.n // 2))


def pop_from_both_ends(w: Watched, i: int) -> None:
    w.call(w.z.pop_min if i % 2 == 0 else w.z.pop_max)


ORDERS = [
    flip_across_widths,
    flip_anywhere,
    count_up,
    grow_one_place,
    come_and_go_at_an_edge,
    pop_from_both_ends,
]


@pytest.mark.parametrize("rle", [True, False], ids=["rle", "raw"])
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.__name__)
@pytest.mark.parametrize("layout", LAYOUTS, ids="-".join)
@pytest.mark.parametrize("n", SIZES)
def test_one_call_is_bounded(layout, n, order, rle):
    watched = Watched(*layout, n, rle)
    for i in range(CALLS):
        order(watched, i)
    watched.z._validate()
    assert watched.most["leaves_coded"] <= LEAVES
    assert watched.most["bytes_coded"] <= CODED
    assert watched.most["bytes_moved"] <= MOVED
    assert watched.most["branches_written"] <= BRANCHES


def test_questions_do_no_work():
    watched = Watched("int32", "float64", 20_000, True)
    z = watched.z
    before = z._work()
    column = np.arange(0, 40_000, 3, dtype=np.int32)
    z.score(column), z.rank(column), z.contains(column), z.range(), z.top(10)
    z.range_by_score(3.0, 9.0), z.count(1.0, 2.0), list(z), z.around(4, 3)
    assert z._work() == before
