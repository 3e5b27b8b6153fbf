"""Every module imports alone, and only the named ones need the compiled core."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from lint.repository import TOP, matching, read

SOURCES = matching("goblin_pz", ".py")
# Modules that may name the compiled core. Engines run sets; everything else asks for them lazily.
MAY_IMPORT_CORE = {"goblin_pz/__init__.py", "goblin_pz/workbench/engines.py"}


def module_name(path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run(code: str) -> None:
    argv = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", [p for p in SOURCES if p.name != "__main__.py"], ids=str)
def test_module_imports_alone_without_the_core(path):
    run(f"import sys; sys.modules['goblin_pz._core'] = None; import {module_name(path)}")


def test_package_runs_as_a_module():
    run(
        "import runpy, sys; sys.argv = ['goblin-pz', '--help']\n"
        "try: runpy.run_module('goblin_pz', run_name='__main__')\n"
        "except SystemExit as end: sys.exit(end.code)"
    )


def imported_names(node: ast.AST) -> list[str]:
    """Give what is imported at run time below a node; what only a type checker sees is left out."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return [name for child in node.orelse for name in imported_names(child)]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(alias.name for alias in node.names)]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [name for child in ast.iter_child_nodes(node) for name in imported_names(child)]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_only_named_modules_import_the_core(path):
    names = imported_names(ast.parse(read(path)))
    imports = any(name.split(".")[-1] == "_core" for name in names)
    assert not imports or path.as_posix() in MAY_IMPORT_CORE
