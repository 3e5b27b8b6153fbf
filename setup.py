"""Build the C extensions of goblin_pz. All metadata stands in pyproject.toml.

Environment variables, each off unless set to something else than 0:

GOBLIN_PZ_WERROR
    Compiler warnings are errors.
GOBLIN_PZ_DEBUG
    Inner assertions on, no optimization.
GOBLIN_PZ_SANITIZE
    Names of sanitizers, as for ``-fsanitize=``.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

CSRC = Path("csrc")
CORE_FOLDERS = ("base", "arena", "codec", "tree", "zset", "layout")
JOBS = min(os.cpu_count() or 1, 8)


def switch(name: str) -> str:
    """Give the value of an environment variable, empty when it is unset or 0."""
    value = os.environ.get(name, "")
    return "" if value == "0" else value


def sources(*folders: str) -> list[str]:
    """List the C files directly inside folders of csrc, in a stable order."""
    return sorted(path.as_posix() for folder in folders for path in (CSRC / folder).glob("*.c"))


def headers() -> list[str]:
    """List everything that a C file may include, so that a change of it builds anew."""
    found = [*CSRC.rglob("*.h"), *CSRC.rglob("*.def"), *CSRC.rglob("*.inc")]
    return sorted(path.as_posix() for path in found)


def flags() -> tuple[list[str], list[str]]:
    """Give the flags for the compiler and for the linker."""
    compile_flags = ["-std=c11", "-O3", "-fvisibility=hidden", "-Wall", "-Wextra"]
    compile_flags += ["-Wshadow", "-Wconversion"]
    link_flags = ["-pthread"]
    if switch("GOBLIN_PZ_WERROR"):
        compile_flags.append("-Werror")
    if switch("GOBLIN_PZ_DEBUG"):
        compile_flags += ["-O0", "-g", "-UNDEBUG", "-DPZ_DEBUG"]
    if sanitizers := switch("GOBLIN_PZ_SANITIZE"):
        sanitize = [f"-fsanitize={sanitizers}", "-fno-omit-frame-pointer", "-g"]
        compile_flags += ["-O1", *sanitize]
        link_flags += sanitize
    return compile_flags, link_flags


class ParallelBuild(build_ext):
    """Compile the files of one extension side by side."""

    def build_extension(self, ext: Extension) -> None:
        """Build one extension."""
        compile_files = self.compiler.compile

        def compile_side_by_side(files: list[str], **options: Any) -> list[str]:
            with ThreadPoolExecutor(JOBS) as pool:
                objects = pool.map(lambda name: compile_files([name], **options), files)
                return [name for names in objects for name in names]

        self.compiler.compile = compile_side_by_side
        try:
            super().build_extension(ext)
        finally:
            self.compiler.compile = compile_files


def extension(name: str, files: list[str], **options: Any) -> Extension:
    """Describe one extension; every one is built with the same flags."""
    compile_flags, link_flags = flags()
    return Extension(
        name,
        files,
        depends=headers(),
        extra_compile_args=compile_flags,
        extra_link_args=link_flags,
        **options,
    )


CORE = extension(
    "goblin_pz._core",
    sources(".", *CORE_FOLDERS, "py"),
    include_dirs=[numpy.get_include()],
    define_macros=[
        ("NPY_NO_DEPRECATED_API", "NPY_1_25_API_VERSION"),
        ("NPY_TARGET_VERSION", "NPY_1_25_API_VERSION"),  # NumPy 1.26 has the same C interface
    ],
)
WORKLOAD = extension("goblin_pz._workload", sources("workload", "base"))

setup(ext_modules=[CORE, WORKLOAD], cmdclass={"build_ext": ParallelBuild})
