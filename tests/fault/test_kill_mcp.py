"""kill -9 while the server calls the tools of an MCP server: a call without a hint is made at most
once, and every attempt of a call that may be repeated has one key.

ERRAND_TORTURE multiplies the number of kills; ERRAND_SEED chooses the moments.
"""

import subprocess
import unittest
from collections import Counter

from support.peers.counting_mcp import CountingMcp, CountingProgram
from support.kill_storm import END_SECONDS_MAX, TORTURE, KillStorm
from support.script import local_tool, turn
from support.server import ServerCase, binary, die_with_parent

TOOLS = ("order", "look", "put")
CALLS = [(f"m_{tool}", {}) for tool in TOOLS]
WAIT = ("wait", {})


class Kills:
    """The kills, whatever the way to the MCP server is."""

    CLIENTS = 3

    def setUp(self):
        self.peer = self.make_peer()
        self.addCleanup(self.peer.close)
        self.spec = {"prompt": "Go.", "tools": [{"kind": "mcp", "name": "m", "url": self.peer.url}]}

    def start(self, *turns: list[tuple[str, dict]]):
        """A server whose model makes these calls, turn by turn."""
        made = [turn("Let me see.", calls=calls) for calls in turns]
        self.server = self.start_server([*made, turn("Done.")], self.peer.config())
        return self.server.client()

    def start_waiting(self, *turns: list[tuple[str, dict]]):
        """The same with a run that calls `wait`, too, which this client answers."""
        client = self.start(*turns)
        return client, client.create(prompt="Go.", tools=[*self.spec["tools"], local_tool("wait")])

    def kill_and_answer(self, run: str, call: str) -> dict[str, dict]:
        """The results of a run whose server is killed before its client answers `wait`."""
        self.server.kill()
        self.server.restart()
        self.server.client().answer(run, call, result="go on")
        return self.results(run)

    def results(self, run: str) -> dict[str, dict]:
        events = [frame.json() for frame in self.server.client().log(run)]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        self.check_data(self.server)
        return {one["name"]: one for one in events if one["type"] == "tool_result"}

    def kill_during(self, tool: str) -> dict:
        """The result of a call during which the server was killed."""
        client = self.start([(f"m_{tool}", {})])
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
        client, run = self.start_waiting([*CALLS, WAIT])
        with client.stream(run) as stream:
            seen = [frame.json() for frame in stream.until("tool_result")]
            while sum(one["type"] == "tool_result" for one in seen) < len(TOOLS):
                seen += [frame.json() for frame in stream.until("tool_result")]
        call = next(one["toolUseId"] for one in seen if one["type"] == "local_tool_call")
        self.kill_and_answer(run, call)
        self.assertEqual({tool: len(keys) for tool, keys in self.peer.calls.items()},
                         dict.fromkeys(TOOLS, 1))

    def test_a_call_that_comes_after_the_kill_is_made_once(self):
        client, run = self.start_waiting([WAIT], CALLS)
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
        results = self.kill_and_answer(run, call)
        self.assertEqual(self.peer.calls,
                         {tool: [results[f"m_{tool}"]["toolUseId"]] for tool in TOOLS})

    def test_kills_at_any_moment(self):
        self.start(CALLS)
        agents = KillStorm(self.server, self.spec, self.CLIENTS).rage(self.KILLS)
        orders = Counter(self.peer.calls["order"])
        self.assertEqual({key: count for key, count in orders.items() if count != 1}, {})
        for agent in agents:
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
        print(f"kill_mcp: {self.KILLS} kills, {len(agents)} runs, {len(orders)} effects")


class KillMcpTest(Kills, ServerCase):
    KILLS = 6 * TORTURE
    make_peer = CountingMcp


class KillMcpProgramTest(Kills, ServerCase):
    KILLS = 3 * TORTURE
    make_peer = CountingProgram


class KillClientTest(ServerCase):
    """`errand run --mcp` as the client of a server, which makes the calls itself."""

    def test_a_call_that_a_killed_client_was_making_is_not_made_again(self):
        peer = CountingProgram()
        self.addCleanup(peer.close)
        server = self.start_server([turn(calls=[("mcp_order", {})]), turn("Done.")])
        peer.gate.clear()
        command = [binary(), "run", "Go.", "--json", "--server", server.url, "--key", server.key,
                   "--mcp", peer.command_line()]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, preexec_fn=die_with_parent) as process:
            try:
                self.assertTrue(peer.arrived.acquire(timeout=END_SECONDS_MAX))
            finally:
                process.kill()
        peer.gate.set()
        client = server.client()
        [run] = [one["runId"] for one in client.request("GET", "/agent-runs").json()["runs"]]
        [call] = [one["toolUseId"] for one in client.snapshot(run)["pendingCalls"]]
        for _ in range(2):  # a restart changes nothing: the call is still claimed
            claim = client.request("POST", f"/tool-calls/{call}/claim", {})
            self.assertEqual((claim.status, claim.json()["code"]), (409, "claimed"))
            server.kill()
            client = server.restart().client()
        client.cancel(run)
        client.log(run)  # comes to its end with the run
        self.assertEqual(peer.calls, {"order": [call], "look": [], "put": []})
        self.check_data(server)


if __name__ == "__main__":
    unittest.main()
