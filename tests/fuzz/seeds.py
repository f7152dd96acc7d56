"""Inputs that the fuzz targets start from, by target and name. tools/fuzz writes them to files."""

import gzip
import json
import zlib

TEXT = b"Hello, hello, hello.\n" * 20
BOMB_BYTES = 8 << 20
WORKSPACE = "/api/v1/workspaces/$ws"
A2A = "/api/a2a/$ws/agents/a"
MCP_HEADERS = "Content-Type: application/json\nAccept: application/json, text/event-stream\n"


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def asked(line: str, body: str = "", headers: str = "") -> str:
    return f"{line}\n{headers}\n{body}"


def requests(*each: str) -> bytes:
    return "\x1e".join(each).encode()


RUN = requests(
    asked(f"POST {WORKSPACE}/agent-runs",
          '{"prompt":"go","tools":[{"kind":"local","name":"look","parameters":{"type":"object",'
          '"properties":{"a":{"type":"integer"}}}}],"metadata":{"k":"v"},'
          '"budgets":{"maxToolTurns":3}}', "Idempotency-Key: k\n"),
    asked(f"GET {WORKSPACE}/tool-calls?limit=5&name=look"),
    asked(f"POST {WORKSPACE}/tool-calls/$call/claim", '{"ttlMs":1000}'),
    asked(f"POST {WORKSPACE}/tool-calls/$call/progress",
          '{"message":"m","progress":1,"total":2}'),
    asked(f"POST {WORKSPACE}/agent-runs/$run/tool-results",
          '{"toolUseId":"$call","result":"r"}'),
    asked(f"GET {WORKSPACE}/agent-runs/$run"),
    asked(f"GET {WORKSPACE}/agent-runs/$run/stream", "", "Last-Event-ID: 1\n"),
    asked(f"GET {WORKSPACE}/agent-runs/$run/events?after=1&limit=2"),
    asked(f"GET {WORKSPACE}/agent-runs/$run/journal"),
    asked(f"POST {WORKSPACE}/agent-runs/$run/fork", '{"fromSeq":2,"prompt":"again"}'),
    asked(f"POST {WORKSPACE}/agent-runs/$run/cancel", "{}"),
    asked(f"GET {WORKSPACE}/agent-runs?status=running&limit=3&metadata=k:v"))

SESSION = requests(
    asked(f"POST {WORKSPACE}/agent-sessions", '{"systemPrompt":"s","whenBusy":"queue"}'),
    asked(f"POST {WORKSPACE}/agent-sessions/$session/messages",
          '{"prompt":"hi","outputSchema":{"schema":{"type":"object"}}}'),
    asked(f"GET {WORKSPACE}/agent-sessions/$session"),
    asked(f"GET {WORKSPACE}/agent-sessions/$session/events?lastMessages=2"),
    asked(f"GET {WORKSPACE}/agent-sessions?limit=2"),
    asked(f"DELETE {WORKSPACE}/agent-sessions/$session?purge=true"))

RECORDS = requests(
    asked(f"PUT {WORKSPACE}/agents/a",
          '{"systemPrompt":"s","tools":[{"kind":"mcp","name":"m","url":"https://x",'
          '"headers":{"a":"{{secret:S}}"}}]}', "If-None-Match: *\n"),
    asked(f"GET {WORKSPACE}/agents/a?version=1"),
    asked(f"POST {WORKSPACE}/secrets", '{"name":"S","value":"v"}'),
    asked(f"POST {WORKSPACE}/tools",
          '{"name":"t","parameters":{"type":"object","properties":{"q":{"type":"string",'
          '"pattern":"^a$"}}},"http":{"method":"GET","url":"https://x/{{q}}"}}'),
    asked(f"GET {WORKSPACE}/tools/t/versions"),
    asked(f"POST {WORKSPACE}/agent-runs",
          '{"agentId":"a","messages":[{"role":"user","content":"c","attachments":['
          '{"type":"input_file","filename":"f","data":"aGk="}]}]}'),
    asked(f"POST {WORKSPACE}/api-keys", '{"name":"k","scopes":["runs:read"],"ttlMs":1000}'),
    asked(f"POST {WORKSPACE}/rooms", '{"name":"r"}'),
    asked(f"POST {WORKSPACE}/rooms/r/tokens", '{"name":"p","role":"agent"}'),
    asked(f"DELETE {WORKSPACE}/agents/a"))

