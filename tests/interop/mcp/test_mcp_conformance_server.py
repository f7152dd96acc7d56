"""The official MCP conformance suite judges our server core over HTTP, in both eras."""

import json
import re
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
# Those that the suite scores for both versions, and for one of them. A suite that finds no server,
# or that has lost scenarios, must not pass.
COMMON = {
    "completion-complete", "tools-list", "tools-call-simple-text", "tools-call-image",
    "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content",
    "tools-call-error", "tools-call-with-progress", "server-sse-multiple-streams",
    "resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read",
    "prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource",
    "prompts-get-with-image", "dns-rebinding-protection"}
SCENARIOS = {
    "2025-11-25": COMMON | {
        "server-initialize", "logging-set-level", "ping", "tools-call-with-logging",
        "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums", "resources-subscribe", "resources-unsubscribe"},
    "2026-07-28": COMMON | {
        "server-stateless", "sep-2164-resource-not-found", "caching"} | {
        f"input-required-result-{name}" for name in (
            "basic-elicitation", "basic-sampling", "basic-list-roots", "request-state",
            "multiple-input-requests", "multi-round", "missing-input-response",
            "non-tool-request", "result-type", "unsupported-methods", "tampered-state",
            "capability-check", "ignore-extra-params", "validate-input")}}
FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")  # of the results of a scenario


def scenarios_in(out: str) -> set[str]:
    """Those of which a check was made that passed."""
    found = set()
    for checks in Path(out).rglob("checks.json"):
        if any(check["status"] == "SUCCESS" for check in json.loads(checks.read_text())):
            found.add(FOLDER.fullmatch(checks.parent.name)[1])
    return found


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
            passed = scenarios_in(out)
        alive = fixture.process.poll() is None
        ended = fixture.close()
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertTrue(alive, said)
        self.assertEqual(ended, 0)
        self.assertEqual(SCENARIOS[version] - passed, set(), said)

    def test_server_of_2025_11_25(self):
        self.check("2025-11-25")

    def test_server_of_2026_07_28(self):
        self.check("2026-07-28")


if __name__ == "__main__":
    unittest.main()
