"""kill -9 while MCP clients call tools of a workspace: nothing is done twice, whoever asks, and the
run of an agent goes on."""

import json
import subprocess
import threading
import unittest

from support.peers.counting_mcp import CountingMcp
from support.kill_storm import END_SECONDS_MAX
from support.script import turn
from support.server import ServerCase, binary, die_with_parent

VERSION = "2026-07-28"


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

    def check_that_it_works(self) -> None:
        """The server answers, and has not made the call of before again meanwhile."""
        self.assertFalse(self.call("m_look").get("isError", False))
        self.assertEqual(len(self.peer.calls["look"]), 1)
        self.assertEqual(len(self.peer.calls["order"]), 1)

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

    def test_errand_mcp_does_not_repeat_a_call(self):
        """The program outlives the server, and says that the outcome is not known."""
        self.peer.gate.clear()
        with subprocess.Popen([binary(), "mcp", "--data", str(self.server.data)], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              preexec_fn=die_with_parent) as relay:
            def tell(number: int, method: str, **params) -> None:
                relay.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                                              "params": params}) + "\n")
                relay.stdin.flush()

            def answer(number: int) -> dict:
                while (said := json.loads(relay.stdout.readline())).get("id") != number:
                    pass  # notices
                return said
            tell(1, "initialize", protocolVersion="2025-11-25", capabilities={},
                 clientInfo={"name": "t", "version": "1"})
            answer(1)
            tell(2, "tools/call", name="m_order", arguments={})
            self.assertTrue(self.peer.arrived.acquire(timeout=END_SECONDS_MAX))
            self.server.kill()
            self.assertIn("error", answer(2))
            self.peer.gate.set()
            self.server.restart()
            tell(3, "tools/call", name="m_look", arguments={})
            self.assertIn("result", answer(3))
            relay.stdin.close()
        self.assertEqual({name: len(keys) for name, keys in self.peer.calls.items()},
                         {"order": 1, "look": 1, "put": 0})
        self.check_data(self.server)


if __name__ == "__main__":
    unittest.main()
