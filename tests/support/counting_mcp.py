"""An MCP server of the modern era that counts the calls of its tools by their keys."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OBJECT = {"type": "object"}
TOOLS = [{"name": "order", "inputSchema": OBJECT},
         {"name": "look", "inputSchema": OBJECT, "annotations": {"readOnlyHint": True}},
         {"name": "put", "inputSchema": OBJECT, "annotations": {"idempotentHint": True}}]
COMPLETE = {"ttlMs": 60_000, "cacheScope": "private", "resultType": "complete"}


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
        method, params = body.get("method"), body.get("params", {})
        if method == "server/discover":
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **COMPLETE}
        if method == "tools/list":
            return {"tools": TOOLS, **COMPLETE}
        if method != "tools/call":
            return None
        with self.lock:
            self.calls[params["name"]].append(params["_meta"]["errand/idempotencyKey"])
        self.arrived.release()
        self.gate.wait(60)
        return {"content": [{"type": "text", "text": "counted"}], "resultType": "complete"}


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
