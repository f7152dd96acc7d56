"""The server of a fake vendor."""

import json
import socket
import ssl
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Callable

from support.fake_vendor.answer import WAIT_SECONDS_MAX, Answer
from support.fake_vendor.turn import Failure, Turn
from support.fake_vendor.wire import Asked, Refused, Wire

POLL_SECONDS = 0.02  # how soon the server notices that it is closed


@dataclass(frozen=True)
class Certificate:
    """A certificate of 127.0.0.1 that nobody trusts who is not told to."""

    pem: Path
    key: Path


def make_certificate(folder: Path) -> Certificate:
    made = Certificate(folder / "vendor.pem", folder / "vendor.key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", made.key, "-out", made.pem],
        check=True, capture_output=True)
    return made


def as_answer(given: Answer | Turn | Failure) -> Answer:
    if isinstance(given, Turn):
        return Answer(turn=given)
    return Answer(failure=given) if isinstance(given, Failure) else given


class QuietServer(ThreadingHTTPServer):
    """Clients go away in the middle, which is nothing to write about."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class FakeVendor:
    """Gives the answers in order, and keeps what it was asked.

    With a `wire` it refuses what the vendor would refuse; that costs no answer, and is kept with
    the request. Past its last answer it asks `script` for one, or refuses everything.
    """

    def __init__(self, *answers: Answer | Turn | Failure, wire: Wire | None = None,
                 certificate: Certificate | None = None,
                 script: Callable[[Asked], Answer] | None = None):
        self.answers = [as_answer(one) for one in answers]
        self.wire = wire
        self.script = script
        self.asked: list[Asked] = []
        self.given: list[Answer] = []
        self.left = threading.Event()  # a client has closed the connection of a stalled answer
        self.changed = threading.Condition()
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def do_POST(self):  # noqa: N802
                length = int(self.headers.get("content-length", "0"))
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                vendor.serve(self, Asked(self.path, headers, body))

            def log_message(self, *_):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate.pem, certificate.key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=[POLL_SECONDS],
                         daemon=True).start()

    @property
    def refusals(self) -> list[str]:
        return [asked.refusal for asked in self.asked if asked.refusal]

    @property
    def bodies(self) -> list[dict]:
        return [asked.body for asked in self.asked]

    def serve(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        with self.changed:
            answer = self.choose(asked)
            self.asked.append(asked)
            self.changed.notify_all()
        try:
            answer.give(handler, self.wire, asked)
        except OSError:
            handler.close_connection = True
        if answer.gate and answer.gate.left.is_set():
            self.left.set()

    def choose(self, asked: Asked) -> Answer:
        try:
            if self.wire:
                self.wire.check(asked)
            if not self.answers and not self.script:
                raise Refused("the script of this vendor is over")
        except Refused as refused:
            asked.refusal = refused.message
            if not self.wire:
                return Answer(status=400, error={"error": {"message": refused.message}})
            error = self.wire.refusal(refused)
            return Answer(status=error.status, error=error.body)
        self.given.append(self.answers.pop(0) if self.answers else self.script(asked))
        return self.given[-1]

    def wait_asked(self, count: int) -> Asked:
        """Waits for that many requests; the last of them."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.asked) >= count, WAIT_SECONDS_MAX):
                raise AssertionError(f"{len(self.asked)} requests instead of {count}")
            return self.asked[count - 1]

    def close(self) -> None:
        for answer in self.answers + self.given:
            if answer.gate:
                answer.gate.close()
        self.server.shutdown()
        self.server.server_close()
