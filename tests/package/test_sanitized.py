"""The extension modules built with sanitizers and inner assertions, under a stock Python."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from package.conftest import run, run_tests


@pytest.fixture(scope="module")
def sanitized(source_tree, tmp_path_factory):
    """A folder to import goblin_pz from, and the environment that loads the sanitizer first."""
    folder = tmp_path_factory.mktemp("sanitized")
    build = [sys.executable, "setup.py", "build_ext", "--build-lib", folder]
    switches = {
        "GOBLIN_PZ_SANITIZE": "address,undefined",
        "GOBLIN_PZ_DEBUG": "1",
        "GOBLIN_PZ_WERROR": "1",
    }
    run([*build, "--build-temp", folder / "objects"], cwd=source_tree, env=switches)
    shutil.copytree(source_tree / "goblin_pz", folder / "goblin_pz", dirs_exist_ok=True)
    shutil.copytree(source_tree / "tests", folder / "tests")
    library = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    env = {
        "LD_PRELOAD": library,
        # Python itself keeps memory to its end, so leaks are looked for by the C tests.
        "ASAN_OPTIONS": "detect_leaks=0:strict_string_checks=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(folder),
        "GOBLIN_PZ_EXAMPLES": "2",
    }
    return folder, env


def test_modules_are_the_sanitized_ones(sanitized):
    folder, env = sanitized
    code = "import goblin_pz._core as c, goblin_pz._workload as w; print(c.__file__, w.__file__)"
    paths = run([sys.executable, "-c", code], cwd=folder, env=env).split()
    assert all(path.startswith(str(folder)) for path in paths)


@pytest.mark.parametrize("folder", ["unit", "model"])
def test_short_set_under_sanitizers(folder, sanitized):
    """Typing is left out: a type checker is slow under a sanitizer, and shows nothing there."""
    place, env = sanitized
    run_tests(sys.executable, place, folder, "--ignore=tests/unit/test_typing.py", **env)
