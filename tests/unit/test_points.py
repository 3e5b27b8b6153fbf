"""Single members and batches of them: add, incrby, score, contains, remove, item access."""

from __future__ import annotations

import math

import numpy as np
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout

INF = math.inf
NAN = math.nan


def test_scalars(layout: Layout) -> None:
    z = layout.new()
    a, b = layout.one(7), layout.one(3)
    assert z.add(a, 1.5) == (1, 0)
    assert z.add(a, 1.5) == (0, 0)
    assert z.add(a, 2) == (0, 1)
    assert z.incrby(b) == 1.0
    assert z.incrby(b, 0.25) == 1.25
    assert type(z.incrby(b, 0)) is float
    assert (z.score(a), z.score(layout.one(9))) == (2.0, None)
    assert z.contains(a) is True
    assert z.contains(layout.one(9)) is False
    assert a in z
    assert layout.one(9) not in z
    assert (len(z), bool(z)) == (2, True)
    assert z.remove(a) == 1
    assert z.remove(a) == 0
    z._validate()


def test_items_protocol(layout: Layout) -> None:
    z = layout.new()
    z[layout.one(5)] = 2
    assert z[layout.one(5)] == 2.0
    for missing in (layout.one(6),):
        with pytest.raises(KeyError) as caught:
            z[missing]
        assert caught.value.args == (missing,)
        with pytest.raises(KeyError):
            del z[missing]
    del z[layout.one(5)]
    assert len(z) == 0
    with pytest.raises(TypeError, match="one member"):
        z[layout.ids([1, 2])]
    with pytest.raises(TypeError, match="one member"):
        z[layout.ids([1, 2])] = 1.0
    with pytest.raises(TypeError, match="one member"):
        del z[layout.ids([1, 2])]
    with pytest.raises(TypeError, match="one member"):
        _ = layout.ids([1, 2]) in z


def test_arrays(layout: Layout, size: int) -> None:
    z = layout.new()
    numbers = np.random.default_rng(size).permutation(size)
    scores = np.sqrt(numbers).astype(layout.score)
    assert z.add(layout.ids(numbers), scores) == (size, 0)
    z._validate()
    assert np.array_equal(z.score(layout.ids(numbers)), scores)
    found = z.contains(layout.ids(range(-1, size + 1)))
    assert found.dtype == bool
    assert found.tolist() == [False] + [True] * size + [False]
    missing = z.score(layout.ids([-1, 0, size]))
    assert missing.dtype == layout.score_dtype
    assert np.isnan(missing).tolist() == [True, False, True]
    assert z.remove(layout.ids([0, 0, -1])) == 1
    assert len(z) == size - 1
    z._validate()


def test_shapes(layout: Layout) -> None:
    """Look-ups give an array of the shape they were given; a 0-d member is a scalar."""
    z = layout.filled({i: float(i) for i in range(6)})
    grid = layout.ids(range(6)).reshape(2, 3)
    assert z.score(grid).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert z.rank(grid.T).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert z.contains(grid[:, ::2]).shape == (2, 2)
    zero_d = layout.ids([4]).reshape(())
    assert z.score(zero_d) == 4.0
    assert type(z.score(zero_d)) is float
    assert type(z.rank(zero_d)) is int
    assert z.contains(zero_d) is True
    assert z.add(zero_d, np.array(9.0)) == (0, 1)
    assert z.incrby(layout.ids([4])[0], np.float32(1)) == 10.0
    assert z.add(grid, grid_scores := np.full((2, 3), 2.0)) == (0, 5)
    assert z.incrby(grid, grid_scores, out=True).shape == (2, 3)


def test_empty_arrays(layout: Layout) -> None:
    z = layout.new()
    none = layout.ids([])
    assert z.add(none, []) == (0, 0)
    assert z.incrby(none) is None
    assert z.incrby(none, out=True).dtype == layout.score_dtype
    assert z.score(none).dtype == layout.score_dtype
    assert z.rank(none).dtype == np.int64
    assert z.contains(none).shape == (0,)
    assert z.remove([]) == 0
    assert z.score(np.empty((0, 3), layout.member_dtype)).shape == (0, 3)


@pytest.mark.parametrize("rest", [0, 127, 128, 5000])
def test_flags(layout: Layout, rest: int) -> None:
    """NX, XX, GT and LT at every size: a small set and a tree must not differ."""
    z = layout.filled({1000 + i: 1000.0 + i for i in range(rest)})
    ten, new = layout.one(10), layout.one(11)
    z.add(ten, 10)
    assert z.add(ten, 3, gt=True) == (0, 0)
    assert z.add(ten, 10, gt=True) == (0, 0)
    assert z.add(ten, 30, lt=True) == (0, 0)
    assert z.add(ten, 11, nx=True) == (0, 0)
    assert z[ten] == 10.0
    assert z.add(ten, 12, gt=True) == (0, 1)
    assert z.add(ten, 5, lt=True) == (0, 1)
    assert z.add(ten, 6, xx=True) == (0, 1)
    assert z.add(new, 1, xx=True) == (0, 0)
    assert z.add(new, 1, xx=True, gt=True) == (0, 0)
    assert new not in z
    assert z.add(new, 1, gt=True) == (1, 0)
    assert z.add(layout.ids([10, 11, 12]), [7, 2, 3], nx=True) == (1, 0)
    assert (z[ten], z[new], z[layout.one(12)]) == (6.0, 1.0, 3.0)
    z._validate()


