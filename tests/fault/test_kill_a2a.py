"""kill -9 while runs give tasks to A2A agents of others: no message is sent twice, and no task that
has a name is lost or given up.

ERRAND_TORTURE multiplies the number of kills; ERRAND_SEED chooses the moments.
"""

import unittest
from collections import Counter

from support.counting_a2a import SILENT, CountingA2a
from support.kill_storm import TORTURE, KillStorm
from support.script import turn
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

    def test_kills_at_any_moment_in_1_0(self):
        self.check("1.0")

    def test_kills_at_any_moment_in_0_3(self):
        self.check("0.3")


if __name__ == "__main__":
    unittest.main()
