"""kill -9 at any moment loses nothing that was shown or accepted.

Clients run agents all the time, while the server is killed and started again on the same data and
port. ERRAND_TORTURE multiplies the number of kills; ERRAND_SEED chooses the moments.
"""

import os
import random
import threading
import time
import unittest

from support.agent import Agent, Availability, join_all, log_problems
from support.http import Frame
from support.script import local_tool, turn
from support.server import ServerCase

KILLS = 15 * int(os.environ.get("ERRAND_TORTURE", "1"))
CLIENTS = 5
TURN_ATTEMPTS = 3
TRIGGER_SECONDS_MAX = 30
END_SECONDS_MAX = 60
PAUSE_SECONDS_MAX = 0.15

TEXT = [f"word{n} " for n in range(40)]
SCRIPTS = {
    "text": [turn(*TEXT, deltaDelayMs=1)],
    "parallel": [
        turn("I ask ", "twice.", calls=[("look", {"path": "a"}), ("look", {"path": "b"})]),
        turn(*TEXT[:10], deltaDelayMs=1),
    ],
    # The stream of the model breaks after one closed call, so that the turn is frozen.
    "frozen": [
        turn("I ask ", calls=[("look", {"path": "a"}), ("look", {"path": "b"})], cutAfter=2),
        turn("Once more.", calls=[("look", {"path": "b"})]),
        turn(*TEXT[:10], deltaDelayMs=1),
    ],
}


class Progress:
    """Counts what clients see, and waits for a count."""

    KINDS = ("frames", "bytes", "calls", "answers", "ends")

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.counts = dict.fromkeys(self.KINDS, 0)

    def add(self, **counts: int) -> None:
        with self.condition:
            for kind, count in counts.items():
                self.counts[kind] += count
            self.condition.notify_all()

    def wait(self, kind: str, more: int) -> bool:
        with self.condition:
            goal = self.counts[kind] + more
            return self.condition.wait_for(lambda: self.counts[kind] >= goal,
                                           TRIGGER_SECONDS_MAX)


class KillTest(ServerCase):
    def setUp(self):
        self.seed = int(os.environ.get("ERRAND_SEED", "1"))
        self.random = random.Random(self.seed)
        self.server = self.start_server(SCRIPTS)
        self.availability = Availability()
        self.progress = Progress()
        self.done = threading.Event()
        self.lock = threading.Lock()
        self.agents: list[Agent] = []
        self.failures: list[BaseException] = []

    def saw(self, agent: Agent, frame: Frame) -> None:
        is_call = frame.event == "local_tool_call"
        self.progress.add(frames=1, bytes=len(frame.raw), calls=int(is_call))

    def answered(self, agent: Agent, tool_use: str) -> None:
        self.progress.add(answers=1)

    def work(self, number: int) -> None:
        """One run after the other, until there are no more kills."""
        models = list(SCRIPTS)
        try:
            while not self.done.is_set():
                spec = {"prompt": "Go.", "modelId": models[number % len(models)],
                        "tools": [local_tool("look", path="string")]}
                agent = Agent(self.server.client(), spec, self.availability, self.saw,
                              self.answered)
                with self.lock:
                    self.agents.append(agent)
                agent.follow()
                self.progress.add(ends=1)
                number += 1
        except BaseException as error:
            self.failures.append(error)

    def wait_for_moment(self) -> None:
        """Waits for something to happen among the clients, then perhaps a little longer."""
        kind, most = self.random.choice((
            ("frames", 120), ("bytes", 9000), ("calls", 6), ("answers", 6), ("ends", 4)))
        self.assertTrue(self.progress.wait(kind, self.random.randint(1, most)),
                        f"no {kind} within {TRIGGER_SECONDS_MAX} s; {self.failures}")
        if self.random.random() < 0.3:
            pause = self.random.random() * PAUSE_SECONDS_MAX
            time.sleep(pause)  # paced: kills between the events that clients can see

    def kill_and_restart(self) -> None:
        self.availability.went_down()
        self.server.kill()
        # Now and then the new process dies as soon as it listens, while it still recovers.
        while self.random.random() < 0.1:
            self.server.restart()
            self.server.kill()
        self.server.restart()
        self.availability.came_up()

    def test_every_run_ends_once_and_nothing_shown_or_accepted_is_lost(self):
        workers = [threading.Thread(target=self.work, args=[n], daemon=True)
                   for n in range(CLIENTS)]
        for worker in workers:
            worker.start()
        for _ in range(KILLS):
            self.wait_for_moment()
            self.assertEqual(self.failures, [], f"seed {self.seed}")
            self.kill_and_restart()
        self.done.set()
        stuck = join_all(workers, END_SECONDS_MAX)
        self.assertEqual((self.failures, stuck), ([], 0), f"seed {self.seed}")
        self.assertEqual([agent.run for agent in self.agents if not agent.ended], [])
        self.check_logs()
        self.check_data(self.server)
        print(f"kill: {len(self.agents)} runs, {KILLS} kills")

    def check_logs(self) -> None:
        client = self.server.client()
        problems = []
        for agent in self.agents:
            problems += log_problems(agent, client.log(agent.run))
            # A turn that was broken off too often may end its run with an error; nothing else may.
            end = agent.frames[-1]
            if end.event != "result" and len(agent.cuts) < TURN_ATTEMPTS:
                problems.append(f"{agent.run}: ended with {end.data!r}")
        self.assertEqual(problems, [], f"seed {self.seed}")


if __name__ == "__main__":
    unittest.main()
