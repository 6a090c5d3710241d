"""A few worker processes under watch: a task that hangs, crashes or eats memory costs that task, not the run.

A task function runs in a child process and gets a `Step` to call before each thing that may hang (`step("compile")`,
`step("instance 3")`). The parent kills the child when a step outlasts its limit or the child outgrows its memory,
records a `Lost` in the task's place and starts a fresh child. A signal would not do: a loop inside the kernel does not
return to Python to hear it.

A step's limit counts the child's processor time where the system tells it (`/proc`), so that a busy machine costs no
task; the wall clock's limit is `PATIENCE` times as long, for a child that sleeps.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

PATIENCE = 20
"""How many times the processor's limit the wall clock may show."""

MEMORY_LIMIT_BYTES = 2**30
"""What one child may hold in memory, where a caller does not say otherwise."""

Step = Callable[[str], None]
Task = Callable[[Any, Step], Any]


@dataclass(frozen=True, slots=True)
class Lost:
    """A task without a result: its last step outlasted a limit (`timeout`, `memory`) or ended the process (`crash`)."""

    kind: Literal["timeout", "memory", "crash"]
    step: str


@dataclass
class _Child:
    process: Any
    pipe: Connection
    index: int | None = None
    step: str = "start"
    since: float = 0.0
    spent: float = 0.0

    def begin(self, step: str, grace_s: float = 0.0) -> None:
        """Start both clocks of a step; `grace_s` is time it gets on top of the limit."""
        self.step = step
        self.since = time.monotonic() + grace_s
        self.spent = (processor_seconds(self.process.pid) or 0.0) + grace_s

    def exceeded(self, step_limit_s: float, memory_limit_bytes: int) -> Lost | None:
        """The limit that the step at hand has exceeded."""
        spent = processor_seconds(self.process.pid)
        waited = time.monotonic() - self.since
        if waited > step_limit_s * (1 if spent is None else PATIENCE) or (spent or 0.0) - self.spent > step_limit_s:
            return Lost("timeout", self.step)
        return Lost("memory", self.step) if resident_bytes(self.process.pid) > memory_limit_bytes else None


def run(
    task: Task,
    arguments: Sequence[Any],
    *,
    processes: int = 2,
    step_limit_s: float = 2.0,
    title: str = "",
    memory_limit_bytes: int = MEMORY_LIMIT_BYTES,
) -> Iterator[tuple[int, Any]]:
    """Run `task` on each argument; yield (index, result or `Lost`) as they end. Exceptions in a task end the run.

    Args: task: importable by name (the children are spawned, so that none inherits the parent's memory).
    """
    context = multiprocessing.get_context("spawn")
    pending = list(range(len(arguments)))[::-1]
    children = [_start(context, task) for _ in range(min(processes, len(arguments)))]
    try:
        with progress_bar() as bar:
            tracked = bar.add_task(title, total=len(arguments))
            for child in children:
                _give(child, pending, arguments)
            while any(child.index is not None for child in children):
                ready = wait([child.pipe for child in children if child.index is not None], timeout=0.25)
                for position, child in enumerate(children):
                    if child.index is None:
                        continue
                    message = _receive(child) if child.pipe in ready else None
                    if message is None:
                        lost = child.exceeded(step_limit_s, memory_limit_bytes)
                        if lost is None:
                            continue
                        message = ("result", lost)
                    kind, payload = message
                    if kind == "step":
                        child.begin(str(payload))
                        continue
                    if kind == "error":
                        raise RuntimeError(f"task {child.index} failed at {child.step}:\n{payload}")
                    yield child.index, payload
                    bar.advance(tracked)
                    if isinstance(payload, Lost):
                        bar.console.print(f"{title} {child.index}: {payload.kind} at {payload.step}", highlight=False)
                        _stop(child)
                        children[position] = child = _start(context, task)
                    _give(child, pending, arguments)
    finally:
        for child in children:
            _stop(child)


def progress_bar() -> Progress:
    """The bar that every script shows on standard error, so that standard output holds the table alone."""
    from rich.console import Console

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), refresh_per_second=2)


def _start(context: Any, task: Task) -> _Child:
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(task, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Child(process, ours)


def _give(child: _Child, pending: list[int], arguments: Sequence[Any]) -> None:
    child.index = pending.pop() if pending else None
    if child.index is not None:
        child.begin("start", grace_s=60.0)  # the first task also imports and loads
        child.pipe.send(arguments[child.index])


def _receive(child: _Child) -> tuple[str, Any]:
    try:
        return child.pipe.recv()
    except (EOFError, ConnectionResetError):
        return "result", Lost("crash", child.step)


def _stop(child: _Child) -> None:
    child.process.kill()
    child.process.join()
    child.pipe.close()


def _serve(task: Task, pipe: Connection) -> None:
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            argument = pipe.recv()
            try:
                result = task(argument, lambda name: pipe.send(("step", name)))
            except Exception:
                import traceback

                pipe.send(("error", traceback.format_exc()))
                return
            pipe.send(("result", result))


# ---------------------------------------------------------------- what a process uses


def processor_seconds(pid: int) -> float | None:
    """User and system time of a process; None where the system does not tell (no `/proc`, or it has ended)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return None


def resident_bytes(pid: int) -> int:
    """The resident memory of a process; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def reset_peak_memory() -> bool:
    """Start a new measurement of the peak; False where the system offers none (then peaks only grow)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_memory_bytes() -> int:
    """The most resident memory since `reset_peak_memory`, in bytes."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if os.uname().sysname == "Darwin" else 1024)
