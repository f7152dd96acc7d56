"""An A2A agent, version 1.0 or 0.3, that counts the messages that it is sent. It tells the whole
task at once, cuts the connection after it has named the task, or cuts the connection without a
word. A task that it has named ends when somebody subscribes to it, or never."""

import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SENDS = ("SendStreamingMessage", "message/stream")
SUBSCRIBES = ("SubscribeToTask", "tasks/resubscribe")
GETS = ("GetTask", "tasks/get")
CANCELS = ("CancelTask", "tasks/cancel")
WHOLE, NAMED, SILENT, ENDLESS = range(4)
EVENTS_MAX = {WHOLE: 3, NAMED: 1, SILENT: 0, ENDLESS: 1}  # that answer a message
SECONDS_MAX = 60


class CountingA2a(ThreadingHTTPServer):
    """`messages` has the ids of all messages, and `bodies` has all requests, in the order in which
    they came. `way` is what becomes of every message; without it, that depends on the message."""

    daemon_threads = True

    def __init__(self, version: str, way: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.is_new = version == "1.0"
        self.way = way
        self.lock = threading.Condition()
        self.messages: list[str] = []
        self.bodies: list[dict] = []
        self.canceled = 0
        url = f"http://127.0.0.1:{self.server_address[1]}"
        self.card_url = f"{url}/.well-known/agent-card.json"
        at = {"supportedInterfaces": [{"url": f"{url}/a2a", "protocolBinding": "JSONRPC",
                                       "protocolVersion": "1.0"}]}
        old = {"protocolVersion": "0.3.0", "url": f"{url}/a2a"}
        self.card = {"name": "Counter", "description": "Counts.", "version": "1",
                     "capabilities": {"streaming": True}, "defaultInputModes": ["text/plain"],
                     "defaultOutputModes": ["text/plain"],
                     "skills": [{"id": "c", "name": "c", "description": "c", "tags": []}],
                     **(at if self.is_new else old)}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()

    def wait_for(self, methods: tuple[str, str]) -> None:
        """Until a request has come that has one of these methods."""
        def has_come() -> bool:
            return any(body["method"] in methods for body in self.bodies)
        with self.lock:
            if not self.lock.wait_for(has_come, SECONDS_MAX):
                raise AssertionError(f"no request of {methods} has come")

    def way_of(self, message: str) -> int:
        """What becomes of a message: mostly that its task is named and the connection is cut."""
        if self.way is not None:
            return self.way
        return (WHOLE, NAMED, NAMED, SILENT)[zlib.crc32(message.encode()) % 4]

    def status(self, state: str) -> dict:
        return {"state": f"TASK_STATE_{state.upper()}" if self.is_new else state}

    def artifact(self) -> dict:
        text = {"text": "counted"} if self.is_new else {"kind": "text", "text": "counted"}
        return {"artifactId": "a", "parts": [text]}

    def task(self, task: str, state: str) -> dict:
        made = {"id": task, "contextId": "c", "status": self.status(state)}
        if state == "completed":
            made["artifacts"] = [self.artifact()]
        return made if self.is_new else made | {"kind": "task"}

    def events(self, task: str) -> list[dict]:
        """From the task to its end."""
        ids = {"taskId": task, "contextId": "c"}
        begun = self.task(task, "working")
        artifact = ids | {"artifact": self.artifact(), "lastChunk": True}
        done = ids | {"status": self.status("completed")}
        if self.is_new:
            return [{"task": begun}, {"artifactUpdate": artifact}, {"statusUpdate": done}]
        return [begun, artifact | {"kind": "artifact-update"},
                done | {"kind": "status-update", "final": True}]


class Handler(BaseHTTPRequestHandler):
    server: CountingA2a

    def do_GET(self):
        self.send("application/json", json.dumps(self.server.card))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, params = body["method"], body["params"]
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.lock.notify_all()
        if method in SENDS:
            message = params["message"]["messageId"]
            with self.server.lock:
                self.server.messages.append(message)
            events = self.server.events(f"task-{message}")
            self.tell(body, events[:EVENTS_MAX[self.server.way_of(message)]])
        elif method in SUBSCRIBES:
            is_endless = self.server.way == ENDLESS
            self.tell(body, self.server.events(params["id"])[:1 if is_endless else None])
        elif method in GETS:
            self.answer(body, self.server.task(params["id"], "working"))
        else:
            with self.server.lock:
                self.server.canceled += 1
            self.answer(body, self.server.task(params["id"], "canceled"))

    def tell(self, body: dict, events: list[dict]) -> None:
        """As a stream, which ends with the connection."""
        lines = [json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": one}) for one in events]
        if lines:
            self.send("text/event-stream", "".join(f"data: {line}\n\n" for line in lines))

    def answer(self, body: dict, result: dict) -> None:
        self.send("application/json",
                  json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}))

    def send(self, kind: str, text: str) -> None:
        try:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            pass  # the client was killed

    def log_message(self, *_):
        pass
