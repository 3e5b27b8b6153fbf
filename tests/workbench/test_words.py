"""Progress, tables and reports: what people read."""

from __future__ import annotations

import io
import itertools

import pytest

from goblin_pz.workbench import progress as progress_module
from goblin_pz.workbench.machine import machine_facts, version_facts
from goblin_pz.workbench.progress import Bar, Lines, Quiet, progress_for
from goblin_pz.workbench.report import report_text, size_text
from goblin_pz.workbench.stats import Spread, growth, result_row, spreads
from goblin_pz.workbench.tables import aligned, read_tsv, write_tsv

FACTS = {"events": 40, "members": 10, "min_member": 1, "max_member": 9}


def sample(kind, events, members, **changes):
    row = {"kind": kind, "events": events, "members": members, "seconds": events / 10}
    row |= {"cpu_seconds": 1.0, "allocated_bytes": 100 + 3 * members, "rss_bytes": 1000 + events}
    row |= {"anon_bytes": 500, "file_bytes": 500, "shmem_bytes": 0, "peak_bytes": 2000 + events}
    return row | changes


def run_of(trial=1, **changes):
    run = {"name": f"a-{trial}", "layout": "int32-float32", "score_rle": True, "trial": trial}
    return run | {"feeding_seconds": 1.0, "verification_seconds": 2.0, "verified": True} | changes


def test_a_result_row():
    row = result_row(run_of(), [sample("idle", 0, 0), sample("final", 40, 10)])
    assert row["events_per_second"] == 10.0
    assert row["allocated_bytes_per_member"] == 13.0
    assert row["rss_growth_bytes"] == 40
    assert row["rss_bytes_per_member"] == 4.0
    assert row["peak_growth_bytes"] == 1040


def test_a_result_row_without_what_the_system_does_not_say():
    empty = {"peak_bytes": None, "anon_bytes": None}
    samples = [sample("idle", 0, 0, **empty), sample("final", 40, 10, **empty)]
    assert result_row(run_of(), samples)["peak_growth_bytes"] is None
    assert growth(samples, "anon_bytes") == [None, None]
    assert read_tsv(write_tsv(samples, list(samples[0]))) == samples


def test_a_result_row_needs_both_ends():
    with pytest.raises(ValueError, match="idle or the final"):
        result_row(run_of(), [sample("idle", 0, 0), sample("sample", 40, 10)])


def test_spreads_over_trials():
    rows = [
        result_row(run_of(trial), [sample("idle", 0, 0), sample("final", events, 10)])
        for trial, events in ((1, 10), (2, 40), (3, 20))
    ]
    assert spreads(rows, "events") == {("int32-float32", True): Spread(20, 10, 40, 3)}
    report = report_text("A trace", FACTS, rows, [])
    assert "3 trials in shuffled order" in report
    assert "2.00 (1.00 to 4.00)" in report


def test_the_report_says_what_did_not_verify():
    row = result_row(run_of(verified=False), [sample("idle", 0, 0), sample("final", 40, 10)])
    report = report_text("A trace", FACTS, [row], ["rank 3 differs"])
    assert "NOT VERIFIED: rank 3 differs" in report
    assert " NO\n" in report
    assert "One trial: no spread is known." in report
    assert "Below 100,000 members" in report
    assert "Below" not in report_text("A trace", FACTS | {"members": 100_000}, [row], [])


@pytest.mark.parametrize(
    ("amount", "text"),
    [(None, "-"), (0, "0 B"), (1536, "1.5 KiB"), (3 << 20, "3.0 MiB"), (5 << 30, "5.00 GiB")],
)
def test_sizes(amount, text):
    assert size_text(amount) == text


def test_tables_keep_types():
    rows = [{"a": 1, "b": 0.1, "c": "x", "d": None}, {"a": -2, "b": 1e300, "c": "y z", "d": 5}]
    assert read_tsv(write_tsv(rows, ["a", "b", "c", "d"])) == rows
    assert write_tsv([{"a": True}, {"a": False}], ["a"]) == "a\non\noff\n"
    with pytest.raises(ValueError, match="header"):
        read_tsv("")
    with pytest.raises(ValueError, match=r"shorter|longer"):
        read_tsv("a\tb\n1\n")


def test_aligned_columns():
    assert aligned([("name", "n"), ("a", "10"), ("long one", "5")]) == (
        "name       n\na         10\nlong one   5\n"
    )


def test_lines_for_logs(monkeypatch):
    clock = itertools.count(0.0, 4.0)
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    shown = Lines(stream)
    shown.start("part", 1_000)
    for _ in range(5):
        shown.step(100, 50, 200)
    shown.end()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "part: 300 events, 25/s, 50 members, 4.00 B/member, 28 s left"
    assert lines[-1] == "part: 500 events in 24.0 s"
    assert len(lines) == 2


def test_a_bar_for_terminals():
    stream = io.StringIO()
    shown = Bar(stream)
    shown.start("part", 1_000)
    shown.step(1_000, 50, 200)
    shown.say("a word")
    shown.end()
    text = stream.getvalue()
    assert "a word" in text
    assert "100%" in text
    assert "50 members, 4.00 B/member" in text


def test_which_progress_is_shown(monkeypatch):
    stream = io.StringIO()
    assert isinstance(progress_for(stream), Lines)
    monkeypatch.setattr(stream, "isatty", lambda: True)
    assert isinstance(progress_for(stream), Bar)
    quiet = Quiet()
    quiet.start("part", None)
    quiet.step(1, 1, None)
    quiet.say("unheard")
    quiet.end()


def test_facts_name_the_machine_but_nobody():
    import getpass
    import platform

    facts = machine_facts()
    assert facts["cores"] >= 1
    assert facts["kernel"] == platform.release()
    assert version_facts()["packages"]["numpy"]
    known = [str(value) for value in (*facts.values(), *version_facts().values())]
    assert platform.node() not in known
    assert getpass.getuser() not in known
