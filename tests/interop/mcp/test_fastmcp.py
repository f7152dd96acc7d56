"""FastMCP as a server for runs, and as a client of a workspace."""

import json
import os
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from support.node import INTEROP
from support.python_sdk import python_with_sdk
from support.script import turn
from support.server import NO_OLLAMA, ServerCase, binary, die_with_parent

FOLDER = INTEROP / "fastmcp"
SECONDS_MAX = 120
CALLS = [("fast_add", {"a": 2, "b": 3}), ("fast_forecast", {"city": "Ulm"}),
         ("fast_count", {"to": 3}), ("fast_fail", {})]


class FastMcpTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.python = python_with_sdk(FOLDER / "requirements.txt")

    def start_http(self) -> str:
        process = subprocess.Popen([self.python, FOLDER / "server.py", "http"], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)

        def end():
            process.kill()
            process.wait()
            process.stdout.close()
        self.addCleanup(end)
        url = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        deadline = time.monotonic() + SECONDS_MAX
        while not self.answers(url):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)  # paced: a server of others rings no bell
        return url

    @staticmethod
    def answers(url: str) -> bool:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def check_run(self, servers: dict) -> None:
        server = self.start_server([turn(calls=CALLS), turn("Done.")], {"mcpServers": servers})
        client = server.client()
        run = client.create(prompt="Go.", tools=[
            {"kind": "mcp", "name": "fast", "url": "config:fast"}])
        events = [frame.json() for frame in client.log(run)]
        results = {one["name"]: one for one in events if one["type"] == "tool_result"}
        self.assertEqual(results["fast_add"]["result"], "5")
        self.assertEqual(json.loads(results["fast_forecast"]["result"]),
                         {"city": "Ulm", "celsius": 7})
        self.assertEqual(results["fast_count"]["result"], "counted to 3")
        self.assertFalse(results["fast_fail"]["ok"])
        self.assertIn("it broke", results["fast_fail"]["result"])
        self.assertEqual([one["progress"] for one in events if one["type"] == "tool_progress"],
                         [1.0, 2.0, 3.0])
        self.check_data(server)

    def test_runs_use_a_server_over_http(self):
        self.check_run({"fast": {"url": self.start_http()}})

    def test_runs_use_a_server_over_stdio(self):
        self.check_run({"fast": {"command": str(self.python),
                                 "args": [str(FOLDER / "server.py"), "stdio"]}})

    def use(self, *words: str) -> dict:
        done = subprocess.run([self.python, FOLDER / "use_server.py", *words], text=True,
                              capture_output=True, check=False, timeout=SECONDS_MAX,
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "OLLAMA_HOST": NO_OLLAMA})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_use(self, got: dict) -> None:
        self.assertIn("calculator", got["tools"])
        self.assertEqual((got["text"], got["wrong"]), ("14", True))
        self.assertEqual(got["templates"], ["errand://runs/{runId}/events"])

    def test_a_client_uses_a_workspace(self):
        server = self.start_server([turn("Hello.")])
        self.check_use(self.use(f"{server.url}/api/v1/workspaces/default/mcp", server.key))

    def test_a_client_uses_errand_mcp(self):
        self.check_use(self.use("--", binary(), "mcp", "--embedded"))


if __name__ == "__main__":
    unittest.main()
