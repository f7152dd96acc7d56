"""Bytes that no sane client sends. Each is refused in its own way, while others are served."""

import threading

from support.http import Closed, Connection, Response, request_bytes
from support.script import turn
from support.server import ServerCase

SCRIPT = [turn("Hello ", "there.")]
MIB = 1024 * 1024


class Bystander:
    """A client that runs agents all the time, to see that nobody else's bytes disturb it."""

    def __init__(self, client):
        self.client = client
        self.done = threading.Event()
        self.runs = 0
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        try:
            while not self.done.is_set():
                run = self.client.create(prompt="Hi")
                end = self.client.log(run)[-1].json()
                assert end["text"] == "Hello there.", end
                self.runs += 1
        except BaseException as error:
            self.failure = error

    def stop(self) -> None:
        self.done.set()
        self.thread.join(60)


class BadBytesTest(ServerCase):
    def setUp(self):
        self.client = self.start_server(SCRIPT).client()
        self.bystander = Bystander(self.client)
        self.addCleanup(self.check_bystander)

    def check_bystander(self):
        self.bystander.stop()
        self.assertIsNone(self.bystander.failure)
        self.assertGreater(self.bystander.runs, 0)

    def create_head(self, **headers: str) -> bytes:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return request_bytes("POST", self.client.path("/agent-runs"),
                             self.client.headers() | named, None)

    def exchange(self, *pieces: bytes) -> Response:
        """Sends the pieces; the answer may come before the last of them is taken."""
        with Connection(self.client.address) as connection:
            try:
                for piece in pieces:
                    connection.send(piece)
            except ConnectionError:
                pass
            return connection.receive_response()

    def assert_refused(self, response: Response, status: int, code: str) -> None:
        body = response.json()
        self.assertEqual((response.status, body["error"], body["code"]), (status, code, code))

    def test_a_body_that_says_it_is_too_long_is_refused_before_it_comes(self):
        response = self.exchange(self.create_head(Content_Length=str(64 * MIB)))
        self.assert_refused(response, 413, "body_too_large")

    def test_a_chunked_body_that_grows_too_long_is_refused(self):
        chunk = b"100000\r\n" + b" " * MIB + b"\r\n"
        response = self.exchange(self.create_head(Transfer_Encoding="chunked"), *[chunk] * 64)
        self.assert_refused(response, 413, "body_too_large")

    def test_headers_that_are_too_long_are_refused(self):
        response = self.exchange(self.create_head(X_Long="x" * 100_000))
        self.assert_refused(response, 431, "headers_too_large")

    def test_headers_without_end_are_refused(self):
        head = self.create_head(Content_Length="2").removesuffix(b"\r\n")
        lines = b"".join(b"X-%d: y\r\n" % n for n in range(10_000))
        response = self.exchange(head, lines)
        self.assert_refused(response, 431, "headers_too_large")

    def test_what_is_not_http_is_refused(self):
        response = self.exchange(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        self.assertEqual(response.status, 400)

    def test_a_chunk_of_no_size_is_refused(self):
        response = self.exchange(self.create_head(Transfer_Encoding="chunked"), b"zz\r\n{}\r\n")
        self.assertEqual(response.status, 400)

    def test_both_a_length_and_chunks_are_refused(self):
        response = self.exchange(
            self.create_head(Transfer_Encoding="chunked", Content_Length="5"),
            b"0\r\n\r\n")
        self.assertEqual(response.status, 400)

    def test_a_body_that_is_cut_off_costs_nobody_anything(self):
        for head in (self.create_head(Transfer_Encoding="chunked"),
                     self.create_head(Content_Length="1000")):
            with Connection(self.client.address) as connection:
                connection.send(head + b"10\r\n{\"prompt\"")
        self.assertEqual(self.client.request("GET", "/models").status, 200)

    def test_a_head_that_is_sent_too_slowly_times_out(self):
        response = self.exchange(b"POST /api/v1/workspaces/default/agent-runs HTTP/1.1\r\nHost: ")
        self.assertEqual(response.status, 408)

    def test_a_connection_that_says_nothing_holds_nothing_up(self):
        silent = [Connection(self.client.address) for _ in range(200)]
        try:
            self.assertEqual(self.client.request("GET", "/models").status, 200)
        finally:
            for connection in silent:
                connection.close()

    def test_requests_that_are_sent_at_once_are_answered_in_order(self):
        paths = ("/models", "/agent-runs/run_none", "/models")
        requests = b"".join(request_bytes("GET", self.client.path(path), self.client.headers(),
                                          None) for path in paths)
        with Connection(self.client.address) as connection:
            connection.send(requests)
            received = b""
            while received.count(b"HTTP/1.1 ") < len(paths):
                piece = connection.receive()
                if not piece:
                    raise Closed("closed before the last answer")
                received += piece
        statuses = [part.split(b" ")[0] for part in received.split(b"HTTP/1.1 ")[1:]]
        self.assertEqual(statuses, [b"200", b"404", b"200"])
