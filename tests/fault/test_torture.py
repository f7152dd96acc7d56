"""Everything at once: 200 runs whose connections are cut and held, whose answers come twice, late
and out of order, while the server is killed and started again.

ERRAND_TORTURE_SECONDS is how long it goes on; ERRAND_SEED chooses the moments.
"""

import os
import random
import threading
import time
import unittest

from support.agent import Agent, Availability, join_all, log_problems
from support.http import Client
from support.script import local_tool, turn
from support.server import ServerCase
from support.peers.unruly_proxy import UnrulyProxy

SECONDS = float(os.environ.get("ERRAND_TORTURE_SECONDS", "5"))
RUNS_AT_ONCE = 200
END_SECONDS_MAX = 180
BETWEEN_KILLS_SECONDS = (0.5, 3.0)
LATE_SECONDS_MAX = 0.5
TURN_ATTEMPTS = 3

TEXT = [f"word{n} " for n in range(20)]
SCRIPTS = {
    "text": [turn(*TEXT, deltaDelayMs=20)],
    "parallel": [
        turn("I ask.", calls=[("look", {"path": name}) for name in "abcd"]),
        turn("Once more.", calls=[("peek", {"path": name}) for name in "ef"]),
        turn(*TEXT, deltaDelayMs=5),
    ],
    "frozen": [
        turn("I ask ", calls=[("look", {"path": "a"}), ("look", {"path": "b"})], cutAfter=2,
             deltaDelayMs=20),
        turn("Once more.", calls=[("look", {"path": "b"})]),
        turn(*TEXT[:5]),
    ],
}
TOOLS = [local_tool("look", path="string"), local_tool("peek", path="string") | {"readOnly": True}]


class UnreliableAgent(Agent):
    """Answers in any order, some late, some twice."""

    def __init__(self, client: Client, spec: dict, availability: Availability, seed: int):
        super().__init__(client, spec, availability)
        self.random = random.Random(seed)

    def answer_all(self) -> None:
        self.random.shuffle(self.unanswered)
        if self.random.random() < 0.3:
            time.sleep(self.random.random() * LATE_SECONDS_MAX)  # paced: a client that takes time
        while self.unanswered:
            tool_use = self.unanswered[0]
            if tool_use not in self.accepted:
                self.answer(tool_use)
            if self.random.random() < 0.2:
                self.repeat(tool_use)
            self.unanswered.pop(0)

    def repeat(self, tool_use: str) -> None:
        response = self.client.answer(self.run, tool_use, result="a repeat")
        if response.status not in (404, 409):
            raise AssertionError(f"{self.run}: a repeated answer got {response.status}")


class TortureTest(ServerCase):
    def setUp(self):
        self.seed = int(os.environ.get("ERRAND_SEED", "1"))
        self.random = random.Random(self.seed)
        self.server = self.start_server(SCRIPTS)
        self.proxy = UnrulyProxy(("127.0.0.1", self.server.port), self.seed)
        self.addCleanup(self.proxy.close)
        self.availability = Availability()
        self.deadline = time.monotonic() + SECONDS
        self.lock = threading.Lock()
        self.agents: list[Agent] = []
        self.failures: list[BaseException] = []

    def client(self) -> Client:
        return Client(f"http://127.0.0.1:{self.proxy.port}", self.server.key,
                      self.server.workspace)

    def work(self, number: int) -> None:
        models = list(SCRIPTS)
        try:
            while time.monotonic() < self.deadline:
                spec = {"prompt": "Go.", "modelId": models[number % len(models)], "tools": TOOLS}
                agent = UnreliableAgent(self.client(), spec, self.availability, number)
                with self.lock:
                    self.agents.append(agent)
                agent.follow()
                number += RUNS_AT_ONCE
        except BaseException as error:
            self.failures.append(error)

    def kill_until_it_is_over(self) -> int:
        kills = 0
        while time.monotonic() < self.deadline and not self.failures:
            time.sleep(self.random.uniform(*BETWEEN_KILLS_SECONDS))  # paced: kills at any moment
            self.availability.went_down()
            self.server.kill()
            self.server.restart()
            self.availability.came_up()
            kills += 1
        return kills

    def test_every_run_ends_exactly_once(self):
        workers = [threading.Thread(target=self.work, args=[n], daemon=True)
                   for n in range(RUNS_AT_ONCE)]
        for worker in workers:
            worker.start()
        kills = self.kill_until_it_is_over()
        self.proxy.calm = True
        stuck = join_all(workers, END_SECONDS_MAX)
        self.assertEqual((self.failures[:3], stuck), ([], 0), f"seed {self.seed}")
        self.check_logs()
        self.check_data(self.server)
        print(f"torture: {len(self.agents)} runs, {kills} kills, {self.proxy.cuts} cuts, "
              f"{self.proxy.holds} holds")

    def check_logs(self) -> None:
        client = self.server.client()
        problems = []
        for agent in self.agents:
            log = client.log(agent.run)
            problems += log_problems(agent, log)
            if log and log[-1].event != "result" and len(agent.cuts) < TURN_ATTEMPTS:
                problems.append(f"{agent.run}: ended with {log[-1].data!r}")
        self.assertEqual(problems[:5], [], f"seed {self.seed}")


if __name__ == "__main__":
    unittest.main()
