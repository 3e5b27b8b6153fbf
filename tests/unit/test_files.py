"""Snapshots and pickles."""

from __future__ import annotations

import copy
import io
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goblin_pz
from goblin_pz import PackedZSet
from unit.layouts import LAYOUTS, Layout
from unit.test_create import Board


def some_set(layout: Layout, size: int, **options: Any) -> PackedZSet:
    """A set with folded leaves and pending tails."""
    random = np.random.default_rng(size)
    z = layout.new(**options)
    for _ in range(3):
        z.incrby(layout.ids(random.integers(0, size, size)), random.integers(1, 9, size) / 2)
    return z


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(layout: Layout, size: int, protocol: int) -> None:
    z = some_set(layout, size, score_rle=False, merge_exponent=0.25)
    other = pickle.loads(pickle.dumps(z, protocol))
    other._validate()
    assert other == z
    assert type(other) is PackedZSet
    assert (other.layout, other.score_rle, other.merge_exponent) == (z.layout, False, 0.25)
    other.add(layout.one(-7), 1)
    assert len(other) == len(z) + 1


def test_pickle_out_of_band(layout: Layout) -> None:
    z = some_set(layout, 5000)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(z, 5, buffer_callback=buffers.append)
    assert len(text) < 200
    assert len(buffers) == 1
    assert buffers[0].raw().nbytes < 40 * len(z)
    assert pickle.loads(text, buffers=buffers) == z
    assert pickle.loads(text, buffers=[bytes(buffers[0])]) == z
    assert len(pickle.dumps(z, 5)) < buffers[0].raw().nbytes + 200  # in band: once


def test_pickle_subclass() -> None:
    board = Board()
    board.add(1, 2.0)
    board.title = "monthly"
    for protocol in (2, 5):
        other = pickle.loads(pickle.dumps(board, protocol))
        assert (type(other), other.title, other[1]) == (Board, "monthly", 2.0)


def test_pickled_damage() -> None:
    text = pickle.dumps(PackedZSet({i: float(i) for i in range(500)}), 2)
    broken = bytearray(text)
    broken[len(text) // 2] ^= 1
    with pytest.raises(ValueError, match="the snapshot is damaged"):
        pickle.loads(bytes(broken))


def test_restore_refuses_other_types() -> None:
    from goblin_pz import _core

    with pytest.raises(TypeError, match="no PackedZSet type"):
        _core._restore(dict, b"")
    with pytest.raises(TypeError):
        _core._restore(PackedZSet, 5)


@pytest.mark.parametrize("empty", [False, True])
def test_save_and_load(layout: Layout, size: int, empty: bool, tmp_path: Path) -> None:
    z = some_set(layout, size, merge_exponent=1)
    if empty:
        z.clear()
    path = tmp_path / "ranking.pz"
    assert z.save(path) is None
    z.save(str(path))
    assert os.listdir(tmp_path) == ["ranking.pz"]
    stream = io.BytesIO()
    z.save(stream)
    assert stream.getvalue() == path.read_bytes() == z._to_bytes()
    stream.seek(0)
    for other in (
        goblin_pz.load(path),
        PackedZSet.load(os.fsencode(path)),
        goblin_pz.load(stream),
        PackedZSet._from_bytes(memoryview(path.read_bytes())),
    ):
        other._validate()
        assert other == z
        assert (other.layout, other.merge_exponent) == (layout.name, 1.0)


def test_load_with_options(tmp_path: Path) -> None:
    z = some_set(LAYOUTS[0], 2000)
    z.save(tmp_path / "z")
    other = goblin_pz.load(tmp_path / "z", score_rle=False, merge_exponent=0)
    assert other == z
    assert (other.score_rle, other.merge_exponent) == (False, 0.0)
    assert other.memory()["compressed_leaf_count"] == 0
    assert type(Board.load(tmp_path / "z")) is Board
    with pytest.raises(ValueError, match="merge_exponent"):
        goblin_pz.load(tmp_path / "z", merge_exponent=2)
    with pytest.raises(TypeError):
        goblin_pz.load(tmp_path / "z", nonsense=2)


def test_every_cut_is_refused() -> None:
    data = PackedZSet({i: float(i % 3) for i in range(40)})._to_bytes()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="the snapshot is damaged"):
            PackedZSet._from_bytes(data[:length])
    with pytest.raises(ValueError, match="the snapshot is damaged"):
        PackedZSet._from_bytes(data + b"\0")


def test_every_flipped_bit_is_refused(layout: Layout) -> None:
    data = layout.filled({i: float(i % 3) for i in range(40)})._to_bytes()
    for at in range(len(data)):
        broken = bytearray(data)
        broken[at] ^= 1 << at % 8
        with pytest.raises(ValueError, match="the snapshot is damaged"):
            PackedZSet._from_bytes(broken)


def test_no_snapshots(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"no snapshot at all, but long enough to be looked at" * 9)
    with pytest.raises(ValueError, match=r"the snapshot is damaged: header: magic \(at 0"):
        goblin_pz.load(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        goblin_pz.load(tmp_path / "nothing")


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    z = PackedZSet({1: 1.0})
    path = tmp_path / "z"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No such file"):
        z.save(tmp_path / "nowhere" / "z")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        z.save(tmp_path / "folder")
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["folder", "z"]
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            z._save_fd(descriptor)
    finally:
        os.close(descriptor)


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    z = PackedZSet({1: 1.0})
    target, link = tmp_path / "target", tmp_path / "link"
    z.save(target)
    target.chmod(0o640)
    link.symlink_to(target)
    z.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    fresh = tmp_path / "fresh"
    fresh.touch()
    z.save(tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode == fresh.stat().st_mode


def test_deepcopy_of_a_holder() -> None:
    holder = {"z": PackedZSet({1: 1.0})}
    other = copy.deepcopy(holder)
    other["z"].add(2, 2.0)
    assert len(holder["z"]) == 1
