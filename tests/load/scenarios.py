"""What is measured, each on servers of its own."""

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from support.script import turn
from support.server import STOP_SECONDS_MAX, Server, binary

LOAD_SECONDS_MAX = 300
IN_FLIGHT = 8
WARM_UP_RUNS = 1000
PAUSED_RUNS = 1000
TOOL = "fetch"

WORDS = [f"word{number:02} " for number in range(20)]
SCRIPTS = {
    "talk": [turn(*WORDS)],
    "ask": [turn(*WORDS[:10], calls=[(TOOL, {})]), turn(*WORDS[10:])],
}
TOOLS = {"ask": TOOL}


class LoadFailed(Exception):
    """Runs failed, so that what was measured says nothing."""


def load_program() -> Path:
    # Two builds that are compared get the same load.
    return Path(os.environ.get("ERRAND_LOAD_PROGRAMS") or Path(binary()).parent) / "errand_load"


def vendor_program() -> Path:
    """The errand whose `fake-model` is the vendor: two builds that are compared get the same."""
    beside = load_program().with_name("errand")
    return beside if beside.exists() else Path(binary())


def load_command(server: Server, scenario: str, model: str, runs: int,
                 in_flight: int = IN_FLIGHT, tool: str = "", pace_ms: int = 0,
                 plugin: str = "", mcp: str = "") -> list[str]:
    tool = tool or TOOLS.get(model, "")
    return [str(load_program()), scenario, "--port", str(server.port), "--key", server.key,
            "--workspace", server.workspace, "--model", model, *(["--tool", tool] if tool else []),
            "--runs", str(runs), "--in-flight", str(in_flight),
            *(["--pace", str(pace_ms)] if pace_ms else []),
            *(["--plugin", plugin] if plugin else []), *(["--mcp", mcp] if mcp else [])]


def drive(server: Server, model: str, runs: int, scenario: str = "runs",
          in_flight: int = IN_FLIGHT, tool: str = "", pace_ms: int = 0,
          plugin: str = "", mcp: str = "") -> dict:
    """Plays so many runs and returns the report."""
    command = load_command(server, scenario, model, runs, in_flight, tool, pace_ms, plugin, mcp)
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=LOAD_SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise LoadFailed(f"{done.stdout.decode()}\n{server.errors()[-2000:]}")
    return json.loads(done.stdout)


class Running:
    """A server that is warm, if asked for, and ends with its `with` statement."""

    def __init__(self, *warm_up: str):
        self.server = Server(SCRIPTS)
        self.warm_up = warm_up

    def __enter__(self) -> Server:
        try:
            self.server.start()
            for model in self.warm_up:
                drive(self.server, model, WARM_UP_RUNS)
        except BaseException:
            self.server.close()
            raise
        return self.server

    def __exit__(self, *_) -> None:
        try:
            if self.server.running:
                self.server.stop()
        finally:
            self.server.close()


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of a process, those that have ended included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family_cpu_seconds(pid: int) -> float:
    """The same of a process, of the programs that it has started, and of theirs."""
    process = Path(f"/proc/{pid}")
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    own = sum(int(field) for field in fields[11:15])  # with those that have ended
    children = [int(child) for task in (process / "task").iterdir()
                for child in (task / "children").read_text().split()]
    return own / os.sysconf("SC_CLK_TCK") + sum(map(family_cpu_seconds, children))


def rss_kb(pid: int) -> int:
    """Resident memory, the pages of the binary included."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1])
    raise LoadFailed(f"no Rss in /proc/{pid}/smaps_rollup")


def peak_rss_kb(pid: int) -> int:
    """The most resident memory that the process has had so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise LoadFailed(f"no VmHWM in /proc/{pid}/status")


@dataclass(frozen=True)
class RunFigures:
    cpu_ms: float  # of the server, for one run
    per_second: float
    p50_ms: float
    p99_ms: float


def measure_runs(model: str, repetitions: int, runs: int) -> list[RunFigures]:
    """All repetitions on one warm server; its store grows from one to the next."""
    figures = []
    with Running(model) as server:
        for _ in range(repetitions):
            before = cpu_seconds(server.pid)
            found = drive(server, model, runs)
            cpu_ms = (cpu_seconds(server.pid) - before) * 1000 / runs
            figures.append(RunFigures(cpu_ms, found["runsPerSecond"], found["p50Ms"],
                                      found["p99Ms"]))
    return figures


def measure_paused() -> float:
    """KB of resident memory for each run that waits for its client with an open stream."""
    with Running("talk", "ask") as server:
        return memory_of_open_runs(server, "paused", "ask")


def memory_of_open_runs(server: Server, scenario: str, model: str, tool: str = "") -> float:
    before = rss_kb(server.pid)
    load = subprocess.Popen(load_command(server, scenario, model, PAUSED_RUNS, tool=tool),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with load:
        try:
            waiting = json.loads(load.stdout.readline())["runs"]
            with_them = rss_kb(server.pid)
            output, _ = load.communicate(b"\n", LOAD_SECONDS_MAX)
        except BaseException:
            load.kill()
            raise
    if load.returncode != 0 or waiting != PAUSED_RUNS:
        raise LoadFailed(f"{waiting} runs waited; {output.decode()}")
    return (with_them - before) / PAUSED_RUNS


@dataclass(frozen=True)
class StartFigures:
    millis: float  # from before the fork to the ready line
    rss_mb: float  # right after that


def time_start(server: Server) -> StartFigures:
    """Not Server.start: Python forks itself for that, which takes longer than the server does."""
    with open(server.errors_path, "ab") as errors:
        begun = time.monotonic()
        process = subprocess.Popen(server.command(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=errors)
        with process:
            try:
                line = process.stdout.readline()
                millis = (time.monotonic() - begun) * 1000
                if not line:
                    raise LoadFailed(server.errors())
                rss_mb = rss_kb(process.pid) / 1024
                process.terminate()
                process.wait(STOP_SECONDS_MAX)
            except BaseException:
                process.kill()
                raise
    return StartFigures(millis, rss_mb)


def measure_start_fresh() -> StartFigures:
    server = Server(SCRIPTS)
    try:
        return time_start(server)
    finally:
        server.close()


def measure_starts_again(starts: int) -> list[StartFigures]:
    """On a data directory with the runs of the warm-up, all ended."""
    with Running("talk", "ask") as server:
        server.stop()
        return [time_start(server) for _ in range(starts)]
