"""The command line, from end to end on small inputs."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from goblin_pz.workbench import demo as demo_module
from goblin_pz.workbench.commands import command
from goblin_pz.workbench.evidence import load_verified
from goblin_pz.workbench.folders import EXPECTED
from workbench.tools import final_state


def run(*arguments, status=0):
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if done.exit_code != status and done.exception is not None:
        raise done.exception
    assert done.exit_code == status, done.output
    return done.output


def test_replay_of_a_table(tmp_path, table):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(table.text(",").encode()))
    out = tmp_path / "out"
    arguments = ["--member", "player", "--score", "points", "--filter", "kind=rapid"]
    arguments += ["--sort", "time", "--layouts", "int64-float64", "--rle", "on", "--batch", "10"]
    output = run("replay", path, *arguments, "--out", out)
    assert "int64-float64" in output
    assert f"result folder: {out}" in output
    assert output.count("chart: ") == 4
    result = load_verified(out)
    wanted = table.events(kind="rapid", by_time=True)
    assert result.manifest["trace"]["events"] == len(wanted)
    assert result.manifest["operation"] == "ZADD"
    assert result.manifest["trace"]["rows_filtered_out"] == len(table.time) - len(wanted)


def test_replay_of_increments_without_charts(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("7;2\n7;3\n8;1\n")
    out = tmp_path / "out"
    arguments = ["--member", "1", "--increment", "2", "--no-header", "--sep", ";", "--no-charts"]
    run("replay", path, *arguments, "--layouts", "all", "--out", out)
    digests = json.loads((out / "digests/uuid-float32-rle-off.json").read_text())["found"]
    assert (digests["count"], digests["score_sum"], digests["max_score"]) == (2, 6, 5.0)
    assert not (out / "charts").exists()


def test_replay_of_a_shape_and_of_git(tmp_path, repository):
    arguments = ["--pages", 500, "--ids", "random", "--seed", 3, "--repeats", 2]
    run("replay", "shape:wikipedia", *arguments, "--out", tmp_path / "shape")
    manifest = load_verified(tmp_path / "shape").manifest
    assert manifest["inputs"][0]["ids"] == "random"
    run("replay", f"git:{repository}", "--events", 5, "--out", tmp_path / "git")
    assert load_verified(tmp_path / "git").manifest["trace"]["events"] == 5


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nowhere.tsv", "--member", "x"], 1, "no such file"),
        (["shape:chess"], 1, "no shape"),
        (["shape:wikipedia", "--layouts", "int8-float8"], 1, "no layout"),
        (["x.tsv", "--member", "a", "--score", "b", "--increment", "c"], 2, "exclude each other"),
        (["x.tsv", "--member", "a", "--filter", "kind"], 2, "COLUMN=TEXT"),
    ],
)
def test_wrong_arguments(tmp_path, arguments, status, message):
    assert message in run("replay", *arguments, "--out", tmp_path / "out", status=status)
    assert not (tmp_path / "out").exists()


def test_a_replay_that_does_not_verify_draws_nothing_and_fails(tmp_path, monkeypatch):
    from goblin_pz.workbench.oracle import Oracle

    add = Oracle.add

    def miscount(self, block):
        add(self, block)
        self._state.counts[1] += 1

    monkeypatch.setattr(Oracle, "add", miscount)
    output = run("replay", "shape:wikipedia", "--pages", 50, "--out", tmp_path / "out", status=1)
    assert "NOT VERIFIED" in output
    assert "chart: " not in output
    assert not (tmp_path / "out/charts").exists()
    assert (tmp_path / "out/STATUS").read_text().startswith("FAILED")


def test_an_existing_folder_is_refused(tmp_path):
    assert "exist" in run("replay", "shape:lichess", "--players", 9, "--out", tmp_path, status=1)


def test_verify_and_charts(result):
    output = run("verify", result)
    assert "verified: 10 files, 4 runs" in output
    assert "int32-float32" in output
    assert "chart: " in run("charts", result, "--out", result / "new")
    (result / "report.txt").write_text("")
    assert "report.txt" in run("verify", result, status=1)
    assert "report.txt" in run("charts", result, "--out", result / "other", status=1)
    assert not (result / "other").exists()


def test_shapes(tmp_path):
    output = run("shapes", "lichess", "--players", 50, "--out", tmp_path / "s.tsv")
    rows = (tmp_path / "s.tsv").read_text().splitlines()
    assert rows[0] == "unix_time\trating\tplayer"
    assert f"{len(rows) - 1:,} rows" in output
    assert "synthetic" in output
    assert "exists" in run("shapes", "lichess", "--out", tmp_path / "s.tsv", status=1)


def test_demo(tmp_path, repository):
    out = tmp_path / "demo"
    output = run("demo", "--pages", 3_000, "--repository", repository, "--out", out)
    assert output.count("chart: ") == 8
    assert "git history of" in output
    assert "synthetic Wikipedia shape, 3,000 pages" in output
    for name in ("git", "wikipedia"):
        assert {run["layout"] for run in load_verified(out / name).manifest["runs"]} == {
            "int32-float32",
            "int64-float64",
        }


def test_demo_without_git_finds_out_how_much_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_module, "PROBE_PAGES", 1_000)
    monkeypatch.setattr(demo_module, "fitting_pages", lambda left, spent: 2_000)
    empty = tmp_path / "empty"
    empty.mkdir()
    output = run("demo", "--repository", empty, "--out", tmp_path / "demo")
    assert output.count("chart: ") == 4
    assert "2,000 pages" in output
    assert not (tmp_path / "demo/git").exists()


@pytest.mark.parametrize(
    ("left", "probe", "pages"),
    [(80.0, 2.0, 2_000_000), (80.0, 30.0, 1_000_000), (500.0, 1.0, 4_000_000), (-5.0, 1.0, 10**6)],
)
def test_demo_stays_within_its_bounds(left, probe, pages):
    assert demo_module.fitting_pages(left, probe) == pages


@pytest.fixture
def traces(tmp_path):
    """A folder laid out like the project's data: two traces and their expected states."""
    random = np.random.default_rng(8)
    targets = random.integers(0, 40, 400).tolist()
    text = "unix_time\tsource_id\ttarget_id\n" + "".join(f"0\t1\t{one}\n" for one in targets)
    (tmp_path / "collegemsg.tsv.gz").write_bytes(gzip.compress(text.encode()))
    ratings = random.integers(600, 2_000, 300).tolist()
    players = random.integers(1, 50, 300).tolist()
    kinds = random.choice(["rapid", "puzzle"], 300).tolist()
    rows = list(zip(kinds, players, ratings, strict=True))
    text = "date\tkind\tplayer\trating\n" + "".join(f"d\t{k}\t{p}\t{r}\n" for k, p, r in rows)
    (tmp_path / "lichess-rating-history.tsv.gz").write_bytes(gzip.compress(text.encode()))
    from goblin_pz.workbench.blocks import Operation

    states = {
        "collegemsg.tsv.gz": (400, final_state([(t, 1.0) for t in targets], Operation.ZINCRBY)),
        "lichess-rating-history.tsv.gz": (
            kinds.count("rapid"),
            final_state([(p, r) for k, p, r in rows if k == "rapid"], Operation.ZADD),
        ),
    }
    expected = {name: expected_of(*state) for name, state in states.items()}
    (tmp_path / EXPECTED).write_text(json.dumps(expected))
    return tmp_path


