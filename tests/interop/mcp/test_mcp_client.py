"""The MCP client with servers that others wrote, over each transport and in both eras."""

import tempfile
import unittest
from pathlib import Path

from support.mcp_probe import (SERVERS, ensure_servers, package, probe, program, start_everything,
                               start_modern)

EVERYTHING = {"era": "legacy", "version": "2025-11-25", "server": "mcp-servers/everything"}
MODERN = {"era": "modern", "version": "2026-07-28", "server": "modern"}


def text(value: str) -> dict:
    return {"content": [{"type": "text", "text": value}]}


class McpServersTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def serve(self, process) -> None:
        def end():
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        self.addCleanup(end)

    def check_everything(self, target: list[str]) -> None:
        said = probe(target,
                     ("echo", {"message": "hä?"}),
                     ("get-sum", {"a": 2, "b": "three"}),
                     ("trigger-long-running-operation", {"duration": 0.3, "steps": 3}),
                     ("trigger-elicitation-request", {}),
                     ("get-structured-content", {"location": "Chicago"}),
                     ("get-tiny-image", {}),
                     ("get-resource-links", {"count": 1}),
                     ("get-resource-reference", {"resourceType": "Blob", "resourceId": 1}),
                     ("trigger-sampling-request", {"prompt": "p"}),
                     ("get-roots-list", {}))
        self.assertEqual(said[0], EVERYTHING)
        self.assertIn("probe_get-sum", said[1]["tools"])
        self.assertEqual(said[1]["notes"], [])
        self.assertEqual(said[2], text("Echo: hä?"))
        self.assertTrue(said[3]["isError"])
        self.assertEqual(said[4:7], [{"progress": 1.0}, {"progress": 2.0}, {"progress": 3.0}])
        self.assertIn("completed", said[7]["content"][0]["text"])
        self.assertIn("declined", said[8]["content"][0]["text"])
        self.assertEqual(sorted(said[9]["structuredContent"]),
                         ["conditions", "humidity", "temperature"])
        self.assertEqual([one["type"] for one in said[10]["content"]], ["text", "image", "text"])
        self.assertEqual([one["type"] for one in said[11]["content"]], ["text", "resource_link"])
        self.assertIn("blob", said[12]["content"][1]["resource"])
        self.assertIn("sampled from 1 message", said[13]["content"][0]["text"])
        self.assertIn("file:///tmp", said[14]["content"][0]["text"])
        self.assertEqual(len(said), 15)

    def test_everything_over_stdio(self):
        self.check_everything(program(package("server-everything"), "stdio"))

    def test_everything_over_streamable_http(self):
        process, port = start_everything("streamableHttp")
        self.serve(process)
        self.check_everything([f"http://127.0.0.1:{port}/mcp"])

    def test_everything_over_sse(self):
        process, port = start_everything("sse")
        self.serve(process)
        self.check_everything([f"http://127.0.0.1:{port}/sse"])

    def test_filesystem(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder).resolve() / "note.txt")
            said = probe(program(package("server-filesystem"), folder),
                         ("write_file", {"path": path, "content": "kept"}),
                         ("read_text_file", {"path": path}),
                         ("read_text_file", {"path": "/etc/passwd"}))
            self.assertEqual(Path(path).read_text(), "kept")
        self.assertEqual(said[0]["era"], "legacy")
        self.assertEqual(said[3]["content"], text("kept")["content"])
        self.assertTrue(said[4]["isError"])

    def test_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            entity = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
            said = probe(program(package("server-memory")),
                         ("create_entities", {"entities": [entity]}),
                         ("search_nodes", {"query": "ada"}),
                         environment={"MEMORY_FILE_PATH": str(Path(folder) / "memory.json")})
        self.assertEqual(said[3]["structuredContent"]["entities"], [entity])

    def check_modern(self, target: list[str]) -> None:
        said = probe(target, ("add", {"a": 2, "b": 3}), ("where", {"region": "Übersee"}),
                     ("ask", {}), ("add", {"a": "two"}), ("missing", {}))
        self.assertEqual(said[:5], [MODERN,
                                    {"tools": ["probe_add", "probe_where", "probe_ask",
                                               "probe_introduce"],
                                     "notes": []},
                                    {**text("5"), "structuredContent": {"sum": 5}},
                                    text("Übersee"),
                                    text("the user chose decline")])
        self.assertTrue(said[5]["isError"])
        self.assertEqual(said[6]["error"], "invalid_argument")

    def test_modern_sdk_over_stdio(self):
        self.check_modern(program(str(SERVERS / "modern.mjs"), "stdio"))

    def test_modern_sdk_over_http(self):
        process, port = start_modern()
        self.serve(process)
        self.check_modern([f"http://127.0.0.1:{port}/mcp"])


if __name__ == "__main__":
    unittest.main()
