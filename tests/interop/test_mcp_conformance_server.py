"""The official MCP conformance suite judges our server core over HTTP, in both eras."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.mcp_probe import PACKAGES, SERVERS, ensure_servers
from support.node import NODE
from support.server import binary, die_with_parent

SUITE = PACKAGES / "conformance" / "dist" / "index.js"
BASELINE = SERVERS / "conformance_baseline.yml"
SECONDS_MAX = 300
# A suite that finds no server, or that has lost scenarios, must not pass.
SCENARIOS_MIN = {"2025-11-25": 30, "2026-07-28": 37}


class Fixture:
    """The server that the suite wants to find, until it is closed."""

    def __init__(self):
        program = Path(binary()).parent / "tests" / "mcp_conformance"
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=die_with_parent)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/mcp"

    def close(self) -> int:
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(SECONDS_MAX)


class McpConformanceServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def check(self, version: str) -> None:
        fixture = Fixture()
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run(
                [NODE, SUITE, "server", "--url", fixture.url, "--requirements", version,
                 "--expected-failures", BASELINE, "-o", out],
                capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
            checks = [json.loads(one.read_text()) for one in Path(out).rglob("checks.json")]
        scenarios = [one for one in checks if any(check["status"] == "SUCCESS" for check in one)]
        alive = fixture.process.poll() is None
        ended = fixture.close()
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertTrue(alive, said)
        self.assertEqual(ended, 0)
        self.assertGreaterEqual(len(scenarios), SCENARIOS_MIN[version], said)

    def test_server_of_2025_11_25(self):
        self.check("2025-11-25")

    def test_server_of_2026_07_28(self):
        self.check("2026-07-28")


if __name__ == "__main__":
    unittest.main()
