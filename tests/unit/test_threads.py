"""Threads, forks and signals: locks are taken, the GIL is let go, nothing is left half done."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import numpy as np
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout

N = 300_000


def run_side_by_side(*calls: Callable[[], object]) -> None:
    """Run each call in a thread of its own, all let go at once; raise what any of them raised."""
    gate = threading.Barrier(len(calls))
    raised: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        gate.wait()
        try:
            call()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def test_increments_from_many_threads_add_up(layout: Layout) -> None:
    """Points and batches mixed: every increment is there in the end."""
    z = layout.new()
    few, many = layout.ids(range(40)), layout.ids(range(3000))
    ones = [layout.one(n) for n in range(40)]

    def points() -> None:
        for _ in range(25):
            for one in ones:
                z.incrby(one)

    def small_batches() -> None:
        for _ in range(50):
            z.incrby(few)

    def large_batches() -> None:
        for _ in range(10):
            z.incrby(many)

    run_side_by_side(points, points, small_batches, small_batches, large_batches, large_batches)
    z._validate()
    wanted = np.full(3000, 20.0)
    wanted[:40] += 2 * 25 + 2 * 50
    assert z.score(many).tolist() == wanted.tolist()


def test_readers_see_whole_states() -> None:
    """Each change moves all scores at once; no reader may see a mixture."""
    z = PackedZSet.from_arrays(np.arange(2000), np.zeros(2000))
    done = threading.Event()

    def writer() -> None:
        for step in range(1, 60):
            z.add(np.arange(2000), float(step))
        done.set()

    def reader() -> None:
        while not done.is_set():
            assert len(set(z.score(np.arange(2000)).tolist())) == 1
            assert len(set(z.range()[1].tolist())) == 1
            assert z.count() == len(z) == 2000
            bottom, top = z.quantile(np.array([0.0, 0.0])), z.top(1)
            assert bottom[0] <= top[1][0]

    run_side_by_side(writer, reader, reader, reader)


def test_entries_are_popped_once() -> None:
    z = PackedZSet({n: float(n % 100) for n in range(20_000)})
    taken: list[list[int]] = [[] for _ in range(4)]

    def pop(mine: list[int], top: bool) -> None:
        while len(z):
            pair = z.pop_max(7) if top else z.pop_min(300)
            mine.extend(pair[0].tolist())

    run_side_by_side(*(lambda i=i: pop(taken[i], i % 2 == 0) for i in range(4)))
    assert sorted(n for mine in taken for n in mine) == list(range(20_000))


def test_sets_named_in_different_orders() -> None:
    """Two-set calls and writers on both: no deadlock, whatever the order."""
    a, b = (PackedZSet(dict.fromkeys(range(start, start + 500), 1.0)) for start in (0, 250))

    def combine(x: PackedZSet, y: PackedZSet) -> None:
        for _ in range(100):
            assert len(x.union(y, x)) >= 750
            assert isinstance(x == y, bool)
            x.update(y)

    def write(z: PackedZSet) -> None:
        for n in range(3000):
            z.incrby(n % 100, 1.0)

    run_side_by_side(
        lambda: combine(a, b), lambda: combine(b, a), lambda: write(a), lambda: write(b)
    )
    a._validate()
    b._validate()


def test_pickling_beside_changes() -> None:
    z = PackedZSet(dict.fromkeys(range(1000), 0.0))
    done = threading.Event()

    def writer() -> None:
        for step in range(200):
            z.add(np.arange(1000 + step), float(step))
        done.set()

    def reader() -> None:
        while not done.is_set():
            other = PackedZSet._from_bytes(z._to_bytes())
            other._validate()
            assert len(set(other.range()[1].tolist())) == 1
            assert len(z.copy()) >= 1000

    run_side_by_side(writer, reader, reader)


def test_iterators_beside_changes() -> None:
    z = PackedZSet({n: float(n) for n in range(5000)})
    done = threading.Event()
    lengths: set[int] = set()
    messages: set[str] = set()

    def writer() -> None:
        for step in range(300):
            z.add(np.arange(5000), float(step))
        done.set()

    def reader() -> None:
        while not done.is_set():
            try:
                lengths.add(len(list(z)))
            except RuntimeError as error:
                messages.add(str(error))

    run_side_by_side(writer, reader, reader)
    assert lengths <= {5000}
    assert messages <= {"the set was changed during iteration"}
    assert len(list(z)) == 5000


@pytest.fixture
def no_switching() -> Iterator[None]:
    """Threads keep the GIL until they let it go themselves."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)


