"""Bytes a member, as the sets count them, on the synthetic Wikipedia shape.

bench/memory.py holds the same claims at ten million pages; here a million or less keeps it short.
"""

from __future__ import annotations

import numpy as np
import pytest

from goblin_pz import PackedZSet, _workload

PAGES = 1_000_000
BATCH = 1_000_000
LAYOUTS = [(m, s) for m in ("int32", "int64", "uuid") for s in ("float32", "float64")]


def batches(pages: int, ids: str = "dense"):
    """Give the shape's page ids in time order, a batch at a time."""
    shape = _workload.Shape("wikipedia", pages, seed=7, ids=ids)
    while True:
        block = np.empty(BATCH, np.int64)
        written = shape.fill(block)
        if written == 0:
            return
        yield block[:written]


def counted(z: PackedZSet) -> float:
    """Give everything the set owns, in bytes a member, after checking that the kinds add up."""
    memory = z.memory()
    assert memory["bytes_per_member"] == memory["total_allocated_bytes"] / len(z)
    return memory["bytes_per_member"]


def replayed(member: str, score: str, pages: int, ids: str = "dense", **options) -> PackedZSet:
    z = PackedZSet(member, score, **options)
    events = 0
    for batch in batches(pages, ids):
        z.incrby(batch.astype(member))
        events += len(batch)
    assert z.range()[1].sum(dtype=np.float64) == events
    z._validate()
    return z


def test_dense_ids_in_batches():
    narrow = counted(replayed("int32", "float32", PAGES))
    wide = counted(replayed("int64", "float64", PAGES))
    assert narrow <= 3.0
    assert wide <= narrow + 0.3  # 0.2 at ten million: fences and headers are shared by fewer here


def test_dense_ids_one_by_one():
    z = PackedZSet("int32", "float32")
    for batch in batches(PAGES // 10):
        for member in batch.tolist():
            z.incrby(member)
    assert counted(z) <= 3.6 + 0.2  # 3.6 at a million


def test_random_ids_in_batches():
    """At a million, gaps between random 32-bit ids are ten times wider than at ten million."""
    assert counted(replayed("int32", "float32", PAGES, ids="random")) <= 5.6 + 2 * np.log2(10) / 8


@pytest.mark.parametrize(("member", "score"), LAYOUTS, ids=[f"{m}-{s}" for m, s in LAYOUTS])
def test_score_rle_saves(member, score):
    """Counters repeat, so coded scores are smaller; scores that never do cost next to nothing."""
    rng = np.random.default_rng(3)
    n = 100_000
    ids = np.arange(n, dtype=np.int64) * 3
    members = uuids(ids) if member == "uuid" else ids.astype(member)
    for scores, saved in ((rng.geometric(0.1, n), 2.0), (rng.random(n), -0.1)):
        sizes = []
        for rle in (True, False):
            z = PackedZSet(member, score, score_rle=rle)
            z.add(members, scores.astype(score))
            sizes.append(counted(z))
        assert sizes[1] - sizes[0] >= saved


@pytest.mark.parametrize(("member", "score"), LAYOUTS, ids=[f"{m}-{s}" for m, s in LAYOUTS])
def test_small_sets(member, score):
    sizes = {}
    for n in (0, 1, 10, 100, 1_000):
        z = PackedZSet(member, score)
        ids = np.arange(1, n + 1, dtype=np.int64)
        members = uuids(ids) if member == "uuid" else ids.astype(member)
        z.add(members, (ids % 20).astype(score))
        sizes[n] = z.memory()["total_allocated_bytes"]
    assert sizes[10] <= 320
    assert list(sizes.values()) == sorted(sizes.values())
    assert sizes[0] <= 160


def test_removing_everything_gives_everything_back():
    z = PackedZSet("int32", "float64")
    empty = z.memory()["total_allocated_bytes"]
    ids = np.random.default_rng(5).permutation(200_000).astype(np.int32)
    z.add(ids, ids.astype(np.float64))
    for piece in np.array_split(ids, 50):
        z.remove(piece)
        z._validate()
        # A float64 and an integer score, two keys, branches and slack: 17.5 bytes at worst.
        assert z.memory()["total_allocated_bytes"] <= len(z) * 20 + 65_536
    assert z.memory()["total_allocated_bytes"] == empty


def uuids(ids: np.ndarray) -> np.ndarray:
    """Give 16-byte members spread over the type, one to one."""
    high = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.stack([high, ids.astype(np.uint64)], axis=1).view("V16").ravel()
