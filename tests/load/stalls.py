"""What others notice while somebody asks for much: how late /healthz answers, and the memory. In an
attacked room: how late the calls of neighbours are answered."""

import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Callable

from load.scenarios import LoadFailed, drive
from load.stall_peers import (
    HOSTILE_SCHEMA, MIB, Bomb, Listener, PatternMcp, SchemaMcp, schema_with_patterns, vendor_config,
)
from load.stall_probe import LoopFigures, Prober, StallFigures, peak_mb, probe, probe_calls
from support.http import Client, Connection, Response, request_bytes
from support.peers.room_peer import Refused, RoomPeer
from support.script import local_tool, turn
from support.server import Server

QUIET_SECONDS = 0.3  # before and after
RESULTS = 31  # of 2 MB each: as many as fit into a conversation
HISTORY_MESSAGES = 4
HISTORY_PARTS = 100  # of a message, of 150 KB each
CALLS = 256
UNKNOWN_CALLS = 512
MANY_UNKNOWN_CALLS = 2000
MCP_CALLS = 32
PENDING_CALLS = 20_000
POLLERS = 200
READERS = 20
ANSWER_MIB = 15  # a script is a file of 16 MB at most
DRIPPERS = 16
DRIPS = 20
STALLED_PAGES = 200
AGENTS = 60
TOOLS_MAX = 250
PATTERNS_MAX = 512  # of all tools
SCHEMA_PATTERNS_MAX = 128
CROWD = 1000  # connections that one participant may have to a room
DEAF = 150

SCRIPTS = {
    "hostile": [turn(calls=[("check", {"a": n}) for n in range(CALLS)]), turn("Done.")],
    "unknown": [turn(calls=[(f"missing{n}", {}) for n in range(UNKNOWN_CALLS)]), turn("Done.")],
    "unknowns": [turn(calls=[(f"missing{n}", {}) for n in range(MANY_UNKNOWN_CALLS)]),
                 turn("Done.")],
    "mcp": [turn(calls=[("m_act", {}) for _ in range(MCP_CALLS)]), turn("Done.")],
    "done": [turn("Done.")],
    "large": [turn(calls=[("fetch", {"n": n}) for n in range(RESULTS)]), turn("Done.")],
    "ask": [turn(calls=[("fetch", {})]), turn("Done.")],
    "long": [turn(*["x" * MIB] * ANSWER_MIB)],
    "talk": [turn("Yes.")] * (HISTORY_MESSAGES * HISTORY_PARTS + 2),
}


def expect(answer: Response, status: int, code: str = "") -> None:
    """An attack that was turned away at the door would show nothing."""
    if answer.status != status or (code and answer.json()["code"] != code):
        raise LoadFailed(f"{answer.status} {answer.body[:200]}")


def expect_end(client: Client, run: str) -> None:
    with client.stream(run) as stream:
        last = list(stream)[-1]
    if last.event not in ("result", "error"):
        raise LoadFailed(f"the stream of {run} ended with {last.event}")


def run_to_end(client: Client, **spec) -> str:
    run = client.create(**spec)
    expect_end(client, run)
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
    tools = [local_tool(f"t{n}") | {"parameters": schema_with_patterns(n, 50)}
             for n in range(256)]
    body = {"prompt": "Hi", "modelId": "ask", "tools": tools}

    def attack() -> None:
        for _ in range(3):
            expect(server.client().request("POST", "/agent-runs", body), 400, "too_complex")
    return attack


def attack_legal_patterns(server: Server) -> Callable[[], None]:
    """As many patterns as one create may have, new ones each time."""
    client = server.client()

    def attack() -> None:
        tools_max = PATTERNS_MAX // SCHEMA_PATTERNS_MAX
        for n in range(3):
            tools = [local_tool(f"t{k}") | {"parameters": schema_with_patterns(
                n * tools_max + k, SCHEMA_PATTERNS_MAX)} for k in range(tools_max)]
            run_to_end(client, prompt="Hi", modelId="done", tools=tools)
    return attack


