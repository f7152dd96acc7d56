"""kill -9 while the server calls HTTP tools: a request with effects is made once or not at all.

The peer counts requests by their Idempotency-Key. ERRAND_TORTURE multiplies the number of kills;
ERRAND_SEED chooses the moments.
"""

import os
import random
import threading
import unittest

from support.agent import Agent, Availability, join_all
from support.peers.counting_peer import CountingPeer
from support.http import Frame
from support.script import turn
from support.server import ServerCase

TORTURE = int(os.environ.get("ERRAND_TORTURE", "1"))
SEED = int(os.environ.get("ERRAND_SEED", "1"))
END_SECONDS_MAX = 60


class KillHttpToolsTest(ServerCase):
    KILLS = 6 * TORTURE
    CLIENTS = 3

    def setUp(self):
        self.peer = CountingPeer()
        self.addCleanup(self.peer.close)
        url = self.peer.url
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
        given_up = [agent for agent in self.agents if agent.is_given_up]
        self.assertLessEqual(3 * len(given_up), self.KILLS)
        for agent in self.agents:
            results = [frame.json() for frame in agent.frames if frame.event == "tool_result"]
            if not agent.is_given_up:
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
        print(f"kill_http_tools: {self.KILLS} kills, {len(self.agents)} runs, "
              f"{len(posts)} effects, {unknown} unknown, {len(given_up)} given up")


if __name__ == "__main__":
    unittest.main()
