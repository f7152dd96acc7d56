"""Runs survive MCP servers that misbehave: a clear result each time, and bounded memory."""

from support.peers.counting_mcp import CountingMcp
from support.peers.hostile_mcp import HostileMcp
from support.peak_memory import MEGABYTE, NO_QUARANTINE, PeakMemory
from support.script import turn
from support.server import ServerCase

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
# Less than the largest answer: of its 100 MB, no more than 16 may be held at once.
GROWTH_MAX = 70 * MEGABYTE


class McpHostileTest(ServerCase):
    def play(self, mode: str, *calls, cancel: bool = False,
             **ref) -> tuple[list[dict], HostileMcp]:
        """The events of a run that calls `act` of a server that misbehaves."""
        peer = HostileMcp(mode)
        self.addCleanup(peer.close)
        server = self.start_server([turn(calls=list(calls or [("m_act", {})])), turn("Done.")],
                                   ALLOW, variables=NO_QUARANTINE)
        client = server.client()
        memory = PeakMemory(server.pid)
        tool = {"kind": "mcp", "name": "m", "url": peer.url, **ref}
        run = client.create(prompt="Go.", tools=[tool])
        if cancel:
            self.assertTrue(peer.arrived.wait(30))
            client.cancel(run)
        events = [frame.json() for frame in client.log(run)]
        self.assertLess(memory.growth(), GROWTH_MAX)
        self.assertTrue(server.running)
        self.journal = client.request("GET", f"/agent-runs/{run}/journal").json()["entries"]
        self.check_data(server)
        return events, peer

    def result(self, mode: str, *calls) -> dict:
        events, peer = self.play(mode, *calls)
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        self.assertLessEqual(peer.calls, 1)
        return next(one for one in events if one["type"] == "tool_result")

    def test_ten_thousand_tools_are_cut(self):
        self.assertEqual(self.result("many tools", ("m_act7", {}))["result"], "done")

    def test_a_schema_that_makes_no_sense_is_not_told_to_the_model(self):
        self.assertEqual(self.result("bad schemas")["result"], "done")

    def test_a_result_that_does_not_fit_its_schema_fails(self):
        result = self.result("lies")
        self.assertFalse(result["ok"])
        self.assertIn("output schema", result["result"])

    def test_an_answer_of_a_hundred_megabytes_fails_its_call(self):
        result = self.result("huge")
        self.assertFalse(result["ok"])
        self.assertIn("too large", result["result"])

    def test_a_result_over_four_megabytes_is_cut(self):
        result = self.result("large")
        self.assertTrue(result["ok"])
        note = (f"[The tool's result is larger than {4 * MEGABYTE} bytes. {2 * MEGABYTE} bytes "
                "were cut.]")
        [told] = [one["text"] for one in self.journal if one["entry"] == "outcome"]
        self.assertTrue(told.startswith("x" * (MEGABYTE // 2)), told[:200])
        self.assertTrue(told.endswith(note), told[-200:])
        self.assertLessEqual(len(told), 2 * MEGABYTE)
        self.assertEqual((result["result"], result["truncated"], result["fullLength"]),
                         ("x" * 64 * 1024, True, len(told)))

    def test_a_flood_of_notices_ends_with_the_answer(self):
        self.assertEqual(self.result("floods")["result"], "after the flood")

    def test_a_call_that_is_cut_off_is_made_once(self):
        events, peer = self.play("cuts")
        result = next(one for one in events if one["type"] == "tool_result")
        self.assertFalse(result["ok"])
        self.assertIn("may or may not have taken effect", result["result"])
        self.assertEqual(peer.calls, 1)

    def test_nonsense_is_a_failed_result(self):
        self.assertFalse(self.result("nonsense")["ok"])

    def test_a_result_without_its_structured_content_fails(self):
        result = self.result("bare")
        self.assertFalse(result["ok"])
        self.assertIn("no structured content", result["result"])

    def test_a_server_that_restarts_between_calls_is_found_again(self):
        peer = CountingMcp()
        turns = [turn(calls=[("m_order", {})]), turn(calls=[("wait", {})]),
                 turn(calls=[("m_order", {})]), turn("Done.")]
        server = self.start_server(turns, ALLOW)
        client = server.client()
        tools = [{"kind": "mcp", "name": "m", "url": peer.url}, {"kind": "local", "name": "wait"}]
        run = client.create(prompt="Go.", tools=tools)
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
        first = peer.calls["order"]
        peer.close()
        peer.cut_connections()
        again = CountingMcp(peer.server_address[1])
        self.addCleanup(again.close)
        client.answer(run, call, result="go on")
        results = [one.json() for one in client.log(run) if one.event == "tool_result"]
        self.assertEqual([(one["ok"], one["result"]) for one in results], [(True, "counted")] * 2)
        self.assertEqual([first, again.calls["order"]],
                         [[one["toolUseId"]] for one in results])
        self.check_data(server)

    def test_a_server_that_restarts_during_a_call_leaves_its_outcome_unknown(self):
        peer = CountingMcp()
        self.addCleanup(peer.close)
        server = self.start_server([turn(calls=[("m_order", {})]), turn("Done.")], ALLOW)
        client = server.client()
        peer.gate.clear()
        run = client.create(prompt="Go.", tools=[{"kind": "mcp", "name": "m", "url": peer.url}])
        self.assertTrue(peer.arrived.acquire(timeout=30))
        peer.cut_connections()
        result = next(one.json() for one in client.log(run) if one.event == "tool_result")
        self.assertFalse(result["ok"])
        self.assertIn("may or may not have taken effect", result["result"])
        self.assertEqual(len(peer.calls["order"]), 1)

    def test_a_server_that_hangs_meets_the_time_of_its_ref(self):
        events, peer = self.play("hangs", timeoutMs=300)
        result = next(one for one in events if one["type"] == "tool_result")
        self.assertFalse(result["ok"])
        self.assertIn("may or may not have taken effect", result["result"])
        self.assertEqual((events[-1]["subtype"], peer.calls), ("success", 1))

    def test_a_server_that_hangs_does_not_hold_up_a_cancel(self):
        events, peer = self.play("hangs", cancel=True)
        self.assertEqual(events[-1]["type"], "cancelled")
        self.assertTrue(peer.left.wait(30))
        self.assertEqual(peer.calls, 1)


if __name__ == "__main__":
    import unittest
    unittest.main()