@pytest.mark.parametrize("flags", [{"nx", "xx"}, {"nx", "gt"}, {"nx", "lt"}, {"gt", "lt"}])
def test_flags_that_exclude_each_other(flags: set[str]) -> None:
    z = PackedZSet()
    with pytest.raises(ValueError, match="exclude"):
        z.add(1, 1.0, **dict.fromkeys(flags, True))
    assert len(z) == 0


def test_errors_in_flags_propagate() -> None:
    class Odd:
        def __bool__(self) -> bool:
            raise LookupError("no truth")

    with pytest.raises(LookupError):
        PackedZSet().add(1, 1.0, nx=Odd())


def test_rows_apply_left_to_right(layout: Layout) -> None:
    z = layout.new()
    assert z.add(layout.ids([7, 7]), [1, 2]) == (1, 1)
    assert layout.content(z) == {7: 2.0}
    assert z.add(layout.ids([7, 7, 7]), [3, 2, 2]) == (0, 2)
    assert z.add(layout.ids([8, 8]), [1, 9], nx=True) == (1, 0)
    assert z[layout.one(8)] == 1.0
    sums = z.incrby(layout.ids([1, 2, 1, 7]), [1, 2, 3, 4], out=True)
    assert sums.tolist() == [1, 2, 4, 6]


def test_bulk_increments_equal_single_ones(layout: Layout, size: int) -> None:
    random = np.random.default_rng(size)
    numbers = random.integers(0, size, 3 * size)
    amounts = random.normal(0, 100, 3 * size)
    bulk, single = layout.new(), layout.new()
    sums = bulk.incrby(layout.ids(numbers), amounts, out=True)
    each = [
        single.incrby(layout.one(int(n)), float(a)) for n, a in zip(numbers, amounts, strict=True)
    ]
    assert sums.tolist() == each
    assert bulk == single
    bulk._validate()
    single._validate()


def test_amounts_are_rounded_once() -> None:
    """In a float32 set the sum is made in double, whichever way the amounts come."""
    big, step = 16777216.0, 1.0000001
    wanted = float(np.float32(big + 3 * step))
    z = PackedZSet({1: big, 2: big, 3: big}, "int32", "float32")
    assert z.incrby(1, 3 * step) == wanted
    assert z.incrby([2], [3 * step], out=True).tolist() == [wanted]
    narrow = np.array([3.0], np.float32)
    assert z.incrby([3], narrow, out=True).tolist() == [big + 4]
    with pytest.raises(ValueError, match=r"amounts: .* not exact in float64"):
        z.incrby(1, 2**53 + 1)


# ---- numbers at the edge ----


@pytest.mark.parametrize("where", ["add", "incrby"])
def test_nan_is_refused(layout: Layout, where: str) -> None:
    z = layout.filled({1: 1})
    call = getattr(z, where)
    name = "scores" if where == "add" else "amounts"
    with pytest.raises(ValueError, match=f"{name}: NaN"):
        call(layout.one(1), NAN)
    for bad in ([1, NAN, 2], np.array([1, NAN, 2], "f4"), np.array([1, NAN, 2], ">f8")):
        with pytest.raises(ValueError, match=rf"{name}\[1\]: NaN"):
            call(layout.ids([1, 2, 3]), bad)
    native = np.ones(1000, layout.score)
    native[777:] = NAN
    with pytest.raises(ValueError, match=rf"{name}\[777\]: NaN"):
        call(layout.ids(range(1000)), native)
    assert layout.content(z) == {1: 1.0}
    z._validate()


def test_infinities(layout: Layout) -> None:
    z = layout.new()
    z.add(layout.ids([1, 2, 3]), [-INF, INF, 0])
    assert layout.content(z) == {1: -INF, 3: 0.0, 2: INF}
    assert z.incrby(layout.one(2), INF) == INF
    for member, amount in ((1, INF), (2, -INF)):
        with pytest.raises(ValueError, match="amounts: an infinite score"):
            z.incrby(layout.one(member), amount)
    with pytest.raises(ValueError, match=r"amounts\[2\]: an infinite score"):
        z.incrby(layout.ids([3, 4, 2, 1]), [1, 1, -INF, INF])
    with pytest.raises(ValueError, match=r"amounts\[1\]: an infinite score"):
        z.incrby(layout.ids([3, 2]), -INF)
    assert layout.content(z) == {1: -INF, 3: 0.0, 2: INF}


