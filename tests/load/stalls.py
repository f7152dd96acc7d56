"""What others notice while somebody asks for much: how late /healthz answers, and the memory."""

import multiprocessing
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Callable

from load.scenarios import LoadFailed, drive
from support.http import Client, Response
from support.script import local_tool, turn
from support.server import Server

MIB = 1024 * 1024
PROBE_SECONDS = 0.002  # between two requests
QUIET_SECONDS = 0.3  # before and after
RESULTS = 32  # of 2 MB each
CALLS = 256
UNKNOWN_CALLS = 512
PENDING_CALLS = 20_000
POLLERS = 200
READERS = 20
ANSWER_MIB = 20

ALTERNATIVES = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 10} for n in range(12)}
HOSTILE_SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}},
                  "$defs": ALTERNATIVES | {"d12": {"type": "string"}}}
SCRIPTS = {
    "hostile": [turn(calls=[("check", {"a": n}) for n in range(CALLS)]), turn("Done.")],
    "unknown": [turn(calls=[(f"missing{n}", {}) for n in range(UNKNOWN_CALLS)]), turn("Done.")],
    "large": [turn(calls=[("fetch", {"n": n}) for n in range(RESULTS)]), turn("Done.")],
    "ask": [turn(calls=[("fetch", {})]), turn("Done.")],
    "long": [turn(*["x" * MIB] * ANSWER_MIB)],
}


@dataclass(frozen=True)
class StallFigures:
    p99_ms: float
    longest_ms: float
    peak_mb: float  # of resident memory


def probe(port: int, out: Connection) -> None:
    """Asks /healthz again and again until told to stop, then sends what each answer took."""
    request = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    took = []
    with socket.create_connection(("127.0.0.1", port)) as peer:
        while not out.poll(PROBE_SECONDS):
            begun = time.monotonic()
            peer.sendall(request)
            answer = b""
            while b"\r\n\r\n" not in answer or not answer.rstrip().endswith(b"}"):
                piece = peer.recv(65536)
                if not piece:
                    raise LoadFailed("/healthz was cut off")
                answer += piece
            took.append((time.monotonic() - begun) * 1000)
    out.send(took)


def peak_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise LoadFailed("no VmHWM")


def expect(answer: Response, status: int, code: str = "") -> None:
    """An attack that was turned away at the door would show nothing."""
    if answer.status != status or (code and answer.json()["code"] != code):
        raise LoadFailed(f"{answer.status} {answer.body[:200]}")


def run_to_end(client: Client, **spec) -> str:
    run = client.create(**spec)
    with client.stream(run) as stream:
        list(stream)
    return run


def with_large_run(client: Client) -> str:
    run = client.create(prompt="Fetch.", modelId="large", tools=[local_tool("fetch")])
    with client.stream(run) as stream:
        frames = stream.until("assistant_message")
    for call in (frame.json() for frame in frames if frame.event == "local_tool_call"):
        client.answer(run, call["toolUseId"], result="x" * (2 * MIB))
    with client.stream(run) as stream:
        list(stream)
    return run


def attack_patterns(server: Server) -> Callable[[], None]:
    tools = [local_tool(f"t{n}") | {"parameters": {"type": "object", "properties": {
        f"p{k}": {"pattern": f"^[a-z]{{1,50}}{n}-{k}$"} for k in range(50)}}} for n in range(256)]
    body = {"prompt": "Hi", "modelId": "ask", "tools": tools}

    def attack() -> None:
        for _ in range(3):
            expect(server.client().request("POST", "/agent-runs", body), 400, "too_complex")
    return attack


def attack_schema(server: Server) -> Callable[[], None]:
    tool = local_tool("check") | {"parameters": HOSTILE_SCHEMA}
    return lambda: run_to_end(server.client(), prompt="Go.", modelId="hostile", tools=[tool])


def attack_reads(server: Server) -> Callable[[], None]:
    run = with_large_run(server.client())

    def attack() -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: server.client().snapshot(run), range(8)))
    return attack


def attack_fork(server: Server) -> Callable[[], None]:
    client = server.client()
    run = with_large_run(client)
    return lambda: expect(client.request("POST", f"/agent-runs/{run}/fork", {}), 201)


def attack_unknown(server: Server) -> Callable[[], None]:
    tools = [local_tool(f"tool_number_{n}") for n in range(250)]
    return lambda: run_to_end(server.client(), prompt="Go.", modelId="unknown", tools=tools)


def attack_values(server: Server) -> Callable[[], None]:
    body = {"prompt": "Hi", "modelId": "ask", "x": [0] * (10 * MIB)}
    return lambda: expect(server.client().request("POST", "/agent-runs", body), 400, "too_complex")


def attack_pollers(server: Server) -> Callable[[], None]:
    drive(server, "ask", PENDING_CALLS, "created", tool="fetch")

    def attack() -> None:
        with ThreadPoolExecutor(POLLERS) as pool:
            polls = [pool.submit(server.client().request, "GET", f"/tool-calls?wait=3&name=no{n}")
                     for n in range(POLLERS)]
            drive(server, "ask", 500, "created", tool="fetch")
            for one in polls:
                expect(one.result(), 200)
    return attack


def attack_readers(server: Server) -> Callable[[], None]:
    client = server.client()
    run = run_to_end(client, prompt="Speak.", modelId="long")
    path = f"/api/v1/workspaces/{server.workspace}/agent-runs/{run}/stream"
    request = (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
               f"Authorization: Bearer {server.key}\r\n\r\n").encode()

    def attack() -> None:
        readers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(READERS)]
        for reader in readers:
            reader.sendall(request)
        time.sleep(2)  # paced: they do not read
        for reader in readers:
            reader.close()
    return attack


ATTACKS = {
    "256 tools with 50 patterns each": attack_patterns,
    "256 calls of a tool with a hostile schema": attack_schema,
    "8 GETs of a run with 64 MB of results": attack_reads,
    "A fork of a run with 64 MB of results": attack_fork,
    "512 calls of unknown tools": attack_unknown,
    "A body of 30 MB of small values": attack_values,
    "200 pollers beside 20,000 pending calls": attack_pollers,
    "20 readers that do not read an answer of 20 MB": attack_readers,
}


def measure_stall(prepare: Callable[[Server], Callable[[], None]]) -> StallFigures:
    server = Server(SCRIPTS).start()
    try:
        attack = prepare(server)
        here, there = multiprocessing.get_context("fork").Pipe()
        prober = multiprocessing.get_context("fork").Process(target=probe,
                                                             args=(server.port, there))
        prober.start()
        time.sleep(QUIET_SECONDS)  # paced: so that it is asking
        attack()
        time.sleep(QUIET_SECONDS)  # paced: what comes after the answer
        here.send("stop")
        took = sorted(here.recv())
        prober.join()
        return StallFigures(took[int(len(took) * 0.99)], took[-1], peak_mb(server.pid))
    finally:
        server.kill()
        server.close()
