"""The official MCP SDKs as clients of examples/mcp_server, over stdio and HTTP and in both eras."""

import json
import subprocess
import unittest
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from sdk.installed import ROOT, InstalledCase
from support.mcp_probe import SECONDS_MAX, SERVERS, ensure_servers
from support.node import NODE
from support.python_sdk import python_with_sdk

SEEN = {"server": {"name": "notes", "version": "1.0"}, "instructions": "Keeps notes.",
        "tools": ["add_note", "count"], "added": {"notes": 2}, "wrong": True, "counted": "three",
        "prompt": "Explain this note: It wobbles.", "templates": ["note://{name}"],
        "read": "It wobbles.", "missing": -32602, "completion": ["desk"]}
SEEN_IN_PYTHON = {"server": "notes"} | {
    key: SEEN[key] for key in ("tools", "added", "prompt", "read")}


@contextmanager
def over_http(program: Path) -> Iterator[str]:
    """The URL of the program, which ends well with its input."""
    with subprocess.Popen([program, "http"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            yield process.stdout.readline().strip()
            process.stdin.close()
            if process.wait(SECONDS_MAX) != 0:
                raise AssertionError(f"the program ended with {process.returncode}")
        finally:
            process.kill()


class McpExampleTest(InstalledCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ensure_servers()

    def setUp(self):
        self.program = self.build_project("g++", ROOT / "examples" / "mcp_server") / "mcp_server"

    def use(self, *command: str | Path) -> dict:
        return json.loads(self.must(*command, timeout=SECONDS_MAX))

    def check_node(self, target: str | Path) -> None:
        for generation, era in (("v1", "legacy"), ("v2", "modern")):
            with self.subTest(generation):
                seen = self.use(NODE, SERVERS / "use_notes.mjs", generation, target)
                self.assertEqual(seen, SEEN | {"era": era})

    def test_sdks_over_stdio(self):
        self.check_node(self.program)
        python = self.use(python_with_sdk(), SERVERS / "use_notes.py", self.program)
        self.assertEqual(python, SEEN_IN_PYTHON)

    def test_sdks_over_http(self):
        with over_http(self.program) as url:
            self.check_node(url)
            self.assertEqual(self.use(python_with_sdk(), SERVERS / "use_notes.py", url),
                             SEEN_IN_PYTHON)


if __name__ == "__main__":
    unittest.main()
