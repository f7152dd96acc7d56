"""kill -9 while runs give tasks to A2A agents of others: no message is sent twice, and no task that
has a name is lost or given up.

ERRAND_TORTURE multiplies the number of kills; ERRAND_SEED chooses the moments.
"""

import unittest
from collections import Counter

from support.counting_a2a import SILENT, WHOLE, CountingA2a
from support.kill_storm import TORTURE, KillStorm
from support.script import local_tool, turn
from support.server import ServerCase

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
CALLS = 3  # of each run
UNKNOWN = "may or may not have taken the message|A restart cut this call off"


class KillA2aTest(ServerCase):
    KILLS = 8 * TORTURE
    CLIENTS = 3

    def check(self, version: str) -> None:
        peer = CountingA2a(version)
        self.addCleanup(peer.close)
        calls = [("counter", {"message": f"Number {n}."}) for n in range(CALLS)]
        server = self.start_server([turn("Let me ask.", calls=calls), turn("Done.")], ALLOW)
        spec = {"prompt": "Go.", "tools": [
            {"kind": "a2a", "name": "counter", "agentCardUrl": peer.card_url}]}
        agents = KillStorm(server, spec, self.CLIENTS).rage(self.KILLS)
        sent = Counter(peer.messages)
        self.assertEqual({message: count for message, count in sent.items() if count > 1}, {})
        for agent in agents:
            self.assertEqual(agent.frames[-1].json()["subtype"], "success", agent.run)
            # A kill while the model still calls leaves out the calls that it has not made yet.
            called = {frame.json()["toolUseId"] for frame in agent.frames
                      if frame.event == "tool_call"}
            results = [frame.json() for frame in agent.frames if frame.event == "tool_result"]
            self.assertEqual({one["toolUseId"] for one in results}, called, agent.run)
            self.assertEqual(len(results), len(called), agent.run)
            for result in results:
                message = f"{agent.run}-{result['toolUseId']}"
                if result["ok"]:
                    self.assertEqual((result["result"], sent[message]), ("counted", 1))
                else:
                    self.assertRegex(result["result"], UNKNOWN)
                if peer.way_of(message) == SILENT:
                    self.assertFalse(result["ok"])
        self.assertEqual(peer.canceled, 0)
        self.check_data(server)
        print(f"kill_a2a: {self.KILLS} kills, {len(agents)} runs, {len(sent)} messages")

    def test_calls_before_and_after_a_kill_are_made_once(self):
        for version in ("1.0", "0.3"):
            with self.subTest(version):
                peer = CountingA2a(version, WHOLE)
                self.addCleanup(peer.close)
                server = self.start_server(
                    [turn(calls=[("counter", {"message": "The first."})]),
                     turn(calls=[("wait", {})]),
                     turn(calls=[("counter", {"message": "The second."})]), turn("Done.")], ALLOW)
                client = server.client()
                run = client.create(prompt="Go.", tools=[
                    {"kind": "a2a", "name": "counter", "agentCardUrl": peer.card_url},
                    local_tool("wait")])
                with client.stream(run) as stream:
                    call = stream.until("local_tool_call")[-1].json()["toolUseId"]
                server.kill()
                client = server.restart().client()
                client.answer(run, call, result="go on")
                events = [frame.json() for frame in client.log(run)]
                self.assertEqual(events[-1]["subtype"], "success", events[-1])
                calls = [one["toolUseId"] for one in events
                         if one["type"] == "tool_call" and one["name"] == "counter"]
                self.assertEqual(len(calls), 2)
                self.assertEqual(peer.messages, [f"{run}-{call}" for call in calls])
                self.check_data(server)

    def test_kills_at_any_moment_in_1_0(self):
        self.check("1.0")

    def test_kills_at_any_moment_in_0_3(self):
        self.check("0.3")


if __name__ == "__main__":
    unittest.main()