BULK_CALLS: dict[str, Callable[[PackedZSet, np.ndarray], object]] = {
    "add": lambda z, ids: z.add(ids, 2.0),
    "incrby": lambda z, ids: z.incrby(ids),
    "score": lambda z, ids: z.score(ids),
    "rank": lambda z, ids: z.rank(ids),
    "contains": lambda z, ids: z.contains(ids),
    "range": lambda z, ids: z.range(),
    "range_by_score": lambda z, ids: z.range_by_score(0, 5),
    "remove": lambda z, ids: z.remove(ids),
    "remove_range": lambda z, ids: z.remove_range(0, None),
    "pop_min": lambda z, ids: z.pop_min(N),
    "copy": lambda z, ids: z.copy(),
    "union": lambda z, ids: z.union(z),
    "optimize": lambda z, ids: z.optimize(),
    "clear": lambda z, ids: z.clear(),
    "_to_bytes": lambda z, ids: z._to_bytes(),
    "memory": lambda z, ids: z.memory(),
    "==": lambda z, ids: z == z.copy(),
}


@pytest.mark.usefixtures("no_switching")
@pytest.mark.parametrize("name", BULK_CALLS)
def test_bulk_calls_let_the_gil_go(name: str) -> None:
    """With switching off, this thread runs between start and end only if the call lets it."""
    ids = np.random.default_rng(0).permutation(N)
    z = PackedZSet.from_arrays(ids, np.ones(N))
    started, ended = threading.Event(), threading.Event()
    seen_in_between = False

    def work() -> None:
        started.set()
        BULK_CALLS[name](z, ids)
        ended.set()

    for _ in range(300):  # this thread may wake too late, above all on a busy machine
        z.add(ids, 1.0)
        started.clear()
        ended.clear()
        worker = threading.Thread(target=work)
        worker.start()
        started.wait()
        seen_in_between = not ended.is_set()
        worker.join()
        if seen_in_between:
            break
    assert seen_in_between


# ---- signals ----


class InterruptError(Exception):
    """Raised by the handler of a timer."""


@pytest.fixture
def alarm() -> Iterator[Callable[[Callable[[], object], float], None]]:
    """Set what a timer's signal does, and when."""
    action: list[Callable[[], object]] = [lambda: None]

    def handler(number: int, frame: FrameType | None) -> None:
        action[0]()

    def arm(do: Callable[[], object], seconds: float) -> None:
        action[0] = do
        signal.setitimer(signal.ITIMER_REAL, seconds)

    before = signal.signal(signal.SIGALRM, handler)
    yield arm
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


Arm = Callable[[Callable[[], object], float], None]


def raise_interrupt() -> None:
    raise InterruptError


@pytest.mark.parametrize("change", ["add", "incrby", "remove"])
def test_an_interrupted_change_is_whole_or_nothing(alarm: Arm, change: str) -> None:
    rows = 3_000_000
    ids = np.random.default_rng(1).integers(0, 2**31, rows)
    z = PackedZSet("int32")
    z.add(ids[:1000], 5.0)
    before = z.copy()
    calls = {
        "add": lambda: z.add(ids, 1.0),
        "incrby": lambda: z.incrby(ids),
        "remove": lambda: z.remove(ids),
    }
    stopped = 0
    for attempt in range(60):
        try:
            alarm(raise_interrupt, 0.002 * (attempt + 1))
            calls[change]()
            signal.setitimer(signal.ITIMER_REAL, 0)
            done = True
        except InterruptError:
            done = len(z) != len(before)
        z._validate()
        if done:
            z = before.copy()
        else:
            assert z == before
            stopped += 1
            if stopped == 3:
                break
    assert stopped > 0


def test_handlers_may_not_wait_for_the_call_they_interrupt(alarm: Arm) -> None:
    """They get a RuntimeError instead of blocking for ever; other sets stay usable."""
    rows = 3_000_000
    ids = np.random.default_rng(1).integers(0, 2**31, rows)
    z, other = PackedZSet("int32"), PackedZSet()
    outcomes: list[str] = []
    inside = False

    def use() -> None:
        if not inside:
            return
        other.incrby(1)
        for call in (lambda: len(z), lambda: z.add(1, 1.0), lambda: z == other):
            try:
                call()
                outcomes.append("went through")
            except RuntimeError as error:
                outcomes.append(str(error)[:17])

    for attempt in range(60):
        z.clear()
        alarm(use, 0.002 * (attempt + 1))
        inside = True
        z.add(ids, 1.0)
        inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        if "the set is in use" in outcomes:
            break
    assert outcomes[:2] == ["the set is in use"] * 2
    assert other[1] >= 1.0
    assert len(z) == 1 + np.count_nonzero(np.diff(np.sort(ids)))


# ---- forks ----


def test_fork() -> None:
    """A set is usable in the child, the one that another thread uses meanwhile aside."""
    script = """
        import os, threading
        import numpy as np
        from goblin_pz import PackedZSet
        mine, busy = PackedZSet({n: float(n) for n in range(5000)}), PackedZSet()
        stop = threading.Event()

        def work():
            while not stop.is_set():
                busy.incrby(np.arange(1000))

        workers = [threading.Thread(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        children = []
        for _ in range(10):
            child = os.fork()
            if child == 0:
                mine.incrby(np.arange(5000))
                mine._validate()
                os._exit(0 if mine[7] == 8.0 and len(mine.copy()) == 5000 else 1)
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        stop.set()
        for worker in workers:
            worker.join()
        busy._validate()
        assert codes == [0] * 10 and mine[7] == 7.0, codes
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
