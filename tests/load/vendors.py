"""Measurements of runs whose model is behind HTTP: a fake vendor on the same machine, which speaks
as OpenAI's chat completions do."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from load.durability import wait_for
from load.scenarios import (
    TOOL, WORDS, LoadFailed, RunFigures, cpu_seconds, drive, family_cpu_seconds,
    memory_of_open_runs, vendor_program,
)
from support.fake_model import FakeModel
from support.script import turn
from support.server import Server, binary

MANY = 200  # runs in flight, for latencies
STREAMS = 500
STREAMED_DELTAS = 200
DELTA_MS = 20
LONG_DELTAS = 1000
TOOLS_OF_A_RUN = 64
TOOL_SCHEMA_BYTES = 1024


@dataclass(frozen=True)
class Load:
    """What the vendor says, and how many runs ask it at once."""

    turns: list[dict]
    mock: str  # the name of the model of another mock that says as much
    in_flight: int = 8
    tool: str = ""  # of the client
    plugin: str = ""  # of the server
    mcp: str = ""  # an MCP server of the configuration


ONE_TURN = Load([turn(*WORDS)], "mock-deltas-20")
ONE_CALL = Load([turn(*WORDS[:10], calls=[(TOOL, {})]), turn(*WORDS)], "mock-tools-1-deltas-20",
                tool=TOOL)
FIVE_CALLS = Load([turn(calls=[(TOOL, {"page": page})]) for page in range(5)] + [turn(*WORDS)],
                  "mock-tools-5-deltas-20", tool=TOOL)
FIVE_BUILT_IN = Load([turn(calls=[("calculator", {"expression": f"{page}+1"})])
                      for page in range(5)] + [turn(*WORDS)], "mock-tools-5-deltas-20",
                     plugin="calculator")
FIRST_TOKEN_50 = Load([turn(*WORDS, delayMs=50)], "mock-deltas-20-ttft-50", in_flight=MANY)
LONG_TURN = Load([turn(*(f"word{number:04} " for number in range(LONG_DELTAS)))],
                 f"mock-deltas-{LONG_DELTAS}")
HELD = Load([turn("word ", "word ", deltaDelayMs=600_000)], "mock-deltas-2-itl-600000")
STEADY = Load([turn(*(f"word{number:04} " for number in range(STREAMED_DELTAS)),
                    deltaDelayMs=DELTA_MS)], f"mock-deltas-{STREAMED_DELTAS}-itl-{DELTA_MS}",
              in_flight=STREAMS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except ConnectionRefusedError:
        return False


def vendor_name() -> str:
    """The vendor of this benchmark, for the page."""
    program = os.environ.get("ERRAND_BENCH_MOCK", "")
    return Path(program).name if program else "errand fake-model"


def start_fake_model(turns: list[dict]) -> FakeModel:
    measured = os.environ["ERRAND_BINARY"]
    os.environ["ERRAND_BINARY"] = str(vendor_program())
    try:
        return FakeModel(turns)
    finally:
        os.environ["ERRAND_BINARY"] = measured


@contextmanager
def speaking(load: Load) -> Iterator[dict]:
    """The configuration of a model behind HTTP: an `errand fake-model`, or the program that
    ERRAND_BENCH_MOCK names, which takes `--port` and says what the name of its model asks for."""
    program = os.environ.get("ERRAND_BENCH_MOCK", "")
    if program:
        port = free_port()
        mock = subprocess.Popen([program, "--port", str(port)], stdout=subprocess.DEVNULL)
        url, stop = f"http://127.0.0.1:{port}", mock.kill
        wait_for(lambda: answers(port), "the mock does not listen")
    else:
        fake = start_fake_model(load.turns)
        url, stop = fake.url, fake.stop
    try:
        yield {"models": [{"id": "vendor", "provider": "openai-compatible",
                           "vendorModelId": load.mock, "baseUrl": f"{url}/v1", "apiKey": "k"}],
               "defaultModel": "vendor"}
    finally:
        stop()
        if program:
            mock.wait()


@contextmanager
def serving(load: Load, more_config: dict | None = None) -> Iterator[Server]:
    """A server whose model is such a vendor."""
    with speaking(load) as config:
        config["models"].append({"id": "warm", "provider": "scripted", "script": "warm.json"})
        server = Server({"warm": [turn(*WORDS)]}, extra_config=config | (more_config or {}))
        try:
            yield server.start()
        finally:
            server.kill()
            server.close()


def measure_vendor(load: Load, repetitions: int, runs: int,
                   more_config: dict | None = None) -> list[RunFigures]:
    """All repetitions on one warm server. The programs that it has started count as well."""
    with serving(load, more_config) as server:
        def play() -> dict:
            return drive(server, "vendor", runs, in_flight=load.in_flight, tool=load.tool,
                         plugin=load.plugin, mcp=load.mcp)

        play()
        figures = []
        for _ in range(repetitions):
            before = family_cpu_seconds(server.pid)
            found = play()
            cpu_ms = (family_cpu_seconds(server.pid) - before) * 1000 / runs
            figures.append(RunFigures(cpu_ms, found["runsPerSecond"], found["p50Ms"],
                                      found["p99Ms"]))
        return figures


def measure_held() -> float:
    """KB of resident memory for each run whose vendor has begun to speak, with an open reader."""
    with serving(HELD) as server:
        drive(server, "warm", 2000)
        return memory_of_open_runs(server, "held", "vendor")


def measure_paused() -> float:
    """KB of resident memory for each run whose vendor has asked for a tool of the client, and whose
    client reads and does not answer."""
    with serving(ONE_CALL) as server:
        drive(server, "warm", 1000)
        drive(server, "vendor", 1000, tool=TOOL)
        return memory_of_open_runs(server, "paused", "vendor", TOOL)


@dataclass(frozen=True)
class StreamFigures:
    cpu_us: float  # of the server, for a delta
    p50_ms: float
    p99_ms: float


def measure_streams(repetitions: int) -> list[StreamFigures]:
    """How late the deltas of many streams come."""
    with serving(STEADY) as server:
        figures = []
        for _ in range(repetitions):
            before = cpu_seconds(server.pid)
            found = drive(server, "vendor", STREAMS, "streams", STREAMS, pace_ms=DELTA_MS)
            cpu_us = (cpu_seconds(server.pid) - before) * 1e6 / found["deltas"]
            figures.append(StreamFigures(cpu_us, found["deltaP50Ms"], found["deltaP99Ms"]))
        return figures


@dataclass(frozen=True)
class CreationFigures:
    first_ms: float  # server CPU, while no schema is known
    later_ms: float


def tools_with_schemas(seed: int) -> list[dict]:
    """Tools whose schemas have about a kilobyte each; no two are alike."""
    tools = []
    for number in range(TOOLS_OF_A_RUN):
        properties = {}
        while len(json.dumps(properties)) < TOOL_SCHEMA_BYTES - 60:
            name = f"field_{seed}_{len(properties)}"
            properties[name] = {"type": "string", "maxLength": 100 + number,
                                "description": "What the caller has to say about it."}
        tools.append({"kind": "local", "name": f"tool_{number}", "description": "A tool.",
                      "parameters": {"type": "object", "properties": properties}})
    return tools


def measure_creation(runs: int) -> CreationFigures:
    server = Server([turn("ok")]).start()
    try:
        client = server.client()
        client.create(prompt="warm up", tools=tools_with_schemas(0))

        def cpu_of(tool_sets: list[list[dict]]) -> float:
            before = cpu_seconds(server.pid)
            for tools in tool_sets:
                client.create(prompt="Go.", tools=tools)
            return (cpu_seconds(server.pid) - before) * 1000 / len(tool_sets)

        bare = cpu_of([[] for _ in range(runs)])
        first = cpu_of([tools_with_schemas(seed) for seed in range(1, runs + 1)])
        same = tools_with_schemas(runs)
        later = cpu_of([same for _ in range(runs)])
        return CreationFigures(first - bare, later - bare)
    finally:
        server.kill()
        server.close()


def micro_program() -> Path:
    return Path(binary()).with_name("errand_micro")


def measure_parts() -> dict[str, float]:
    """What the errand_micro beside the server says. It is made of the same parts as the server, so
    another build's would say nothing about this one."""
    if not micro_program().exists():
        raise LoadFailed(f"there is no {micro_program()}")
    done = subprocess.run([str(micro_program())], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)
