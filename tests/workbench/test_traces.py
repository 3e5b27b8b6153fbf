"""Every kind of input gives the same events as plain Python reads from the same table."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from goblin_pz.workbench.blocks import Block, Columns, Operation, TraceError, rebatch
from goblin_pz.workbench.shapes import shape_trace, write_shape
from goblin_pz.workbench.traces import ShapeChoice, open_trace
from workbench.tools import events_of

SCORES = Columns("player", "points")


def opened(path, columns=SCORES, operation=Operation.ZADD):
    return open_trace(str(path), operation, columns, ShapeChoice())


def write_packed(path, text: str) -> None:
    data = text.encode()
    pack = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".zst": zstandard.ZstdCompressor().compress,
    }.get(path.suffix, bytes)
    path.write_bytes(pack(data))


def write_table(path, table) -> None:
    columns = table.columns()
    if path.suffix == ".npz":
        np.savez(path, **columns)
    elif path.suffix == ".npy":
        dtype = [(name, column.dtype) for name, column in columns.items()]
        array = np.empty(len(table.time), dtype)
        for name, column in columns.items():
            array[name] = column
        np.save(path, array)
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path, row_group_size=77)
    else:
        write_packed(path, table.text("," if ".csv" in path.name else "\t"))


FILES = ["t.tsv", "t.csv", "t.txt", "t.tsv.gz", "t.csv.bz2", "t.tsv.zst", "t.csv.gz"]
FILES += ["t.npz", "t.npy", "t.parquet"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("rows", [1, 64, 10_000])
def test_every_format_gives_the_same_events(tmp_path, table, name, rows):
    write_table(tmp_path / name, table)
    trace = opened(tmp_path / name)
    assert events_of(trace, rows) == table.events()
    assert events_of(trace, rows) == table.events()  # a second reading


@pytest.mark.parametrize("name", FILES)
def test_filter_and_sort(tmp_path, table, name):
    write_table(tmp_path / name, table)
    columns = Columns("player", "points", (("kind", "rapid"),), sort="time")
    trace = opened(tmp_path / name, columns)
    wanted = table.events(kind="rapid", by_time=True)
    assert events_of(trace) == wanted
    assert trace.skipped.filtered == len(table.time) - len(wanted)


@pytest.mark.parametrize("name", FILES)
def test_without_a_value_column_every_event_counts_one(tmp_path, table, name):
    write_table(tmp_path / name, table)
    trace = opened(tmp_path / name, Columns("player"), Operation.ZINCRBY)
    assert events_of(trace) == [(member, 1.0) for member, _ in table.events()]
    assert next(trace.blocks(8)).values is None


@pytest.mark.parametrize("name", FILES)
def test_missing_column_is_named(tmp_path, table, name):
    write_table(tmp_path / name, table)
    with pytest.raises(TraceError, match="no column 'rank'"):
        events_of(opened(tmp_path / name, Columns("rank")))


def test_inputs_name_the_bytes(tmp_path, table):
    import hashlib

    path = tmp_path / "t.tsv"
    write_table(path, table)
    data = path.read_bytes()
    wanted = {"name": "t.tsv", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    assert opened(path).inputs() == [wanted]


def test_text_without_header_by_number(tmp_path, table):
    path = tmp_path / "t.tsv"
    path.write_text(table.text("\t", header=False, newline="\r\n"), newline="")
    columns = Columns("2", "3", (("4", "blitz"),), header=False)
    assert events_of(opened(path, columns)) == table.events(kind="blitz")


def test_text_with_another_separator(tmp_path, table):
    path = tmp_path / "t.txt"
    path.write_text(table.text(";"))
    assert events_of(opened(path, Columns("player", "points", separator=";"))) == table.events()


def test_text_larger_than_a_chunk(tmp_path):
    members = np.random.default_rng(2).integers(0, 10**12, 200_000)
    path = tmp_path / "t.csv"
    path.write_text("x,member\n" + "".join(f'"a,""b",{member}\n' for member in members))
    blocks = list(opened(path, Columns("member"), Operation.ZINCRBY).blocks(70_001))
    assert [len(block) for block in blocks] == [70_001, 70_001, 59_998]
    assert np.array_equal(np.concatenate([block.members for block in blocks]), members)


def test_text_sort_by_text_is_stable(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("when\tid\n2020-02\t1\n2019-12\t2\n2020-02\t3\n2020-01\t4\n")
    assert [m for m, _ in events_of(opened(path, Columns("id", sort="when")))] == [2, 4, 1, 3]


def test_text_sort_by_number_is_numeric(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("when\tid\n10\t1\n9\t2\n9.5\t3\n")
    assert [m for m, _ in events_of(opened(path, Columns("id", sort="when")))] == [2, 3, 1]


def test_text_rows_without_a_member_are_counted(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("id\tn\n1\t1\n\t2\n3\t3")
    trace = opened(path, Columns("id"))
    assert [m for m, _ in events_of(trace)] == [1, 3]
    assert trace.skipped.without_member == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no header line"),
        ("id\nx\n", "t.tsv: line 2: 'x' is not a number"),
        ("a\tid\n1\t2\n3\n", "line 3: too few columns"),
    ],
)
def test_broken_text_is_refused(tmp_path, text, error):
    path = tmp_path / "t.tsv"
    path.write_text(text)
    with pytest.raises(TraceError, match=error):
        events_of(opened(path, Columns("id")))


def test_open_quote_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id,x\n1,"open\n2,y\n')
    with pytest.raises(TraceError, match="line 2: a quoted field does not end"):
        events_of(opened(path, Columns("id")))


def test_plain_arrays(tmp_path):
    np.save(tmp_path / "m.npy", np.array([3, 1], np.uint16))
    assert events_of(opened(tmp_path / "m.npy", Columns("members"))) == [(3, 1.0), (1, 1.0)]
    np.save(tmp_path / "p.npy", np.array([[3, 1], [4, 2]]))
    pairs = opened(tmp_path / "p.npy", Columns("members", "values"))
    assert events_of(pairs) == [(3, 1.0), (4, 2.0)]
    np.save(tmp_path / "c.npy", np.zeros((2, 2, 2)))
    with pytest.raises(TraceError, match="neither"):
        events_of(opened(tmp_path / "c.npy", Columns("members")))


@pytest.mark.parametrize(
    ("members", "values", "error"),
    [
        (np.array([1.0, 2.0]), np.zeros(2), "holds float64, not integers"),
        (np.array([1, 2**63], np.uint64), np.zeros(2), "row 1: beyond"),
        (np.array([1, 2]), np.array(["a", "b"]), "not numbers"),
        (np.array([1, 2]), np.array([1.0, np.nan]), "row 1: not a finite"),
        (np.array([1, 2]), np.zeros(3), "of one length"),
    ],
)
def test_columns_of_other_types_are_refused(tmp_path, members, values, error):
    np.savez(tmp_path / "t.npz", m=members, v=values)
    with pytest.raises(TraceError, match=error):
        events_of(opened(tmp_path / "t.npz", Columns("m", "v")))


@pytest.mark.parametrize(
    ("column", "text", "kept"),
    [
        (np.array([1, 2, 1]), "1", [0, 2]),
        (np.array([0.5, 2.0, 0.25]), "0.5", [0]),
        (np.array([True, False, True]), "true", [0, 2]),
        (np.array([b"a", b"b", b"a"]), "a", [0, 2]),
        (np.array(["a", "b", "a"]), "b", [1]),
    ],
)
def test_filters_read_their_text_by_the_columns_type(tmp_path, column, text, kept):
    np.savez(tmp_path / "t.npz", m=np.arange(3), k=column)
    trace = opened(tmp_path / "t.npz", Columns("m", filters=(("k", text),)))
    assert [member for member, _ in events_of(trace)] == kept


@pytest.mark.parametrize("column", [np.array([1]), np.array([True])])
def test_filter_text_of_another_type_is_refused(tmp_path, column):
    np.savez(tmp_path / "t.npz", m=np.arange(1), k=column)
    with pytest.raises(TraceError, match="'x' is no"):
        events_of(opened(tmp_path / "t.npz", Columns("m", filters=(("k", "x"),))))


def test_parquet_missing_values(tmp_path):
    table = pa.table({"m": pa.array([1, None, 3]), "v": pa.array([1.0, 2.0, 3.0])})
    pq.write_table(table, tmp_path / "t.parquet")
    trace = opened(tmp_path / "t.parquet", Columns("m", "v"))
    assert events_of(trace) == [(1, 1.0), (3, 3.0)]
    assert trace.skipped.without_member == 1
    table = pa.table({"m": pa.array([1, 2]), "v": pa.array([1.0, None])})
    pq.write_table(table, tmp_path / "u.parquet")
    with pytest.raises(TraceError, match="'v' has missing values"):
        events_of(opened(tmp_path / "u.parquet", Columns("m", "v")))


def test_git_history_counts_files_of_every_commit(repository):
    trace = open_trace(f"git:{repository}", Operation.ZADD, None, ShapeChoice())
    assert trace.operation is Operation.ZINCRBY
    members = [member for member, _ in events_of(trace)]
    # Four files of the first commit, two of the second; then the side branch and main, in the
    # order of their times, which may be one second; the merge has none.
    assert members[:6] == [0, 1, 2, 3, 0, 1]
    assert sorted(members[6:]) == [0, 4]
    assert trace.inputs()[0]["commit"] == trace.commit
    assert len(trace.commit) == 40


def test_git_history_stays_that_of_its_commit(repository, tmp_path):
    import shutil
    import subprocess

    copy = shutil.copytree(repository, tmp_path / "copy")
    trace = open_trace(f"git:{copy}", Operation.ZADD, None, ShapeChoice())
    before = events_of(trace)
    subprocess.run(["git", "-C", str(copy), "reset", "--hard", "HEAD~1"], check=True)
    assert events_of(trace) == before


def test_git_without_a_history_is_refused(tmp_path):
    with pytest.raises(TraceError, match="no git history"):
        open_trace(f"git:{tmp_path}", Operation.ZADD, None, ShapeChoice())


@pytest.mark.parametrize(
    ("name", "columns", "error"),
    [
        ("nowhere.tsv", SCORES, "no such file"),
        ("shape:chess", None, "no shape 'chess'"),
        ("{folder}/t.xls", SCORES, "not one of"),
        ("{folder}/t.tsv", None, "--member"),
    ],
)
def test_inputs_of_no_known_kind_are_refused(tmp_path, name, columns, error):
    (tmp_path / "t.xls").write_text("")
    (tmp_path / "t.tsv").write_text("")
    with pytest.raises(TraceError, match=error):
        open_trace(name.format(folder=tmp_path), Operation.ZADD, columns, ShapeChoice())


@pytest.mark.parametrize(
    "name", ["s.tsv", "s.csv.gz", "s.tsv.bz2", "s.csv.zst", "s.npz", "s.parquet"]
)
@pytest.mark.parametrize("kind", ["wikipedia", "lichess"])
def test_written_shapes_read_back(tmp_path, kind, name):
    shape = shape_trace(kind, 300, seed=9)
    rows = write_shape(shape, tmp_path / name)
    columns = Columns("page_id") if kind == "wikipedia" else Columns("player", "rating")
    events = events_of(shape)
    assert len(events) == rows
    assert events_of(opened(tmp_path / name, columns)) == events
    with pytest.raises(FileExistsError):
        write_shape(shape, tmp_path / name)


def test_written_shapes_have_times_in_order(tmp_path):
    write_shape(shape_trace("lichess", 300, seed=9), tmp_path / "s.npz")
    times = np.load(tmp_path / "s.npz")["unix_time"]
    assert np.all(np.diff(times) >= 0)
    assert times[0] > 1_356_912_000
    assert times[-1] < 1_356_912_000 + 4_657 * 86_400


def test_shapes_are_written_to_known_formats_only(tmp_path):
    with pytest.raises(TraceError, match=r"write \.tsv"):
        write_shape(shape_trace("lichess", 10, seed=9), tmp_path / "s.xls")


def test_shapes_say_that_they_are_synthetic():
    trace = open_trace("shape:wikipedia", Operation.ZADD, None, ShapeChoice(50, 2, "random"))
    assert trace.synthetic
    assert trace.title.startswith("synthetic Wikipedia shape, 50 pages, random ids, seed 2")
    full = open_trace("shape:wikipedia", Operation.ZADD, None, ShapeChoice(ids="full-scale"))
    assert full.inputs()[0]["entities"] == 2_524_999
    with pytest.raises(TraceError, match="players are dense"):
        next(shape_trace("lichess", 5, 1, "random").blocks(1))


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_rebatch_keeps_events_and_cuts_evenly(rows):
    sizes = [1, 0, 5, 7, 20, 2]
    pieces, at = [], 0
    for size in sizes:
        members = np.arange(at, at + size)
        pieces.append(Block(members, members * 0.5))
        at += size
    blocks = list(rebatch(iter(pieces), rows))
    assert [len(block) for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
    assert np.array_equal(np.concatenate([block.members for block in blocks]), np.arange(at))
    assert np.array_equal(np.concatenate([block.values for block in blocks]), np.arange(at) * 0.5)
