"""With few descriptors: what clients take is not missing where the store and runs need it."""

import json
import socket

from support.http import Connection, request_bytes
from support.script import turn
from support.server import Server, ServerCase

DESCRIPTORS = 128
IDLE_CLIENTS = 2 * DESCRIPTORS
RUNS = 20


class PoorServer(Server):
    """A server whose process may have few descriptors open."""

    def command(self) -> list[str]:
        return ["/bin/sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh", *super().command()]


class DescriptorsTest(ServerCase):
    def setUp(self):
        self.server = PoorServer([turn("Hi.")])
        self.addCleanup(self.close_server, self.server)
        self.server.start()
        self.client = self.server.client()

    def ask(self, connection: Connection, method: str, path: str, body: dict | None = None) -> dict:
        data = json.dumps(body).encode() if body else None
        headers = self.client.headers() | {"Content-Type": "application/json"}
        connection.send(request_bytes(method, self.client.path(path), headers, data))
        answer = connection.receive_response()
        self.assertIn(answer.status, (200, 201), answer.body)
        return answer.json()

    def wait_for_end(self, connection: Connection, run: str) -> str:
        while (status := self.ask(connection, "GET", f"/agent-runs/{run}")["status"]) in (
                "queued", "running"):
            pass
        return status

    def test_clients_that_hold_every_connection_stop_neither_runs_nor_those_who_are_in(self):
        with Connection(self.client.address) as mine:
            self.ask(mine, "GET", "/agent-runs")
            idle = [socket.create_connection(self.client.address) for _ in range(IDLE_CLIENTS)]
            try:
                runs = [self.ask(mine, "POST", "/agent-runs", {"prompt": "Hi"})["runId"]
                        for _ in range(RUNS)]
                ends = {self.wait_for_end(mine, run) for run in runs}
            finally:
                for one in idle:
                    one.close()
            self.assertEqual(ends, {"succeeded"})
        self.assertEqual(self.client.request("GET", "/agent-runs").status, 200)
        self.assertNotIn("cannot accept", self.server.errors())
        self.check_data(self.server)

    def test_the_limits_follow_from_the_descriptors(self):
        text = self.client.request_at("GET", "/metrics").body.decode()
        limits = {line.split('"')[1]: float(line.rpartition(" ")[2])
                  for line in text.splitlines() if line.startswith("errand_limit{")}
        self.assertEqual((limits["connections"], limits["modelConnections"],
                          limits["runsInFlightTotal"]),
                         (DESCRIPTORS // 2, DESCRIPTORS // 4, DESCRIPTORS // 4))


if __name__ == "__main__":
    import unittest

    unittest.main()
