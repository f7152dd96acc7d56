"""The official MCP SDKs as clients of a server on our server core, over stdio and in both eras."""

import json
import subprocess
import unittest

from support.mcp_probe import SECONDS_MAX, SERVERS, ensure_servers, fixture_path, probe
from support.node import NODE

SEEN = {"version": {"name": "fixture", "version": "1.0.0"},
        "tools": ["echo", "measure", "steps", "ask", "fail"],
        "echo": "hä?", "measure": {"length": 4}, "steps": "done", "progress": [1, 2, 3],
        "ask": "the user chose decline", "failed": True, "unknown": -32602,
        "prompts": ["greet"], "prompt": "Hello Ada", "resources": ["test://a"], "resource": "A",
        "completion": ["Ada"]}


class McpServerTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def use(self, generation: str) -> dict:
        done = subprocess.run([NODE, SERVERS / "use_server.mjs", generation, fixture_path()],
                              capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_sdk_of_the_legacy_era(self):
        self.assertEqual(self.use("v1"), {**SEEN, "era": "legacy"})

    def test_sdk_of_the_modern_era(self):
        self.assertEqual(self.use("v2"), {**SEEN, "era": "modern"})

    def test_our_own_client(self):
        said = probe(["--", str(fixture_path())], ("echo", {"text": "hi"}), ("ask", {}))
        self.assertEqual(said[0], {"era": "modern", "version": "2026-07-28", "server": "fixture"})
        self.assertEqual([one["content"][0]["text"] for one in said[2:]],
                         ["hi", "the user chose decline"])


if __name__ == "__main__":
    unittest.main()