FAULTS = requests(
    "!after 1",
    asked(f"POST {WORKSPACE}/agent-runs",
          '{"prompt":"go","tools":[{"kind":"local","name":"look","parameters":{"type":"object",'
          '"properties":{"a":{"type":"string","pattern":"^a+$"}}}}]}'),
    "!before 2",
    asked(f"GET {WORKSPACE}/agent-runs/$run"),
    asked(f"GET {WORKSPACE}/agent-runs/$run/journal?limit=1"),
    "!after 1",
    asked(f"POST {WORKSPACE}/agent-sessions", '{"systemPrompt":"s"}'),
    "!after 2",
    asked(f"POST {WORKSPACE}/agent-sessions/$session/messages", '{"prompt":"hi"}'),
    "!before 1",
    asked(f"POST {WORKSPACE}/agent-runs/$run/cancel"))

GUESTS = requests(
    asked(f"PUT {WORKSPACE}/agents/a", '{"systemPrompt":"s","description":"d"}'),
    asked(f"GET {A2A}/.well-known/agent-card.json"),
    asked(f"POST {A2A}",
          '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m",'
          '"role":"user","parts":[{"kind":"text","text":"hi"}]},'
          '"configuration":{"blocking":false}}}'),
    asked(f"POST {A2A}", '{"jsonrpc":"2.0","id":2,"method":"ListTasks","params":{}}'),
    asked(f"POST {WORKSPACE}/mcp",
          '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":'
          '"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}', MCP_HEADERS),
    asked("GET /openapi.json"), asked("GET /readyz"))

ROOM_TYPES = ("register_toolkit", "unregister_toolkit", "list_toolkits", "invoke_tool", "input",
              "answer", "output", "attributes")


def said(who: int, kind: str, header: dict, number: int = 0) -> bytes:
    """A message of one of the two participants in the form of room_fuzz, after which the room's
    store and the connections do what was asked of them. `number` is the id of the message."""
    text = json.dumps(header, separators=(",", ":")).encode()
    quads = -(-len(text) // 4)
    how = 0x80 | number << 5 | ROOM_TYPES.index(kind) << 2 | who
    return bytes((how, quads)) + text.ljust(quads * 4)


def used(who: int, toolkit: str, tool: str, given: dict) -> bytes:
    return said(who, "invoke_tool", {"toolkit": toolkit, "tool": tool,
                                     "arguments": {"type": "json", "json": given}})


def opened(who: int, toolkit: str, tool: str, call: str = "c") -> bytes:
    return said(who, "invoke_tool", {"toolkit": toolkit, "tool": tool, "tool_call_id": call,
                                     "arguments": {"type": "control", "method": "open"}})


def item(who: int, chunk: dict, call: str = "c", kind: str = "input", number: int = 0) -> bytes:
    return said(who, kind, {"tool_call_id": call, "chunk": chunk}, number)


OPEN = {"type": "control", "method": "open"}
CLOSE = {"type": "control", "method": "close", "status_code": 1000}
GONE = {"type": "control", "method": "close", "status_code": 1001}
KIT = {"name": "t", "public": True, "annotations": {"errand.cancel": "true"}, "tools": {
    "run": {"title": "r", "defs": {"D": {"type": "integer"}}, "input_spec": {
        "types": ["json", "text"], "stream": False, "schema": {
            "type": "object", "required": ["n"],
            "properties": {"n": {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]}}}}},
    "flow": {"input_spec": {"types": ["binary"], "stream": True}}}}
