"""A stranger's agent: its card, and `message/send` over JSON-RPC."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class A2aPeer:
    """Serves one agent on a free port. It repeats what it is asked."""

    def __init__(self, name: str):
        self.asked: list[str] = []
        self.headers: list[dict] = []  # of every request
        self.parts: list[list[dict]] = []  # of every message
        self.bodies: list[dict] = []  # of every request
        self.path = ""  # where messages are taken; empty: anywhere
        peer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                peer.headers.append(dict(self.headers))
                answer(self, peer.card)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                peer.headers.append(dict(self.headers))
                if peer.path not in ("", self.path):
                    self.send_error(404)
                    return
                answer(self, {"jsonrpc": "2.0", "id": body["id"], "result": peer.reply(body)})

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.card_url = f"{self.url}/.well-known/agent-card.json"
        self.card = {"protocolVersion": "0.3.0", "name": name, "url": f"{self.url}/a2a",
                     "description": "Answers questions.", "version": "1.4.0",
                     "capabilities": {"streaming": False}, "defaultInputModes": ["text/plain"],
                     "defaultOutputModes": ["text/plain"],
                     "skills": [{"id": "days", "name": "Days off", "description": "Counts them.",
                                 "tags": ["hr"]}]}
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def reply(self, body: dict) -> dict:
        self.bodies.append(body)
        self.parts.append(body["params"]["message"]["parts"])
        text = body["params"]["message"]["parts"][0]["text"]
        self.asked.append(text)
        return {"kind": "message", "role": "agent", "messageId": "m1",
                "parts": [{"kind": "text", "text": f"You asked: {text}"}]}

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def answer(handler: BaseHTTPRequestHandler, value: dict) -> None:
    data = json.dumps(value).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
