"""A2A agents of version 0.3 that misbehave, each in one way."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.peak_memory import MEGABYTE

TEXT = {"kind": "text", "text": "x" * 1000}
DONE = {"kind": "status-update", "taskId": "t", "contextId": "c", "final": True,
        "status": {"state": "completed", "message": {
            "kind": "message", "messageId": "m", "role": "agent",
            "parts": [{"kind": "text", "text": "after the flood"}]}}}


class HostileA2a:
    """One agent on a free port. `mode` says how it misbehaves; `messages` counts what it was sent,
    and `cancels` the cancels."""

    def __init__(self, mode: str):
        self.mode = mode
        self.messages = 0
        self.cancels = 0
        self.arrived = threading.Event()
        self.canceled = threading.Event()
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                agent.guarded(agent.show_card, self)

            def do_POST(self):
                self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                agent.guarded(agent.answer, self)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.card_url = f"{self.url}/.well-known/agent-card.json"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    @staticmethod
    def guarded(work, handler) -> None:
        handler.close_connection = True
        try:
            work(handler)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def show_card(self, handler) -> None:
        if self.mode == "huge card":
            return self.send_huge(handler, '{"name":"')
        self.send(handler, {
            "protocolVersion": "0.3.0", "name": "Hostile", "url": f"{self.url}/a2a",
            "description": "Misbehaves.", "version": "1", "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "s", "description": "s", "tags": []}]})

    def answer(self, handler) -> None:
        method = handler.body["method"]
        if method == "tasks/cancel":
            self.cancels += 1
            self.canceled.set()
            return self.result(handler, self.task("canceled"))
        if method != "message/stream":  # the task is asked about, and never ends
            return self.result(handler, self.task("working"))
        self.messages += 1
        self.arrived.set()
        {"huge": self.huge, "floods": self.flood, "hangs": self.hang, "cuts": self.cut,
         "nonsense": self.nonsense}[self.mode](handler)

    @staticmethod
    def task(state: str) -> dict:
        return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}}

    def huge(self, handler) -> None:
        self.send_huge(handler, '{"jsonrpc":"2.0","id":1,"result":{"kind":"message","text":"')

    def hang(self, handler) -> None:
        """Names a task, and says nothing more until the client leaves."""
        self.begin(handler, "text/event-stream")
        self.event(handler, self.task("working"))
        handler.connection.settimeout(60)
        handler.connection.recv(1)

    def cut(self, handler) -> None:
        handler.connection.close()

    def nonsense(self, handler) -> None:
        self.begin(handler, "text/html")
        handler.wfile.write(b"<html>hello</html>")

    def flood(self, handler) -> None:
        """100 MB of updates in which nothing happens, and the end of the task."""
        self.begin(handler, "text/event-stream")
        self.event(handler, self.task("working"))
        update = {"kind": "status-update", "taskId": "t", "contextId": "c", "final": False,
                  "status": {"state": "working", "message": {
                      "kind": "message", "messageId": "m", "role": "agent", "parts": [TEXT]}}}
        for _ in range(100):
            self.event(handler, *[update] * (MEGABYTE // 1300))
        self.event(handler, DONE)

    def event(self, handler, *results: dict) -> None:
        lines = [json.dumps({"jsonrpc": "2.0", "id": handler.body["id"], "result": one})
                 for one in results]
        handler.wfile.write("".join(f"data: {line}\n\n" for line in lines).encode())

    def result(self, handler, result: dict) -> None:
        self.send(handler, {"jsonrpc": "2.0", "id": handler.body["id"], "result": result})

    def send(self, handler, value: dict) -> None:
        self.begin(handler, "application/json")
        handler.wfile.write(json.dumps(value).encode())

    def send_huge(self, handler, head: str) -> None:
        """100 MB of one text."""
        self.begin(handler, "application/json")
        handler.wfile.write(head.encode())
        for _ in range(100):
            handler.wfile.write(b"x" * MEGABYTE)

    @staticmethod
    def begin(handler, kind: str) -> None:
        """The answer ends with its connection."""
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.end_headers()
