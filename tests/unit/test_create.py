"""Making sets: layouts, sources, options, subclasses."""

from __future__ import annotations

import collections
import uuid

import numpy as np
import pytest

import goblin_pz
from goblin_pz import PackedZSet
from unit.layouts import Layout


def test_default_layout_is_exact() -> None:
    z = PackedZSet()
    assert (z.layout, len(z), bool(z)) == ("INT64_FLOAT64", 0, False)
    assert z.member_dtype == np.int64
    assert z.score_dtype == np.float64
    assert (z.score_rle, z.merge_exponent) == (True, 0.5)


def test_layout_properties(layout: Layout) -> None:
    z = layout.new(score_rle=False, merge_exponent=1)
    assert z.layout == layout.name == z.memory()["representation"]
    assert z.member_dtype == layout.member_dtype
    assert z.score_dtype == layout.score_dtype
    assert (z.score_rle, z.merge_exponent) == (False, 1.0)


@pytest.mark.parametrize(
    ("member", "score", "name"),
    [
        ("int32", "float32", "INT32_FLOAT32"),
        (np.int32, np.float32, "INT32_FLOAT32"),
        (np.dtype("i8"), np.dtype("f4"), "INT64_FLOAT32"),
        (int, float, "INT64_FLOAT64"),
        (uuid.UUID, "f8", "UUID_FLOAT64"),
        ("V16", "float64", "UUID_FLOAT64"),
    ],
)
def test_layout_names(member: object, score: object, name: str) -> None:
    assert PackedZSet(member, score).layout == name
    assert PackedZSet(member=member, score=score).layout == name


@pytest.mark.parametrize("member", ["int16", "uint64", "float64", "S16", ">i4", "V8", "bool"])
def test_unknown_member_types(member: str) -> None:
    with pytest.raises(ValueError, match=r"^member: "):
        PackedZSet(member)


@pytest.mark.parametrize("score", ["int64", "float16", "uuid", ">f8", "longdouble"])
def test_unknown_score_types(score: str) -> None:
    with pytest.raises(ValueError, match=r"^score: "):
        PackedZSet("int64", score)


def test_bad_options() -> None:
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="merge_exponent"):
            PackedZSet(merge_exponent=bad)
    with pytest.raises(TypeError):
        PackedZSet(merge_exponent="much")
    with pytest.raises(ValueError, match="_leaf_capacity"):
        PackedZSet(_leaf_capacity=3)
    with pytest.raises(TypeError):
        PackedZSet(nonsense=1)
    with pytest.raises(TypeError):
        PackedZSet(None)
    with pytest.raises(TypeError):
        PackedZSet("int64", "float64", True)
    with pytest.raises(TypeError, match="member"):
        PackedZSet(1, 4)


SOURCE = {5: 2.0, 3: 1.0, 9: 1.0}


@pytest.mark.parametrize(
    "source",
    [
        SOURCE,
        collections.OrderedDict(SOURCE),
        collections.UserDict(SOURCE),
        list(SOURCE.items()),
        iter(SOURCE.items()),
        ([member, score] for member, score in SOURCE.items()),
        PackedZSet(SOURCE),
    ],
    ids=lambda source: type(source).__name__,
)
def test_sources(source: object) -> None:
    """Every source of entries, the positional short form included."""
    z = PackedZSet(source)
    assert list(z.items()) == [(3, 1.0), (9, 1.0), (5, 2.0)]


def test_sources_with_layout() -> None:
    assert PackedZSet(SOURCE, "int32", "float32").layout == "INT32_FLOAT32"
    assert PackedZSet.from_items(SOURCE, "int32", score="float32").layout == "INT32_FLOAT32"
    assert PackedZSet.from_items([], member="int32", score_rle=False).score_rle is False
    narrow = PackedZSet(SOURCE, "int32", "float32")
    assert dict(PackedZSet(narrow).items()) == SOURCE


def test_bad_sources() -> None:
    with pytest.raises(TypeError, match=r"source\[1\]: a pair"):
        PackedZSet([(1, 2.0), 3])
    with pytest.raises(ValueError, match=r"source\[0\]: .* not 3 values"):
        PackedZSet([(1, 2.0, 3)])
    with pytest.raises(ValueError, match=r"scores\[1\]: NaN"):
        PackedZSet([(1, 2.0), (2, float("nan"))])
    with pytest.raises(TypeError, match="iter"):
        PackedZSet.from_items(5)


