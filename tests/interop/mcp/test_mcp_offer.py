"""Stored tools, agents and configured MCP servers of a workspace, for clients of the official SDKs
over HTTP and through `errand mcp`."""

import http.server
import json
import threading

from support.peers.mcp_client import DrivenClient
from support.mcp_probe import ensure_servers, package
from support.node import NODE
from support.script import turn
from support.server import ServerCase, binary

BUILT_IN = ["calculator", "current_time", "web_fetch", "web_search"]
CANARY = "canary-mcp-90c1"
WAYS = [(generation, way) for generation in ("v1", "v2") for way in ("http", "stdio")]


class Peer(http.server.ThreadingHTTPServer):
    """Repeats the headers that it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.tokens: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.tokens.append(self.headers["Authorization"])
        body = json.dumps({"path": self.path, "sent": self.headers["Authorization"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class McpOfferTest(ServerCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def start(self, *turns):
        self.peer = Peer()
        self.addCleanup(self.peer.server_close)
        self.addCleanup(self.peer.shutdown)
        servers = {"every": {"command": str(NODE), "args": [package("server-everything"), "stdio"]},
                   "gone": {"command": "/nonexistent/program"}}
        self.server = self.start_server(list(turns) or [turn("Said.")], {
            "network": {"allow": ["127.0.0.0/8"]}, "mcpServers": servers})
        self.api = self.server.client()
        self.api.request("PUT", "/secrets/TOKEN", {"value": CANARY})
        self.put_tool("look")
        self.put_agent("teller", description="Tells.")

    def put_tool(self, name: str) -> None:
        made = self.api.request("PUT", f"/tools/{name}", {
            "description": "Looks.", "parameters": {
                "type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
            "http": {"url": self.peer.url + "/{{args.q}}",
                     "headers": {"Authorization": "Bearer {{secret:TOKEN}}"}}})
        self.assertIn(made.status, (200, 201), made.body)

    def put_agent(self, name: str, **members) -> None:
        made = self.api.request("PUT", f"/agents/{name}", {"name": name, **members})
        self.assertIn(made.status, (200, 201), made.body)

    def connect(self, generation: str, way: str, key: str = "") -> DrivenClient:
        if way == "http":
            target = {"url": f"{self.server.url}/api/v1/workspaces/default/mcp",
                      "headers": {"Authorization": f"Bearer {key or self.server.key}"}}
        else:
            target = {"command": binary(), "args": ["mcp", "--data", str(self.server.data)]}
        client = DrivenClient(generation, target)
        self.addCleanup(client.close)
        return client

    def test_tools_of_every_source_are_offered_and_called(self):
        self.start()
        for generation, way in WAYS:
            with self.subTest(generation=generation, way=way):
                client = self.connect(generation, way)
                tools = client.ask(list=True)
                self.assertEqual([name for name in tools if not name.startswith("every_")],
                                 sorted(["agent_teller", *BUILT_IN, "look"]))
                self.assertIn("every_echo", tools)
                echo = client.ask(call="every_echo", arguments={"message": "hä?"})
                self.assertEqual((echo["text"], echo["failed"]), ("Echo: hä?", False))
                look = client.ask(call="look", arguments={"q": "a"})
                self.assertFalse(look["failed"], look)
                self.assertIn('"path":"/a"', look["text"].replace(" ", ""))
                self.assertNotIn(CANARY, look["text"])
                self.assertEqual(self.peer.tokens[-1], f"Bearer {CANARY}")
                self.assertTrue(client.ask(call="look", arguments={})["failed"])

    def test_an_agent_is_a_run_with_progress(self):
        # Paced: the client of npm drops progress that arrives in one piece with the answer.
        self.start(turn("Let me see.", calls=[("calculator", {"expression": "6*7"})]),
                   turn("It is 42.", delayMs=500))
        self.put_agent("teller", tools=[{"kind": "mantyx_plugin", "name": "calculator"}])
        for generation, way in WAYS:
            with self.subTest(generation=generation, way=way):
                client = self.connect(generation, way)
                said = client.ask(call="agent_teller", arguments={"message": "What is 6*7?"})
                self.assertEqual((said["text"], said["failed"]), ("It is 42.", False))
                run = said["progress"][0].removeprefix("the run is ")
                self.assertIn("calls calculator", said["progress"])
                snapshot = self.api.request("GET", f"/agent-runs/{run}").json()
                self.assertEqual(snapshot["status"], "succeeded")
                self.assertTrue(client.ask(call="agent_teller", arguments={})["failed"])
        self.check_data(self.server)

    def test_an_agents_structured_answer_is_structured_content(self):
        self.start(turn('{"n": 5}'))
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        self.put_agent("counter", outputSchema={"name": "count", "schema": schema})
        said = self.connect("v2", "http").ask(call="agent_counter", arguments={"message": "Go."})
        self.assertEqual(said["structured"], {"n": 5})

    def test_a_cancelled_call_cancels_the_run(self):
        wait = {"kind": "local", "name": "wait", "description": "Waits.",
                "parameters": {"type": "object"}}
        self.start(turn(calls=[("wait", {})]), turn("Never."))
        self.put_agent("teller", tools=[wait])
        for generation, way in WAYS:
            with self.subTest(generation=generation, way=way):
                client = self.connect(generation, way)
                said = client.ask(call="agent_teller", arguments={"message": "Go."}, cancel=True)
                run = said["progress"][0].removeprefix("the run is ")
                self.assertEqual(self.api.log(run)[-1].json()["type"], "cancelled")

    def test_changes_are_announced(self):
        self.start()
        for number, (generation, way) in enumerate(WAYS):
            with self.subTest(generation=generation, way=way):
                client = self.connect(generation, way)
                before = client.ask(list=True)
                self.put_agent(f"new{number}")
                self.assertEqual(self.announced(client, before),
                                 sorted([*before, f"agent_new{number}"]))
                self.api.request("DELETE", f"/agents/new{number}")
                self.assertEqual(self.announced(client, [*before, f"agent_new{number}"]), before)

    def announced(self, client: DrivenClient, former: list[str]) -> list[str]:
        """The first announced list that is another one. The server of the configuration announces
        its own tools, which are the same, when it is connected."""
        while sorted(former) == (tools := client.ask(changed=True)):
            pass
        return tools

    def test_keys_see_what_they_may_use(self):
        self.start()
        self.put_agent("other")

        def tools(**grant) -> list[str]:
            made = self.api.request("POST", "/api-keys", {"name": "k", **grant})
            client = self.connect("v2", "http", made.json()["apiKey"])
            for name in ("look", "agent_teller"):
                arguments = {"q": "x", "message": "Go."}
                answer = client.ask(call=name, arguments=arguments)
                self.assertEqual("text" in answer, name in client.ask(list=True), answer)
            return [name for name in client.ask(list=True) if not name.startswith("every_")]
        self.assertEqual(tools(scopes=["mcp:connect"]), sorted([*BUILT_IN, "look"]))
        self.assertEqual(tools(scopes=["mcp:connect", "runs:write"], agents=["other"]),
                         ["agent_other"])


if __name__ == "__main__":
    import unittest
    unittest.main()
