"""Small inputs that the workbench's tests make themselves."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from goblin_pz.workbench.layouts import parse_layouts
from goblin_pz.workbench.progress import Quiet
from goblin_pz.workbench.run import Options, replay
from goblin_pz.workbench.shapes import shape_trace
from workbench.tools import Table


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    """A git repository with three commits and a merge; its increments."""
    path = tmp_path_factory.mktemp("repository")

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid"]
        command = ["git", "-C", str(path), *identity, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    def commit(*names: str) -> None:
        for name in names:
            file = path / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(file.read_text() + "more\n" if file.exists() else "new\n")
        git("add", "--all")
        git("commit", "--message", "change")

    git("init", "--initial-branch", "main")
    commit("a", "b/c", "with space", "ä")
    commit("a", "b/c")
    git("checkout", "-b", "side")
    commit("side")
    git("checkout", "main")
    commit("a")
    git("merge", "--no-ff", "--message", "merge", "side")
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A result folder of a small verified replay; not to be changed: see `result`."""
    folder = tmp_path_factory.mktemp("results") / "finished"
    options = Options(tuple(parse_layouts("int32-float32,uuid-float64")), batch=1_000)
    outcome = replay(shape_trace("wikipedia", 3_000, seed=5), options, folder, Quiet())
    assert outcome.verified
    return folder


@pytest.fixture
def result(finished, tmp_path):
    """A copy of a result folder that a test may damage."""
    return shutil.copytree(finished, tmp_path / "result")
