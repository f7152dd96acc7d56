"""Runs survive A2A agents that misbehave: a clear result each time, and bounded memory."""

import unittest

from support.hostile_a2a import HostileA2a
from support.peak_memory import MEGABYTE, NO_QUARANTINE, PeakMemory
from support.script import turn
from support.server import ServerCase

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
# Less than the largest answer: of its 100 MB, no more than 16 may be held at once.
GROWTH_MAX = 70 * MEGABYTE


class A2aHostileTest(ServerCase):
    def play(self, mode: str, tool: str = "agent", cancel: bool = False) -> list[dict]:
        """The events of a run that sends a message to an agent that misbehaves."""
        self.agent = HostileA2a(mode)
        self.addCleanup(self.agent.close)
        server = self.start_server([turn(calls=[(tool, {"message": "Go."})]), turn("Done.")],
                                   ALLOW, variables=NO_QUARANTINE)
        client = server.client()
        memory = PeakMemory(server.pid)
        run = client.create(prompt="Go.", tools=[
            {"kind": "a2a", "name": "agent", "agentCardUrl": self.agent.card_url}])
        if cancel:
            with client.stream(run) as stream:
                stream.until("tool_call")
            self.assertTrue(self.agent.arrived.wait(30))
            client.cancel(run)
        events = [frame.json() for frame in client.log(run)]
        self.assertLess(memory.growth(), GROWTH_MAX)
        self.check_data(server)
        return events

    def result(self, mode: str, tool: str = "agent") -> dict:
        events = self.play(mode, tool)
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        return next(one for one in events if one["type"] == "tool_result")

    def test_an_answer_of_a_hundred_megabytes_fails_its_call(self):
        result = self.result("huge")
        self.assertFalse(result["ok"])
        self.assertIn("too large", result["result"])
        self.assertEqual(self.agent.messages, 1)

    def test_a_card_of_a_hundred_megabytes_is_unavailable(self):
        result = self.result("huge card", "agent_unavailable")
        self.assertIn("is unavailable in this run", result["result"])
        self.assertEqual(self.agent.messages, 0)

    def test_a_flood_of_updates_ends_with_the_task(self):
        self.assertEqual(self.result("floods")["result"], "after the flood")

    def test_a_message_that_is_cut_off_is_sent_once(self):
        result = self.result("cuts")
        self.assertFalse(result["ok"])
        self.assertIn("may or may not have taken the message", result["result"])
        self.assertEqual(self.agent.messages, 1)

    def test_nonsense_is_a_failed_result(self):
        self.assertFalse(self.result("nonsense")["ok"])
        self.assertEqual(self.agent.messages, 1)

    def test_an_agent_that_hangs_does_not_hold_up_a_cancel(self):
        self.assertEqual(self.play("hangs", cancel=True)[-1]["type"], "cancelled")
        self.assertTrue(self.agent.canceled.wait(30))
        self.assertEqual((self.agent.messages, self.agent.cancels), (1, 1))


if __name__ == "__main__":
    unittest.main()
