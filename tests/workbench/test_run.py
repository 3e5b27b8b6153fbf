"""Whole replays: what they write, and that a wrong final state does not pass."""

from __future__ import annotations

import json

import numpy as np
import pytest

from goblin_pz.workbench.blocks import Block, Columns, Operation, Trace, TraceError
from goblin_pz.workbench.evidence import UnverifiedError, load_verified
from goblin_pz.workbench.layouts import LAYOUTS, parse_layouts
from goblin_pz.workbench.progress import Quiet
from goblin_pz.workbench.run import Options, chunk_rows, limited, replay
from goblin_pz.workbench.shapes import shape_trace
from goblin_pz.workbench.traces import ShapeChoice, open_trace
from workbench.tools import events_of, final_state

ALL = tuple(LAYOUTS.values())


class Given(Trace):
    """A trace of given blocks; `later` replaces them from the second reading on."""

    def __init__(self, blocks, operation=Operation.ZINCRBY, later=None):
        super().__init__(operation, "given")
        self._blocks, self._later, self._readings = blocks, later, 0

    def blocks(self, rows):
        self._readings += 1
        second = self._readings > 1 and self._later is not None
        yield from self._later if second else self._blocks

    def inputs(self):
        return [{"name": "given"}]


def test_every_layout_and_setting_is_replayed_and_verified(tmp_path):
    trace = shape_trace("wikipedia", 2_000, seed=1)
    outcome = replay(trace, Options(ALL, batch=4_096), tmp_path / "out", Quiet())
    assert outcome.verified
    result = load_verified(tmp_path / "out")
    assert len(result.rows) == 12
    members = len(final_state(events_of(trace), Operation.ZINCRBY))
    for row in result.rows:
        assert row["members"] == members
        assert row["events"] == result.manifest["trace"]["events"]
        assert row["allocated_bytes_per_member"] > 1
        assert row["seconds"] > 0
    for name in ("int32-float32", "uuid-float64"):
        on, off = (f"{name}-rle-{switch}" for switch in ("on", "off"))
        allocated = {row["run"]: row["allocated_bytes"] for row in result.rows}
        assert allocated[on] < allocated[off]
        assert f"{name}" in outcome.report


@pytest.mark.parametrize("batch", [0, 1, 100, 100_000])
def test_batches_change_nothing_in_the_final_state(tmp_path, batch):
    trace = shape_trace("lichess", 400, seed=1)
    options = Options((LAYOUTS["int32-float64"],), (True,), batch)
    assert replay(trace, options, tmp_path / "out", Quiet()).verified
    digests = json.loads((tmp_path / "out/digests/int32-float64-rle-on.json").read_text())
    state = final_state(events_of(trace), Operation.ZADD)
    assert digests["found"]["count"] == len(state)
    assert digests["found"]["score_sum"] == sum(state.values())


def test_fractional_increments_are_verified_in_both_score_types(tmp_path):
    random = np.random.default_rng(5)
    blocks = [Block(random.integers(-50, 50, 900), random.normal(0, 9, 900)) for _ in range(3)]
    options = Options(ALL, (True,), batch=250)
    assert replay(Given(blocks), options, tmp_path / "out", Quiet()).verified


def test_samples_are_taken_at_equal_progress_and_doublings(tmp_path):
    trace = shape_trace("wikipedia", 5_000, seed=1)
    options = Options((LAYOUTS["int64-float64"],), (True, False), batch=64)
    replay(trace, options, tmp_path / "out", Quiet())
    result = load_verified(tmp_path / "out")
    on, off = (result.samples[f"int64-float64-rle-{name}"] for name in ("on", "off"))
    assert [row["events"] for row in on] == [row["events"] for row in off]
    assert [row["members"] for row in on] == [row["members"] for row in off]
    assert [row["kind"] for row in on] == ["idle", *["sample"] * (len(on) - 2), "final"]
    assert on[0]["events"] == 0
    assert on[-1]["events"] == result.manifest["trace"]["events"]


