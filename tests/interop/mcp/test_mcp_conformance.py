"""The official MCP conformance suite runs our client through every scored scenario but auth/*."""

import re
import subprocess
import sys
import unittest

from support.mcp_probe import PACKAGES, SECONDS_MAX, SERVERS, ensure_servers, probe_path
from support.node import NODE

# Those that the suite lists as required for each version, without auth/*, and how many checks each
# makes at least: a suite that checks nothing would pass as well.
LEGACY = {"initialize": 1, "tools_call": 2, "sse-retry": 3,
          "elicitation-sep1034-client-defaults": 5}
MODERN = {"tools_call": 2, "request-metadata": 8, "sep-2322-client-request-state": 5,
          "http-standard-headers": 3, "http-custom-headers": 18, "http-invalid-tool-headers": 12,
          "json-schema-ref-no-deref": 1}
PASSED = re.compile(r"^Passed: (\d+)/(\d+), 0 failed, 0 warnings$", re.MULTILINE)


class McpConformanceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def check(self, scenario: str, version: str, checks: int) -> None:
        client = f"{sys.executable} {SERVERS / 'conformance_client.py'} {probe_path()}"
        done = subprocess.run(
            [NODE, PACKAGES / "conformance" / "dist" / "index.js", "client", "--command", client,
             "--scenario", scenario, "--spec-version", version],
            capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        said = done.stdout + done.stderr
        counts = PASSED.search(said)
        self.assertEqual(done.returncode, 0, said)
        self.assertTrue(counts and int(counts[1]) == int(counts[2]) >= checks, said)

    def test_client_of_2025_11_25(self):
        for scenario, checks in LEGACY.items():
            with self.subTest(scenario):
                self.check(scenario, "2025-11-25", checks)

    def test_client_of_2026_07_28(self):
        for scenario, checks in MODERN.items():
            with self.subTest(scenario):
                self.check(scenario, "2026-07-28", checks)


if __name__ == "__main__":
    unittest.main()
