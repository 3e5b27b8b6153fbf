"""Result folders: everything that a figure rests on, checked again before it is shown.

    manifest.json        inputs, machine, versions, options, runs, and every file below with its
                         SHA-256
    STATUS               RUNNING, then PASS or FAILED and the manifest's SHA-256
    results.tsv          one row a run, computed from samples and manifest alone
    samples/RUN.tsv      members, bytes and time at equal progress
    digests/RUN.json     the wanted and the found digests of the final state
    report.txt           the table that was printed
    charts/              drawn from a folder that passed; sources.json names what they rest on

Nothing in a folder that passed is ever written again, except new charts.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .compare import MAPPING_KEYS, first_difference
from .stats import RESULT_COLUMNS, SAMPLE_COLUMNS, result_row
from .tables import Row, read_tsv, write_tsv

SCHEMA = 1
RUNNING, PASS, FAILED = "RUNNING", "PASS", "FAILED"


class UnverifiedError(RuntimeError):
    """A result folder that must not be shown; the message names the first difference."""


def sha256_of(path: Path) -> str:
    """Hash a file; UnverifiedError when it is not there."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise UnverifiedError(f"{path.name}: not there or not readable") from None


def to_json(value: object) -> str:
    """Write JSON as the folders hold it."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


class ResultWriter:
    """A folder in the making.

    Parameters
    ----------
    path : Path
        Must not exist; its parents are made.

    Raises
    ------
    FileExistsError
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir()
        self.path = path
        self._files: list[tuple[str, str]] = []
        (path / "STATUS").write_text(RUNNING + "\n")

    def write(self, name: str, text: str, role: str) -> None:
        """Add a file that the manifest will name with its role."""
        target = self.path / name
        target.parent.mkdir(exist_ok=True)
        with target.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        self._files.append((name, role))

    def finish(self, manifest: dict[str, Any], *, verified: bool) -> None:
        """Write the manifest and the status; nothing can be added afterwards."""
        files = [
            {
                "path": name,
                "role": role,
                "bytes": (self.path / name).stat().st_size,
                "sha256": sha256_of(self.path / name),
            }
            for name, role in self._files
        ]
        text = to_json({"schema": SCHEMA, **manifest, "files": files})
        (self.path / "manifest.json").write_text(text, encoding="utf-8")
        status = PASS if verified else FAILED
        digest = sha256_of(self.path / "manifest.json")
        (self.path / "STATUS").write_text(f"{status} {digest}\n")

    def fail(self) -> None:
        """Mark a folder that was given up before its manifest."""
        (self.path / "STATUS").write_text(FAILED + "\n")


@dataclass(frozen=True)
class Result:
    """A folder that passed every check of `load_verified`.

    Attributes
    ----------
    path : Path
    manifest : dict
    rows : list of dict
        Of results.tsv.
    samples : dict
        Run name to its samples.
    """

    path: Path
    manifest: dict[str, Any]
    rows: list[Row]
    samples: dict[str, list[Row]]


def load_verified(path: Path) -> Result:
    """Check a result folder from end to end and load it.

    Hashes every file again, compares all digests again, computes the results again from the
    samples, and checks the charts. Needs neither the input nor a build of the set.

    Raises
    ------
    UnverifiedError
        At the first difference.
    """
    manifest = _checked_manifest(path)
    for entry in manifest["files"]:
        if sha256_of(path / entry["path"]) != entry["sha256"]:
            raise UnverifiedError(f"{entry['path']}: the bytes are not those of the manifest")
    samples = {run["name"]: _samples(path, run["name"]) for run in manifest["runs"]}
    _check_digests(path, manifest)
    rows = [result_row(run, samples[run["name"]]) for run in manifest["runs"]]
    if (path / "results.tsv").read_text(encoding="utf-8") != write_tsv(rows, RESULT_COLUMNS):
        raise UnverifiedError("results.tsv: not what the samples give")
    _check_charts(path)
    return Result(path, manifest, rows, samples)


def _checked_manifest(path: Path) -> dict[str, Any]:
    try:
        status = (path / "STATUS").read_text().split()
    except OSError:
        raise UnverifiedError(f"{path}: no STATUS: not a result folder") from None
    if len(status) != 2 or status[0] != PASS:
        raise UnverifiedError(f"STATUS is {' '.join(status[:1]) or 'empty'}, not {PASS}")
    if sha256_of(path / "manifest.json") != status[1]:
        raise UnverifiedError("manifest.json: not the bytes that STATUS names")
    manifest: dict[str, Any] = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    if manifest["schema"] != SCHEMA:
        raise UnverifiedError(f"manifest.json: schema {manifest['schema']}, not {SCHEMA}")
    for problem in manifest["problems"]:
        raise UnverifiedError(problem)
    return manifest


def _samples(path: Path, name: str) -> list[Row]:
    rows = read_tsv((path / "samples" / f"{name}.tsv").read_text(encoding="utf-8"))
    if not rows or tuple(rows[0]) != SAMPLE_COLUMNS:
        raise UnverifiedError(f"samples/{name}.tsv: not the columns of samples")
    for before, after in itertools.pairwise(rows):
        if any(after[key] < before[key] for key in ("events", "members", "seconds")):
            raise UnverifiedError(f"samples/{name}.tsv: progress goes back")
    return rows


def _check_digests(path: Path, manifest: dict[str, Any]) -> None:
    """Every run found what was wanted, and all that must agree with each other do."""
    mappings: dict[bool, dict[str, Any]] = {}
    for run in manifest["runs"]:
        name = f"digests/{run['name']}.json"
        pair = json.loads((path / name).read_text(encoding="utf-8"))
        difference = first_difference(pair["wanted"], pair["found"])
        if difference is not None or not run["verified"]:
            raise UnverifiedError(f"{name}: {difference or 'the content differed'}")
        narrow = run["layout"].endswith("float32")
        mapping = {key: pair["found"][key] for key in MAPPING_KEYS}
        difference = first_difference(mappings.setdefault(narrow, mapping), mapping)
        if difference is not None:
            raise UnverifiedError(f"{name}: not that of another run: {difference}")


def _check_charts(path: Path) -> None:
    sources_path = path / "charts" / "sources.json"
    if not sources_path.exists():
        return
    sources = json.loads(sources_path.read_text(encoding="utf-8"))
    if sources["manifest_sha256"] != sha256_of(path / "manifest.json"):
        raise UnverifiedError("charts/sources.json: drawn from another manifest")
    for name, digest in sources["charts"].items():
        if sha256_of(path / "charts" / name) != digest:
            raise UnverifiedError(f"charts/{name}: not the bytes that were drawn")
