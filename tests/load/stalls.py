"""What others notice while somebody asks for much: how late /healthz answers, and the memory."""

import gzip
import multiprocessing
import re
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Callable

from load.scenarios import LoadFailed, drive
from support.http import Client, Response
from support.peers.room_peer import Refused, RoomPeer
from support.script import local_tool, turn
from support.server import Server

MIB = 1024 * 1024
PROBE_SECONDS = 0.002  # between two requests
QUIET_SECONDS = 0.3  # before and after
RESULTS = 31  # of 2 MB each: as many as fit into a conversation
HISTORY_MESSAGES = 4
HISTORY_PARTS = 100  # of a message, of 150 KB each
CALLS = 256
UNKNOWN_CALLS = 512
PENDING_CALLS = 20_000
POLLERS = 200
READERS = 20
ANSWER_MIB = 20
DRIPPERS = 16
BOMB_MIB = 256  # what the vendor's answer becomes
CROWD = 1000  # connections that one participant may have to a room
DEAF = 150

ALTERNATIVES = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 10} for n in range(12)}
HOSTILE_SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}},
                  "$defs": ALTERNATIVES | {"d12": {"type": "string"}}}
SCRIPTS = {
    "hostile": [turn(calls=[("check", {"a": n}) for n in range(CALLS)]), turn("Done.")],
    "unknown": [turn(calls=[(f"missing{n}", {}) for n in range(UNKNOWN_CALLS)]), turn("Done.")],
    "large": [turn(calls=[("fetch", {"n": n}) for n in range(RESULTS)]), turn("Done.")],
    "ask": [turn(calls=[("fetch", {})]), turn("Done.")],
    "long": [turn(*["x" * MIB] * ANSWER_MIB)],
    "talk": [turn("Yes.")] * (HISTORY_MESSAGES * HISTORY_PARTS + 2),
}


@dataclass(frozen=True)
class StallFigures:
    task_ms: float  # CPU of the longest task on the event loop; 0: none took a millisecond
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


@dataclass(frozen=True)
class LoopFigures:
    """What /metrics says of the tasks on the event loop."""

    longest_ms: float  # since the start
    counts: dict[float, int]  # of tasks up to so many milliseconds, each with all that are shorter

    @staticmethod
    def read(server: Server) -> "LoopFigures":
        text = server.client().request_at("GET", "/metrics").body.decode()
        longest = re.search(r"^errand_loop_longest_task_cpu_seconds (\S+)$", text, re.MULTILINE)
        counts = re.findall(r'^errand_loop_task_cpu_seconds_bucket{le="(.+)"} (\d+)$', text,
                            re.MULTILINE)
        return LoopFigures(float(longest[1]) * 1000,
                           {float(le) * 1000: int(count) for le, count in counts})

    def longest_since(self, before: "LoopFigures") -> float:
        """Exact if it is the longest of all; else the upper bound of its bucket."""
        if self.longest_ms > before.longest_ms:
            return self.longest_ms
        bounds = [bound for bound in sorted(self.counts) if
                  self.counts[bound] - before.counts[bound] == max(self.counts.values())
                  - max(before.counts.values())]
        is_none = max(self.counts.values()) == max(before.counts.values())
        return 0.0 if is_none else bounds[0]


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


def attack_history(server: Server) -> Callable[[], None]:
    client = server.client()
    session = client.request("POST", "/agent-sessions", {"modelId": "talk"}).json()["sessionId"]
    said = [{"role": ("assistant", "user")[n % 2], "content": "x" * 150_000}
            for n in range(HISTORY_PARTS)]

    def send(body: dict) -> None:
        made = client.request("POST", f"/agent-sessions/{session}/messages", body)
        expect(made, 201)
        client.log(made.json()["runId"])
    for _ in range(HISTORY_MESSAGES):
        send({"messages": said})

    def read(_) -> None:
        expect(server.client().request("GET", f"/agent-sessions/{session}"), 200)

    def attack() -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(read, range(8)))
        send({"prompt": "Hi."})
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


def attack_records(server: Server) -> Callable[[], None]:
    """An agent as large as one may be, in as many values as fit into it."""
    client = server.client()
    tools = [{"kind": "local", "name": f"t{n}", "parameters": {
        "type": "object", "x": [0] * 1600}} for n in range(150)]

    def attack() -> None:
        for n in range(8):
            expect(client.request("POST", "/agents", {"name": f"a{n}", "tools": tools}), 201)
        expect(client.request("GET", "/agents"), 200)
        expect(client.request("POST", "/agent-runs", {"prompt": "Hi", "agentId": "a0"}), 201)
    return attack


def attack_demo(server: Server) -> Callable[[], None]:
    """The demo model, whose rules read the questions and the tools of strangers."""
    words = ["1 1 " * 500, "Find A1 b2 'c " * 140, "a/b.c " * 340, "word " * 400]
    messages = [message for text in words for message in (
        {"role": "user", "content": text}, {"role": "assistant", "content": "Yes."})][:-1]
    tools = [local_tool(f"t{n}") | {"description": "word " * 400, "parameters": {
        "type": "object", "required": [f"p{k}" for k in range(150)],
        "properties": {f"p{k}": {"type": "string", "enum": ["a b"] * 10} for k in range(150)}}}
        for n in range(64)]
    return lambda: run_to_end(server.client(), messages=messages, modelId="demo", tools=tools)


