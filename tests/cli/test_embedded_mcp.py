"""`errand mcp --embedded`: the tools of this process for an MCP client on standard streams."""

import json
import re
import subprocess
from pathlib import Path

from support.embedded import EmbeddedCase
from support.peers import gossip
from support.server import binary
from support.terminal import SECONDS_MAX, plain_environment

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
KEY = re.compile(r'errand/idempotencyKey\W+(tu_\w+)')


def call(number: int, tool: str, arguments: dict) -> str:
    params = {"_meta": META, "name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


class EmbeddedMcpTest(EmbeddedCase):
    def answers(self, calls: list[str], config: dict | None = None) -> dict:
        """The results by the number of their call. All calls are sent before the first answer is
        read."""
        file = Path(self.root, "config.json")
        file.write_text(json.dumps(config or {}))
        done = subprocess.run([binary(), "mcp", "--embedded", "--config", str(file)],
                              input="".join(f"{one}\n" for one in calls), capture_output=True,
                              text=True, check=False, timeout=SECONDS_MAX, cwd=self.cwd,
                              env=plain_environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = [json.loads(line) for line in done.stdout.splitlines()]
        return {one["id"]: one["result"] for one in said}

    def test_calls_that_come_together_are_all_answered(self):
        calls = [call(n, "calculator", {"expression": f"{n}+1"}) for n in range(1, 61)]
        results = self.answers(calls)
        self.assertEqual([results[n]["content"] for n in range(1, 61)],
                         [[{"type": "text", "text": str(n + 1)}] for n in range(1, 61)])

    def test_the_same_tool_takes_good_arguments_after_wrong_ones(self):
        results = self.answers([call(1, "calculator", {"expression": ""}),
                                call(2, "calculator", {"expression": "2+3"})])
        self.assertTrue(results[1]["isError"])
        self.assertIn("/expression", results[1]["content"][0]["text"])
        self.assertEqual(results[2]["content"], [{"type": "text", "text": "5"}])

    def test_every_call_of_a_session_has_an_id_of_its_own(self):
        peer = gossip.start_gossip()
        self.addCleanup(peer.server_close)
        self.addCleanup(peer.shutdown)
        results = self.answers([call(n, "gossip_tell", {"x": n}) for n in range(3)],
                               {"mcpServers": {"gossip": {"url": f"{peer.url}/mcp"}}})
        keys = {KEY.search(results[n]["content"][0]["text"]).group(1) for n in range(3)}
        self.assertEqual(len(keys), 3, keys)
