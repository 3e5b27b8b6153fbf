"""The state machine: a pair of packed sets, score RLE on and off, beside the reference.

Every step is done to all three. After every step both sets must validate, hold exactly what the
reference holds, and have the same dump but for its header line, which names score_rle. Questions
must leave the dumps byte for byte as they were.
"""

from __future__ import annotations

import copy
import io
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from goblin_pz import PackedZSet, load

from . import values
from .reference import Member, Pair, Reference, Refused
from .values import Layout, bounds, flags, numbers, positions, runs, scores


@dataclass(frozen=True)
class Config:
    """One kind of machine."""

    layout: Layout
    merge_exponent: float
    leaf_capacity: int | None  # None: the default
    longest: int  # rows of the longest run


def plain(value: Any) -> Any:
    """Give a value that `==` compares bit for bit, array types and shapes included."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return type(value), repr(value)


def body(dump: str) -> str:
    return dump.split("\n", 1)[1]


class Machine(RuleBasedStateMachine):
    """Random calls on two sets and the reference; subclasses set `config`."""

    config: ClassVar[Config]

    def __init__(self) -> None:
        super().__init__()
        self.layout = self.config.layout
        self.model = Reference(self.layout.narrow)
        self.sets = [self.empty(rle) for rle in (True, False)]
        self.step = 1

    @initialize(step=st.sampled_from([1, 1001, 0x9E3779B97F4A7C15F39CC0605CEDC835]), data=st.data())
    def begin(self, step: int, data: st.DataObject) -> None:
        self.step = step
        for _ in range(data.draw(st.integers(0, 2))):
            self.add_run(data, {})

    # ---- helpers ----
    def empty(self, rle: bool) -> PackedZSet:
        options: dict[str, Any] = {"merge_exponent": self.config.merge_exponent, "score_rle": rle}
        if self.config.leaf_capacity is not None:
            options["_leaf_capacity"] = self.config.leaf_capacity
        return PackedZSet(self.layout.member, self.layout.score, **options)

    def member(self, number: int) -> Member:
        extremes = self.layout.extremes()
        if number < 0:  # -1, -2, ... name the extremes of the type
            return extremes[-number % len(extremes)]
        return self.layout.spread(number, self.step)

    def rows(self, numbers: Sequence[int], scores: Sequence[float]) -> list[Pair]:
        return [(self.member(i), s) for i, s in zip(numbers, scores, strict=True)]

    def columns(self, rows: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
        return self.layout.members([m for m, _ in rows]), self.layout.scores([s for _, s in rows])

    def both(self, call: Callable[[PackedZSet], Any]) -> Any:
        """Do a call to both sets; the answers must be the same bits."""
        first, second = (call(z) for z in self.sets)
        assert plain(first) == plain(second)
        return first

    def ask(self, call: Callable[[PackedZSet], Any]) -> Any:
        """Ask both sets; nothing may change."""
        before = [z._dump() for z in self.sets]
        answer = self.both(call)
        assert [z._dump() for z in self.sets] == before
        return answer

    def refused(self, kind: type[Exception], text: str, call: Callable[[PackedZSet], Any]) -> None:
        """A call must raise what the reference says, and change nothing."""
        before = [z._dump() for z in self.sets]
        for z in self.sets:
            with pytest.raises(kind, match=text):
                call(z)
        assert [z._dump() for z in self.sets] == before

    def change(
        self,
        told: Callable[[Reference], Any],
        call: Callable[[PackedZSet], Any],
        scalar: bool = False,
    ) -> tuple[Any, Any] | None:
        """Do a call that the reference may refuse; give both answers, or None when refused.

        A refused row of an array must be named.
        """
        try:
            expected = told(self.model)
        except Refused as why:
            self.refused(why.kind, "." if scalar else rf"\[{why.index}\]", call)
            return None
        return expected, self.both(call)

    # ---- changes, one by one ----
    @rule(number=numbers | st.integers(-7, -1), score=scores, how=flags)
    def add_one(self, number: int, score: float, how: dict[str, bool]) -> None:
        member = self.member(number)
        scalar = self.layout.scalar(member)
        got = self.change(
            lambda m: m.add([(member, score)], **how), lambda z: z.add(scalar, score, **how), True
        )
        assert got is None or got[0] == tuple(got[1])

    @rule(number=numbers | st.integers(-7, -1), amount=scores)
    def incr_one(self, number: int, amount: float) -> None:
        member = self.member(number)
        scalar = self.layout.scalar(member)
        got = self.change(
            lambda m: m.incr([(member, amount)]), lambda z: z.incrby(scalar, amount), True
        )
        assert got is None or got[0] == [got[1]]

    @rule(number=numbers, score=scores)
    def set_item(self, number: int, score: float) -> None:
        member = self.member(number)
        scalar = self.layout.scalar(member)
        self.change(
            lambda m: m.add([(member, score)]), lambda z: z.__setitem__(scalar, score), True
        )

    @rule(number=numbers)
    def del_item(self, number: int) -> None:
        member = self.member(number)
        scalar = self.layout.scalar(member)
        if self.model.remove([member]):
            self.both(lambda z: z.__delitem__(scalar))
        else:
            for z in self.sets:
                with pytest.raises(KeyError):
                    del z[scalar]

    # ---- changes in bulk ----
    @rule(rows=st.lists(st.tuples(numbers | st.integers(-7, -1), scores), max_size=12), how=flags)
    def add_few(self, rows: list[tuple[int, float]], how: dict[str, bool]) -> None:
        self.add_rows([(self.member(i), s) for i, s in rows], how)

    @rule(data=st.data(), how=flags)
    def add_run(self, data: st.DataObject, how: dict[str, bool]) -> None:
        self.add_rows(self.rows(*data.draw(runs(self.config.longest))), how)

    def add_rows(self, rows: list[Pair], how: dict[str, bool]) -> None:
        columns = self.columns(rows)
        got = self.change(lambda m: m.add(rows, **how), lambda z: z.add(*columns, **how))
        assert got is None or got[0] == tuple(got[1])

    @rule(rows=st.lists(st.tuples(numbers, scores), max_size=12))
    def incr_few(self, rows: list[tuple[int, float]]) -> None:
        self.incr_rows([(self.member(i), s) for i, s in rows])

    @rule(data=st.data())
    def incr_run(self, data: st.DataObject) -> None:
        self.incr_rows(self.rows(*data.draw(runs(self.config.longest))))

    def incr_rows(self, rows: list[Pair]) -> None:
        columns = self.columns(rows)
        got = self.change(lambda m: m.incr(rows), lambda z: z.incrby(*columns, out=True))
        assert got is None or got[0] == got[1].astype(np.float64).tolist()

    @rule(
        rows=st.lists(st.tuples(numbers, scores), min_size=1, max_size=8),
        at=st.integers(0, 7),
        bad=st.sampled_from([math.nan, values.BAD_FOR_FLOAT32]),
    )
    def refused_row(self, rows: list[tuple[int, float]], at: int, bad: float) -> None:
        pairs = [(self.member(i), s) for i, s in rows]
        at %= len(pairs)
        pairs[at] = (pairs[at][0], bad)
        self.add_rows(pairs, {})

    @rule(data=st.data())
    def remove_run(self, data: st.DataObject) -> None:
        members = [m for m, _ in self.rows(*data.draw(runs(self.config.longest)))]
        column = self.layout.members(members)
        assert self.both(lambda z: z.remove(column)) == self.model.remove(members)

    @rule(start=positions, length=st.integers(-1, 30) | st.none())
    def remove_range(self, start: int, length: int | None) -> None:
        # Mostly short, so that sets grow; None and a negative end reach over everything.
        stop = None if length is None else start + length
        expected = self.model.remove_pairs(self.model.range(start, stop))
        assert self.both(lambda z: z.remove_range(start, stop)) == expected

    @rule(low=bounds, high=bounds, low_open=st.booleans(), high_open=st.booleans())
    def remove_by_score(self, low: float, high: float, low_open: bool, high_open: bool) -> None:
        gone = self.model.range_by_score(low, high, low_open, high_open)
        expected = self.model.remove_pairs(gone)
        how = {"low_open": low_open, "high_open": high_open}
        assert self.both(lambda z: z.remove_range_by_score(low, high, **how)) == expected

    @rule(count=st.integers(0, 9), highest=st.booleans())
    def pop_some(self, count: int, highest: bool) -> None:
        expected = self.model.pop(count, highest)
        name = "pop_max" if highest else "pop_min"
        assert self.layout.pairs(self.both(lambda z: getattr(z, name)(count))) == expected

    @rule(highest=st.booleans())
    def pop_one(self, highest: bool) -> None:
        name = "pop_max" if highest else "pop_min"
        if self.model.order:
            member, score = self.both(lambda z: getattr(z, name)())
            assert [(self.layout.from_scalar(member), score)] == self.model.pop(1, highest)
        else:
            for z in self.sets:
                with pytest.raises(KeyError):
                    getattr(z, name)()

    # ---- questions ----
    @rule(
        wanted=st.lists(numbers | st.integers(-7, -1), max_size=20),
        reverse=st.booleans(),
        method=st.sampled_from(["ordinal", "min", "max", "dense", "average"]),
    )
    def look_up(self, wanted: list[int], reverse: bool, method: str) -> None:
        members = [self.member(i) for i in wanted]
        column = self.layout.members(members)
        known = self.model.scores
        found = self.ask(lambda z: z.score(column))
        assert found.dtype == np.dtype(self.layout.score)
        assert [None if math.isnan(s) else s for s in found.tolist()] == [
            known.get(m) for m in members
        ]
        assert self.ask(lambda z: z.contains(column)).tolist() == [m in known for m in members]
        ranks = self.ask(lambda z: z.rank(column, reverse=reverse, method=method)).tolist()
        expected = [self.model.rank(m, reverse, method) for m in members]
        assert [None if r == -1 else r for r in ranks] == expected
        for member, rank in zip(members[:3], expected, strict=False):
            scalar = self.layout.scalar(member)
            assert self.ask(lambda z, s=scalar: z.score(s)) == known.get(member)
            assert self.ask(lambda z, s=scalar: s in z) == (member in known)
            assert self.ask(lambda z, s=scalar: z.rank(s, reverse=reverse, method=method)) == rank

    @rule(start=positions, stop=positions | st.none(), reverse=st.booleans())
    def read_range(self, start: int, stop: int | None, reverse: bool) -> None:
        got = self.ask(lambda z: z.range(start, stop, reverse=reverse))
        assert self.layout.pairs(got) == self.model.range(start, stop, reverse)

    @rule(
        low=bounds,
        high=bounds,
        low_open=st.booleans(),
        high_open=st.booleans(),
        reverse=st.booleans(),
        offset=st.integers(0, 5),
        limit=st.none() | st.integers(0, 9),
    )
    def read_by_score(
        self, low: float, high: float, offset: int, limit: int | None, **how: bool
    ) -> None:
        expected = self.model.range_by_score(low, high, offset=offset, limit=limit, **how)
        got = self.ask(lambda z: z.range_by_score(low, high, offset=offset, limit=limit, **how))
        assert self.layout.pairs(got) == expected
        del how["reverse"]
        count = len(self.model.range_by_score(low, high, **how))
        assert self.ask(lambda z: z.count(low, high, **how)) == count

    @rule(count=st.integers(0, 60))
    def read_ends(self, count: int) -> None:
        top, bottom = self.ask(lambda z: z.top(count)), self.ask(lambda z: z.bottom(count))
        assert self.layout.pairs(top) == self.model.range(0, count, reverse=True)
        assert self.layout.pairs(bottom) == self.model.range(0, count)

    @rule()
    def read_everything(self) -> None:
        order = self.model.range(0, None)
        members = [m for m, _ in order]
        assert [self.layout.from_scalar(m) for m in self.ask(lambda z: tuple(z))] == members
        items = self.ask(lambda z: tuple(z.items()))
        assert [(self.layout.from_scalar(m), s) for m, s in items] == order

    # ---- whole sets ----
    @rule(
        rows=st.lists(st.tuples(numbers, scores), max_size=12),
        alone=st.booleans(),
        op=st.sampled_from(["union", "intersection", "difference"]),
        aggregate=st.sampled_from(["sum", "min", "max"]),
        weights=st.none() | st.tuples(*[st.sampled_from([1.0, 0.0, -1.0, 0.5, math.inf])] * 2),
    )
    def algebra(
        self,
        rows: list[tuple[int, float]],
        alone: bool,
        op: str,
        aggregate: str,
        weights: tuple[float, float] | None,
    ) -> None:
        pairs = [(self.member(i), s) for i, s in rows]
        other = Reference(self.layout.narrow)
        try:
            other.add(pairs)
        except Refused:
            return
        how: dict[str, Any] = {}
        if op != "difference":
            how = {"aggregate": aggregate, "weights": weights}

        def call(z: PackedZSet) -> Any:
            second = self.empty(z.score_rle)
            second.add(*self.columns(pairs))
            made = getattr(z, op)(z if alone else second, **how)
            made._validate()
            return made.range()

        try:
            expected = self.model.combine(op, [self.model if alone else other], **how)
        except Refused:
            for z in self.sets:
                with pytest.raises(OverflowError):
                    call(z)
        else:
            assert self.layout.pairs(self.ask(call)) == expected.range(0, None)

    @rule(how=st.sampled_from(["copy", "deepcopy", "pickle", "pickle 5", "file"]))
    def duplicate(self, how: str) -> None:
        originals = self.sets
        before = [z._dump() for z in originals]
        self.sets = [duplicate(z, how) for z in originals]
        assert [z._dump() for z in originals] == before
        for old, new in zip(originals, self.sets, strict=True):
            assert old == new
            old.clear()  # nothing may be shared
            assert len(new) == len(self.model.order)

    @rule(clear=st.sampled_from([False, False, False, True]))
    def upkeep(self, clear: bool) -> None:
        self.both(lambda z: z.optimize())
        assert self.both(lambda z: z.memory()["unsorted_entries"]) == 0
        if clear:
            self.both(lambda z: z.clear())
            self.model = Reference(self.layout.narrow)

    # ---- what always holds ----
    @invariant()
    def valid_and_equal(self) -> None:
        expected = self.model.range(0, None)
        for z in self.sets:
            z._validate()
            assert len(z) == len(expected)
            assert self.layout.pairs(z.range()) == expected
        assert body(self.sets[0]._dump()) == body(self.sets[1]._dump())


def duplicate(z: PackedZSet, how: str) -> PackedZSet:
    """Give an equal set by one of the ways there are."""
    if how == "copy":
        return copy.copy(z)
    if how == "deepcopy":
        return copy.deepcopy(z)
    if how == "pickle":
        return pickle.loads(pickle.dumps(z, protocol=2))
    if how == "pickle 5":
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(z, protocol=5, buffer_callback=buffers.append)
        return pickle.loads(data, buffers=buffers)
    file = io.BytesIO()
    z.save(file)
    file.seek(0)
    return load(file)