class Bomb(BaseHTTPRequestHandler):
    """A vendor whose answer is short only as long as nobody decodes it."""

    body = gzip.compress(b": " + b"x" * (BOMB_MIB * MIB), 9)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        try:
            self.wfile.write(self.body)
        except OSError:
            pass  # the client has seen enough

    def log_message(self, *_):
        pass


def bomb_config() -> dict:
    vendor = ThreadingHTTPServer(("127.0.0.1", 0), Bomb)
    threading.Thread(target=vendor.serve_forever, daemon=True).start()
    return {"models": [{"id": "bomb", "provider": "openai-compatible",
                        "vendorModelId": "m", "apiKey": "k",
                        "baseUrl": f"http://127.0.0.1:{vendor.server_address[1]}/v1"}],
            "defaultModel": "bomb"}


def attack_bomb(server: Server) -> Callable[[], None]:
    def attack() -> None:
        client = server.client()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: run_to_end(client, prompt="Hi", modelId="bomb"), range(4)))
    return attack


def attack_drips(server: Server) -> Callable[[], None]:
    path = f"/api/v1/workspaces/{server.workspace}/agent-runs"
    head = (f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {32 * MIB}\r\n\r\n").encode()

    def attack() -> None:
        peers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(DRIPPERS)]
        for _ in range(20):
            for peer in peers:
                try:
                    peer.sendall(head if _ == 0 else b"x" * 1024)
                except OSError:
                    pass  # refused and closed
            expect(server.client().request("POST", "/agent-runs",
                                           {"prompt": "Hi", "modelId": "ask"}), 201)
        for peer in peers:
            peer.close()
    return attack


def attack_rooms(server: Server) -> Callable[[], None]:
    """One token with as many connections as it may have, and everything that each may do."""
    client = server.client()
    expect(client.request("POST", "/rooms", {"name": "hall"}), 201)
    made = client.request("POST", "/rooms/hall/tokens", {"name": "eve", "api": {
        "agents": {}, "messaging": {}, "queues": {}, "storage": {}}}).json()
    large = {"name": "large", "public": True, "tools": {}, "description": "x" * 900_000}
    noise = {"toolkit": "messaging", "tool": "broadcast", "arguments": {"type": "json", "json": {
        "type": "noise", "message_json": "{}", "attachment_base64": "A" * 4 * MIB}}}

    def deaf() -> RoomPeer:
        return RoomPeer(server.url, "hall", made["token"]).ready()

    def attack() -> None:
        peers = [deaf() for _ in range(CROWD)]
        try:
            deaf()
            raise LoadFailed("the crowd has no end")
        except Refused as refused:
            if refused.status != 503:
                raise LoadFailed(f"{refused.status}") from refused
        loud = peers[0]
        loud.ask("room.register_toolkit", large)
        for peer in peers[1:DEAF]:  # who want all messages, and read none
            peer.send("room.invoke_tool", {"toolkit": "messaging", "tool": "enable"})
            for _ in range(200):
                peer.send("room.list_toolkits", {})
        for peer in peers[DEAF:2 * DEAF]:  # who begin a message and do not end it
            peer.send_frame(struct.pack("!QII", 1, 0, 3) + b"room.list_toolkits")
            try:
                peer.send_frame(struct.pack("!QI", 1, 1) + b"x" * (4 * MIB - 1024))
            except OSError:
                pass  # others have begun since then, and this one was closed
        for peer in peers[2 * DEAF:3 * DEAF]:  # whose chunks belong to no call
            for n in range(200):
                peer.send("room.tool_call_request_chunk",
                          {"tool_call_id": f"c{n}", "chunk": {"type": "empty"}}, b"x" * 500)
        for _ in range(10):
            if loud.ask("room.invoke_tool", noise) != {"type": "empty"}:
                raise LoadFailed("a message to all was refused")
        for peer in peers:
            peer.close()
    return attack


ATTACKS = {
    "256 tools with 50 patterns each": attack_patterns,
    "256 calls of a tool with a hostile schema": attack_schema,
    "8 GETs of a run with 62 MB of results": attack_reads,
    "8 GETs of a session with a history of 60 MB, and a message to it": attack_history,
    "A fork of a run with 62 MB of results": attack_fork,
    "512 calls of unknown tools": attack_unknown,
    "A body of 30 MB of small values": attack_values,
    "200 pollers beside 20,000 pending calls": attack_pollers,
    "20 readers that do not read an answer of 20 MB": attack_readers,
    "8 agents of 0.5 MB of small values, listed and run": attack_records,
    "The demo model with long questions and 64 tools": attack_demo,
    "4 answers of a vendor that decode to 256 MB": attack_bomb,
    "16 strangers that drip bodies of 32 MB": attack_drips,
    "1,000 connections of a participant that misbehaves in a room": attack_rooms,
}
CONFIGS = {attack_bomb: bomb_config, attack_demo: lambda: {"models": [
    {"id": "demo", "provider": "demo"}], "defaultModel": "demo"}}


def measure_stall(prepare: Callable[[Server], Callable[[], None]]) -> StallFigures:
    server = Server(SCRIPTS, CONFIGS[prepare]() if prepare in CONFIGS else None).start()
    try:
        attack = prepare(server)
        before = LoopFigures.read(server)
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
        task = LoopFigures.read(server).longest_since(before)
        return StallFigures(task, took[int(len(took) * 0.99)], took[-1], peak_mb(server.pid))
    finally:
        server.kill()
        server.close()
