"""The official MCP SDKs as clients of a workspace, over HTTP and through `errand mcp`."""

import json
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from support.mcp_probe import SECONDS_MAX, SERVERS, ensure_servers, probe
from support.node import NODE
from support.python_sdk import python_with_sdk
from support.script import turn
from support.server import ServerCase, binary

TOOLS = ["calculator", "current_time", "web_fetch", "web_search"]
TEMPLATE = "errand://runs/{runId}/events"


class McpWorkspaceTest(ServerCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def start_with_run(self):
        server = self.start_server([turn("Hello.")])
        client = server.client()
        run = client.create(prompt="Hi.")
        log = [frame.json()["type"] for frame in client.log(run)]
        self.url = f"{server.url}/api/v1/workspaces/default/mcp"
        return server, run, log

    def use(self, generation: str, target: dict) -> dict:
        done = subprocess.run(
            [NODE, SERVERS / "use_workspace.mjs", generation, json.dumps(target)],
            capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def seen(self, era: str, run: str = "", log: list | None = None) -> dict:
        seen = {"name": "errand", "era": era, "tools": TOOLS, "sum": "14", "wrong": True,
                "unknown": -32602, "templates": [TEMPLATE], "missing": -32602,
                "listed": [f"errand://runs/{run}/events"] if run else []}
        return seen | ({"log": log} if run else {})

    def test_sdks_over_http(self):
        server, run, log = self.start_with_run()
        target = {"url": self.url, "headers": {"Authorization": f"Bearer {server.key}"},
                  "run": run}
        for generation, era in (("v1", "legacy"), ("v2", "modern")):
            with self.subTest(generation):
                self.assertEqual(self.use(generation, target), self.seen(era, run, log))

    def test_sdks_through_errand_mcp(self):
        server, run, log = self.start_with_run()
        target = {"command": binary(), "args": ["mcp", "--data", str(server.data)], "run": run}
        for generation, era in (("v1", "legacy"), ("v2", "modern")):
            with self.subTest(generation):
                self.assertEqual(self.use(generation, target), self.seen(era, run, log))

    def test_errand_mcp_without_a_server(self):
        with tempfile.TemporaryDirectory() as folder:
            target = {"command": binary(), "args": ["mcp", "--embedded", "--data", folder]}
            self.assertEqual(self.use("v2", target), self.seen("modern"))

    def test_errand_mcp_outlives_a_restart_of_the_server(self):
        server, _, _ = self.start_with_run()
        with subprocess.Popen([binary(), "mcp", "--data", str(server.data)], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
            def ask(method: str, **params):
                message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                relay.stdin.write(json.dumps(message) + "\n")
                relay.stdin.flush()
                answer = json.loads(relay.stdout.readline())
                while "id" not in answer:  # a change that was missed while the server was down
                    self.assertEqual(answer["method"], "notifications/tools/list_changed")
                    answer = json.loads(relay.stdout.readline())
                return answer
            ask("initialize", protocolVersion="2025-11-25", capabilities={},
                clientInfo={"name": "t", "version": "1"})
            call = {"name": "calculator", "arguments": {"expression": "6*7"}}
            for _ in range(2):
                answer = ask("tools/call", **call)
                self.assertEqual(answer["result"]["content"], [{"type": "text", "text": "42"}])
                server.kill()
                down = ask("tools/call", **call)
                self.assertIn("error", down)
                server.start()
            relay.stdin.close()

    def test_python_sdk(self):
        server, _, _ = self.start_with_run()
        done = subprocess.run(
            [python_with_sdk(), SERVERS / "use_workspace.py", self.url, server.key],
            capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout),
                         {"name": "errand", "tools": TOOLS, "sum": "14"})

    def test_our_own_client(self):
        server, _, _ = self.start_with_run()
        said = probe([self.url, server.key], ("calculator", {"expression": "1+1"}))
        self.assertEqual(said[0]["server"], "errand")
        self.assertEqual(said[2]["content"], [{"type": "text", "text": "2"}])

    def ask_raw(self, key: str, **headers) -> int:
        body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        request = urllib.request.Request(self.url, body, {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {key}", **headers})
        try:
            with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_keys_hosts_and_origins_are_checked(self):
        server, _, _ = self.start_with_run()
        self.assertEqual(self.ask_raw("wrong"), 401)
        self.assertEqual(self.ask_raw(server.key), 400)
        self.assertEqual(self.ask_raw(server.key, Host="evil.example"), 403)
        self.assertEqual(self.ask_raw(server.key, Origin="https://evil.example"), 403)

    def token(self, server, client: dict, *scopes: str) -> str:
        body = {"grant_type": "client_credentials", "client_id": client["clientId"],
                "client_secret": client["clientSecret"], "scope": " ".join(scopes)}
        request = urllib.request.Request(f"{server.url}/api/oauth/token",
                                         urllib.parse.urlencode(body).encode())
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
            return json.load(answer)["access_token"]

    def test_a_session_does_not_lend_its_scopes_to_another_token_of_its_client(self):
        server, _, _ = self.start_with_run()
        scopes = ["mcp:connect", "runs:write"]
        made = server.client().request("POST", "/oauth-clients",
                                       {"name": "portal", "scopes": scopes}).json()
        whole, less = self.token(server, made, *scopes), self.token(server, made, "mcp:connect")
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"}}}
        request = urllib.request.Request(self.url, json.dumps(initialize).encode(), {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {whole}"})
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
            session = {"MCP-Session-Id": answer.headers["MCP-Session-Id"]}
        self.assertEqual(self.ask_raw(whole, **session), 200)
        self.assertEqual(self.ask_raw(self.token(server, made, *scopes), **session), 200)
        self.assertEqual(self.ask_raw(less, **session), 404)


if __name__ == "__main__":
    import unittest
    unittest.main()
