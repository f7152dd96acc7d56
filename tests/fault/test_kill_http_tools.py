"""kill -9 while the server calls HTTP tools: a request with effects is made once or not at all.

The peer counts requests by their Idempotency-Key. ERRAND_TORTURE multiplies the number of kills;
ERRAND_SEED chooses the moments.
"""

import http.server
import os
import random
import threading
import unittest

from support.agent import Agent, Availability, join_all
from support.http import Frame
from support.script import turn
from support.server import ServerCase

TORTURE = int(os.environ.get("ERRAND_TORTURE", "1"))
SEED = int(os.environ.get("ERRAND_SEED", "1"))
END_SECONDS_MAX = 60


class CountingPeer(http.server.ThreadingHTTPServer):
    """Counts how often each call was made."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Effect)
        self.lock = threading.Lock()
        self.counts: dict[str, dict[str, int]] = {"GET": {}, "POST": {}}


class Effect(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def count(self):
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        key = self.headers["Idempotency-Key"]
        with self.server.lock:
            counts = self.server.counts[self.command]
            counts[key] = counts.get(key, 0) + 1
        body = b'{"data":"counted"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = count
    do_POST = count

    def log_message(self, *_):
        pass


class KillHttpToolsTest(ServerCase):
    KILLS = 6 * TORTURE
    CLIENTS = 3

    def setUp(self):
        self.peer = CountingPeer()
        self.addCleanup(self.peer.server_close)
        threading.Thread(target=self.peer.serve_forever, daemon=True).start()
        self.addCleanup(self.peer.shutdown)
        url = f"http://127.0.0.1:{self.peer.server_address[1]}/"
        calls = turn("Let me see.", calls=[("order", {"n": 1}), ("look", {})])
        self.server = self.start_server([calls, calls, turn("Done.")],
                                        {"network": {"allow": ["127.0.0.0/8"]}})
        client = self.server.client()
        self.assertEqual(client.request("PUT", "/secrets/TOKEN", {"value": "t0ken"}).status, 201)
        for name, request in (
                ("order", {"method": "POST", "url": url, "body": {"n": "{{args.n}}"},
                           "headers": {"Authorization": "Bearer {{secret:TOKEN}}"},
                           "result": "/data"}),
                ("look", {"url": url, "result": "/data"})):
            made = client.request("PUT", f"/tools/{name}", {"http": request})
            self.assertEqual(made.status, 201, made.body)
        self.random = random.Random(SEED)
        self.availability = Availability()
        self.seen = threading.Semaphore(0)
        self.done = threading.Event()
        self.agents: list[Agent] = []
        self.failures: list[BaseException] = []

    def saw(self, _agent: Agent, _frame: Frame) -> None:
        self.seen.release()

    def work(self) -> None:
        try:
            while not self.done.is_set():
                spec = {"prompt": "Go.", "tools": [{"kind": "mantyx", "id": "order"},
                                                   {"kind": "mantyx", "id": "look"}]}
                agent = Agent(self.server.client(), spec, self.availability, self.saw,
                              lambda *_: None)
                self.agents.append(agent)
                agent.follow()
        except BaseException as error:
            self.failures.append(error)

    def test_an_effect_happens_once_or_not_at_all(self):
        workers = [threading.Thread(target=self.work, daemon=True) for _ in range(self.CLIENTS)]
        for worker in workers:
            worker.start()
        for _ in range(self.KILLS):
            for _ in range(self.random.randint(1, 40)):
                self.assertTrue(self.seen.acquire(timeout=END_SECONDS_MAX), self.failures)
            self.availability.went_down()
            self.server.kill()
            self.server.restart()
            self.availability.came_up()
        self.done.set()
        self.assertEqual((join_all(workers, END_SECONDS_MAX), self.failures), (0, []),
                         f"seed {SEED}")
        posts = self.peer.counts["POST"]
        self.assertEqual({key: count for key, count in posts.items() if count != 1}, {})
        unknown = 0
        for agent in self.agents:
            results = [frame.json() for frame in agent.frames if frame.event == "tool_result"]
            self.assertEqual(len(results), 4, agent.run)
            self.assertEqual(agent.frames[-1].json()["subtype"], "success", agent.run)
            for one in results:
                if one["ok"]:
                    self.assertEqual(one["result"], "counted")
                    self.assertIn(one["toolUseId"], posts | self.peer.counts["GET"])
                else:
                    unknown += one["name"] == "order"
                    self.assertIn("A restart cut", one["result"])
        self.check_data(self.server)
        print(f"kill_http_tools: {len(self.agents)} runs, {len(posts)} effects, {unknown} unknown")


if __name__ == "__main__":
    unittest.main()
