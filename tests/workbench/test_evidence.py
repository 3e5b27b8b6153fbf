"""A result folder that was touched does not pass, and is not drawn."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from goblin_pz.workbench.charts import draw
from goblin_pz.workbench.evidence import ResultWriter, UnverifiedError, load_verified, sha256_of
from goblin_pz.workbench.tables import read_tsv, write_tsv


def reseal(result) -> None:
    """What somebody does who changes a file and every hash that names it."""
    path = result / "manifest.json"
    manifest = json.loads(path.read_text())
    for entry in manifest["files"]:
        entry["sha256"] = sha256_of(result / entry["path"])
    path.write_text(json.dumps(manifest))
    (result / "STATUS").write_text(f"PASS {sha256_of(path)}\n")


def refused(result, match: str) -> None:
    with pytest.raises(UnverifiedError, match=match):
        load_verified(result)
    before = sorted(result.rglob("*"))
    with pytest.raises(UnverifiedError, match=match):
        draw(result, result.parent / "drawn")
    assert not (result.parent / "drawn").exists()
    assert sorted(result.rglob("*")) == before


def test_an_untouched_folder_passes(result):
    loaded = load_verified(result)
    assert [row["run"] for row in loaded.rows] == list(loaded.samples)
    assert (result / "STATUS").read_text().split()[0] == "PASS"


def test_the_manifest_says_what_a_figure_depends_on(result):
    manifest = load_verified(result).manifest
    assert manifest["inputs"][0]["seed"] == 5
    assert manifest["synthetic"]
    assert len(manifest["trace"]["members_sha256"]) == 64
    assert manifest["machine"]["cores"] >= 1
    assert manifest["machine"]["load_before"]
    assert len(manifest["versions"]["goblin_pz_sha256"]) == 64
    assert manifest["options"]["layouts"] == ["int32-float32", "uuid-float64"]
    assert manifest["started"] <= manifest["ended"]
    roles = {entry["role"] for entry in manifest["files"]}
    assert roles == {"samples", "digests", "results", "report"}


NAMES = ["results.tsv", "report.txt", "samples/int32-float32-rle-on.tsv"]
NAMES += ["digests/uuid-float64-rle-off.json"]


@pytest.mark.parametrize("name", NAMES)
def test_one_changed_byte_is_named(result, name):
    data = bytearray((result / name).read_bytes())
    data[len(data) // 2] ^= 1
    (result / name).write_bytes(data)
    refused(result, f"{name}: the bytes are not those of the manifest")


@pytest.mark.parametrize("name", NAMES)
def test_one_missing_file_is_named(result, name):
    (result / name).unlink()
    refused(result, "not there")


def test_changed_manifest(result):
    path = result / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 5', '"seed": 6'))
    refused(result, "not the bytes that STATUS names")


@pytest.mark.parametrize("status", ["RUNNING\n", "FAILED 0\n", "", "PASS\n"])
def test_other_status(result, status):
    (result / "STATUS").write_text(status)
    refused(result, "STATUS is")


def test_no_result_folder(tmp_path):
    refused(tmp_path, "no STATUS")


def test_results_are_computed_again_from_the_samples(result):
    path = result / "samples/int32-float32-rle-on.tsv"
    rows = read_tsv(path.read_text())
    rows[-1]["allocated_bytes"] //= 2
    path.write_text(write_tsv(rows, list(rows[0])))
    reseal(result)
    refused(result, r"results\.tsv: not what the samples give")


def test_progress_that_goes_back(result):
    path = result / "samples/int32-float32-rle-on.tsv"
    rows = read_tsv(path.read_text())
    rows[1]["events"] = rows[2]["events"] + 1
    path.write_text(write_tsv(rows, list(rows[0])))
    reseal(result)
    refused(result, "progress goes back")


def change_digest(result, run: str, side: str) -> None:
    path = result / f"digests/{run}.json"
    digests = json.loads(path.read_text())
    digests[side]["mapping_xor_blake2b128"] = "0" * 32
    path.write_text(json.dumps(digests))


def test_digests_are_compared_again(result):
    change_digest(result, "int32-float32-rle-on", "found")
    reseal(result)
    refused(result, "int32-float32-rle-on.json: mapping_xor_blake2b128: wanted")


def test_runs_are_compared_with_each_other(result):
    for side in ("wanted", "found"):
        change_digest(result, "int32-float32-rle-on", side)
    reseal(result)
    refused(result, "int32-float32-rle-off.json: not that of another run")


def test_a_problem_in_the_manifest(result):
    path = result / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["problems"] = ["the input changed"]
    path.write_text(json.dumps(manifest))
    (result / "STATUS").write_text(f"PASS {sha256_of(path)}\n")
    refused(result, "the input changed")


def test_another_schema(result):
    path = result / "manifest.json"
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'))
    (result / "STATUS").write_text(f"PASS {sha256_of(path)}\n")
    refused(result, "schema 2, not 1")


def test_charts_are_checked_too(result):
    paths = draw(result)
    load_verified(result)
    paths[0].write_text(paths[0].read_text() + " ")
    with pytest.raises(UnverifiedError, match=f"charts/{paths[0].name}"):
        load_verified(result)


def test_charts_of_another_manifest(result):
    draw(result)
    path = result / "charts/sources.json"
    sources = json.loads(path.read_text())
    sources["manifest_sha256"] = "0" * 64
    path.write_text(json.dumps(sources))
    with pytest.raises(UnverifiedError, match="another manifest"):
        load_verified(result)


def test_a_folder_is_written_once(tmp_path):
    writer = ResultWriter(tmp_path / "deep/out")
    assert (tmp_path / "deep/out/STATUS").read_text() == "RUNNING\n"
    writer.write("a.txt", "1", "report")
    with pytest.raises(FileExistsError):
        writer.write("a.txt", "2", "report")
    with pytest.raises(FileExistsError):
        ResultWriter(tmp_path / "deep/out")


def test_old_results_need_nothing_compiled(result):
    def run(*arguments: str) -> None:
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\n"
            "sys.modules['goblin_pz._core'] = sys.modules['goblin_pz._workload'] = None\n"
            f"from goblin_pz.workbench.cli import main; main({list(arguments)!r})\n"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    run("verify", str(result))
    run("charts", str(result), "--out", str(result / "new"))
    assert (result / "new/rle-by-layout.svg").exists()
