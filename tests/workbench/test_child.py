"""The process that holds the set, and the kernel's view of its memory."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from goblin_pz.workbench import sampler
from goblin_pz.workbench.blocks import Operation
from goblin_pz.workbench.child import ChildError, ChildSet
from goblin_pz.workbench.layouts import LAYOUTS
from goblin_pz.workbench.sampler import read_memory

MIB = 1 << 20
GROWER = """
import sys
kept = []
print("ready", flush=True)
for line in sys.stdin:
    kept.append(b"x" * int(line))
    print("grown", flush=True)
"""


def child_of(layout="int64-float64", operation=Operation.ZINCRBY, rows=1_000, **options):
    settings = {"score_rle": True, "merge_exponent": None, **options}
    return ChildSet(LAYOUTS[layout], operation, rows, **settings)


def test_memory_grows_by_what_a_process_allocates():
    command = [sys.executable, "-c", GROWER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        idle = read_memory(process.pid)
        for amount in (64 * MIB, 32 * MIB):
            before = read_memory(process.pid)
            print(amount, file=process.stdin, flush=True)
            assert process.stdout.readline() == "grown\n"
            after = read_memory(process.pid)
            assert after.rss - before.rss == pytest.approx(amount, rel=0.05)
            assert after.anon - before.anon == pytest.approx(amount, rel=0.05)
            assert after.peak >= after.rss - MIB
        assert after.rss == pytest.approx(after.anon + after.file + after.shmem, rel=0.05)
        assert after.file - idle.file < 4 * MIB
        process.stdin.close()


def test_memory_of_no_process():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    with pytest.raises(ProcessLookupError, match=str(process.pid)):
        read_memory(process.pid)


@pytest.fixture
def ps(tmp_path, monkeypatch):
    """A `ps` that knows one process, for systems without a process file system."""
    script = tmp_path / "ps"
    script.write_text('#!/bin/sh\n[ "$4" = 77 ] && echo "  1234"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "no-proc"


def test_memory_from_ps_where_there_is_no_proc(ps):
    found = read_memory(77, proc=ps)
    assert found == sampler.Memory(1234 * 1024, None, None, None, None)
    with pytest.raises(ProcessLookupError):
        read_memory(78, proc=ps)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", [0, 1, 7, 1_000])
def test_events_arrive_and_come_back(layout, batch):
    members = np.random.default_rng(1).integers(0, 90, 500)
    with child_of(layout) as child:
        seconds, cpu_seconds, count = child.apply(members, None, batch)
        assert seconds > 0
        assert cpu_seconds >= 0
        wanted, counts = np.unique(members, return_counts=True)
        order = np.lexsort((wanted, counts))
        found, scores = child.page(0, 1_000)
        assert count == len(wanted)
        assert np.array_equal(found, wanted[order])
        assert np.array_equal(scores, counts[order])
        assert np.array_equal(child.page(5, 9)[0], wanted[order][5:9])
        assert len(child.page(count, count + 5)[0]) == 0
        assert child.memory()["member_count"] == count


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("batch", [1, 3])
def test_values_arrive(operation, batch):
    with child_of("int32-float64", operation) as child:
        child.apply(np.array([1, 2, 1, 2]), np.array([5.0, 2.5, -1.5, 3.0]), batch)
        members, scores = child.page(0, 10)
        assert members.tolist() == [1, 2]
        assert scores.tolist() == ([-1.5, 3.0] if operation is Operation.ZADD else [3.5, 5.5])


def test_settings_arrive():
    with child_of(score_rle=False, merge_exponent=0.25) as child:
        assert not child.memory()["score_rle"]
        assert child.memory()["merge_exponent"] == 0.25
    with child_of() as child:
        assert child.memory()["score_rle"]


def test_the_child_is_another_process_and_ends():
    with child_of() as child:
        assert child.pid != os.getpid()
        assert read_memory(child.pid).rss > MIB
    with pytest.raises(ProcessLookupError):
        read_memory(child.pid)


def test_errors_of_the_set_come_back():
    with child_of("int32-float32") as child:
        with pytest.raises(ChildError, match="OverflowError"):
            child.apply(np.array([1, 1]), np.array([3e38, 3e38]), 2)
        with pytest.raises(OverflowError, match="does not fit INT32"):
            child.apply(np.array([2**40]), None, 1)


def test_a_bad_start_is_reported():
    with pytest.raises(ChildError, match="merge_exponent"):
        child_of(merge_exponent=7.0)


def test_a_dead_child_is_reported():
    with child_of() as child:
        child._process.kill()
        child._process.wait()
        with pytest.raises(ChildError, match="ended with status -9"):
            child.memory()


def test_memory_of_a_set_in_a_child_grows_with_it():
    """Random members in the raw form: at least 8 bytes each must become resident."""
    members = np.random.default_rng(1).integers(-(2**62), 2**62, 400_000)
    with child_of("int64-float64", Operation.ZADD, 400_000, score_rle=False) as child:
        idle = read_memory(child.pid)
        child.apply(members, np.random.default_rng(2).normal(size=400_000), 400_000)
        allocated = child.memory()["total_allocated_bytes"]
        grown = read_memory(child.pid).rss - idle.rss
    assert allocated > 8 * 400_000
    assert grown > 0.9 * allocated
