"""Peers that tell everything that they were sent, in answers and in errors: over HTTP, as an MCP
server (path /mcp) or an A2A agent (path /agent), and as an MCP server over stdio, which tells its
environment."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def mcp_result(method: str, told: str) -> dict:
    """What an MCP server with the one tool `tell` answers."""
    results = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "gossip", "version": "1", "title": told}},
        "tools/list": {"tools": [{"name": "tell", "title": told, "description": told,
                                  "inputSchema": {"type": "object", "title": told}}]},
        "tools/call": {"content": [{"type": "text", "text": told}]}}
    return results.get(method, {})


class Gossip(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        told = json.dumps({"path": self.path, "headers": dict(self.headers), "body": body})
        self.server.heard.append(told)
        if self.path.startswith("/mcp"):
            message = json.loads(body) if body else {}
            if "id" not in message:
                return self.answer(202 if body else 405, "")
            return self.answer_rpc(message, mcp_result(message["method"], told))
        if self.path.startswith("/agent"):
            if not body:
                return self.answer(200, json.dumps(self.card(told)))
            return self.answer_rpc(json.loads(body), {
                "kind": "message", "role": "agent", "messageId": "m1",
                "parts": [{"kind": "text", "text": told}]})
        # A tool is answered, and everybody else is told what is wrong with the request.
        status = 200 if self.path.startswith("/tool") else 401
        return self.answer(status, json.dumps({"told": told, "error": {"message": f"no: {told}"}}))

    do_GET = do_POST
    do_DELETE = do_POST

    def card(self, told: str) -> dict:
        return {"protocolVersion": "0.3.0", "name": "hr", "url": f"{self.server.url}/agent",
                "description": told, "version": "1", "capabilities": {"streaming": False},
                "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
                "skills": [{"id": "days", "name": "Days", "description": told, "tags": ["hr"]}]}

    def answer_rpc(self, request: dict, result: dict) -> None:
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_gossip() -> ThreadingHTTPServer:
    """A peer on a free port. `heard` is what it was sent; whoever starts it closes it."""
    peer = ThreadingHTTPServer(("127.0.0.1", 0), Gossip)
    peer.daemon_threads = True
    peer.heard = []
    peer.url = f"http://127.0.0.1:{peer.server_port}"
    threading.Thread(target=peer.serve_forever, daemon=True).start()
    return peer


def serve_stdio() -> None:
    told = json.dumps({name: value for name, value in os.environ.items() if "CANARY" in name})
    print(told, file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = mcp_result(message["method"], told)
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    serve_stdio()