def attack_long_creates(server: Server) -> Callable[[], None]:
    """Tools with 25 MB of descriptions, which are few values and so accepted."""
    client = server.client()

    def attack() -> None:
        for n in range(3):
            tools = [local_tool(f"t{k}") | {"description": f"{n}" * (MIB // 10)}
                     for k in range(TOOLS_MAX)]
            run_to_end(client, prompt="Hi", modelId="done", tools=tools)
    return attack


def attack_schema(server: Server) -> Callable[[], None]:
    tool = local_tool("check") | {"parameters": HOSTILE_SCHEMA}
    return lambda: run_to_end(server.client(), prompt="Go.", modelId="hostile", tools=[tool])


def attack_answers(server: Server) -> Callable[[], None]:
    """The answers to the calls of a turn, each as long as one may be."""
    return lambda: with_large_run(server.client())


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


def attack_many_unknown(server: Server) -> Callable[[], None]:
    return lambda: run_to_end(server.client(), prompt="Go.", modelId="unknowns")


def attack_journal(server: Server) -> Callable[[], None]:
    """An export, a few entries at a time."""
    client = server.client()
    run = with_large_run(client)

    def attack() -> None:
        after = "0"
        while after:
            page = client.request("GET", f"/agent-runs/{run}/journal?limit=3&after={after}")
            expect(page, 200)
            after = page.json()["nextCursor"]
    return attack


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


def attack_pages(server: Server) -> Callable[[], None]:
    """Clients that ask for pages of 4 MB and read nothing of them."""
    client = server.client()
    run = run_to_end(client, prompt="Speak.", modelId="long")
    path = client.path(f"/agent-runs/{run}/events?limit=1000")
    request = request_bytes("GET", path, client.headers(), None)

    def attack() -> None:
        readers = [Connection(client.address) for _ in range(STALLED_PAGES)]
        for reader in readers:
            reader.send(request)
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


def attack_large_records(server: Server) -> Callable[[], None]:
    """A list of agents that are as large as they may be."""
    client = server.client()
    for n in range(AGENTS):
        agent = {"name": f"a{n}", "systemPrompt": "x" * 900_000}
        expect(client.request("POST", "/agents", agent), 201)
    return lambda: expect(client.request("GET", "/agents?limit=200"), 200)


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


def attack_mcp_list(server: Server) -> Callable[[], None]:
    def attack() -> None:
        mcp = PatternMcp("patterns")
        run_to_end(server.client(), prompt="Hi", modelId="done",
                   tools=[{"kind": "mcp", "name": "m", "url": mcp.url}])
        mcp.close()
    return attack


def attack_mcp_results(server: Server) -> Callable[[], None]:
    def attack() -> None:
        mcp = SchemaMcp("schema")
        run_to_end(server.client(), prompt="Hi", modelId="mcp",
                   tools=[{"kind": "mcp", "name": "m", "url": mcp.url}])
        mcp.close()
    return attack


def attack_questions(server: Server) -> Callable[[], None]:
    """Four questions of 25 MB at once to a model behind HTTP, which are written one by one."""
    client = server.client()
    messages = [{"role": "assistant" if n % 2 else "user", "content": "x" * 190_000}
                for n in range(135)]

    def attack() -> None:
        runs = [client.create(messages=messages, modelId="vendor") for _ in range(4)]
        for run in runs:
            expect_end(client, run)
    return attack


def attack_bomb(server: Server) -> Callable[[], None]:
    def attack() -> None:
        client = server.client()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: run_to_end(client, prompt="Hi", modelId="bomb"), range(4)))
    return attack


def drips(server: Server, headers: dict[str, str]) -> Callable[[], None]:
    """Bodies that are announced as 32 MB and come a KB at a time, beside somebody who asks."""
    client = server.client()
    head = request_bytes("POST", client.path("/agent-runs"), headers | {
        "Host": f"127.0.0.1:{server.port}", "Content-Type": "application/json",
        "Content-Length": str(32 * MIB)}, None)
    made = client.request("POST", "/api-keys", {"name": "other"})
    expect(made, 201)
    other = Client(server.url, made.json()["apiKey"], server.workspace)

    def attack() -> None:
        peers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(DRIPPERS)]
        for piece in [head] + [b"x" * 1024] * (DRIPS - 1):
            for peer in peers:
                try:
                    peer.sendall(piece)
                except OSError:
                    pass  # refused and closed
            expect(other.request("POST", "/agent-runs", {"prompt": "Hi", "modelId": "ask"}), 201)
        for peer in peers:
            peer.close()

    return attack


