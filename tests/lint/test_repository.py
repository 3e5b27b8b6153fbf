"""What must not be in the repository, and how long its files may be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lint.repository import TEXT, TOP, files, matching, read

SOURCE_LIMITS = {".tmpl.h": 500, ".c": 600, ".h": 250, ".py": 400, ".pyi": 600}
# Longer files, each with the reason why splitting it would hurt the reader.
LONGER = {
    "csrc/base/bits.h": "one flat list of small inline helpers",
    "csrc/zset/bulk.tmpl.h": "one bulk call from its rows to both trees, read from top to bottom",
    "csrc/zset/read.tmpl.h": "every question has its one-by-one and its sorted form side by side",
}
FORBIDDEN = {
    "the path of a machine": r"(?<![\w.])/(?:work|root|home/\w+|tmp/\w+)/",
    "a package index": r"(?:index|extra)[-_]url|trusted[-_]host|find[-_]links",
    "work left open": r"\b(?:TO[D]O|FIX[M]E|XX[X])\b|NotImplemented[E]rror|not [i]mplemented yet",
    "a skipped test": r"pytest[.]skip|mark[.]skip|importor[s]kip|mark[.]xfail|unittest[.]skip",
}


def texts() -> list[Path]:
    return [p for p in files() if p.suffix in TEXT]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_forbidden(what):
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in texts()
        for number, line in enumerate(read(path).splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, f"{what}:\n" + "\n".join(found)


def test_no_large_file():
    large = [
        f"{p}: {(TOP / p).stat().st_size}" for p in files() if (TOP / p).stat().st_size > 2**20
    ]
    assert not large


def test_sources_are_short():
    over = []
    for path in files():
        limit = next((n for end, n in SOURCE_LIMITS.items() if path.name.endswith(end)), None)
        if limit is not None and path.as_posix() not in LONGER:
            lines = read(path).count("\n")
            if lines > limit:
                over.append(f"{path}: {lines} lines, limit {limit}")
    assert not over, "\n".join(over)


def test_lines_are_short():
    over = [
        f"{path}:{number}"
        for path in files()
        if path.suffix in {".c", ".h", ".py", ".pyi"}
        for number, line in enumerate(read(path).splitlines(), 1)
        if len(line) > 100
    ]
    assert not over


def test_c_files_open_with_what_they_are():
    bare = [str(p) for p in matching("csrc", ".c", ".h", ".def") if not read(p).startswith("/* ")]
    assert not bare


def test_extension_state_is_not_static():
    """Objects live in module state, so that two copies of a module share nothing."""
    pattern = re.compile(r"^(?:static\s+)?Py(?:Type)?Object\s*\*?\s*\w+\s*(?:=|;|\[)", re.MULTILINE)
    for path in matching("csrc", ".c", ".h"):
        assert not pattern.search(read(path)), path
        assert not re.search(r"^[ \t]+static\s+Py", read(path), re.MULTILINE), path
