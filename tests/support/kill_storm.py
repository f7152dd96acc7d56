"""Clients whose server is killed again and again, at moments that a seed chooses."""

import os
import random
import threading

from support.agent import Agent, Availability, join_all
from support.http import Frame
from support.server import Server

TORTURE = int(os.environ.get("ERRAND_TORTURE", "1"))
SEED = int(os.environ.get("ERRAND_SEED", "1"))
END_SECONDS_MAX = 60


class KillStorm:
    """Clients that start one run of `spec` after the other, each until its end."""

    def __init__(self, server: Server, spec: dict, clients: int):
        self.server, self.spec, self.clients = server, spec, clients
        self.availability, self.done = Availability(), threading.Event()
        self.seen = threading.Semaphore(0)
        self.agents: list[Agent] = []
        self.failures: list[BaseException] = []

    def saw(self, _agent: Agent, _frame: Frame) -> None:
        self.seen.release()

    def work(self) -> None:
        try:
            while not self.done.is_set():
                agent = Agent(self.server.client(), self.spec, self.availability, self.saw,
                              lambda *_: None)
                self.agents.append(agent)
                agent.follow()
        except BaseException as error:
            self.failures.append(error)

    def wait_for_frame(self) -> None:
        if not self.seen.acquire(timeout=END_SECONDS_MAX):
            raise AssertionError(f"no event comes any more: {self.failures}")

    def rage(self, kills: int) -> list[Agent]:
        """Kills the server so many times; gives the runs, which have all ended."""
        chosen = random.Random(SEED)
        workers = [threading.Thread(target=self.work, daemon=True) for _ in range(self.clients)]
        for worker in workers:
            worker.start()
        for kill in range(kills):
            for _ in range(chosen.randint(1, 40)):
                self.wait_for_frame()
            heard = [(agent, len(agent.frames)) for agent in self.agents]
            self.availability.went_down()
            self.server.kill()
            self.server.restart()
            self.availability.came_up()
            # A run that three kills in a row find where it was would be blamed for them.
            while kill % 2 and any(len(agent.frames) == count and not agent.ended
                                   for agent, count in heard):
                self.wait_for_frame()
        self.done.set()
        left = join_all(workers, END_SECONDS_MAX)
        if left or self.failures:
            raise AssertionError(f"{left} clients have not ended, seed {SEED}: {self.failures}")
        return self.agents