def test_a_failing_source_changes_nothing() -> None:
    z = PackedZSet({1: 1.0})

    def failing() -> object:
        yield 2, 2.0
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        z.update(failing())
    with pytest.raises(OverflowError):
        z.update({2: 2.0, 2**64: 1.0})
    assert dict(z.items()) == {1: 1.0}


def test_update(layout: Layout) -> None:
    z = layout.filled({1: 1, 2: 2})
    assert z.update({layout.one(2): 5, layout.one(3): 1.5}) == (1, 1)
    assert z.update(layout.filled({1: 1, 4: 0.5})) == (1, 0)
    assert z.update([]) == (0, 0)
    assert layout.content(z) == {4: 0.5, 1: 1.0, 3: 1.5, 2: 5.0}
    before = z.copy()
    assert z.update(z) == (0, 0)  # from itself
    assert z == before


@pytest.mark.parametrize(
    ("members", "scores", "name"),
    [
        (np.array([1], "i4"), np.array([1], "f4"), "INT32_FLOAT32"),
        (np.array([1], "i8"), np.array([1], "f8"), "INT64_FLOAT64"),
        (np.array([1], "i2"), np.array([1], "f2"), "INT32_FLOAT32"),
        (np.array([1], "u2"), np.array([1], "i4"), "INT32_FLOAT64"),
        (np.array([1], "u4"), np.array([1], ">f4"), "INT64_FLOAT32"),
        (np.array([1], "u8"), [1.0], "INT64_FLOAT64"),
        ([1], [1], "INT64_FLOAT64"),
        (np.zeros((1, 16), np.uint8), np.array([1], "f4"), "UUID_FLOAT32"),
        (np.zeros(1, "V16"), np.array([1], "f8"), "UUID_FLOAT64"),
        ([uuid.UUID(int=1)], [1.0], "UUID_FLOAT64"),
        (np.array([uuid.UUID(int=1)], object), [1.0], "UUID_FLOAT64"),
        ([b"0123456789abcdef"], [1.0], "UUID_FLOAT64"),
        (range(1), [1.0], "INT64_FLOAT64"),
    ],
)
def test_from_arrays_takes_the_layout_from_dtypes(
    members: object, scores: object, name: str
) -> None:
    z = PackedZSet.from_arrays(members, scores)
    assert (z.layout, len(z)) == (name, 1)


def test_from_arrays_options() -> None:
    z = PackedZSet.from_arrays(
        [3, 1, 3], [1, 2, 3], "int32", "float32", score_rle=False, merge_exponent=0.25
    )
    assert (z.layout, z.score_rle, z.merge_exponent) == ("INT32_FLOAT32", False, 0.25)
    assert list(z.items()) == [(1, 2.0), (3, 3.0)]  # the last of two rows stands
    with pytest.raises(TypeError, match="float64"):
        PackedZSet.from_arrays(np.array([1.0]), [1])
    with pytest.raises(TypeError, match="missing required argument 'scores'"):
        PackedZSet.from_arrays([1])
    assert len(PackedZSet.from_arrays([], [])) == 0


class Board(PackedZSet):
    """A subclass with attributes and an __init__ of its own."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__()
        self.title = "weekly"


def test_subclass() -> None:
    board = Board("int32")
    board.add(1, 2.0)
    assert (board.title, board.layout) == ("weekly", "INT32_FLOAT64")
    for same in (board.copy(), board.union(board), Board.from_arrays([1], [2.0]), Board({1: 2.0})):
        assert type(same) is Board
    assert board == PackedZSet({1: 2.0}, "int32")
    assert repr(board).startswith("<Board INT32_FLOAT64: 1 member, ")


def test_new_alone_gives_a_usable_set() -> None:
    z = PackedZSet.__new__(PackedZSet)
    z.add(1, 2.0)
    assert z[1] == 2.0
    z.__init__()
    assert z[1] == 2.0  # nothing to do again


def test_types_cannot_be_abused() -> None:
    with pytest.raises(TypeError):
        PackedZSet.score = None  # an immutable type
    with pytest.raises(TypeError):
        type(iter(PackedZSet()))()
    with pytest.raises(TypeError):
        hash(PackedZSet())


def test_package_names() -> None:
    assert goblin_pz.__version__
    assert {"PackedZSet", "load", "__version__"} <= set(dir(goblin_pz))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = goblin_pz.nonsense
