"""The process that holds the set under measurement, and the parent's handle on it.

The child has nothing but NumPy, this package and one set, so its memory is the set's. Events come
through a shared file mapped by both, already in the layout's types:

    | members: rows x member bytes | values: rows x score bytes |

Commands are JSON, one a line on the child's standard input; each has one answer, a JSON line on
its standard output. Only the calls into the set are timed. The parent waits while the child
works, so nothing of ours competes with it.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from .blocks import Float64Array, Int64Array, Operation
from .layouts import LAYOUTS, Layout

PAGE_BYTES = 4096


class ChildError(RuntimeError):
    """The child failed; the message is its own."""


class Room:
    """The two columns in the shared file."""

    def __init__(self, shared: mmap.mmap, layout: Layout, rows: int) -> None:
        at = rows * layout.member_dtype.itemsize
        self.members: npt.NDArray[Any] = np.frombuffer(shared, layout.member_dtype, rows)
        self.values: npt.NDArray[Any] = np.frombuffer(shared, layout.score_dtype, rows, at)

    @staticmethod
    def size(layout: Layout, rows: int) -> int:
        """Bytes that the file must have."""
        return rows * (layout.member_dtype.itemsize + layout.score_dtype.itemsize)


def _shared_file() -> tempfile._TemporaryFileWrapper[bytes]:
    return tempfile.NamedTemporaryFile(prefix="goblin-pz-")


def child_code() -> str:
    """Give what the child runs: this package from where the parent has it, whatever the folder."""
    return (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from goblin_pz.workbench.child import main; main()"
    )


class ChildSet:
    """A set in a process of its own.

    Parameters
    ----------
    layout : Layout
    operation : Operation
    rows : int
        Most events in one `apply`, and entries in one `page`.
    score_rle : bool
    merge_exponent : float or None
        None is the set's default.

    Attributes
    ----------
    pid : int
    """

    def __init__(
        self,
        layout: Layout,
        operation: Operation,
        rows: int,
        *,
        score_rle: bool,
        merge_exponent: float | None,
    ) -> None:
        self._layout = layout
        self._stack = contextlib.ExitStack()
        file = self._stack.enter_context(_shared_file())
        size = Room.size(layout, rows)
        file.truncate(size)
        self._room = Room(mmap.mmap(file.fileno(), size), layout, rows)
        self._process = subprocess.Popen(
            [sys.executable, "-c", child_code()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        self._stack.callback(self._end)
        try:
            self._ask(
                {
                    "layout": layout.name,
                    "operation": operation.value,
                    "rows": rows,
                    "score_rle": score_rle,
                    "merge_exponent": merge_exponent,
                    "file": file.name,
                }
            )
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> ChildSet:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and remove the shared file."""
        self._stack.close()

    def _end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps(command), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self._process.wait()
            raise ChildError(f"the process of the set ended with status {code}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ChildError(answer["error"])
        return answer

    def apply(
        self, members: Int64Array, values: Float64Array | None, batch: int
    ) -> tuple[float, float, int]:
        """Apply events, `batch` a call; 0 or 1: one by one through scalar calls.

        Returns
        -------
        seconds : float
            Wall time of the calls into the set.
        cpu_seconds : float
            The process's CPU time in them.
        members : int
            Members of the set afterwards.
        """
        rows = len(members)
        self._room.members[:rows] = self._layout.encode(members)
        if values is not None:
            self._room.values[:rows] = values
        answer = self._ask(
            {"do": "apply", "rows": rows, "values": values is not None, "batch": batch}
        )
        return answer["seconds"], answer["cpu_seconds"], answer["members"]

    def memory(self) -> dict[str, Any]:
        """Give the set's own counters."""
        answer: dict[str, Any] = self._ask({"do": "memory"})["memory"]
        return answer

    def page(self, start: int, stop: int) -> tuple[Int64Array, Float64Array]:
        """Give entries start to stop in rank order; fewer when the set ends before."""
        rows = self._ask({"do": "page", "start": start, "stop": stop})["rows"]
        members = self._layout.decode(self._room.members[:rows])
        return members, self._room.values[:rows].astype(np.float64)


class _Server:
    """The child's side."""

    def __init__(self, start: dict[str, Any]) -> None:
        from .engines import PackedEngine

        layout = LAYOUTS[start["layout"]]
        with open(start["file"], "r+b") as file:
            shared = mmap.mmap(file.fileno(), Room.size(layout, start["rows"]))
        self._room = Room(shared, layout, start["rows"])
        # Every page of the mapping is resident before the idle reading.
        np.frombuffer(shared, np.uint8)[::PAGE_BYTES].sum()
        self._engine = PackedEngine(
            layout,
            Operation(start["operation"]),
            score_rle=start["score_rle"],
            merge_exponent=start["merge_exponent"],
        )

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        match command["do"]:
            case "apply":
                return self._apply(command["rows"], command["values"], command["batch"])
            case "memory":
                return {"memory": self._engine.memory()}
            case "page":
                members, scores = self._engine.page(command["start"], command["stop"])
                self._room.members[: len(members)] = members
                self._room.values[: len(scores)] = scores
                return {"rows": len(members)}
            case unknown:
                raise ValueError(f"no command {unknown!r}")

    def _apply(self, rows: int, with_values: bool, batch: int) -> dict[str, Any]:
        members = self._room.members[:rows]
        values = self._room.values[:rows] if with_values else None
        if batch > 1:
            spent = self._apply_batches(members, values, batch)
        else:
            spent = self._apply_each(members.tolist(), None if values is None else values.tolist())
        return {"seconds": spent[0], "cpu_seconds": spent[1], "members": len(self._engine)}

    def _apply_batches(
        self, members: npt.NDArray[Any], values: npt.NDArray[Any] | None, batch: int
    ) -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        for at in range(0, len(members), batch):
            part = None if values is None else values[at : at + batch]
            self._engine.apply(members[at : at + batch], part)
        return time.perf_counter() - wall, time.process_time() - cpu

    def _apply_each(self, members: list[Any], values: list[float] | None) -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        self._engine.apply_each(members, values)
        return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Serve one parent until it closes our standard input."""
    server: _Server | None = None
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if server is None:
                server = _Server(command)
                answer: dict[str, Any] = {}
            else:
                answer = server.answer(command)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
