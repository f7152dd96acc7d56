"""`errand fake-model` as a process of a test."""

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support.http import SECONDS_MAX, Connection, Response, request_bytes
from support.server import SANITIZER_WORDS, binary, die_with_parent


class FakeModel:
    """A fake model that plays `turns`, on a port of its own."""

    def __init__(self, turns: list[dict], *arguments: str):
        self.folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        script = Path(self.folder.name) / "turns.json"
        script.write_text(json.dumps({"turns": turns}))
        self.errors_path = Path(self.folder.name) / "stderr.log"
        with self.errors_path.open("wb") as errors:
            self.process = subprocess.Popen(
                [binary(), "fake-model", "--script", str(script), *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                preexec_fn=die_with_parent)
        ready = json.loads(self.read_ready_line())
        assert ready == {"event": "ready", "url": ready["url"]}, ready
        self.url = ready["url"]
        host, port = self.url.removeprefix("http://").rsplit(":", 1)
        self.address = (host, int(port))

    def read_ready_line(self) -> bytes:
        line = b""
        deadline = time.monotonic() + SECONDS_MAX
        output = self.process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise AssertionError(f"the fake is not ready after {SECONDS_MAX} s")
                piece = os.read(output, 4096)
                if not piece:
                    raise AssertionError(f"the fake ended with {self.process.wait()} before it "
                                         f"was ready:\n{self.errors()}")
                line += piece
        return line

    def errors(self) -> str:
        return self.errors_path.read_text(errors="replace")

    def connect(self) -> Connection:
        return Connection(self.address)

    def send(self, method: str, path: str, body: bytes | dict | None = None,
             headers: dict[str, str] | None = None) -> Response:
        """Sends one request and returns the whole answer."""
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        headers = {"Host": "localhost"} | (headers or {})
        with self.connect() as connection:
            connection.send(request_bytes(method, path, headers, body))
            return connection.receive_response()

    def requests(self) -> list[dict]:
        return self.send("GET", "/requests").json()["requests"]

    def stop(self) -> None:
        """Ends it in the ordinary way, which must succeed, and removes everything."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(SECONDS_MAX)
            rest = self.process.stdout.read()
        finally:
            self.process.kill()
            self.process.stdout.close()
            errors = self.errors()
            self.folder.cleanup()
        found = [word for word in SANITIZER_WORDS if word in errors]
        if code != 0 or rest or found:
            raise AssertionError(f"the fake ended with {code} and {rest!r}:\n{errors}")


class FakeModelCase(unittest.TestCase):
    maxDiff = None

    def start(self, turns: list[dict], *arguments: str) -> FakeModel:
        fake = FakeModel(turns, *arguments)
        self.addCleanup(fake.stop)
        return fake