HOSTED = said(0, "register_toolkit", KIT)
NOTE = {"type": "chat", "message_json": "{\"a\":1}", "attachment_base64": "QUJD"}
ROOMS = {
    "call": HOSTED + said(1, "list_toolkits", {}) + used(1, "t", "run", {}) + item(
        0, {"type": "agent.event", "n": 1}, "call-1", "output", 1) + said(
            0, "answer", {"type": "text", "text": "done"}, 1),
    "given_up": HOSTED + said(1, "invoke_tool", {
        "toolkit": "t", "tool": "run", "tool_call_id": "c", "arguments": {"n": 1}}) + item(
            1, GONE) + said(0, "answer", {"type": "empty"}, 1),
    "stream": HOSTED + opened(1, "t", "flow") + said(0, "answer", OPEN, 1) + item(
        1, {"type": "binary", "headers": {}}) + item(
            0, {"type": "raw", "outputs": []}, "call-1", "output", 1) + item(1, CLOSE) + item(
                0, CLOSE, "call-1", "output", 1),
    "messages": (used(0, "messaging", "enable", {}) + used(1, "messaging", "enable", {}) + used(
        1, "messaging", "send", NOTE | {"to_participant_id": "id1"}) + used(
            0, "messaging", "broadcast", NOTE) + said(0, "attributes", {"mood": "good"}) + opened(
                1, "messaging", "stream") + item(
                    1, {"type": "json", "json": NOTE | {"to_participant_id": "id1"}}) + said(
                        0, "answer", OPEN, 2) + item(1, CLOSE) + used(
                            0, "messaging", "disable", {})),
    "queues": (used(0, "queues", "open", {"name": "q"}) + used(
        1, "queues", "receive", {"name": "q", "create": False, "wait": True}) + used(
            0, "queues", "send", {"name": "q", "create": True, "message": {"n": 1}}) + used(
                0, "queues", "send", {"name": "q", "create": True, "message": {"n": 2}}) + used(
                    0, "queues", "list", {}) + used(0, "queues", "drain", {"name": "q"}) + used(
                        1, "queues", "close", {"name": "q"})),
    "files": (opened(0, "storage", "upload") + item(0, {"type": "binary", "headers": {
        "kind": "start", "path": "a/b", "overwrite": True, "name": "b", "mime_type": "text/plain",
        "size": 5}}) + item(0, {"type": "binary", "headers": {"kind": "data"}}) + used(
            1, "storage", "list", {"path": "a"}) + used(1, "storage", "stat", {"path": "a/b"})
              + opened(1, "storage", "download", "d") + item(1, {"type": "binary", "headers": {
                  "kind": "start", "path": "a/b", "chunk_size": 2}}, "d") + item(
                      1, {"type": "binary", "headers": {"kind": "pull"}}, "d") + used(
                          0, "storage", "move", {"source_path": "a/b", "destination_path": "c",
                                                 "overwrite": False}) + used(
                              0, "storage", "delete", {"path": "c", "recursive": True})),
    "agent": bytes((0x80 | 4 | 2, 24)) + json.dumps({
        "name": "helper", "url": "http://h/", "arguments": {"n": 1}, "api": {"queues": {}}},
        separators=(",", ":")).encode().ljust(96),
    "logs": opened(1, "developer", "logs") + used(
        0, "developer", "log", {"type": "x", "data": {}}) + item(1, CLOSE),
}

TOLD_TYPES = ("connected", "room_ready", "answer", "call", "input", "output", "message", "event")


