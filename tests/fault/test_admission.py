"""A request is judged by its head: without a key, nobody is asked for a body that costs memory."""

from support.http import Connection, request_bytes
from support.script import turn
from support.server import ServerCase

MIB = 1024 * 1024
OPEN_BODY_BYTES_MAX = 64 * 1024


class AdmissionTest(ServerCase):
    def setUp(self):
        self.client = self.start_server([turn("Hello.")]).client()

    def first_line(self, method: str, path: str, length: int = MIB, **headers: str) -> bytes:
        """The first line that comes back before a byte of the body is sent."""
        head = {"Host": self.client.headers()["Host"], "Content-Length": str(length),
                "Expect": "100-continue"}
        head |= {name.replace("_", "-"): value for name, value in headers.items()}
        with Connection(self.client.address) as connection:
            connection.send(request_bytes(method, path, head, None))
            received = b""
            while b"\r\n" not in received:
                received += connection.receive_some()
            return received.partition(b"\r\n")[0]

    def test_without_a_key_no_spelling_of_a_path_gets_a_body_in(self):
        for path in ("/api/v1/workspaces/default/agent-runs",
                     "/api/v1/work%73paces/default/agent-runs",
                     "/%61pi/v1/workspaces/default/agent-run%73",
                     "/api/v1/workspaces/default/sessions",
                     "/api/v1/workspaces",
                     "/api/v1/workspaces/default/mcp",
                     "/api/v1/workspaces/default/mc%70"):
            with self.subTest(path):
                line = self.first_line("POST", path)
                self.assertIn(line.split(b" ")[1], (b"401", b"404"))

    def test_a_path_that_is_not_there_is_refused_at_once(self):
        self.assertEqual(self.first_line("POST", "/none"), b"HTTP/1.1 404 Not Found")
        self.assertEqual(self.first_line("POST", "/api/v1/%zz"), b"HTTP/1.1 400 Bad Request")

    def test_a_route_without_a_key_takes_a_small_body_only(self):
        for path in ("/api/oauth/token", "/api/oauth/revoke", "/healthz"):
            with self.subTest(path):
                self.assertEqual(self.first_line("POST", path),
                                 b"HTTP/1.1 413 Content Too Large")
                self.assertEqual(self.first_line("POST", path, OPEN_BODY_BYTES_MAX),
                                 b"HTTP/1.1 100 Continue")

    def test_a_key_of_another_workspace_gets_no_body_in(self):
        line = self.first_line("POST", "/api/v1/workspaces/other/agent-runs",
                               Authorization=f"Bearer {self.client.key}")
        self.assertEqual(line, b"HTTP/1.1 404 Not Found")

    def test_a_key_gets_a_body_in(self):
        line = self.first_line("POST", self.client.path("/agent-runs"),
                               Authorization=f"Bearer {self.client.key}")
        self.assertEqual(line, b"HTTP/1.1 100 Continue")

    def test_a_key_past_its_share_of_requests_gets_no_body_in(self):
        client = self.start_server([turn("Hello.")],
                                   {"limits": {"requestsPerMinute": 1}}).client()
        self.client = client
        self.assertEqual(client.request("GET", "/agent-runs").status, 200)
        line = self.first_line("POST", client.path("/agent-runs"),
                               Authorization=f"Bearer {client.key}")
        self.assertEqual(line, b"HTTP/1.1 429 Too Many Requests")
