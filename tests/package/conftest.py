"""What the package tests share: archives built once, environments made when asked for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


def run(argv: list[str | Path], **options) -> str:
    """Run a command outside the repository's influence; give its output, or fail with it."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GOBLIN_PZ"))}
    env.update(options.pop("env", {}))
    words = [str(word) for word in argv]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False, **options)
    output = done.stdout + done.stderr
    assert done.returncode == 0, f"$ {' '.join(words)}\n{output[-20_000:]}"
    return output


def run_tests(python: str | Path, place: Path, folder: str, *words: str, **env: str) -> None:
    """Run a copy of some tests that does not see the repository; some must pass, none fail."""
    settings = "[pytest]\npythonpath = tests\naddopts = --import-mode=importlib\n"
    (place / "pytest.ini").write_text(settings, encoding="utf-8")
    argv = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{folder}", *words]
    assert re.search(r"\b[1-9]\d* passed", run(argv, cwd=place, env=env))


@pytest.fixture(scope="session")
def source_tree(tmp_path_factory) -> Path:
    """A copy of what git tracks, so that nothing built in the tree gets into an archive."""
    names = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP)
    folder = tmp_path_factory.mktemp("source")
    for name in filter(None, names.split("\0")):
        if (TOP / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def archives(source_tree, tmp_path_factory) -> tuple[Path, Path]:
    """The sdist, and the wheel that this Python builds from it."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--outdir", folder, source_tree])
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="session")
def wheel_of(archives, tmp_path_factory) -> Callable[[str], Path]:
    """Give the wheel that an interpreter builds from the sdist; each builds one."""
    made = {sys.executable: archives[1]}

    def build(python: str) -> Path:
        if python not in made:
            folder = tmp_path_factory.mktemp("wheel")
            run([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, archives[0]])
            (made[python],) = folder.glob("*.whl")
        return made[python]

    return build


@pytest.fixture(scope="session")
def environment(tmp_path_factory) -> Callable[..., Path]:
    """Make an empty environment of an interpreter, install words in it, give its Python."""

    def make(python: str, *wanted: str | Path) -> Path:
        folder = tmp_path_factory.mktemp("env")
        run([python, "-m", "venv", folder])
        inner = folder / "bin" / "python"
        run([inner, "-m", "pip", "install", "--quiet", *wanted])
        return inner

    return make
