"""Archives install into empty environments of every Python found, and work from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from package import pythons
from package.conftest import TOP, run, run_tests

SMOKE = TOP / "tests" / "package" / "smoke.py"
CASES = pythons.cases()


def test_sdist_holds_what_a_build_needs(archives):
    with tarfile.open(archives[0]) as tar:
        names = {"/".join(name.split("/")[1:]) for name in tar.getnames()}
    sources = {p.relative_to(TOP).as_posix() for p in (TOP / "csrc").rglob("*") if p.is_file()}
    assert sources <= names
    assert {"setup.py", "pyproject.toml", "LICENSE", "README.md", "goblin_pz/py.typed"} <= names


def test_wheel_holds_package_and_nothing_else(archives):
    with zipfile.ZipFile(archives[1]) as wheel:
        names = wheel.namelist()
    tops = {name.split("/")[0] for name in names}
    assert all(top == "goblin_pz" or top.endswith(".dist-info") for top in tops), tops
    assert not [name for name in names if name.endswith((".c", ".h"))]
    for wanted in ("goblin_pz/py.typed", "goblin_pz/_core.pyi", "goblin_pz/__init__.py"):
        assert wanted in names
    modules = [name for name in names if re.fullmatch(r"goblin_pz/_\w+\..*\.so", name)]
    assert {name.split("/")[1].split(".")[0] for name in modules} == {"_core", "_workload"}


def test_wheel_is_clean_under_auditwheel(archives):
    shown = run([sys.executable, "-m", "auditwheel", "show", archives[1]])
    assert re.search(r'platform tag:\s*"manylinux_2_\d+_', " ".join(shown.split())), shown


def test_sdist_installs_into_an_empty_environment(archives, environment, tmp_path):
    python = environment(sys.executable, archives[0])
    assert "ok" in run([python, SMOKE], cwd=tmp_path)
    assert installed(python) == {"goblin-pz", "numpy"}


@pytest.mark.parametrize(("python", "numpy"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_wheel_of_every_python(python, numpy, wheel_of, environment, tmp_path):
    """A wheel that this Python builds from the sdist; the base install needs NumPy alone."""
    inner = environment(python, wheel_of(python), numpy)
    assert installed(inner) == {"goblin-pz", "numpy"}
    assert "ok" in run([inner, SMOKE], cwd=tmp_path)
    # A short set of the state machines, from a copy that does not see this tree.
    run([inner, "-m", "pip", "install", "--quiet", "hypothesis", "pytest"])
    shutil.copytree(TOP / "tests" / "model", tmp_path / "tests" / "model")
    run_tests(inner, tmp_path, "model", "-k", "tiny", GOBLIN_PZ_EXAMPLES="2")


def test_missing_extra_is_named(archives, environment, tmp_path):
    """Without the workbench extra the command says what to install."""
    python = environment(sys.executable, archives[1])
    argv = [python, "-m", "goblin_pz", "demo"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "goblin_pz[workbench]" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_supported_python_is_declared():
    text = (TOP / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.findall(r'"Programming Language :: Python :: (3)\.(\d+)"', text)
    assert [(int(a), int(b)) for a, b in declared] == pythons.SUPPORTED


def installed(python: Path) -> set[str]:
    """Give the names of what is installed besides pip and setuptools."""
    argv = [python, "-m", "pip", "list", "--format=freeze"]
    lines = run(argv, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}).splitlines()
    names = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines if "==" in line}
    return names - {"pip", "setuptools", "wheel"}
