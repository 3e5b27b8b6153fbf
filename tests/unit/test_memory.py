"""What a set says about its size: memory(), leaves(), getsizeof, tracemalloc, repr, HTML."""

from __future__ import annotations

import gc
import sys
import tracemalloc

import numpy as np
import pytest

from goblin_pz import PackedZSet, _core
from unit.layouts import Layout

PUBLISHED = [
    "representation", "member_count", "sorted_entries", "unsorted_entries", "leaf_capacity",
    "leaf_count", "branch_count", "tree_height", "merge_threshold", "compressed_leaf_count",
    "sorted_score_bytes", "total_allocated_bytes", "merge_exponent", "score_rle",
]  # fmt: skip


def some_set(layout: Layout, size: int) -> PackedZSet:
    z = layout.new(_leaf_capacity=16)
    random = np.random.default_rng(1)
    for _ in range(3):
        z.incrby(layout.ids(random.integers(0, size, size)))
    return z


def test_counters_add_up(layout: Layout, size: int) -> None:
    z = some_set(layout, size)
    memory = z.memory()
    assert set(PUBLISHED) <= set(memory)
    assert memory["member_count"] == len(z)
    assert memory["bytes_per_member"] == memory["total_allocated_bytes"] / len(z)
    assert memory["leaf_capacity"] == memory["member_leaf_capacity"] == 16
    assert memory["score_rle"] is True
    assert memory["merge_exponent"] == 0.5
    leaves = z.leaves()
    order, member = leaves["order"], leaves["member"]
    assert order["entries"].sum() == len(z)
    assert order["first_position"].tolist() == np.r_[0, order["entries"].cumsum()[:-1]].tolist()
    assert memory["leaf_count"] == len(order)
    assert memory["member_leaf_count"] == len(member)
    assert memory["sorted_entries"] == order["base_entries"].sum()
    assert memory["unsorted_entries"] == (order["tail_adds"] + order["tail_removes"]).sum()
    if not memory["small"]:
        assert member["entries"].sum() == len(z)
        assert (np.diff(member["label"].astype(np.int64)) > 0).all()
        split = [v for k, v in memory.items() if k.endswith("_bytes") and "arena" not in k]
        assert sum(split) - memory["sorted_score_bytes"] > memory["total_allocated_bytes"]
        assert (
            memory["arena_live_bytes"] + memory["arena_free_bytes"] <= memory["arena_mapped_bytes"]
        )
        assert memory["arena_live_bytes"] <= memory["total_allocated_bytes"]


def test_capacities_are_kept_to(layout: Layout) -> None:
    z = layout.filled({n: float(n) for n in range(500)}, _leaf_capacity=4)
    leaves = z.leaves()
    for tree in leaves.values():
        assert len(tree) >= 125
        assert tree["base_entries"].max() <= 4
    z._validate()


def test_empty_set() -> None:
    memory = PackedZSet().memory()
    assert (memory["member_count"], memory["bytes_per_member"]) == (0, 0.0)
    leaves = PackedZSet().leaves()
    assert [len(tree) for tree in leaves.values()] == [0, 0]
    assert leaves["order"].dtype.names[0] == "first_position"


def test_merge_exponent_bounds_tails() -> None:
    for exponent, threshold in ((0, 1), (0.5, 23), (1, 512)):
        z = PackedZSet({n: float(n) for n in range(20000)}, merge_exponent=exponent)
        assert z.memory()["merge_threshold"] == threshold
        for n in range(0, 20000, 7):
            z.incrby(n, 0.5)
        tails = z.leaves()["member"]["tail_adds"]
        assert tails.max() < max(threshold, 1) + 1
        assert (tails.sum() == 0) == (exponent == 0)


def test_rle_moves_bytes_only(layout: Layout) -> None:
    scores = {n: float(n % 5) for n in range(5000)}
    on, off = (layout.filled(scores, score_rle=rle) for rle in (True, False))
    assert on == off
    assert on._dump().split("\n", 1)[1] == off._dump().split("\n", 1)[1]
    assert on.memory()["compressed_leaf_count"] == on.memory()["leaf_count"]
    assert off.memory()["compressed_leaf_count"] == 0
    assert on.memory()["sorted_score_bytes"] < off.memory()["sorted_score_bytes"]


