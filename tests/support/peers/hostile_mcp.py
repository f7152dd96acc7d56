"""MCP servers that misbehave, each in one way, over HTTP and in the modern era."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.peak_memory import MEGABYTE

OBJECT = {"type": "object"}


class HostileMcp:
    """Serves one tool `act` on a free port. `mode` says how it misbehaves; `calls` counts the calls
    of tools that arrived."""

    def __init__(self, mode: str):
        self.mode = mode
        self.calls = 0
        self.arrived = threading.Event()
        self.left = threading.Event()  # the client has left a call that hangs
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                try:
                    server.answer(self, body)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def do_GET(self):
                self.send_error(405)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/mcp"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    def tools(self) -> list[dict]:
        if self.mode == "many tools":
            return [{"name": f"act{i}", "inputSchema": OBJECT} for i in range(10_000)]
        if self.mode == "bad schemas":
            return [{"name": "act", "inputSchema": {"type": "object", "properties": 7}},
                    {"name": "none"}, {"inputSchema": OBJECT}, "what", None]
        if self.mode in ("lies", "bare"):
            return [{"name": "act", "inputSchema": OBJECT,
                     "outputSchema": {"type": "object", "required": ["n"],
                                      "properties": {"n": {"type": "integer"}}}}]
        return [{"name": "act", "inputSchema": OBJECT}]

    def answer(self, handler: BaseHTTPRequestHandler, body: dict) -> None:
        method = body.get("method")
        if method == "server/discover":
            return self.send(handler, body, {
                "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0,
                "cacheScope": "private", "resultType": "complete"})
        if method == "tools/list":
            return self.send(handler, body, {"tools": self.tools(), "ttlMs": 60_000,
                                             "cacheScope": "private", "resultType": "complete"})
        if method != "tools/call":
            return handler.send_error(404)
        self.calls += 1
        self.arrived.set()
        return self.act(handler, body)

    def act(self, handler: BaseHTTPRequestHandler, body: dict) -> None:
        if self.mode == "hangs":
            self.hang(handler)
        elif self.mode == "cuts":
            handler.connection.close()
        elif self.mode == "floods":
            self.flood(handler, body)
        elif self.mode == "huge":
            self.send_huge(handler, 100 * MEGABYTE)
        elif self.mode == "large":
            self.send_text(handler, body, "x" * (6 * MEGABYTE))
        elif self.mode == "lies":
            self.send(handler, body, {"content": [], "structuredContent": {"n": "seven"}})
        elif self.mode == "nonsense":
            self.send_raw(handler, b"<html>hello</html>")
        else:
            self.send_text(handler, body, "done")

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        """Until the client has closed the connection, which is how it cancels in the modern era."""
        handler.connection.settimeout(60)
        if handler.connection.recv(1) == b"":
            self.left.set()
        handler.close_connection = True

    def send_text(self, handler, body, text: str) -> None:
        self.send(handler, body, {"content": [{"type": "text", "text": text}]})

    def send(self, handler, body: dict, result: dict) -> None:
        self.send_raw(handler, json.dumps(
            {"jsonrpc": "2.0", "id": body["id"], "result": result}).encode())

    def send_raw(self, handler, data: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def send_huge(self, handler, size: int) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(size))
        handler.end_headers()
        handler.wfile.write(b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"')
        for _ in range(size // MEGABYTE):
            handler.wfile.write(b"x" * MEGABYTE)

    def flood(self, handler, body: dict) -> None:
        """Notices without end until the client has had enough, or 200,000 of them; then the
        answer."""
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {
            "level": "info", "data": "x" * 100}})
        frames = f"data: {notice}\n\n".encode() * 100
        for _ in range(2000):
            handler.wfile.write(frames)
        answer = {"jsonrpc": "2.0", "id": body["id"],
                  "result": {"content": [{"type": "text", "text": "after the flood"}]}}
        handler.wfile.write(f"data: {json.dumps(answer)}\n\n".encode())
        handler.close_connection = True
