"""kill -9 while MCP clients call tools of a workspace: nothing is done twice, whoever asks, and the
run of an agent goes on."""

import json
import subprocess
import threading
import unittest

from support.peers.counting_mcp import CountingMcp
from support.kill_storm import END_SECONDS_MAX
from support.script import turn
from support.server import Server, ServerCase, binary, die_with_parent

VERSION = "2026-07-28"


class Relay:
    """`errand mcp` for the server of a test, and its client, of the era before."""

    def __init__(self, server: Server):
        self.process = subprocess.Popen([binary(), "mcp", "--data", str(server.data)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=die_with_parent)
        self.sent = 0
        self.answer(self.tell("initialize", protocolVersion="2025-11-25", capabilities={},
                              clientInfo={"name": "t", "version": "1"}))

    def tell(self, method: str, **params) -> int:
        """The id of the request."""
        self.sent += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.sent, "method": method,
                                             "params": params}) + "\n")
        self.process.stdin.flush()
        return self.sent

    def call(self, tool: str) -> int:
        return self.tell("tools/call", name=tool, arguments={})

    def answer(self, request: int) -> dict:
        while (said := json.loads(self.process.stdout.readline())).get("id") != request:
            pass  # notices
        return said

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(END_SECONDS_MAX)
        self.process.stdout.close()


class KillMcpServerTest(ServerCase):
    def setUp(self):
        self.peer = CountingMcp()
        self.addCleanup(self.peer.close)
        self.server = self.start_server(
            [turn("Let me see.", calls=[("m_order", {})]), turn("Done.")],
            self.peer.config() | {"mcpServers": {"m": {"url": self.peer.url}}})
        self.lost: list[BaseException] = []

    def call(self, tool: str, **arguments):
        """The result of a call over HTTP, by a client of the modern era."""
        meta = {"io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientCapabilities": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments, "_meta": meta}}
        answer = self.server.client().request_at(
            "POST", "/api/v1/workspaces/default/mcp", body,
            {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": VERSION,
             "Mcp-Method": "tools/call", "Mcp-Name": tool})
        text = answer.body.decode()
        if "data: " in text:
            text = text[text.rindex("data: ") + 6:]
        return json.loads(text)["result"]

    def call_until_the_end(self, tool: str, **arguments) -> None:
        try:
            self.call(tool, **arguments)
        except (OSError, ValueError) as error:  # cut off, before the answer or within it
            self.lost.append(error)

    def kill_during(self, tool: str, **arguments) -> None:
        self.peer.gate.clear()
        caller = threading.Thread(target=self.call_until_the_end, args=(tool,), kwargs=arguments)
        caller.start()
        self.assertTrue(self.peer.arrived.acquire(timeout=END_SECONDS_MAX))
        self.server.kill()
        caller.join(END_SECONDS_MAX)
        self.assertEqual(len(self.lost), 1)
        self.peer.gate.set()
        self.server.restart()

    def counts(self) -> dict[str, int]:
        return {name: len(keys) for name, keys in self.peer.calls.items()}

    def start_relay(self) -> Relay:
        relay = Relay(self.server)
        self.addCleanup(relay.close)
        return relay

    def check_that_it_works(self) -> None:
        """The server answers, and has not made the call of before again meanwhile."""
        self.assertFalse(self.call("m_look").get("isError", False))
        self.assertEqual(self.counts(), {"order": 1, "look": 1, "put": 0})

    def test_a_tool_is_not_called_again(self):
        self.kill_during("m_order")
        self.check_that_it_works()
        self.check_data(self.server)

    def test_the_run_of_an_agent_goes_on_and_calls_its_tool_once(self):
        made = self.server.client().request("PUT", "/agents/worker", {
            "name": "worker", "tools": [{"kind": "mcp", "name": "m", "url": "config:m"}]})
        self.assertEqual(made.status, 201)
        self.kill_during("agent_worker", message="Go.")
        client = self.server.client()
        [run] = client.request("GET", "/agent-runs").json()["runs"]
        events = [frame.json() for frame in client.log(run.get("runId") or run["id"])]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        [result] = [one for one in events if one["type"] == "tool_result"]
        self.assertIn("A restart cut this call off", result["result"])
        self.check_that_it_works()
        self.check_data(self.server)

    def test_calls_before_and_after_a_kill_are_made_once(self):
        for orders in range(1, 3):
            self.assertFalse(self.call("m_order").get("isError", False))
            self.assertEqual(len(self.peer.calls["order"]), orders)
            self.server.kill()
            self.server.restart()
        self.assertFalse(self.call("m_look").get("isError", False))
        self.assertEqual(self.counts(), {"order": 2, "look": 1, "put": 0})
        self.check_data(self.server)

    def test_errand_mcp_does_not_repeat_a_call(self):
        """The program outlives the server, and says that the outcome is not known."""
        self.peer.gate.clear()
        relay = self.start_relay()
        order = relay.call("m_order")
        self.assertTrue(self.peer.arrived.acquire(timeout=END_SECONDS_MAX))
        self.server.kill()
        self.assertIn("error", relay.answer(order))
        self.peer.gate.set()
        self.server.restart()
        self.assertIn("result", relay.answer(relay.call("m_look")))
        relay.close()
        self.assertEqual(self.counts(), {"order": 1, "look": 1, "put": 0})
        self.check_data(self.server)

    def test_errand_mcp_makes_calls_before_and_after_a_kill_once(self):
        relay = self.start_relay()
        for orders in range(1, 3):
            self.assertIn("result", relay.answer(relay.call("m_order")))
            self.assertEqual(len(self.peer.calls["order"]), orders)
            self.server.kill()
            self.server.restart()
        self.assertIn("result", relay.answer(relay.call("m_look")))
        relay.close()
        self.assertEqual(self.counts(), {"order": 2, "look": 1, "put": 0})
        self.check_data(self.server)


if __name__ == "__main__":
    unittest.main()
