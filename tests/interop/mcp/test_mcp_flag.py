"""`errand run --mcp` and `--a2a`, and servers of the configuration, with servers that others
wrote."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from support.peers.a2a_agent import Agent
from support.mcp_probe import SERVERS, ensure_servers, package, start_everything
from support.node import NODE
from support.script import turn, write_config
from support.server import NO_OLLAMA, ServerCase, binary
from support.terminal import Terminal

SECONDS_MAX = 120
CALLS = [("mcp_servers_everything_echo", {"message": "hä?"}),
         ("mcp_servers_everything_get_sum", {"a": 2, "b": 3})]
SAMPLING = "mcp_servers_everything_trigger_sampling_request"
ASKING = "mcp_servers_everything_trigger_elicitation_request"
ROOTS = "mcp_servers_everything_get_roots_list"


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
                              start_new_session=True,  # nobody is asked on the terminal of a test
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

    def embedded(self, calls: list, text: str = "") -> list[str]:
        turns = [turn(*filter(None, [text]), calls=calls), turn("Done.")]
        config = write_config(self.root, {"scripted": turns}, None)
        return ["--embedded", "--config", str(config)]

    def served(self, calls: list, text: str = "") -> list[str]:
        server = self.start_server([turn(*filter(None, [text]), calls=calls), turn("Done.")])
        return ["--server", server.url, "--key", server.key]

    def at_url(self, kind: str, path: str) -> str:
        process, port = start_everything(kind)

        def end():
            process.kill()
            process.wait()
        self.addCleanup(end)
        return f"http://127.0.0.1:{port}{path}"

    def everything(self) -> list[str]:
        """server-everything as a program and at URLs."""
        return [f"{NODE} {package('server-everything')} stdio",
                self.at_url("streamableHttp", "/mcp"), self.at_url("sse", "/sse")]

    def test_servers_of_others_without_and_with_a_server(self):
        for target in self.everything():
            for place in (self.embedded, self.served):
                with self.subTest(target=target, place=place.__name__):
                    results = self.results(*place(CALLS), "--mcp", target)
                    self.assertEqual(results["mcp_servers_everything_echo"], "Echo: hä?")
                    self.assertIn("5", results["mcp_servers_everything_get_sum"])

    def test_a_server_asks_the_model_of_the_run(self):
        for target in self.everything():
            with self.subTest(target):
                [result] = self.results(
                    *self.embedded([(SAMPLING, {"prompt": "Is it so?"})], "I think so."),
                    "--mcp", target).values()
                self.assertIn("I think so.", result)

    def test_a_question_is_declined_without_a_terminal(self):
        target = f"{NODE} {package('server-everything')} stdio"
        for place in (self.embedded, self.served):
            with self.subTest(place.__name__):
                done = self.errand("run", "--json", *place([(ASKING, {})]), "--mcp", target, "Go.")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("User declined", self.results_in(done.stdout)[ASKING])
                self.assertIn("declined, as there is no terminal to ask on", done.stderr)

    def test_a_question_is_answered_on_the_terminal(self):
        """By a server of each era, whoever drives the run: a field, and else the defaults."""
        old = f"{NODE} {package('server-everything')} stdio"
        new = f"{NODE} {SERVERS / 'modern.mjs'} stdio"
        for tool, target, place, answer in (
                (ASKING, old, self.embedded, "- Name: Ada"),
                (ASKING, old, self.served, "- Name: Ada"),
                ("modern_ask", new, self.served, "the user chose accept"),
                ("modern_introduce", new, self.embedded, "Ada says: I think so.")):
            with self.subTest(tool=tool, place=place.__name__):
                words = place([(tool, {})], "I think so.")
                with open(self.root / "events", "w+") as events, Terminal(
                        "run", "--json", *words, "--mcp", target, "Go.", cwd=str(self.root),
                        columns=200, env={"OLLAMA_HOST": NO_OLLAMA}, stdout=events) as terminal:
                    terminal.read_until("Answer? [y/N]")
                    terminal.type("yes\n")
                    terminal.read_until("name")
                    terminal.type("Ada\n" + "\n" * 20)
                    self.assertEqual(terminal.finish(), 0, terminal.screen.text())
                    events.seek(0)
                    self.assertIn(answer, self.results_in(events.read())[tool])

    def test_a_program_is_told_the_folder_of_the_agent(self):
        (self.root / "my notes").mkdir()
        words = ["--mcp", f"{NODE} {package('server-everything')} stdio", "--files", "my notes"]
        for place in (self.embedded, self.served):
            with self.subTest(place.__name__):
                results = self.results(*place([(ROOTS, {})]), *words)
                self.assertIn(f"file://{self.root}/my%20notes", results[ROOTS])

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

    def test_a_flag_names_a_server_of_the_configuration(self):
        every = {"command": str(NODE), "args": [package("server-everything"), "stdio"]}
        config = {"mcpServers": {"every": every}}
        turns = [turn(calls=[("every_echo", {"message": "hä?"})]), turn("Done.")]
        server = self.start_server(turns, config)
        here = write_config(self.root, {"scripted": turns}, config)
        for place in (["--embedded", "--config", str(here)],
                      ["--server", server.url, "--key", server.key]):
            with self.subTest(place[0]):
                results = self.results(*place, "--mcp", "config:every")
                self.assertEqual(results, {"every_echo": "Echo: hä?"})
        wrong = self.errand("run", "--embedded", "--mcp", "config:a-b", "Go.")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--mcp config:a-b: a name has 1 to 64 letters", wrong.stderr)

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
