"""An MCP server of the modern era that counts the calls of its tools by their keys: over HTTP, or
as the program that this file is, over its standard streams."""

import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
OBJECT = {"type": "object"}
TOOLS = [{"name": "order", "inputSchema": OBJECT},
         {"name": "look", "inputSchema": OBJECT, "annotations": {"readOnlyHint": True}},
         {"name": "put", "inputSchema": OBJECT, "annotations": {"idempotentHint": True}}]
COMPLETE = {"ttlMs": 60_000, "cacheScope": "private", "resultType": "complete"}
COUNTED = {"content": [{"type": "text", "text": "counted"}], "resultType": "complete"}


def key_of(body: dict) -> str:
    return body["params"]["_meta"]["errand/idempotencyKey"]


def result_without_effect(body: dict) -> dict | None:
    if body.get("method") == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **COMPLETE}
    if body.get("method") == "tools/list":
        return {"tools": TOOLS, **COMPLETE}
    return None


class CountingMcp(ThreadingHTTPServer):
    """`calls` has the keys of the calls of each tool, in the order in which they came. While `gate`
    is not set, calls are not answered."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.lock = threading.Lock()
        self.calls: dict[str, list[str]] = {tool["name"]: [] for tool in TOOLS}
        self.connections: list[socket.socket] = []
        self.arrived = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def config(self) -> dict:
        """What the configuration of a server needs so that its runs reach this one at `url`."""
        return {"network": {"allow": ["127.0.0.0/8"]}}

    def cut_connections(self) -> None:
        """Ends every connection, as a crash does."""
        with self.lock:
            for connection in self.connections:
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.gate.set()
        self.shutdown()
        self.server_close()

    def result_of(self, body: dict) -> dict | None:
        if body.get("method") != "tools/call":
            return result_without_effect(body)
        with self.lock:
            self.calls[body["params"]["name"]].append(key_of(body))
        self.arrived.release()
        self.gate.wait(60)
        return COUNTED


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.connections.append(self.connection)

    def finish(self):
        with self.server.lock:
            self.server.connections.remove(self.connection)
        super().finish()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = self.server.result_of(body)
        if result is None:
            return self.send_error(404)
        data = json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # the client was killed

    def do_GET(self):
        self.send_error(405)

    def log_message(self, *_):
        pass


class FileGate:
    """Is set while a file is not there."""

    def __init__(self, path: str) -> None:
        self.path = path

    def clear(self) -> None:
        with open(self.path, "w", encoding="ascii"):
            pass

    def set(self) -> None:
        if os.path.exists(self.path):
            os.remove(self.path)


class CountingProgram:
    """The same over standard streams: each server under test starts a program of its own, and all
    of them count in one folder."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="errand-counting-")
        self.url = "config:m"
        self.gate = FileGate(f"{self.folder}/shut")
        self.arrived = self
        self.seen = 0

    def config(self) -> dict:
        program = {"command": sys.executable,
                   "args": ["-m", "support.peers.counting_mcp", self.folder],
                   "env": {"PYTHONPATH": str(TESTS)}}
        return {"mcpServers": {"m": program}}

    def command_line(self) -> str:
        """The program in one line, for a shell."""
        return shlex.join(["env", f"PYTHONPATH={TESTS}", sys.executable, "-m",
                           "support.peers.counting_mcp", self.folder])

    def lines(self) -> list[list[str]]:
        try:
            with open(f"{self.folder}/calls", encoding="ascii") as calls:
                return [line.split() for line in calls]
        except FileNotFoundError:
            return []

    @property
    def calls(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {tool["name"]: [] for tool in TOOLS}
        for tool, key in self.lines():
            found[tool].append(key)
        return found

    def acquire(self, blocking: bool = True, timeout: float = 0) -> bool:
        """Takes one call that has arrived; as a semaphore does."""
        deadline = time.monotonic() + timeout
        while len(self.lines()) <= self.seen:
            if not blocking or time.monotonic() > deadline:
                return False
            time.sleep(0.02)  # paced: a file rings no bell
        self.seen += 1
        return True

    def close(self) -> None:
        self.gate.set()
        shutil.rmtree(self.folder)


def count_in(folder: str) -> None:
    """Serves standard streams until they end, or until the process that started this has gone."""
    parent = os.getppid()
    for line in sys.stdin:
        body = json.loads(line)
        if "id" not in body:
            continue
        result = result_without_effect(body)
        if body.get("method") == "tools/call":
            with open(f"{folder}/calls", "a", encoding="ascii") as calls:
                calls.write(f"{body['params']['name']} {key_of(body)}\n")
            while os.path.exists(f"{folder}/shut") and os.getppid() == parent:
                time.sleep(0.02)  # paced: a file rings no bell
            result = COUNTED
        answer = {"jsonrpc": "2.0", "id": body["id"]}
        answer |= {"result": result} if result else {
            "error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    count_in(sys.argv[1])
