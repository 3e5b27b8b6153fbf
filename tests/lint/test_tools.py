"""Linters, formatters and type checkers are clean."""

from __future__ import annotations

import subprocess
import sys
import sysconfig

import numpy as np
import pytest

from lint.repository import TOP, files, matching

PYTHON_TOOLS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "stubtest": ["mypy.stubtest", "goblin_pz._core"],
}


def check(argv: list[str]) -> None:
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(argv)}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("argv", PYTHON_TOOLS.values(), ids=PYTHON_TOOLS.keys())
def test_python_tool(argv):
    check([sys.executable, "-m", *argv])


def test_clang_format():
    sources = [str(p) for p in files() if p.suffix in {".c", ".h"}]
    check(["clang-format-19", "--dry-run", "-Werror", *sources])


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("folder", ["csrc/py", "csrc/workload"])
def test_extensions_compile_without_warning(compiler, folder):
    sources = [str(p) for p in matching("csrc", ".c") if p.parent.as_posix() == folder]
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
    includes = [sysconfig.get_path("include"), np.get_include()]
    headers = [word for path in includes for word in ("-isystem", path)]
    check([compiler, *flags, *headers, "-fsyntax-only", *sources])


def test_scripts_parse():
    scripts = [str(p) for p in files() if p.parts[0] == ".ci"]
    assert len(scripts) >= 4
    for script in scripts:
        check(["bash", "-n", script])
