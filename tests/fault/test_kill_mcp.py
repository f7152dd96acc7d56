"""kill -9 while the server calls the tools of an MCP server: a call without a hint is made at most
once, and every attempt of a call that may be repeated has one key.

ERRAND_TORTURE multiplies the number of kills; ERRAND_SEED chooses the moments.
"""

import os
import random
import threading
import unittest
from collections import Counter

from support.agent import Agent, Availability, join_all
from support.counting_mcp import CountingMcp, CountingProgram
from support.http import Frame
from support.script import turn
from support.server import ServerCase

TORTURE = int(os.environ.get("ERRAND_TORTURE", "1"))
SEED = int(os.environ.get("ERRAND_SEED", "1"))
END_SECONDS_MAX = 60
TOOLS = ("order", "look", "put")


class Kills:
    """The kills, whatever the way to the MCP server is."""

    CLIENTS = 3

    def setUp(self):
        self.peer = self.make_peer()
        self.addCleanup(self.peer.close)
        self.spec = {"prompt": "Go.", "tools": [{"kind": "mcp", "name": "m", "url": self.peer.url}]}

    def start(self, *calls: tuple[str, dict]):
        calls = turn("Let me see.", calls=list(calls))
        self.server = self.start_server([calls, turn("Done.")], self.peer.config())
        return self.server.client()

    def results(self, run: str) -> dict[str, dict]:
        events = [frame.json() for frame in self.server.client().log(run)]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        self.check_data(self.server)
        return {one["name"]: one for one in events if one["type"] == "tool_result"}

    def kill_during(self, tool: str) -> dict:
        """The result of a call during which the server was killed."""
        client = self.start((f"m_{tool}", {}))
        self.peer.gate.clear()
        while self.peer.arrived.acquire(blocking=False):
            pass  # calls of an earlier run
        run = client.create(**self.spec)
        self.assertTrue(self.peer.arrived.acquire(timeout=END_SECONDS_MAX))
        # A tool that only reads is called before its call is durable; what is shown is.
        with client.stream(run) as stream:
            stream.until("tool_call")
        self.server.kill()
        self.peer.gate.set()
        self.server.restart()
        return self.results(run)[f"m_{tool}"]

    def test_a_call_without_a_hint_is_not_made_again(self):
        result = self.kill_during("order")
        self.assertFalse(result["ok"])
        self.assertIn("A restart cut this call off", result["result"])
        self.assertEqual(self.peer.calls["order"], [result["toolUseId"]])

    def test_a_call_that_may_be_repeated_keeps_its_key(self):
        for tool in ("look", "put"):
            with self.subTest(tool):
                result = self.kill_during(tool)
                self.assertEqual((result["ok"], result["result"]), (True, "counted"))
                self.assertEqual(self.peer.calls[tool], [result["toolUseId"]] * 2)

    def test_a_call_that_has_ended_is_not_made_again(self):
        wait = {"kind": "local", "name": "wait"}
        client = self.start(*((f"m_{tool}", {}) for tool in TOOLS), ("wait", {}))
        run = client.create(prompt="Go.", tools=[*self.spec["tools"], wait])
        with client.stream(run) as stream:
            seen = [frame.json() for frame in stream.until("tool_result")]
            while sum(one["type"] == "tool_result" for one in seen) < len(TOOLS):
                seen += [frame.json() for frame in stream.until("tool_result")]
        call = next(one["toolUseId"] for one in seen if one["type"] == "local_tool_call")
        self.server.kill()
        self.server.restart()
        self.server.client().answer(run, call, result="go on")
        self.results(run)
        self.assertEqual({tool: len(keys) for tool, keys in self.peer.calls.items()},
                         dict.fromkeys(TOOLS, 1))

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

    def test_kills_at_any_moment(self):
        self.start(*((f"m_{tool}", {}) for tool in TOOLS))
        chosen = random.Random(SEED)
        self.availability, self.done = Availability(), threading.Event()
        self.seen = threading.Semaphore(0)
        self.agents: list[Agent] = []
        self.failures: list[BaseException] = []
        workers = [threading.Thread(target=self.work, daemon=True) for _ in range(self.CLIENTS)]
        for worker in workers:
            worker.start()
        for kill in range(self.KILLS):
            for _ in range(chosen.randint(1, 40)):
                self.assertTrue(self.seen.acquire(timeout=END_SECONDS_MAX), self.failures)
            heard = [(agent, len(agent.frames)) for agent in self.agents]
            self.availability.went_down()
            self.server.kill()
            self.server.restart()
            self.availability.came_up()
            # A run that three kills in a row find where it was would be blamed for them.
            while kill % 2 and any(len(agent.frames) == count and not agent.ended
                                   for agent, count in heard):
                self.assertTrue(self.seen.acquire(timeout=END_SECONDS_MAX), self.failures)
        self.done.set()
        self.assertEqual((join_all(workers, END_SECONDS_MAX), self.failures), (0, []),
                         f"seed {SEED}")
        orders = Counter(self.peer.calls["order"])
        self.assertEqual({key: count for key, count in orders.items() if count != 1}, {})
        for agent in self.agents:
            self.assertEqual(agent.frames[-1].json()["subtype"], "success", agent.run)
            for frame in agent.frames:
                if frame.event != "tool_result":
                    continue
                one = frame.json()
                tool = one["name"].removeprefix("m_")
                if one["ok"]:
                    self.assertIn(one["toolUseId"], self.peer.calls[tool])
                else:
                    self.assertIn("A restart cut", one["result"])
        self.check_data(self.server)
        print(f"kill_mcp: {self.KILLS} kills, {len(self.agents)} runs, {len(orders)} effects")


class KillMcpTest(Kills, ServerCase):
    KILLS = 6 * TORTURE
    make_peer = CountingMcp


class KillMcpProgramTest(Kills, ServerCase):
    KILLS = 3 * TORTURE
    make_peer = CountingProgram


if __name__ == "__main__":
    unittest.main()
