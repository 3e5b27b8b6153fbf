"""Nothing leaks: every method, called well and badly, many times, leaves traced memory flat."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import sys
import tracemalloc
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from goblin_pz import PackedZSet, load

NAN = float("nan")
IDS = np.arange(300)
SCORES = np.ones(300)
RECORD = np.zeros(300, [("id", "i4"), ("value", ">f4")])
FROZEN = np.zeros(3)
FROZEN.flags.writeable = False
SERIES_LIKE = {1: 2.0, 3: 4.0}
LIMIT = 1500  # bytes in 100 calls: less than the smallest object leaked in each


def swallow(call: Callable[[], object]) -> None:
    """Make a call that must raise."""
    try:
        call()
    except Exception:
        return
    raise AssertionError("nothing was raised")


def spent(z: PackedZSet) -> None:
    it = z.items()
    next(it)
    z[10**6] = 1.0
    swallow(lambda: next(it))
    del z[10**6]


Case = Callable[[PackedZSet], object]

GOOD: dict[str, Case] = {
    "from_arrays": lambda z: PackedZSet.from_arrays(IDS, SCORES),
    "from_items": lambda z: PackedZSet.from_items([(1, 2.0)]),
    "from_series": lambda z: PackedZSet.from_series(z.to_series()),
    "from_frame": lambda z: PackedZSet.from_frame(z.to_frame()),
    "load": lambda z: load(io.BytesIO(z._to_bytes())),
    "score": lambda z: (z.score(5), z.score(IDS), z.score([1, 2]), z.score(np.array(3))),
    "contains": lambda z: (z.contains(5), z.contains(RECORD["id"])),
    "rank": lambda z: (z.rank(5), z.rank(IDS, reverse=True, method="average")),
    "add": lambda z: (z.add(5, 1), z.add(IDS, SCORES), z.add(RECORD["id"], RECORD["value"])),
    "incrby": lambda z: (z.incrby(5), z.incrby(IDS, SCORES, out=True), z.incrby(IDS, out=SCORES)),
    "remove": lambda z: (z.remove(5), z.remove(IDS[:3]), z.add(IDS, SCORES)),
    "update": lambda z: (z.update(SERIES_LIKE), z.update(z), z.update(SERIES_LIKE.items())),
    "range": lambda z: (z.range(1, 5), z.range(out=(np.empty(len(z), "i8"), np.empty(len(z))))),
    "range_by_score": lambda z: z.range_by_score(0, 5, offset=1, limit=3),
    "count": lambda z: z.count(0, 5, low_open=True),
    "top": lambda z: z.top(3),
    "bottom": lambda z: z.bottom(3),
    "around": lambda z: z.around(5, 2),
    "quantile": lambda z: z.quantile([0.1, 0.5]),
    "remove_range": lambda z: (z.remove_range(0, 2), z.add(IDS, SCORES)),
    "remove_range_by_score": lambda z: (z.remove_range_by_score(0, 0), z.add(IDS, SCORES)),
    "pop_min": lambda z: (z.pop_min(), z.pop_min(2), z.add(IDS, SCORES)),
    "pop_max": lambda z: (z.pop_max(), z.pop_max(2), z.add(IDS, SCORES)),
    "items": lambda z: (list(z.items(reverse=True)), list(z), list(reversed(z)), spent(z)),
    "scan": lambda z: z.scan(0, 10),
    "sample": lambda z: z.sample(3, seed=1),
    "union": lambda z: z.union(z, weights=[1, 2]),
    "intersection": lambda z: z.intersection(z, aggregate="min"),
    "difference": lambda z: z.difference(PackedZSet()),
    "copy": lambda z: (z.copy(), copy.copy(z), copy.deepcopy(z), z == z.copy()),
    "clear": lambda z: (z.clear(), z.add(IDS, SCORES)),
    "optimize": lambda z: z.optimize(),
    "save": lambda z: z.save(io.BytesIO()),
    "to_series": lambda z: z.to_series(),
    "to_frame": lambda z: z.to_frame(),
    "memory": lambda z: z.memory(),
    "leaves": lambda z: z.leaves(),
    "pickle": lambda z: (pickle.loads(pickle.dumps(z, 2)), pickle.loads(pickle.dumps(z, 5))),
    "protocols": lambda z: (repr(z), len(z), 5 in z, z[5], bool(z), z._repr_html_()),
    "private": lambda z: (z._dump(), z._work(), z._validate(), z._nth([1]), sys.getsizeof(z)),
    "properties": lambda z: (z.layout, z.member_dtype, z.score_dtype, z.score_rle),
    "uuids": lambda z: list(PackedZSet({uuid.UUID(int=1): 1.0}, "uuid").items()),
}

BAD: dict[str, Case] = {
    "member type": lambda z: PackedZSet("float64"),
    "source": lambda z: PackedZSet([(1, 2.0), (3, 4.0, 5.0)]),
    "source item": lambda z: PackedZSet([(1, 2.0), 3]),
    "mapping": lambda z: z.update({2**70: 1.0}),
    "from_arrays": lambda z: PackedZSet.from_arrays(SCORES, SCORES),
    "score": lambda z: z.score([1, None]),
    "score out": lambda z: z.score(IDS[:3], out=FROZEN),
    "score shape": lambda z: z.score(IDS, out=FROZEN),
    "score scalar": lambda z: z.score(1.5),
    "rank": lambda z: z.rank(IDS, method="best"),
    "contains": lambda z: z.contains(np.array([1, 2], "M8[s]")),
    "masked": lambda z: z.add(np.ma.array([1, 2], mask=[0, 1]), 1.0),
    "shapes": lambda z: z.add(IDS, SCORES[:5]),
    "NaN": lambda z: z.add(IDS, np.full(300, NAN)),
    "converted NaN": lambda z: z.add(IDS, np.full(300, NAN, "f4")),
    "out of range": lambda z: z.add(np.full(300, 2**63, "u8"), 1.0),
    "inexact": lambda z: z.add(IDS, np.full(300, 2**53 + 1)),
    "inexact object": lambda z: z.incrby([1], [2**70 + 1]),
    "flags": lambda z: z.add(1, 1.0, nx=True, xx=True),
    "overlap": lambda z: z.incrby(IDS, SCORES, out=SCORES),
    "keyword": lambda z: z.add(1, 1.0, nonsense=True),
    "missing argument": lambda z: z.add(1),
    "getitem": lambda z: z[10**9],
    "setitem": lambda z: z.__setitem__(1, "x"),
    "delitem": lambda z: z.__delitem__(10**9),
    "around": lambda z: z.around(10**9, 1),
    "range": lambda z: z.range("x"),
    "range out": lambda z: z.range(out=(np.empty(len(z), "i8"), SCORES[:5])),
    "bound": lambda z: z.range_by_score(NAN),
    "pop": lambda z: PackedZSet().pop_min(),
    "count": lambda z: z.pop_min(-1),
    "union": lambda z: z.union(z, PackedZSet("int32")),
    "weights": lambda z: z.union(z, weights=[1, "x"]),
    "snapshot": lambda z: PackedZSet._from_bytes(z._to_bytes()[:-5]),
    "quantile": lambda z: z.quantile(2),
    "scan": lambda z: z.scan(-1),
    "uuid": lambda z: PackedZSet("uuid").add([uuid.UUID(int=1), "x"], 1.0),
}


def growth(call: Callable[[], Any], rounds: int = 60) -> int:
    """Bytes that many calls leave behind.

    The least of some rounds: caches of Python and NumPy fill up in the first ones, a leak shows
    in every one.
    """
    least = 10**9
    for _ in range(rounds):
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            call()
        gc.collect()
        least = min(least, tracemalloc.get_traced_memory()[0] - before)
        if least < LIMIT:
            break
    return least


@pytest.mark.parametrize("name", GOOD)
def test_good_calls(name: str) -> None:
    z = PackedZSet.from_arrays(IDS, SCORES)
    gc.collect()
    references = [sys.getrefcount(thing) for thing in (IDS, SCORES, RECORD, FROZEN, PackedZSet)]
    tracemalloc.start()
    try:
        assert growth(lambda: GOOD[name](z)) < LIMIT
    finally:
        tracemalloc.stop()
    assert references == [
        sys.getrefcount(thing) for thing in (IDS, SCORES, RECORD, FROZEN, PackedZSet)
    ]


@pytest.mark.parametrize("name", BAD)
def test_bad_calls(name: str) -> None:
    z = PackedZSet.from_arrays(IDS, SCORES)
    before = z.copy()
    gc.collect()
    references = [sys.getrefcount(thing) for thing in (IDS, SCORES, RECORD, FROZEN, PackedZSet)]
    tracemalloc.start()
    try:
        assert growth(lambda: swallow(lambda: BAD[name](z))) < LIMIT
    finally:
        tracemalloc.stop()
    assert references == [
        sys.getrefcount(thing) for thing in (IDS, SCORES, RECORD, FROZEN, PackedZSet)
    ]
    z._validate()
    assert z == before


def test_every_public_method_has_a_case() -> None:
    methods = {n for n in vars(PackedZSet) if not n.startswith("_")}
    properties = {n for n in methods if not callable(getattr(PackedZSet, n))}
    assert methods - properties <= set(GOOD)


def test_the_measure_sees_leaks() -> None:
    kept: list[bytes] = []
    tracemalloc.start()
    try:
        assert growth(lambda: kept.append(bytes(100)), rounds=3) > LIMIT
    finally:
        tracemalloc.stop()