def test_getsizeof(layout: Layout, size: int) -> None:
    z = some_set(layout, size)
    own = z.memory()["total_allocated_bytes"]
    assert own < sys.getsizeof(z) < own + 300
    assert (
        sys.getsizeof(z) - sys.getsizeof(layout.new())
        == own - (layout.new().memory()["total_allocated_bytes"])
    )


def traced() -> int:
    """Bytes in the domain of this package."""
    snapshot = tracemalloc.take_snapshot()
    domain = tracemalloc.DomainFilter(True, _core.TRACEMALLOC_DOMAIN)
    return sum(trace.size for trace in snapshot.filter_traces([domain]).traces)


def test_tracemalloc(layout: Layout) -> None:
    gc.collect()
    tracemalloc.start()
    try:
        z = layout.new()
        assert traced() == z.memory()["total_allocated_bytes"]
        changes = [
            lambda s: s.add(layout.ids(range(3000)), 1.0),
            lambda s: s.incrby(layout.ids(range(0, 3000, 3)), 0.5),
            lambda s: s.remove_range(0, 1000),
            lambda s: s.optimize(),
            lambda s: s.pop_min(500),
            lambda s: s.update({layout.one(5): 1.0}),
            lambda s: s.clear(),
        ]
        for change in changes:
            change(z)
            assert traced() == z.memory()["total_allocated_bytes"]
        z.add(layout.ids(range(3000)), 1.0)
        others = [z.copy(), z.union(z)]
        total = sum(s.memory()["total_allocated_bytes"] for s in [z, *others])
        assert traced() == total
        del others, z
        gc.collect()
        assert traced() == 0
    finally:
        tracemalloc.stop()


def test_a_failed_call_is_not_traced() -> None:
    tracemalloc.start()
    try:
        z = PackedZSet({1: 1.0})
        before = traced()
        with pytest.raises(ValueError, match="NaN"):
            z.add(np.arange(1000), np.full(1000, np.nan))
        assert traced() == before == z.memory()["total_allocated_bytes"]
    finally:
        tracemalloc.stop()


def test_the_arena_has_a_limit() -> None:
    """A set that reaches it refuses, whole, and stays usable."""
    z = PackedZSet({n: float(n) for n in range(2000)}, _leaf_capacity=4)
    before, text = z.copy(), z._dump()
    z._limit(z.memory()["leaf_count"] * 2 + 20, 10)
    with pytest.raises(MemoryError, match="limit of its arena"):
        z.add(np.arange(10**6, 10**6 + 10**5), 1.0)
    z._validate()
    assert z == before
    assert z._dump() == text
    z._limit(10**6, 10**4)
    assert z.add(np.arange(10**6, 10**6 + 10**5), 1.0) == (10**5, 0)
    z._validate()


def test_work_is_counted() -> None:
    z = PackedZSet({n: float(n) for n in range(100_000)})
    before = z._work()
    z.incrby(50, 0.25)
    after = z._work()
    assert set(after) == {"leaves_coded", "bytes_coded", "bytes_moved", "branches_written"}
    assert after["leaves_coded"] - before["leaves_coded"] <= 6


def test_reads_leave_no_trace(layout: Layout, size: int) -> None:
    z = some_set(layout, size)
    before = z._dump(), z._work(), z.memory()
    members = layout.ids(range(size))
    z.score(members), z.rank(members), z.contains(members), z.range(), z.count(1, 2)
    z.range_by_score(1, 2), list(z.items()), z.scan(), z.sample(3), z.copy(), z.union(z)
    z.leaves(), z._to_bytes(), repr(z), z.around(next(iter(z)), 2)
    assert z == z.copy()
    assert (z._dump(), z._work(), z.memory()) == before


def test_repr() -> None:
    assert repr(PackedZSet()) == "<PackedZSet INT64_FLOAT64: empty, 56 bytes>".replace(
        "56", str(PackedZSet().memory()["total_allocated_bytes"])
    )
    z = PackedZSet(np.c_[np.arange(12345), np.arange(12345)].tolist(), "int32", "float32")
    each = z.memory()["bytes_per_member"]
    assert repr(z) == f"<PackedZSet INT32_FLOAT32: 12,345 members, {each:.2f} bytes a member>"


def test_html(layout: Layout) -> None:
    z = layout.filled({n: n / 4 for n in range(25)})
    text = z._repr_html_()
    assert "&lt;PackedZSet" in text
    assert text.count("<tr>") == 11
    assert f"<td>{layout.one(24)}</td><td>6.0</td>" in text
    assert "and 15 more" in text
    assert "more" not in layout.new()._repr_html_()
