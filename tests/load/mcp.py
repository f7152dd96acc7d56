"""Measurements of MCP: calls of a tool at our server and at the official SDK for Node in the same
run, and runs whose tools are those of an MCP server."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from load.scenarios import LOAD_SECONDS_MAX, WORDS, LoadFailed
from load.vendors import FIVE_BUILT_IN, Load, measure_vendor
from support.mcp_probe import SERVERS, ensure_servers
from support.node import NODE
from support.script import turn
from support.server import Server, binary, die_with_parent

MANY = 16
OURS = ("calculator", {"expression": "2+3"})
THEIRS = ("add", {"a": 2, "b": 3})
NODE_SERVER = SERVERS / "modern.mjs"
FIVE_MCP = Load([turn(calls=[("own_calculator", {"expression": f"{page}+1"})])
                 for page in range(5)] + [turn(*WORDS)], "mock-tools-5-deltas-20", mcp="own")


def mcp_load_program() -> Path:
    return Path(binary()).with_name("errand_mcp_load")


def rate(calls: int, in_flight: int, tool: tuple[str, dict], *target: str) -> float:
    """Calls a second."""
    name, arguments = tool
    done = subprocess.run([str(mcp_load_program()), str(calls), str(in_flight), name,
                           json.dumps(arguments), *target],
                          capture_output=True, text=True, timeout=LOAD_SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise LoadFailed(done.stderr)
    return json.loads(done.stdout)["callsPerSecond"]


@dataclass(frozen=True)
class Pair:
    """Calls a second, of ours and of the SDK for Node."""

    ours: float
    theirs: float

    @property
    def times(self) -> float:
        return self.ours / self.theirs


@contextmanager
def node_over_http() -> Iterator[int]:
    """The port of a server on the SDK for Node."""
    process = subprocess.Popen([NODE, NODE_SERVER, "http"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def measure_http(repetitions: int, calls: int) -> list[Pair]:
    """Turn by turn on two warm servers."""
    ensure_servers()
    server = Server([turn("unused")]).start()
    path = f"/api/v1/workspaces/{server.workspace}/mcp"
    try:
        with node_over_http() as port:
            def play() -> Pair:
                return Pair(
                    rate(calls, MANY, OURS, "http", str(server.port), path, server.key),
                    rate(calls, MANY, THEIRS, "http", str(port), "/", "none"))
            play()
            return [play() for _ in range(repetitions)]
    finally:
        server.kill()
        server.close()


def measure_stdio(repetitions: int, calls: int, in_flight: int) -> list[Pair]:
    ensure_servers()
    return [Pair(rate(calls, in_flight, OURS, "stdio", binary(), "mcp", "--embedded"),
                 rate(calls, in_flight, THEIRS, "stdio", str(NODE), str(NODE_SERVER), "stdio"))
            for _ in range(repetitions)]


def measure_runs(repetitions: int, runs: int) -> list[float]:
    """How many times the CPU of five built-in tools a run takes with five of a program. The work of
    the program counts."""
    own = {"command": binary(), "args": ["mcp", "--embedded"]}
    built_in = measure_vendor(FIVE_BUILT_IN, repetitions, runs)
    over_mcp = measure_vendor(FIVE_MCP, repetitions, runs, {"mcpServers": {"own": own}})
    return [one.cpu_ms / other.cpu_ms for one, other in zip(over_mcp, built_in)]
