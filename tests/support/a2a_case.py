"""A stored agent of a server, for clients of A2A."""

from support.script import turn
from support.server import ServerCase


class A2aServerCase(ServerCase):
    def start_agent(self):
        server = self.start_server([turn("It is said."), turn("It is said.")])
        agent = {"name": "teller", "description": "Tells.", "systemPrompt": "Tell it."}
        self.assertEqual(server.client().request("PUT", "/agents/teller", agent).status, 201)
        base = f"{server.url}/api/a2a/default/agents/teller"
        return server, base

    def ask(self, server, method: str, params: dict, version: str = "",
            agent: str = "teller") -> dict:
        headers = {"A2A-Version": version} if version else {}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        path = f"/api/a2a/default/agents/{agent}"
        return server.client().request_at("POST", path, body, headers).json()
