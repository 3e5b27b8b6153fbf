"""The independent count against a dict, one event at a time."""

from __future__ import annotations

import numpy as np
import pytest

from goblin_pz.workbench import oracle as oracle_module
from goblin_pz.workbench.blocks import Block, Operation
from goblin_pz.workbench.layouts import LAYOUTS, Layout, parse_layouts
from goblin_pz.workbench.oracle import Oracle

DENSE, SPARSE = (0, 300), (-(2**40), 2**40)


def by_hand(blocks, operation: Operation, layout: Layout) -> list[tuple[int, float]]:
    rounded = np.float32 if layout.score == "float32" else np.float64
    state: dict[int, float] = {}
    for block in blocks:
        values = np.ones(len(block)) if block.values is None else block.values
        for member, value in zip(block.members.tolist(), values.tolist(), strict=True):
            amount = float(rounded(value))
            old = state.get(member, 0.0) if operation is Operation.ZINCRBY else 0.0
            state[member] = float(rounded(old + amount))
    width = 2**64 if layout.member == "uuid" else 2**70
    return sorted(
        state.items(), key=lambda item: (item[1], item[0] % width if width == 2**64 else item[0])
    )


def check(blocks, operation: Operation) -> None:
    counted = Oracle(operation)
    for block in blocks:
        counted.add(block)
    for layout in LAYOUTS.values():
        wanted = by_hand(blocks, operation, layout)
        found = counted.ordered(layout)
        assert list(zip(found.members.tolist(), found.scores.tolist(), strict=True)) == wanted
        assert len(counted) == len(wanted)
    assert counted.events == sum(map(len, blocks))
    members = [member for block in blocks for member in block.members.tolist()]
    assert counted.extremes() == (min(members), max(members))


def blocks_of(ranges, *, values, sizes=(40, 1, 200, 77), seed=3):
    random = np.random.default_rng(seed)
    made = []
    for at, size in enumerate(sizes):
        members = random.integers(*ranges[at % len(ranges)], size)
        amounts = None
        if values == "tenths":
            amounts = np.round(random.normal(0, 20, size), 1)
        elif values == "sometimes" and at % 2:
            amounts = random.integers(-3, 4, size).astype(np.float64)
        made.append(Block(members, amounts))
    return made


@pytest.mark.parametrize("ranges", [[DENSE], [SPARSE], [DENSE, SPARSE]])
@pytest.mark.parametrize("values", ["none", "tenths", "sometimes"])
def test_increments(ranges, values):
    check(blocks_of(ranges, values=values), Operation.ZINCRBY)


@pytest.mark.parametrize("ranges", [[DENSE], [SPARSE], [DENSE, SPARSE]])
def test_scores(ranges):
    check(blocks_of(ranges, values="tenths"), Operation.ZADD)


def test_negative_zero_is_zero():
    counted = Oracle(Operation.ZADD)
    counted.add(Block(np.array([1]), np.array([-0.0])))
    score = counted.ordered(LAYOUTS["int64-float64"]).scores[0]
    assert not np.signbit(score)


def test_float32_stops_counting_at_two_to_the_24():
    counted = Oracle(Operation.ZINCRBY)
    counted.add(Block(np.zeros(2**24 + 3, np.int64), None))
    assert counted.ordered(LAYOUTS["int32-float32"]).scores.tolist() == [2.0**24]
    assert counted.ordered(LAYOUTS["int32-float64"]).scores.tolist() == [2.0**24 + 3]


def test_counts_widen_before_they_could_overflow(monkeypatch):
    monkeypatch.setattr(oracle_module, "COUNT_MAX", 10)
    counted = Oracle(Operation.ZINCRBY)
    for _ in range(3):
        counted.add(Block(np.array([7, 7, 8, 7, 7]), None))
    assert counted.ordered(LAYOUTS["int64-float64"]).scores.tolist() == [3.0, 12.0]


def test_nothing_counted():
    counted = Oracle(Operation.ZINCRBY)
    counted.add(Block(np.empty(0, np.int64), None))
    assert len(counted) == 0
    assert counted.extremes() == (0, -1)


def test_layouts_carry_members_both_ways():
    members = np.array([0, 1, -1, 2**31 - 1, -(2**31)])
    for layout in LAYOUTS.values():
        coded = layout.encode(members)
        assert coded.dtype == layout.member_dtype
        assert np.array_equal(layout.decode(coded), members)
    coded = LAYOUTS["uuid-float64"].encode(np.array([258, -1]))
    assert coded[0].tobytes() == bytes(14) + b"\x01\x02"
    assert coded[1].tobytes() == bytes(8) + b"\xff" * 8


def test_layouts_refuse_what_does_not_fit():
    with pytest.raises(OverflowError, match="member 2147483648 does not fit INT32"):
        LAYOUTS["int32-float32"].encode(np.array([1, 2**31]))
    with pytest.raises(ValueError, match="no zero-extended"):
        LAYOUTS["uuid-float32"].decode(np.array([b"\x01" + bytes(15)], "V16"))


def test_layout_names():
    assert len(parse_layouts("all")) == 6
    names = [layout.name for layout in parse_layouts("uuid-float64, int32-float32,uuid-float64")]
    assert names == ["uuid-float64", "int32-float32"]
    for text in ("int16-float32", ""):
        with pytest.raises(ValueError, match="no layout"):
            parse_layouts(text)
