"""Build and run the C tests and fuzzers of the core, without make.

Every ``tests/c/test_*.c`` and ``tests/c/fuzz_*.c`` is one program, linked with all C files of the
core (everything under ``csrc`` but the extension modules). Objects are kept in ``build/c/<mode>``
and made anew when a file they include, or their command line, has changed.

By hand::

    python tests/c/cbuild.py                            # all tests, debug mode
    python tests/c/cbuild.py --mode release test_tree   # one test, release mode
    python tests/c/cbuild.py --mode fuzz --seconds 3600 fuzz_ops   # a long fuzzing run
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
OUT = TOP / "build" / "c"
NOT_CORE = {"py", "workload", "server"}
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
COMMON = ["-std=c11", "-fvisibility=hidden", *WARNINGS]
CLANG = "clang-19"
JOBS = min(os.cpu_count() or 1, 8)
CHECKED = ["-O1", "-g", "-DPZ_DEBUG", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]


@dataclass(frozen=True)
class Mode:
    """A way to compile: the compiler, and flags for compiling and for linking."""

    compiler: str
    flags: Sequence[str]
    link: Sequence[str] = ()


MODES = {
    # gcc finds other undefined behaviour than clang does, so each sanitizes something.
    "debug": Mode("gcc", [*CHECKED, "-fsanitize=address,undefined"]),
    "release": Mode("gcc", ["-O3"]),  # as setup.py builds
    "thread": Mode(CLANG, [*CHECKED, "-fsanitize=thread"]),
    "fuzz": Mode(
        CLANG, [*CHECKED, "-fsanitize=fuzzer-no-link,address,undefined"], ["-fsanitize=fuzzer"]
    ),
}


class BuildError(Exception):
    """A compiler or linker failed; the message is its output."""


def core_sources(csrc: Path) -> list[Path]:
    """Give the C files of the core, in a fixed order."""
    return sorted(p for p in csrc.rglob("*.c") if p.parent.name not in NOT_CORE)


def programs(mode: str) -> list[Path]:
    """Give the C files with a main function that `mode` builds by default."""
    if mode == "fuzz":
        return sorted((TOP / "tests" / "c").glob("fuzz_*.c"))
    tests = sorted((TOP / "tests" / "c").glob("test_*.c"))
    if mode == "thread":  # only programs that start threads can race
        return [p for p in tests if "<pthread.h>" in p.read_text(encoding="utf-8")]
    return tests


def _run(argv: Sequence[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"$ {' '.join(argv)}\n{done.stdout}{done.stderr}")


def _stale(target: Path, inputs: Iterable[Path]) -> bool:
    if not target.exists():
        return True
    made = target.stat().st_mtime_ns
    return any(not p.exists() or p.stat().st_mtime_ns > made for p in inputs)


def _included(dep: Path) -> list[Path]:
    """Read the files named by a compiler's dependency file; a missing one makes all stale."""
    if not dep.exists():
        return [dep]
    text = dep.read_text(encoding="utf-8").replace("\\\n", " ")
    return [Path(name) for name in text.split(":", 1)[1].split()]


def _compile(mode: str, source: Path, csrc: Path, out: Path) -> Path:
    how = MODES[mode]
    argv = [how.compiler, *COMMON, f"-I{csrc}", *how.flags]
    tag = hashlib.sha256(" ".join([*argv, str(source)]).encode()).hexdigest()[:8]
    obj = out / f"{source.stem}.{tag}.o"
    dep = obj.with_suffix(".d")
    if _stale(obj, _included(dep)):
        obj.parent.mkdir(parents=True, exist_ok=True)
        _run([*argv, "-MMD", "-MF", str(dep), "-c", str(source), "-o", str(obj)])
    return obj


def build(
    mode: str, sources: Sequence[Path], csrc: Path = TOP / "csrc", out: Path | None = None
) -> list[Path]:
    """Build the programs of `sources` in `mode` and give their paths.

    `csrc` is the core to link with, `out` where objects and programs go.

    Raises
    ------
    BuildError
        When a compiler or the linker fails; warnings are errors.
    """
    how = MODES[mode]
    out = out or OUT / mode
    core = core_sources(csrc)
    with ThreadPoolExecutor(JOBS) as pool:
        files = [*core, *sources]
        objects = list(pool.map(lambda source: _compile(mode, source, csrc, out), files))
    made = []
    for source, main in zip(sources, objects[len(core) :], strict=True):
        program = out / source.stem
        inputs = [*objects[: len(core)], main]
        if _stale(program, inputs):
            names = [str(p) for p in inputs]
            flags = [*how.flags, *how.link, "-pthread", "-lm"]
            _run([how.compiler, *names, "-o", str(program), *flags])
        made.append(program)
    return made


def environment() -> dict[str, str]:
    """Give the environment that programs run in: every sanitizer report is fatal, leaks too."""
    return {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    }


def command(mode: str, program: Path, seconds: int) -> list[str]:
    """Give the command line that runs a program; fuzzers stop after `seconds`.

    The thread sanitizer sees the tests whose name says that they start threads.

    A fuzzer starts from the inputs in ``tests/data/<name>``, when there are any, and keeps what it
    finds in ``build/c/corpus``.
    """
    if mode == "thread":
        return [str(program), "thread"]
    if mode != "fuzz":
        return [str(program)]
    corpus = OUT / "corpus" / program.name
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = TOP / "tests" / "data" / program.name
    folders = [str(p) for p in (corpus, seeds) if p.is_dir()]
    prefix = f"-artifact_prefix={OUT / 'corpus'}/"
    limits = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096", "-verbosity=0"]
    return [str(program), prefix, *limits, *folders]


def main() -> int:
    """Build, then run what was named (default: every program of the mode)."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--mode", choices=sorted(MODES), default="debug")
    parser.add_argument("--seconds", type=int, default=10, help="length of each fuzzing run")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("names", nargs="*", help="programs, without folder and .c")
    args = parser.parse_args()
    chosen = [p for p in programs(args.mode) if not args.names or p.stem in args.names]
    unknown = set(args.names) - {p.stem for p in chosen}
    if unknown:
        parser.error(f"no such program in mode {args.mode}: {', '.join(sorted(unknown))}")
    try:
        made = build(args.mode, chosen)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    failed = []
    for program in made:
        print(program.relative_to(TOP), flush=True)
        if not args.build_only:
            argv = command(args.mode, program, args.seconds)
            if subprocess.run(argv, env=environment(), check=False).returncode != 0:
                failed.append(program.name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
