"""Those who are asked by a server that is under attack: vendors and MCP servers."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.peers.hostile_mcp import HostileMcp

MIB = 1024 * 1024
BOMB_MIB = 256  # what the vendor's answer becomes

ALTERNATIVES = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 10} for n in range(12)}
HOSTILE_SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}},
                  "$defs": ALTERNATIVES | {"d12": {"type": "string"}}}


def schema_with_patterns(tool: int, patterns: int) -> dict:
    return {"type": "object", "properties": {
        f"p{k}": {"pattern": f"^[a-z]{{1,50}}{tool}-{k}$"} for k in range(patterns)}}


class PatternMcp(HostileMcp):
    """Lists as many tools with patterns as fit into a list."""

    def tools(self) -> list[dict]:
        return [{"name": f"t{n}", "inputSchema": schema_with_patterns(n, 50)}
                for n in range(1000)]


class SchemaMcp(HostileMcp):
    """Answers with what takes long to compare with the schema of its results."""

    def tools(self) -> list[dict]:
        return [{"name": "act", "inputSchema": {"type": "object"}, "outputSchema": HOSTILE_SCHEMA}]

    def act(self, handler: BaseHTTPRequestHandler, body: dict) -> None:
        self.send(handler, body, {"content": [], "structuredContent": {"a": 7}})


class Listener(BaseHTTPRequestHandler):
    """A vendor that hears everything out and answers in a word."""

    def do_POST(self):
        left = int(self.headers["Content-Length"])
        while left > 0:
            left -= len(self.rfile.read(min(left, MIB)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for data in ({"choices": [{"index": 0, "delta": {"content": "Done."}}]},
                     {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}):
            self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


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


def vendor_config(model: str, handler: type[BaseHTTPRequestHandler]) -> dict:
    vendor = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=vendor.serve_forever, daemon=True).start()
    return {"models": [{"id": model, "provider": "openai-compatible",
                        "vendorModelId": "m", "apiKey": "k",
                        "baseUrl": f"http://127.0.0.1:{vendor.server_address[1]}/v1"}],
            "defaultModel": model}