def told(kind: str, header: dict, number: int = 0) -> bytes:
    """A message of the room in the form of room_client_fuzz."""
    text = json.dumps(header, separators=(",", ":")).encode()
    quads = -(-len(text) // 4)
    return bytes((number << 5 | TOLD_TYPES.index(kind) << 2, quads)) + text.ljust(quads * 4)


# The participant asks for presence (1), registers (2), lists (3), and calls (4).
JOINED = (told("connected", {"type": "init", "participantId": "p"}) + told(
    "room_ready", {"room_name": "r", "room_url": "u", "session_id": "s"}) + told(
        "answer", {"type": "empty"}, 1) + told("answer", {"type": "json", "json": {"id": "t1"}}, 2)
          + told("answer", {"type": "json", "json": {"tools": {"t": {"participant_id": "q",
                                                                     "tools": {"run": {}}}}}}, 3))
TOLD = {
    "stream": JOINED + told("output", {"tool_call_id": "errand-1", "chunk": {"n": 1}}) + told(
        "answer", OPEN, 4) + told("answer", {"type": "empty"}, 5) + told(
            "output", {"tool_call_id": "errand-1", "chunk": {"type": "text", "text": "x"}}) + told(
                "output", {"tool_call_id": "errand-1", "chunk": CLOSE}),
    "failure": JOINED + told("answer", {"type": "error", "text": "no", "code": 1008}, 4),
    "called": JOINED + told("call", {"name": "x", "arguments": OPEN, "caller_id": "q",
                                     "tool_call_id": "c", "caller_context": {"a": 1}}, 5) + told(
        "input", {"tool_call_id": "c", "chunk": {"type": "json", "json": 1}}) + told(
            "input", {"tool_call_id": "c", "chunk": CLOSE}) + told(
                "call", {"name": "y", "arguments": {"type": "empty"}, "tool_call_id": "d"}, 6),
    "presence": JOINED + told("message", {
        "from_participant_id": "p", "type": "messaging.enabled", "message": {"participants": [
            {"id": "q", "role": "user", "attributes": {"name": "ann"}}]}}) + told("message", {
                "from_participant_id": "q", "type": "chat", "message": {"text": "hi"}}) + told(
                    "message", {"from_participant_id": "q", "type": "participant.attributes",
                                "message": {"attributes": {"mood": "good"}}}) + told(
                                    "message", {"from_participant_id": "q",
                                                "type": "participant.disabled",
                                                "message": {"id": "q"}}),
}

SEEDS = {
    "room_fuzz": ROOMS,
    "room_client_fuzz": TOLD,
    "room_token_fuzz": {
        "token": (b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
                  b"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
                  b"SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"),
        "payload": json.dumps({
            "name": "ann", "kid": "k", "sub": "p", "exp": 1_800_000_001, "nbf": 1.5,
            "called_by": "bob", "grants": [
                {"name": "room", "scope": "r"}, {"name": "role", "scope": "agent"},
                {"name": "api", "scope": {
                    "agents": {"allowed_toolkits": ["t"], "call": False}, "queues": {"send": []},
                    "messaging": {"list": False}, "storage": {
                        "paths": [{"path": "a/", "read_only": True}], "files": {"paths": [{
                            "path": "b", "recursive": True, "actions": ["read"],
                            "excluded_paths": ["b/c"]}]}}}}]}).encode(),
        "key": b"ma-._AMHgtOTWyPSj8vOxyedw-AAAAAAAAQACAAAAAAAAAAQ-se-cr-et",
    },
    "request_fuzz": {
        "get": b"GET /a?b=c%20d HTTP/1.1\r\nHost: x\r\nK: v w\r\n\r\n",
        "posts": (b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                  b"Expect: 100-continue\r\n\r\nabc"
                  b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  b"2;x=y\r\nde\r\n0\r\nT: u\r\n\r\n"
                  b"GET /d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
        "smuggled": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                     b"GET /e HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                     b"Upgrade: websocket\r\n\r\n"),
    },
    "gzip_fuzz": {
        "gzip": b"\0" + gzip.compress(TEXT, mtime=0),
        "members": b"\0" + gzip.compress(b"one ", mtime=0) + gzip.compress(b"two", mtime=0),
        "bomb": b"\0" + gzip.compress(b"\0" * BOMB_BYTES, mtime=0),
        "zlib": b"\1" + zlib.compress(TEXT),
        "raw": b"\1" + raw_deflate(TEXT),
    },
    "html_fuzz": {
        "page": (b"text/html; charset=utf-8\n../c?d#e\n<!doctype html><title>T</title>"
                 b"<meta charset=latin1><base href=/x><h1>H</h1><p>a <b>b</b> <a href='y'>l</a>"
                 b"<ul><li>1<li>2</ul><table><tr><th>k<td>v</table><pre>p\n  q</pre>"
                 b"<script>x</script><!-- c -->"),
        "text": b"text/plain; charset=utf-16le\n//host/path\n\xff\xfeh\0i\0",
        "sniffed": b"\nhttps://[::1]:80/\n%PDF-1.4 \0\1",
    },
    "api_fuzz": {"run": RUN, "session": SESSION, "records": RECORDS, "guests": GUESTS,
                 "faults": FAULTS},
}