def attack_drips(server: Server) -> Callable[[], None]:
    return drips(server, {})


def attack_drips_with_key(server: Server) -> Callable[[], None]:
    return drips(server, {"Authorization": f"Bearer {server.key}"})


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
        half = RoomPeer.frame(b"x" * 4 * MIB)[:-1]
        for peer in peers[3 * DEAF:4 * DEAF]:  # who begin a frame and do not end it
            peer.socket.sendall(half)
        for _ in range(10):
            if loud.ask("room.invoke_tool", noise) != {"type": "empty"}:
                raise LoadFailed("a message to all was refused")
        for peer in peers:
            peer.close()
    return attack


def neighbours_in_room(server: Server) -> Prober:
    """Two others in the room of attack_rooms."""
    client = server.client()
    tokens = [client.request("POST", "/rooms/hall/tokens",
                             {"name": name, "api": {"agents": {}}}).json()["token"]
              for name in ("host", "caller")]
    return Prober(probe_calls, server.url, "hall", *tokens)


ATTACKS = {
    "256 tools with 50 patterns each, refused": attack_patterns,
    "3 creates with 512 patterns, accepted": attack_legal_patterns,
    "3 creates with 25 MB of tools, accepted": attack_long_creates,
    "256 calls of a tool with a hostile schema": attack_schema,
    "A list of an MCP server with 50,000 patterns": attack_mcp_list,
    "32 results of an MCP server with a hostile schema": attack_mcp_results,
    "31 answers of 2 MB": attack_answers,
    "8 GETs of a run with 62 MB of results": attack_reads,
    "8 GETs of a session with a history of 60 MB, and a message to it": attack_history,
    "A fork of a run with 62 MB of results": attack_fork,
    "The journal of such a run, in small pages": attack_journal,
    "512 calls of unknown tools": attack_unknown,
    "2,000 calls of unknown tools": attack_many_unknown,
    "A body of 30 MB of small values, refused": attack_values,
    "200 pollers beside 20,000 pending calls": attack_pollers,
    f"20 readers that do not read an answer of {ANSWER_MIB} MB": attack_readers,
    "200 clients that do not read their pages of 4 MB": attack_pages,
    "8 agents of 0.5 MB of small values, listed and run": attack_records,
    "A list of 60 agents of 0.9 MB": attack_large_records,
    "4 questions of 25 MB to a vendor": attack_questions,
    "The demo model with long questions and 64 tools": attack_demo,
    "4 answers of a vendor that decode to 256 MB": attack_bomb,
    "16 strangers that drip bodies of 32 MB": attack_drips,
    "16 connections of one key that drip such bodies": attack_drips_with_key,
    "1,000 connections of a participant that misbehaves in a room": attack_rooms,
}
OWN_NETWORK = {"network": {"allow": ["127.0.0.0/8"]}}
CONFIGS = {
    attack_bomb: lambda: vendor_config("bomb", Bomb),
    attack_questions: lambda: vendor_config("vendor", Listener),
    attack_mcp_list: lambda: OWN_NETWORK,
    attack_mcp_results: lambda: OWN_NETWORK,
    attack_demo: lambda: {"models": [{"id": "demo", "provider": "demo"}], "defaultModel": "demo"},
}
NEIGHBOURS = {attack_rooms: neighbours_in_room}


def measure_stall(prepare: Callable[[Server], Callable[[], None]]) -> StallFigures:
    server = Server(SCRIPTS, CONFIGS[prepare]() if prepare in CONFIGS else None).start()
    try:
        attack = prepare(server)
        before = LoopFigures.read(server)
        prober = Prober(probe, server.port)
        neighbours = NEIGHBOURS[prepare](server) if prepare in NEIGHBOURS else None
        time.sleep(QUIET_SECONDS)  # paced: so that it is asking
        attack()
        time.sleep(QUIET_SECONDS)  # paced: what comes after the answer
        healthz, calls = prober.stop(), neighbours.stop() if neighbours else None
        task = LoopFigures.read(server).longest_since(before)
        return StallFigures(task, healthz, calls, peak_mb(server.pid))
    finally:
        server.kill()
        server.close()