def expected_of(events: int, state: dict[int, float]) -> dict:
    from workbench.test_digests import by_hand

    found = {"events": events}
    for name, key in (("numeric", int), ("lexical", str)):
        rows = sorted(state.items(), key=lambda item: (item[1], key(item[0])))
        digests = by_hand([(str(member), str(int(score))) for member, score in rows])
        found[f"ordered_sha256_{name}_ties"] = digests.pop("ordered_sha256")
        found |= digests
    scores = list(state.values())
    return found | {
        "count": len(state),
        "score_sum": int(sum(scores)),
        "min_member": min(state),
        "max_member": max(state),
        "min_score": min(scores),
        "max_score": max(scores),
    }


def test_check_traces(traces):
    output = run("check-traces", traces)
    assert "24 replays, all equal" in output


def test_check_traces_names_the_difference(traces):
    expected = json.loads((traces / EXPECTED).read_text())
    expected["collegemsg.tsv.gz"]["mapping_sum_blake2b128"] = "0" * 32
    (traces / EXPECTED).write_text(json.dumps(expected))
    output = run("check-traces", traces, "--layouts", "int32-float32", status=1)
    assert "mapping_sum_blake2b128: wanted 0000" in output
    assert "NOT ALL EQUAL" in output


def test_check_traces_of_other_folders(tmp_path):
    assert EXPECTED in run("check-traces", tmp_path, status=1)
    (tmp_path / EXPECTED).write_text('{"odd.tsv": {}}')
    assert "odd.tsv" in run("check-traces", tmp_path, status=1)
    (tmp_path / EXPECTED).write_text("{}")
    run("check-traces", tmp_path, status=1)


def in_python(code: str) -> subprocess.CompletedProcess:
    code = f"import sys; sys.path[:] = {sys.path!r}\n{code}"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["click", "matplotlib", "tqdm"])
def test_a_missing_extra_is_named(tmp_path, module):
    done = in_python(
        f"sys.modules[{module!r}] = None\n"
        "sys.stderr.isatty = lambda: True\n"
        "from goblin_pz.workbench.cli import main\n"
        f"main(['replay', 'shape:lichess', '--players', '9', '--out', {str(tmp_path / 'out')!r}])"
    )
    assert done.returncode == 1
    assert f"needs {module}, which is not installed: pip install 'goblin_pz[workbench]'" in (
        done.stderr
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("module", "name"), [("zstandard", "t.tsv.zst"), ("pyarrow", "t.parquet")])
def test_a_missing_reader_is_named(tmp_path, module, name):
    (tmp_path / name).write_bytes(b"x")
    done = in_python(
        f"sys.modules[{module!r}] = None\n"
        "from goblin_pz.workbench.cli import main\n"
        f"main(['replay', {str(tmp_path / name)!r}, '--member', 'a',"
        f" '--out', {str(tmp_path / 'out')!r}])"
    )
    assert done.returncode == 1
    assert f"reading {name} needs {module}" in done.stderr


def test_other_import_errors_are_not_hidden():
    done = in_python(
        "sys.modules['goblin_pz.workbench.tables'] = None\n"
        "from goblin_pz.workbench.cli import main\nmain(['--help'])"
    )
    assert "goblin_pz.workbench.tables" in done.stderr
    assert "pip install" not in done.stderr


def test_the_module_runs_as_a_command():
    done = in_python("import runpy; sys.argv = ['x', '--version']\nrunpy.run_module('goblin_pz')")
    assert done.returncode == 0
    assert done.stdout == ""
    done = in_python(
        "import runpy; sys.argv = ['x', '--version']\n"
        "runpy.run_module('goblin_pz', run_name='__main__')"
    )
    assert "goblin-pz, version" in done.stdout