def test_negative_zero_is_zero(layout: Layout) -> None:
    z = layout.new()
    z.add(layout.ids([1, 2]), [-0.0, 0.0])
    z.add(layout.one(3), -0.0)
    z.incrby(layout.one(4), -0.0)
    z.add(layout.one(5), -1e-300)
    if layout.score == "float32":
        assert math.copysign(1, z[layout.one(5)]) == 1
    z.remove(layout.one(5))
    assert [math.copysign(1, s) for s in z.range()[1].tolist()] == [1, 1, 1, 1]
    assert z.add(layout.one(1), 0.0) == (0, 0)
    assert z.rank(layout.ids([1, 2, 3, 4]), method="min").tolist() == [0, 0, 0, 0]


def test_large_sums() -> None:
    z = PackedZSet({1: 1.797e308})
    assert z.incrby(1, 1.797e308) == INF
    z = PackedZSet({1: 3e38}, "int32", "float32")
    with pytest.raises(OverflowError, match="amounts: the result is too large for float32"):
        z.incrby(1, 3e38)
    with pytest.raises(OverflowError, match=r"amounts\[1\]: the result is too large"):
        z.incrby([2, 1], 3e38)
    assert dict(z.items()) == {1: float(np.float32(3e38))}
    assert z.incrby(1, INF) == INF


def test_counts_beyond_the_significand() -> None:
    z = PackedZSet({1: 2.0**53})
    assert z.incrby(1, 1) == 2.0**53
    assert z.incrby(1, 2) == 2.0**53 + 2
    z = PackedZSet({1: 2.0**24}, "int32", "float32")
    assert z.incrby(1, 1) == 2.0**24


def test_denormals_keep_their_bits(layout: Layout) -> None:
    tiny = float(np.finfo(layout.score_dtype).smallest_subnormal)
    z = layout.filled({1: tiny, 2: 2 * tiny, 3: -tiny})
    assert layout.content(z) == {3: -tiny, 1: tiny, 2: 2 * tiny}
    assert z.incrby(layout.one(2), -tiny) == tiny
    assert z[layout.one(1)] == tiny


def test_decimal_noise_is_left_alone() -> None:
    z = PackedZSet({1: 1.0})
    for _ in range(3):
        z.incrby(1, 0.1)
    assert z[1] == 1.3000000000000003


def test_close_scores_are_no_ties() -> None:
    scores = 1000.00003 + 1e-6 * np.arange(39)
    z = PackedZSet.from_arrays(np.arange(39)[::-1], scores[::-1])
    assert z.rank(np.arange(39), method="dense").tolist() == list(range(39))


def test_extreme_members() -> None:
    for member, bits in (("int32", 31), ("int64", 63)):
        low, high = -(2**bits), 2**bits - 1
        z = PackedZSet(member)
        z.add([high, 0, low], [1, 1, 1])
        assert list(z) == [low, 0, high]
        assert z.rank(low) == 0
        z.add(low, float(low))
        assert z[low] == float(low)
        with pytest.raises(OverflowError):
            z.add(high + 1, 1)
        with pytest.raises(OverflowError):
            z.score(low - 1)


def test_ties_order_by_member(layout: Layout) -> None:
    numbers = [10, -1, 2, 1]
    z = layout.filled(dict.fromkeys(numbers, 1.0))
    assert layout.numbers(z) == sorted(numbers)
    assert layout.numbers(reversed(z)) == sorted(numbers, reverse=True)


def test_uuid_order_is_byte_order() -> None:
    random = np.random.default_rng(5)
    raw = random.integers(0, 256, (500, 16), dtype=np.uint8)
    z = PackedZSet.from_arrays(raw, np.ones(500))
    assert [m.tobytes() for m in z.range()[0]] == sorted(row.tobytes() for row in raw)


def test_a_set_emptied_works_again(layout: Layout) -> None:
    z = layout.new()
    for round_ in range(3):
        z.add(layout.ids(range(129)), np.arange(129))
        assert len(z.pop_max(1000)[0]) == 129
        assert (len(z), list(z), z.rank(layout.one(round_))) == (0, [], None)
        z._validate()


def test_arguments() -> None:
    z = PackedZSet()
    with pytest.raises(TypeError, match=r"add\(\) missing required argument 'scores'"):
        z.add(1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        z.add(1, 2, nonsense=3)
    with pytest.raises(TypeError, match="multiple values for argument 'members'"):
        z.add(1, 2, members=3)
    with pytest.raises(TypeError, match="at most 2 positional"):
        z.add(1, 2, True)
    assert z.add(scores=2, members=1) == (1, 0)
