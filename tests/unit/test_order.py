"""Positions and scores: rank, range, range_by_score, count, ends, neighbours, pops, removals."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout

INF = math.inf
NAN = math.nan


def tied(layout: Layout, size: int) -> tuple[PackedZSet, list[tuple[float, int]]]:
    """A set with long runs of equal scores, and its entries as a plain sorted list."""
    random = np.random.default_rng(size)
    scores = {n: float(s) for n, s in enumerate(random.integers(0, 1 + size // 7, size) / 2)}
    return layout.filled(scores), sorted((s, n) for n, s in scores.items())


def entries(layout: Layout, pair: tuple[np.ndarray, np.ndarray]) -> list[tuple[float, int]]:
    members, scores = pair
    assert (members.dtype, scores.dtype) == (layout.member_dtype, layout.score_dtype)
    return list(zip(scores.tolist(), layout.numbers(members), strict=True))


def test_rank_methods(layout: Layout, size: int) -> None:
    z, order = tied(layout, size)
    scores = [s for s, _ in order]
    distinct = sorted(set(scores))
    numbers = layout.ids([n for _, n in order])
    low = [scores.index(s) for s in scores]
    high = [len(scores) - 1 - scores[::-1].index(s) for s in scores]
    up = list(range(size))
    assert z.rank(numbers).tolist() == up
    assert z.rank(numbers, reverse=True).tolist() == up[::-1]
    assert z.rank(numbers, method="min").tolist() == low
    assert z.rank(numbers, method="max").tolist() == high
    assert z.rank(numbers, method="dense").tolist() == [distinct.index(s) for s in scores]
    average = z.rank(numbers, method="average")
    assert average.dtype == np.float64
    assert average.tolist() == [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    last = size - 1
    down = z.rank(numbers, method="min", reverse=True).tolist()
    assert down == [last - h for h in high]
    assert z.rank(numbers, method="dense", reverse=True).tolist() == [
        len(distinct) - 1 - distinct.index(s) for s in scores
    ]
    for place in {0, size // 2, last}:
        one = layout.one(order[place][1])
        assert z.rank(one) == place
        assert z.rank(one, reverse=True) == last - place
        assert z.rank(one, method="max") == high[place]
        assert z.rank(one, method="average") == average[place]


def test_rank_of_missing_members(layout: Layout) -> None:
    z = layout.filled({1: 0, 3: 0})
    assert z.rank(layout.ids([1, 999, 3])).tolist() == [0, -1, 1]
    assert z.rank(layout.ids([999]), reverse=True, method="dense").tolist() == [-1]
    assert z.rank(layout.ids([999]), method="average").tolist() == [-1.0]
    for method in ("ordinal", "min", "max", "dense", "average"):
        assert z.rank(layout.one(999), method=method) is None
    with pytest.raises(ValueError, match="method: 'best'"):
        z.rank(layout.one(1), method="best")


def test_ranks_after_sorted_appends(layout: Layout) -> None:
    z = layout.new()
    for _ in range(2):
        z.add(layout.ids(range(1500)), np.arange(1500))
        assert z.rank(layout.ids(range(1500))).tolist() == list(range(1500))


SLICES = [
    (None, None), (0, 3), (1, -1), (-3, None), (-3, -1), (3, 2), (-1, 0), (5, 10**11),
    (-(10**30), 10**30), (2, 2), (-100, -50),
]  # fmt: skip


@pytest.mark.parametrize(("start", "stop"), SLICES)
def test_range_is_a_slice(layout: Layout, size: int, start: int | None, stop: int | None) -> None:
    z, order = tied(layout, size)
    assert entries(layout, z.range(start, stop)) == order[start:stop]
    assert entries(layout, z.range(start, stop, reverse=True)) == order[::-1][start:stop]
    shorter = z.copy()
    assert shorter.remove_range(start, stop) == len(order[start:stop])
    assert entries(layout, shorter.range()) == [e for e in order if e not in order[start:stop]]
    shorter._validate()


def test_range_arguments() -> None:
    z = PackedZSet({1: 1.0})
    assert z.range(np.int64(0))[0].tolist() == [1]
    for bad in (1.0, "1", True):
        with pytest.raises(TypeError, match="start: an integer is needed"):
            z.range(bad)
    with pytest.raises(TypeError, match="missing required argument 'start'"):
        z.remove_range()
    assert z.remove_range(None, None, reverse=True) == 1


def within(low: float, high: float, low_open: bool, high_open: bool) -> object:
    above = operator.gt if low_open else operator.ge
    below = operator.lt if high_open else operator.le
    return lambda entry: above(entry[0], low) and below(entry[0], high)


@pytest.mark.parametrize("low_open", [False, True])
@pytest.mark.parametrize("high_open", [False, True])
def test_range_by_score(layout: Layout, size: int, low_open: bool, high_open: bool) -> None:
    z, order = tied(layout, size)
    options = {"low_open": low_open, "high_open": high_open}
    for low, high in [(-INF, INF), (1, 3.5), (2, 2), (0, 0), (0.25, 0.75), (3, 1), (1e9, INF)]:
        inside = list(filter(within(low, high, low_open, high_open), order))
        assert entries(layout, z.range_by_score(low, high, **options)) == inside
        down = z.range_by_score(low, high, reverse=True, offset=1, limit=3, **options)
        assert entries(layout, down) == inside[::-1][1:4]
        up = z.range_by_score(low, high, offset=2, limit=5, **options)
        assert entries(layout, up) == inside[2:7]
        assert z.count(low, high, **options) == len(inside)
        rest = z.copy()
        assert rest.remove_range_by_score(low, high, **options) == len(inside)
        assert len(rest) == len(order) - len(inside)
        rest._validate()


def test_one_run_over_many_leaves(layout: Layout) -> None:
    """An exclusive bound at a run that spans leaves must not count or remove any of it."""
    z = layout.filled(dict.fromkeys(range(2000), 5.0))
    for low, high, options in [
        (5, INF, {"low_open": True}),
        (-INF, 5, {"high_open": True}),
        (5, 5, {"low_open": True, "high_open": True}),
        (5, 5, {"low_open": True}),
    ]:
        assert z.count(low, high, **options) == 0
        assert z.remove_range_by_score(low, high, **options) == 0
    assert z.count(5, 5) == len(z) == 2000


def test_bounds(layout: Layout) -> None:
    z = layout.filled({1: -INF, 2: 0.1, 3: INF})
    assert z.count() == z.count(None, None) == z.count(-INF, INF) == 3
    assert z.count(low_open=True, high_open=True) == 1
    stored = z[layout.one(2)]  # for float32 not 0.1, and bounds compare with what is stored
    assert z.count(stored, stored) == 1
    assert z.count(0.1, 0.1) == (layout.score == "float64")
    assert z.count(np.float32(0), 1) == 1
    for bad in (NAN, np.float64("nan")):
        for call in (z.count, z.range_by_score, z.remove_range_by_score):
            with pytest.raises(ValueError, match="low: NaN"):
                call(bad, 3)
            with pytest.raises(ValueError, match="high: NaN"):
                call(0, bad)
    with pytest.raises(TypeError, match="low: a real number is needed"):
        z.count("0")
    with pytest.raises(ValueError, match=r"low: .* not exact"):
        z.count(2**53 + 1)
    assert len(z) == 3


@pytest.mark.parametrize("size_", [3, 3000])
def test_offset_and_limit(size_: int) -> None:
    z = PackedZSet({i: float(i) for i in range(size_)})
    for name in ("offset", "limit"):
        with pytest.raises(ValueError, match=f"{name}: -1 is negative"):
            z.range_by_score(**{name: -1})
    assert z.range_by_score(limit=0)[0].tolist() == []
    assert z.range_by_score(offset=size_)[0].tolist() == []
    assert z.range_by_score(offset=2**70)[0].tolist() == []
    assert z.range_by_score(offset=size_ - 1, limit=None)[0].tolist() == [size_ - 1]


def test_ends(layout: Layout, size: int) -> None:
    z, order = tied(layout, size)
    for k in (0, 1, 3, size, size + 5, 2**65):
        assert entries(layout, z.top(k)) == order[::-1][:k]
        assert entries(layout, z.bottom(k)) == order[:k]
    for call in (z.top, z.bottom):
        with pytest.raises(ValueError, match="k: -1 is negative"):
            call(-1)


def test_around(layout: Layout, size: int) -> None:
    z, order = tied(layout, size)
    for place in {0, 1, size // 2, size - 1} & set(range(size)):
        for k in (0, 1, 5, 2**40):
            near = order[max(place - k, 0) : place + k + 1]
            member = layout.one(order[place][1])
            assert entries(layout, z.around(member, k)) == near
            assert entries(layout, z.around(member, k, reverse=True)) == near[::-1]
    with pytest.raises(KeyError) as caught:
        z.around(layout.one(10**6), 1)
    assert caught.value.args == (layout.one(10**6),)
    with pytest.raises(ValueError, match="negative"):
        z.around(layout.one(0), -1)
    with pytest.raises(TypeError, match="one member"):
        z.around(layout.ids([0]), 1)


def test_pops(layout: Layout, size: int) -> None:
    z, order = tied(layout, size)
    score, number = order.pop(0)
    member, got = z.pop_min()
    assert (member, got) == (layout.one(number), score)
    assert type(got) is float
    if order:
        score, number = order.pop()
        assert z.pop_max() == (layout.one(number), score)
    assert entries(layout, z.pop_min(3)) == order[:3]
    del order[:3]
    assert entries(layout, z.pop_max(4)) == order[::-1][:4]
    del order[-4:]
    assert entries(layout, z.pop_min(0)) == []
    z._validate()
    assert entries(layout, z.pop_max(2**70)) == order[::-1]
    assert len(z) == 0
    for pop in (z.pop_min, z.pop_max):
        with pytest.raises(KeyError, match="empty"):
            pop()
        assert entries(layout, pop(5)) == []
        with pytest.raises(ValueError, match="count: -1 is negative"):
            pop(-1)
        with pytest.raises(TypeError, match="count: an integer"):
            pop(1.5)


def test_order_of_signed_scores(layout: Layout) -> None:
    z = layout.filled(dict(enumerate([-2, -3, 0, 1, -INF, INF, -0.0])))
    assert z.range()[1].tolist() == [-INF, -3, -2, 0, 0, 1, INF]
    assert layout.numbers(z) == [4, 1, 0, 2, 6, 3, 5]


def test_crossed_and_far_bounds() -> None:
    z = PackedZSet({i: float(i) for i in range(1000)})
    assert z.count(945, 261) == 0
    assert z.count(2000, 3000) == 0
    assert z.range_by_score(2000, 3000)[0].tolist() == []
    assert z.remove_range_by_score(945, 261) == 0


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantile(method: str) -> None:
    scores = np.random.default_rng(3).normal(size=300)
    z = PackedZSet.from_arrays(np.arange(300), scores)
    q = np.linspace(0, 1, 41).reshape(41, 1)
    wanted = np.quantile(scores, q, method=method)
    assert np.allclose(z.quantile(q, method=method), wanted, rtol=1e-15, atol=1e-15)
    assert z.quantile(0.5, method=method) == pytest.approx(
        float(np.quantile(scores, 0.5, method=method))
    )


def test_quantile_edges() -> None:
    assert math.isnan(PackedZSet().quantile(0.5))
    z = PackedZSet({1: -INF, 2: 1.0, 3: INF})
    assert (z.quantile(0), z.quantile(0.5), z.quantile(1)) == (-INF, 1.0, INF)
    for bad in (-0.1, 1.1, NAN):
        with pytest.raises(ValueError, match="q: "):
            z.quantile(bad)
    with pytest.raises(ValueError, match="method: 'best'"):
        z.quantile(0.5, method="best")
