"""An A2A agent, version 1.0 or 0.3, that counts the messages that it is sent. By the message, it
tells the whole task at once, cuts the connection after it has named the task, or cuts the
connection without a word."""

import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SENDS = ("SendStreamingMessage", "message/stream")
SUBSCRIBES = ("SubscribeToTask", "tasks/resubscribe")
GETS = ("GetTask", "tasks/get")
WHOLE, NAMED, SILENT = range(3)


class CountingA2a(ThreadingHTTPServer):
    """`messages` has the ids of all messages, in the order in which they came."""

    daemon_threads = True

    def __init__(self, version: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.is_new = version == "1.0"
        self.lock = threading.Lock()
        self.messages: list[str] = []
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

    @staticmethod
    def way_of(message: str) -> int:
        """What becomes of a message: mostly that its task is named and the connection is cut."""
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
        if method in SENDS:
            message = params["message"]["messageId"]
            with self.server.lock:
                self.server.messages.append(message)
            events = self.server.events(f"task-{message}")
            way = self.server.way_of(message)
            self.tell(body, events[:{WHOLE: 3, NAMED: 1, SILENT: 0}[way]])
        elif method in SUBSCRIBES:
            self.tell(body, self.server.events(params["id"]))
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
