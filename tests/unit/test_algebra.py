"""Whole sets: union, intersection, difference, equality, copies, clear, optimize."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout
from unit.test_create import Board

INF = math.inf


def test_union_and_intersection(layout: Layout) -> None:
    a = layout.filled({1: 1, 2: 2, 3: 3})
    b = layout.filled({2: 10, 3: 20, 4: 30})
    content = layout.content
    assert content(a.union(b)) == {1: 1, 2: 12, 3: 23, 4: 30}
    assert content(a.union(b, aggregate="max")) == {1: 1, 2: 10, 3: 20, 4: 30}
    assert content(a.union(b, aggregate="min")) == {1: 1, 2: 2, 3: 3, 4: 30}
    assert content(a.union(b, weights=[2, 0.5])) == {1: 2, 2: 9, 3: 16, 4: 15}
    assert content(a.intersection(b)) == {2: 12, 3: 23}
    assert content(a.intersection(b, weights=(1, -1))) == {3: -17, 2: -8}
    assert content(a.difference(b)) == {1: 1}
    assert content(a.union()) == content(a.intersection()) == content(a.difference()) == content(a)
    assert content(a.union(a)) == {1: 2, 2: 4, 3: 6}
    assert content(a.union(a, a, b, b)) == {1: 3, 2: 26, 4: 60, 3: 49}
    assert content(a.difference(a)) == {}
    assert content(a) == {1: 1, 2: 2, 3: 3}


def test_large_sets(layout: Layout) -> None:
    a = layout.filled({n: float(n % 10) for n in range(3000)})
    b = layout.filled(dict.fromkeys(range(2000, 5000), 1.0))
    both = a.union(b)
    both._validate()
    assert len(both) == 5000
    assert both.score(layout.ids([1999, 2005, 4999])).tolist() == [9.0, 6.0, 1.0]
    assert len(a.intersection(b)) == 1000
    assert len(a.difference(b)) == 2000
    assert both.union(a, weights=[1, -1]) != b


def test_three_way_intersection(layout: Layout) -> None:
    sets = [
        layout.filled(dict.fromkeys(keys, 1.0))
        for keys in ([100, 101, 102, 103], [100, 200, 201, 202], [500, 501, 502, 503, 100])
    ]
    assert layout.content(sets[0].intersection(*sets[1:])) == {100: 3.0}


@pytest.mark.parametrize("rle", [False, True])
def test_infinities_in_argument_order(layout: Layout, rle: bool) -> None:
    plus, minus = (layout.filled({1: s}, score_rle=rle) for s in (INF, -INF))
    assert layout.content(plus.union(minus, plus)) == {1: INF}
    assert layout.content(plus.union(plus, minus)) == {1: 0.0}
    assert layout.content(minus.union(weights=[0])) == {1: 0.0}
    assert layout.content(plus.union(minus, aggregate="min")) == {1: -INF}


def test_rounded_once() -> None:
    big = {1: 16777216.0}
    a, b = PackedZSet(big, "int32", "float32"), PackedZSet({1: 1.0}, "int32", "float32")
    assert a.union(b, b)[1] == 16777218.0
    large = PackedZSet({1: 3e38}, "int32", "float32")
    with pytest.raises(OverflowError, match="too large for float32"):
        large.union(large)
    assert large.union(large, aggregate="max") == large


def test_refused_operands() -> None:
    z = PackedZSet({1: 1.0})
    with pytest.raises(TypeError, match="INT64_FLOAT64 and INT32_FLOAT64"):
        z.union(PackedZSet("int32"))
    with pytest.raises(TypeError, match="a PackedZSet is needed, not dict"):
        z.union({1: 1.0})
    with pytest.raises(ValueError, match="weights: 1 given for 2 sets"):
        z.union(z, weights=[1])
    with pytest.raises(ValueError, match=r"weights\[1\]: NaN"):
        z.union(z, weights=[1, math.nan])
    with pytest.raises(TypeError, match=r"weights\[0\]: a real number"):
        z.union(z, weights=["1", 2])
    with pytest.raises(ValueError, match="aggregate: 'mean'"):
        z.union(z, aggregate="mean")
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        z.difference(z, weights=[1, 1])


def test_equality(layout: Layout) -> None:
    a, b = layout.filled({1: 1, 2: 2}), layout.filled({2: 2, 1: 1}, score_rle=False)
    assert a == b
    assert (a != b) is False
    b.incrby(layout.one(1), 1)
    assert a != b
    assert a != layout.filled({1: 1})
    assert a != {layout.one(1): 1.0, layout.one(2): 2.0}
    assert layout.new() == layout.new()
    with pytest.raises(TypeError):
        _ = a < b


def test_layouts_differ() -> None:
    assert PackedZSet({1: 1.0}) != PackedZSet({1: 1.0}, "int32")


@pytest.mark.parametrize("how", [PackedZSet.copy, copy.copy, copy.deepcopy])
def test_copies_are_independent(layout: Layout, size: int, how: object) -> None:
    z = layout.filled({n: float(n) for n in range(size)}, score_rle=False, merge_exponent=1)
    other = how(z)
    assert other == z
    assert (other.score_rle, other.merge_exponent) == (False, 1.0)
    other._validate()
    z.pop_min()
    z.add(layout.one(-5), 5)
    assert len(other) == size
    assert other.rank(layout.one(0)) == 0
    other.clear()
    assert len(z) == size


def test_copies_of_subclasses() -> None:
    board = Board()
    board.add(1, 1.0)
    board.notes = ["a"]
    shallow, deep = copy.copy(board), copy.deepcopy(board)
    assert (type(shallow), shallow.title, deep.title) == (Board, "weekly", "weekly")
    assert shallow.notes is board.notes
    assert deep.notes == ["a"]
    assert deep.notes is not board.notes
    assert not hasattr(board.copy(), "title")


def test_clear_and_optimize(layout: Layout, size: int) -> None:
    z = layout.new()
    random = np.random.default_rng(0)
    for _ in range(5):
        z.incrby(layout.ids(random.integers(0, size, size)))
    before, live_before = layout.content(z), z.memory()["arena_live_bytes"]
    assert z.optimize() is None
    z._validate()
    assert layout.content(z) == before
    memory = z.memory()
    assert memory["unsorted_entries"] == memory["member_unsorted_entries"] == 0
    assert memory["arena_live_bytes"] <= live_before
    assert z.clear() is None
    assert len(z) == 0
    assert z == layout.new()
    z._validate()
