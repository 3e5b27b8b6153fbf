"""Every bench runs from end to end on a small input, and records what it says it records."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from c import cbuild

BENCH = cbuild.TOP / "bench"
SMALL = {
    "increments": ["--members", "3000", "--rounds", "2", "--batch", "1000"],
    "load": ["--members", "3000", "--rounds", "2"],
    "lookup": ["--members", "3000", "--rounds", "2", "--asked", "500"],
    "memory": ["--members", "3000"],
    "ordered_read": ["--members", "3000", "--rounds", "2"],
    "points": ["--members", "3000", "--rounds", "2", "--events", "500"],
    "rank": ["--members", "3000", "--rounds", "2", "--asked", "500"],
    "scalar_calls": ["--members", "3000", "--rounds", "2", "--calls", "500"],
    "sweep": ["--members", "3000", "--only", "PZ_SMALL_CAPACITY 64u"],
}
NOT_BENCHES = {"common", "stream"}


def test_every_bench_is_run_here():
    scripts = {path.stem for path in BENCH.glob("*.py")} - NOT_BENCHES
    assert scripts == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_bench_runs(name, tmp_path):
    argv = [sys.executable, str(BENCH / f"{name}.py"), *SMALL[name], "--out", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert document["bench"] == name
    assert set(document["facts"]["versions"]) > {"goblin_pz", "numpy", "pandas"}
    assert document["rows"]
    lines = (tmp_path / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(document["rows"])
    assert lines[0].split("\t") == list(document["rows"][0])
