"""`errand run --mcp` and `--a2a`, and servers of the configuration, with servers that others
wrote."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from support.a2a_agent import Agent
from support.mcp_probe import ensure_servers, package, start_everything
from support.node import NODE
from support.script import turn, write_config
from support.server import NO_OLLAMA, ServerCase, binary

SECONDS_MAX = 120
CALLS = [("mcp_servers_everything_echo", {"message": "hä?"}),
         ("mcp_servers_everything_get_sum", {"a": 2, "b": 3})]


class McpFlagTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def errand(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([binary(), *words], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=SECONDS_MAX, cwd=self.root,
                              env={**os.environ, "OLLAMA_HOST": NO_OLLAMA})

    def results(self, *words: str) -> dict[str, str]:
        """What the tools of a run gave, by their names."""
        done = self.errand("run", "--json", *words, "Go.")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.results_in(done.stdout)

    @staticmethod
    def results_in(output: str) -> dict[str, str]:
        events = [json.loads(line) for line in output.splitlines()]
        kinds = ("tool_result", "local_tool_result_in")
        return {one["name"]: one["result"] if "result" in one else one["error"]
                for one in events if one["type"] in kinds}

    def embedded(self, calls: list) -> list[str]:
        config = write_config(self.root, {"scripted": [turn(calls=calls), turn("Done.")]}, None)
        return ["--embedded", "--config", str(config)]

    def served(self, calls: list) -> list[str]:
        server = self.start_server([turn(calls=calls), turn("Done.")])
        return ["--server", server.url, "--key", server.key]

    def everything(self) -> list[str]:
        """server-everything as a program and at a URL."""
        process, port = start_everything("streamableHttp")

        def end():
            process.kill()
            process.wait()
        self.addCleanup(end)
        return [f"{NODE} {package('server-everything')} stdio", f"http://127.0.0.1:{port}/mcp"]

    def test_servers_of_others_without_and_with_a_server(self):
        for target in self.everything():
            for place in (self.embedded, self.served):
                with self.subTest(target=target, place=place.__name__):
                    results = self.results(*place(CALLS), "--mcp", target)
                    self.assertEqual(results["mcp_servers_everything_echo"], "Echo: hä?")
                    self.assertIn("5", results["mcp_servers_everything_get_sum"])

    def test_two_servers_with_one_name(self):
        target = f"{NODE} {package('server-everything')} stdio"
        calls = [CALLS[0], ("mcp_servers_everything2_echo", {"message": "two"})]
        results = self.results(*self.embedded(calls), "--mcp", target, "--mcp", target)
        self.assertEqual(results["mcp_servers_everything2_echo"], "Echo: two")

    def test_a_server_that_is_down_costs_no_other(self):
        other = f"{NODE} {package('server-everything')} stdio"
        down = (("--mcp", "no-such-program-at-all", "no_such_program_at_all_unavailable"),
                ("--mcp", "exit 7", "exit_7_unavailable"),
                ("--mcp", "http://127.0.0.1:9/mcp", "http_127_0_0_1_9_mcp_unavailable"),
                ("--a2a", "http://127.0.0.1:9/card", "http_127_0_0_1_9_card_unavailable"))
        for flag, target, stub in down:
            for place in (self.embedded, self.served):
                with self.subTest(target=target, place=place.__name__):
                    words = [*place([CALLS[0], (stub, {})]), flag, target, "--mcp", other]
                    done = self.errand("run", "--json", *words, "Go.")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertIn(f"errand: {flag} {target}: ", done.stderr)
                    results = self.results_in(done.stdout)
                    self.assertEqual(results["mcp_servers_everything_echo"], "Echo: hä?")
                    self.assertIn("is unavailable in this run: it does not answer", results[stub])

    def test_an_agent_that_needs_input_can_be_answered(self):
        agent = Agent("1.0")
        self.addCleanup(agent.close)
        for place in (self.embedded, self.served):
            with self.subTest(place=place.__name__):
                calls = [("Stranger", {"message": "ask me"})]
                results = self.results(*place(calls), "--a2a", agent.card_url)
                self.assertIn("call this tool again with taskId", results["Stranger"])
                found = re.search(r'taskId "([^"]+)" and contextId "([^"]+)"', results["Stranger"])
                calls = [("Stranger", {"message": "echo blue", "taskId": found[1],
                                       "contextId": found[2]})]
                results = self.results(*place(calls), "--a2a", agent.card_url)
                self.assertEqual(results["Stranger"], "heard: echo blue")

    def test_an_agent_of_others(self):
        for version in ("1.0", "0.3"):
            agent = Agent(version)
            self.addCleanup(agent.close)
            calls = [("Stranger", {"message": "echo hi"})]
            for place in (self.embedded, self.served):
                with self.subTest(version=version, place=place.__name__):
                    results = self.results(*place(calls), "--a2a", agent.card_url)
                    self.assertEqual(results["Stranger"], "heard: echo hi")

    def test_servers_of_the_configuration(self):
        (self.root / "notes").mkdir()
        (self.root / "notes" / "a.txt").write_text("remember")
        servers = {
            "every": {"command": str(NODE), "args": [package("server-everything"), "stdio"]},
            "files": {"command": str(NODE),
                      "args": [package("server-filesystem"), str(self.root / "notes")]},
            "remote": {"url": self.everything()[1]}}
        path = str(self.root / "notes" / "a.txt")
        calls = [("every_echo", {"message": "one"}), ("remote_echo", {"message": "two"}),
                 ("files_read_text_file", {"path": path})]
        server = self.start_server([turn(calls=calls), turn("Done.")], {"mcpServers": servers})
        client = server.client()
        refs = [{"kind": "mcp", "name": name, "url": f"config:{name}"} for name in servers]
        run = client.create(prompt="Go.", tools=refs)
        events = [frame.json() for frame in client.log(run)]
        results = {one["name"]: one["result"] for one in events if one["type"] == "tool_result"}
        self.assertEqual(results["every_echo"], "Echo: one")
        self.assertEqual(results["remote_echo"], "Echo: two")
        self.assertIn("remember", results["files_read_text_file"])
        self.check_data(server)


if __name__ == "__main__":
    import unittest
    unittest.main()
