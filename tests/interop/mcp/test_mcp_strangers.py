"""Runs with MCP servers of others: server-filesystem and server-memory as programs and over HTTP,
the official Python SDK as a server, and a server of the modern era on the SDK for Node."""

import json
import subprocess
import tempfile
from pathlib import Path

from support.mcp_probe import (SECONDS_MAX, SERVERS, ensure_servers, free_port, package,
                               wait_for_port)
from support.node import INTEROP, NODE
from support.python_sdk import python_with_sdk
from support.script import turn
from support.server import ServerCase, binary, die_with_parent

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
FASTMCP = INTEROP / "fastmcp"
ENTITY = {"name": "Ada", "entityType": "person", "observations": ["counts"]}


class McpStrangersTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "a.txt").write_text("remember")
        files = {"command": str(NODE), "args": [package("server-filesystem"), str(self.root)]}
        memory = {"command": str(NODE), "args": [package("server-memory")],
                  "env": {"MEMORY_FILE_PATH": str(self.root / "memory.jsonl")}}
        self.config = ALLOW | {"mcpServers": {"files": files, "memory": memory}}

    def start_process(self, *command, **others) -> subprocess.Popen:
        process = subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, preexec_fn=die_with_parent, **others)

        def end():
            process.kill()
            process.wait()
            process.stdout.close()
        self.addCleanup(end)
        return process

    def results(self, tools: list, *calls, config=None) -> tuple[dict, list]:
        """What each tool gave in a run that makes these calls one after the other."""
        server = self.start_server([*(turn(calls=[call]) for call in calls), turn("Done.")],
                                   config or ALLOW)
        client = server.client()
        run = client.create(prompt="Go.", tools=tools)
        events = [frame.json() for frame in client.log(run)]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        self.check_data(server)
        return {one["name"]: one for one in events if one["type"] == "tool_result"}, events

    def check_files_and_memory(self, prefix: str, tools: list, config: dict) -> None:
        results, _ = self.results(
            tools, (f"{prefix}files_read_text_file", {"path": str(self.root / "a.txt")}),
            (f"{prefix}files_read_text_file", {"path": str(self.root / "a.txt")}),
            (f"{prefix}memory_create_entities", {"entities": [ENTITY]}),
            (f"{prefix}memory_search_nodes", {"query": "Ada"}), config=config)
        self.assertIn("remember", results[f"{prefix}files_read_text_file"]["result"])
        self.assertTrue(results[f"{prefix}memory_create_entities"]["ok"], results)
        self.assertIn("counts", results[f"{prefix}memory_search_nodes"]["result"])

    def test_files_and_memory_as_programs(self):
        tools = [{"kind": "mcp", "name": name, "url": f"config:{name}"}
                 for name in ("files", "memory")]
        self.check_files_and_memory("", tools, self.config)

    def test_files_and_memory_over_http(self):
        """The servers know standard streams alone: FastMCP serves them over HTTP."""
        servers = {"mcpServers": self.config["mcpServers"]}
        proxy = self.start_process(python_with_sdk(FASTMCP / "requirements.txt"),
                                   FASTMCP / "proxy.py", json.dumps(servers),
                                   stderr=subprocess.DEVNULL)
        port = int(proxy.stdout.readline())
        wait_for_port(port)
        tool = {"kind": "mcp", "name": "w", "url": f"http://127.0.0.1:{port}/mcp"}
        self.check_files_and_memory("w_", [tool], ALLOW)

    def test_files_and_memory_behind_another_errand(self):
        other = self.start_server([turn("?")], self.config)
        tool = {"kind": "mcp", "name": "w", "url": f"{other.url}/api/v1/workspaces/default/mcp",
                "headers": {"Authorization": f"Bearer {other.key}"}}
        self.check_files_and_memory("w_", [tool], ALLOW)

    def test_the_python_sdk_as_a_server(self):
        python, program = str(python_with_sdk()), str(SERVERS / "serve_python.py")
        port = free_port()
        self.start_process(python, program, str(port))
        wait_for_port(port)
        config = ALLOW | {"mcpServers": {"py": {"command": python, "args": [program, "stdio"]}}}
        for url in ("config:py", f"http://127.0.0.1:{port}/mcp"):
            with self.subTest(url):
                results, events = self.results(
                    [{"kind": "mcp", "name": "py", "url": url}], ("py_add", {"a": 2, "b": 3}),
                    ("py_count", {"to": 3}), ("py_fail", {}), config=config)
                self.assertIn("5", results["py_add"]["result"])
                self.assertEqual(results["py_count"]["result"], "counted")
                self.assertFalse(results["py_fail"]["ok"])
                self.assertIn("it broke", results["py_fail"]["result"])
                progress = [one["message"] for one in events if one["type"] == "tool_progress"]
                self.assertEqual(progress, ["at 1", "at 2", "at 3"])

    def test_the_python_sdk_as_a_client_of_errand_mcp(self):
        server = self.start_server([turn("?")])
        done = subprocess.run(
            [python_with_sdk(), SERVERS / "use_program.py", binary(), "mcp", "--data",
             str(server.data)], capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual((said["name"], said["sum"]), ("errand", "14"))
        self.assertIn("calculator", said["tools"])

    def test_a_server_of_the_modern_era(self):
        http = self.start_process(NODE, SERVERS / "modern.mjs", "http")
        url = f"http://127.0.0.1:{int(http.stdout.readline())}/"
        program = {"command": str(NODE), "args": [str(SERVERS / "modern.mjs"), "stdio"]}
        config = ALLOW | {"mcpServers": {"new": program}}
        for target in ("config:new", url):
            with self.subTest(target):
                results, _ = self.results(
                    [{"kind": "mcp", "name": "new", "url": target}],
                    ("new_add", {"a": 2, "b": 3}), ("new_where", {"region": "north"}),
                    config=config)
                self.assertEqual(results["new_add"]["result"], "5")
                self.assertEqual(results["new_where"]["result"], "north")

    def test_a_server_is_told_its_folders(self):
        program = {"command": str(NODE), "args": [package("server-everything"), "stdio"],
                   "roots": [str(self.root)]}
        results, _ = self.results([{"kind": "mcp", "name": "every", "url": "config:every"}],
                                  ("every_get-roots-list", {}),
                                  config=ALLOW | {"mcpServers": {"every": program}})
        self.assertIn(f"file://{self.root}", results["every_get-roots-list"]["result"])


if __name__ == "__main__":
    import unittest
    unittest.main()
