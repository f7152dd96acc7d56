"""Model vendors that say what a test wrote down, over HTTP."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """One answer: events of a stream, or an error with its status."""

    events: list[str | dict] = field(default_factory=list)
    names: bool = False  # whether each event has its "type" as a name
    status: int = 200
    error: dict | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False  # the connection breaks after the events
    stall: bool = False  # nothing more comes after them, until the client closes

    def body(self) -> bytes:
        if self.error is not None:
            return json.dumps(self.error).encode()
        out = ""
        for event in self.events:
            if self.names and isinstance(event, dict):
                out += f"event: {event['type']}\n"
            out += f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
        return out.encode()


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: dict


class FakeVendor:
    """Gives the answers in order, and keeps what it was asked."""

    def __init__(self, *answers: Answer):
        self.answers = list(answers)
        self.asked: list[Asked] = []
        self.left = threading.Event()  # a client has closed the connection of a stalled answer
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                length = int(self.headers.get("content-length", "0"))
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                vendor.asked.append(Asked(self.path, headers, body))
                vendor.give(self, vendor.answers.pop(0))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def give(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        data = answer.body()
        is_short = answer.cut or answer.stall
        handler.send_response(answer.status)
        is_error = answer.error is not None
        handler.send_header("content-type", "application/json" if is_error else "text/event-stream")
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(data) + (100 if is_short else 0)))
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = is_short
        if answer.stall:
            handler.connection.recv(1)
            self.left.set()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