def test_repeats_are_shuffled_and_kept_apart(tmp_path):
    trace = shape_trace("wikipedia", 500, seed=1)
    options = Options(tuple(parse_layouts("int32-float32,int64-float64")), repeats=3)
    outcome = replay(trace, options, tmp_path / "out", Quiet())
    result = load_verified(tmp_path / "out")
    names = [row["run"] for row in result.rows]
    assert len(set(names)) == 12
    assert names != sorted(names, key=lambda name: name[-7:])
    assert "3 trials in shuffled order" in outcome.report


def test_only_so_many_events(tmp_path):
    trace = shape_trace("wikipedia", 500, seed=1)
    outcome = replay(trace, Options(ALL[:1], (True,), events=777), tmp_path / "out", Quiet())
    assert outcome.verified
    assert load_verified(tmp_path / "out").manifest["trace"]["events"] == 777
    assert sum(len(block) for block in limited(trace, 100, 777)) == 777
    assert sum(len(block) for block in limited(trace, 100, 10**9)) == len(events_of(trace))


def test_a_wrong_final_state_fails(tmp_path):
    right = [Block(np.array([1, 2, 3]), None)]
    wrong = [Block(np.array([1, 2, 2]), None)]
    trace = Given(right, later=wrong)
    outcome = replay(trace, Options(ALL[:1], (True,)), tmp_path / "out", Quiet())
    assert not outcome.verified
    assert "int32-float32-rle-on: rank 1" in outcome.problems[0]
    assert "NOT VERIFIED" in outcome.report
    assert (tmp_path / "out/STATUS").read_text().startswith("FAILED")
    with pytest.raises(UnverifiedError, match="STATUS is FAILED"):
        load_verified(tmp_path / "out")


@pytest.mark.parametrize(
    ("later", "problem"),
    [
        ([1, 2, 3, 4], "more than the 3 members wanted"),
        ([1, 2], "2 members, wanted 3"),
        ([1, 2, 4], "rank 2: member 4"),
    ],
)
def test_every_kind_of_difference_is_found(tmp_path, later, problem):
    trace = Given([Block(np.array([1, 2, 3]), None)], later=[Block(np.array(later), None)])
    outcome = replay(trace, Options(ALL[:1], (True,)), tmp_path / "out", Quiet())
    assert problem in outcome.problems[0]


def test_an_input_that_changes_meanwhile_fails(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("id\n1\n2\n")
    trace = open_trace(str(path), Operation.ZINCRBY, Columns("id"), ShapeChoice())
    described = trace.inputs

    def inputs():
        found = described()
        path.write_text("id\n1\n2\n\n")
        return found

    trace.inputs = inputs
    outcome = replay(trace, Options(ALL[:1], (True,)), tmp_path / "out", Quiet())
    assert outcome.problems == ["the input changed while it was replayed"]


def test_members_that_do_not_fit_are_refused_before_the_start(tmp_path):
    trace = Given([Block(np.array([2**31]), None)])
    with pytest.raises(TraceError, match="do not fit int32-float32"):
        replay(trace, Options(ALL), tmp_path / "out", Quiet())
    assert (tmp_path / "out/STATUS").read_text() == "FAILED\n"


def test_no_events_are_refused(tmp_path):
    with pytest.raises(TraceError, match="no events"):
        replay(Given([]), Options(ALL), tmp_path / "out", Quiet())


def test_an_old_folder_is_never_written_to(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(FileExistsError):
        replay(Given([]), Options(ALL), tmp_path / "out", Quiet())
    assert list((tmp_path / "out").iterdir()) == []


def test_whole_counts_beyond_float32_are_marked(tmp_path):
    amounts = np.array([2.0**24, 1.0, 1.0])
    trace = Given([Block(np.array([7, 7, 7]), amounts)])
    layouts = tuple(parse_layouts("int32-float32,int32-float64"))
    assert replay(trace, Options(layouts, (True,)), tmp_path / "out", Quiet()).verified
    runs = {run["layout"]: run for run in load_verified(tmp_path / "out").manifest["runs"]}
    assert not runs["int32-float32"]["whole_counts_exact"]
    assert runs["int32-float64"]["whole_counts_exact"]


@pytest.mark.parametrize(
    ("batch", "rows"), [(0, 16_384), (1, 16_384), (100, 65_500), (65_536, 65_536), (10**6, 10**6)]
)
def test_chunks_are_whole_batches(batch, rows):
    assert chunk_rows(batch) == rows
