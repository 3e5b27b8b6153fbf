"""Iteration, scans and samples."""

from __future__ import annotations

import collections
import gc
import weakref

import numpy as np
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout


def test_in_order(layout: Layout, size: int) -> None:
    z = layout.filled({n: float(n % 5) for n in range(size)})
    order = sorted((n % 5, n) for n in range(size))
    assert layout.numbers(z) == [n for _, n in order]
    assert layout.numbers(reversed(z)) == [n for _, n in order[::-1]]
    assert [(s, n) for n, s in z.items()] == [(s, layout.one(n)) for s, n in order]
    assert [s for _, s in z.items(reverse=True)] == [s for s, _ in order[::-1]]
    assert type(next(iter(z.items()))[1]) is float
    assert next(iter(z)) == layout.one(order[0][1])


def test_length_hint() -> None:
    z = PackedZSet(dict.fromkeys(range(3000), 1.0))
    it = iter(z)
    assert it.__length_hint__() == 3000
    next(it)
    assert it.__length_hint__() == 2999
    collections.deque(it, maxlen=0)
    assert it.__length_hint__() == 0
    assert list(it) == []


@pytest.mark.parametrize("many", [3, 3000])
def test_changes_end_an_iteration(many: int) -> None:
    z = PackedZSet(dict.fromkeys(range(many), 1.0))
    for change in (
        lambda: z.add(many + 1, 1.0),
        lambda: z.incrby(0, 1),
        lambda: z.remove(1),
        lambda: z.pop_min(),
        lambda: z.clear(),
    ):
        it = z.items()
        next(it)
        change()
        for _ in range(2):
            with pytest.raises(RuntimeError, match="changed during iteration"):
                next(it)
        z.update(dict.fromkeys(range(many), 1.0))


def test_what_changes_nothing_disturbs_nobody() -> None:
    z = PackedZSet(dict.fromkeys(range(3000), 1.0))
    it = iter(z)
    next(it)
    z.add(5, 1.0)
    z.add(10**6, 1.0, xx=True)
    z.remove(10**6)
    z.remove_range(5, 5)
    with pytest.raises(ValueError, match="NaN"):
        z.add(5, float("nan"))
    z.score(5)
    assert len(list(it)) == 2999


def test_an_iterator_keeps_the_set_alive() -> None:
    z = PackedZSet({1: 1.0, 2: 2.0})
    seen = weakref.ref(z)
    it = iter(z)
    del z
    gc.collect()
    assert seen() is not None
    assert list(it) == [1, 2]
    del it
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("count", [1, 7, 512, 10**6])
def test_scan(layout: Layout, size: int, count: int) -> None:
    scores = {n: float(n % 3) for n in range(size)}
    z = layout.filled(scores)
    cursor, found, calls = 0, {}, 0
    while True:
        cursor, members, values = z.scan(cursor, count)
        assert len(members) == len(values)
        found.update(zip(layout.numbers(members), values.tolist(), strict=True))
        calls += 1
        if cursor == 0:
            break
    assert found == scores
    assert calls <= size // count + 2 + size // 100


def test_scan_sees_every_lasting_member() -> None:
    """Members that stay are all seen, while others come and go and leaves split and merge."""
    random = np.random.default_rng(0)
    lasting = set(range(0, 40000, 20))
    z = PackedZSet(dict.fromkeys(lasting, 1.0), _leaf_capacity=8)
    cursor, seen = 0, set()
    while True:
        cursor, members, _ = z.scan(cursor, 50)
        seen.update(members.tolist())
        if cursor == 0:
            break
        others = random.integers(0, 40000, 200)
        others = others[others % 20 != 0]
        z.add(others, 1.0)
        z.remove(others[::2])
        z.incrby(random.choice(sorted(lasting), 5), 3.0)
    assert lasting <= seen


def test_scan_arguments() -> None:
    z = PackedZSet({1: 1.0})
    assert z.scan()[0] == 0
    with pytest.raises(ValueError, match="count"):
        z.scan(0, 0)
    with pytest.raises(ValueError, match="count: -1"):
        z.scan(0, -1)
    with pytest.raises((OverflowError, ValueError)):
        z.scan(-1)
    with pytest.raises(OverflowError):
        z.scan(2**64)
    with pytest.raises(TypeError):
        z.scan("0")
    cursor, members, scores = PackedZSet("uuid", "float32").scan()
    assert (cursor, members.dtype, scores.dtype) == (0, np.dtype("V16"), np.dtype("f4"))


def test_sample(layout: Layout) -> None:
    scores = {n: float(n) for n in range(300)}
    z = layout.filled(scores)
    members, values = z.sample(50, seed=1)
    assert (members.dtype, values.dtype) == (layout.member_dtype, layout.score_dtype)
    numbers = layout.numbers(members)
    assert len(set(numbers)) == 50
    assert values.tolist() == [scores[n] for n in numbers]
    assert layout.numbers(z.sample(50, seed=1)[0]) == numbers
    assert layout.numbers(z.sample(50, seed=2)[0]) != numbers
    assert sorted(layout.numbers(z.sample(10**6)[0])) == list(range(300))
    assert len(z.sample(1000, replace=True)[0]) == 1000
    assert len(z.sample(0)[0]) == len(layout.new().sample(5)[0]) == 0
    assert len(layout.new().sample(5, replace=True)[0]) == 0
    for bad in (-1, -(2**63), -(10**12)):
        with pytest.raises(ValueError, match="negative"):
            z.sample(bad)


def test_sample_is_even() -> None:
    z = PackedZSet({n: float(n) for n in range(4)})
    drawn = z.sample(4000, replace=True, seed=np.random.default_rng(7))[0]
    counts = np.bincount(drawn, minlength=4)
    assert counts.min() > 800  # 1000 each, deviation 27


def test_positions_of_the_member_order() -> None:
    z = PackedZSet({5: 1.0, 1: 9.0, 3: 2.0})
    assert z._nth([0, 2, 1])[0].tolist() == [1, 5, 3]
    for bad in (-1, 3, 2**62):
        with pytest.raises(ValueError, match="positions"):
            z._nth([bad])
