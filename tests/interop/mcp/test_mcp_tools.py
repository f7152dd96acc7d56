"""Runs use the tools of MCP servers that others wrote."""

from support.mcp_probe import ensure_servers, start_everything
from support.script import turn
from support.server import ServerCase

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}


class McpToolsTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def start_mcp(self, transport: str) -> int:
        process, port = start_everything(transport)

        def end():
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        self.addCleanup(end)
        return port

    def run_calls(self, url: str, *calls, config=None, **ref) -> list[dict]:
        """The events of a run that makes these calls in one turn."""
        server = self.start_server([turn(calls=list(calls)), turn("Done.")], config or ALLOW)
        client = server.client()
        tool = {"kind": "mcp", "name": "every", "url": url, **ref}
        run = client.create(prompt="Go.", tools=[tool])
        events = [frame.json() for frame in client.log(run)]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        self.check_data(server)
        return events

    def check_everything(self, url: str) -> None:
        events = self.run_calls(
            url, ("every_echo", {"message": "hä?"}), ("every_get-sum", {"a": 2, "b": 3}),
            ("every_get-tiny-image", {}),
            ("every_trigger-long-running-operation", {"duration": 0.2, "steps": 2}))
        results = {one["name"]: one for one in events if one["type"] == "tool_result"}
        self.assertEqual(results["every_echo"]["result"], "Echo: hä?")
        self.assertIn("5", results["every_get-sum"]["result"])
        files = results["every_get-tiny-image"]["files"]
        self.assertEqual([file["mimeType"] for file in files], ["image/png"])
        self.assertIn("completed", results["every_trigger-long-running-operation"]["result"])
        progress = [one["progress"] for one in events if one["type"] == "tool_progress"]
        self.assertEqual(progress, [1.0, 2.0])

    def test_everything_over_streamable_http(self):
        self.check_everything(f"http://127.0.0.1:{self.start_mcp('streamableHttp')}/mcp")

    def test_everything_over_sse(self):
        self.check_everything(f"http://127.0.0.1:{self.start_mcp('sse')}/sse")

    def test_a_filter_chooses_tools(self):
        url = f"http://127.0.0.1:{self.start_mcp('streamableHttp')}/mcp"
        events = self.run_calls(url, ("every_echo", {"message": "a"}), ("every_get-sum", {}),
                                toolFilter=["echo"])
        results = {one["name"]: one["ok"] for one in events if one["type"] == "tool_result"}
        self.assertEqual(results, {"every_echo": True, "every_get-sum": False})

    def test_a_server_that_is_down_is_unavailable(self):
        events = self.run_calls("http://127.0.0.1:9/mcp", ("every_unavailable", {}))
        result = next(one for one in events if one["type"] == "tool_result")
        self.assertIn("is unavailable in this run", result["result"])

    def test_private_addresses_are_refused(self):
        url = f"http://127.0.0.1:{self.start_mcp('streamableHttp')}/mcp"
        events = self.run_calls(url, ("every_unavailable", {}), config={"limits": {}})
        result = next(one for one in events if one["type"] == "tool_result")
        self.assertFalse(result["ok"])
