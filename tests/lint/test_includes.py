"""Who may include whom: base <- arena, codec <- tree <- zset <- layout <- pz.c.

The binding and the server see pz.h and base, the workload module sees base; none sees another, and
none sees a template. NumPy's headers are seen by one file.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lint.repository import TOP, matching, read

CORE = ["base", "arena", "codec", "tree", "zset", "layout"]
FACE = "pz.h"
LIST = "csrc/layout/layouts.def"  # rows, no code: whatever is made once a layout expands it
MAY_SEE = {
    "base": {"base"},
    "arena": {"base", "arena"},
    "codec": {"base", "codec"},
    "tree": {"base", "arena", "codec", "tree"},
    "zset": {FACE, "base", "arena", "codec", "tree", "zset"},
    "layout": {FACE, *CORE},
    "pz.c": {FACE, *CORE},
    FACE: {"base"},
    "py": {FACE, "base", "py"},
    "server": {FACE, "base", "server"},
    "workload": {"base", "workload"},
}
SYSTEM = {  # system headers that only some may use
    r"Python\.h": {"py", "workload"},
    r"numpy/.*": {"py"},
    r"sys/socket\.h|netinet/.*|sys/un\.h|sys/epoll\.h": {"server", "workload"},
}
SOURCES = matching("csrc", ".c", ".h", ".def")


def area(path: Path) -> str:
    """Give the part of csrc that a file belongs to."""
    inner = path.relative_to("csrc")
    return inner.parts[0] if len(inner.parts) > 1 else inner.name


def included(path: Path) -> list[Path]:
    """Give the project files that a file includes, relative to the top."""
    found = []
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', read(path), re.MULTILINE):
        beside = TOP / path.parent / name
        target = beside if beside.exists() else TOP / "csrc" / name
        assert target.exists(), f'{path} includes "{name}", which is not there'
        found.append(target.resolve().relative_to(TOP))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_includes(path):
    allowed = MAY_SEE[area(path)]
    for target in included(path):
        listed = target.as_posix() == LIST and "arena" in allowed
        assert listed or area(target) in allowed, f"{path} may not include {target}"
        if area(path) in {"py", "server", "workload"}:
            assert not target.name.endswith(".tmpl.h"), f"{path} includes the template {target}"


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_system_includes(path):
    for name in re.findall(r"^\s*#\s*include\s+<([^>]+)>", read(path), re.MULTILINE):
        for pattern, areas in SYSTEM.items():
            if re.fullmatch(pattern, name):
                assert area(path) in areas, f"{path} may not include <{name}>"


def test_numpy_is_seen_by_one_file():
    """Its headers may be wrapped, but one C file alone sees them."""
    seeing = {p for p in SOURCES if re.search(r"#\s*include\s+<numpy/", read(p))}
    while more := {p for p in SOURCES if seeing & set(included(p))} - seeing:
        seeing |= more
    assert [p.name for p in seeing if p.suffix == ".c"] == ["np_glue.c"]


def test_templates_say_what_they_need():
    for path in (p for p in SOURCES if p.name.endswith(".tmpl.h")):
        text = read(path)
        assert "TEMPLATE" in text[:2_000], f"{path} does not say what it needs and gives"
        assert "#pragma once" not in text


def test_headers_are_guarded():
    guards: dict[str, Path] = {}
    for path in (p for p in SOURCES if p.suffix == ".h" and not p.name.endswith(".tmpl.h")):
        guard = re.search(r"^#ifndef (\w+)\n#define \1$", read(path), re.MULTILINE)
        assert guard, f"{path} has no include guard"
        assert guard[1] not in guards, f"{path} and {guards[guard[1]]} share a guard"
        guards[guard[1]] = path
