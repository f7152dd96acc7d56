"""A stored agent of a server, for clients of A2A."""

import http.client
import json

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

    def start_waiting_task(self):
        """A server, a task whose agent waits for a client's answer, and the call to answer."""
        server = self.start_server([turn("One moment.", calls=[("wait", {})]), turn("It is said.")])
        wait = {"kind": "local", "name": "wait", "description": "Waits.",
                "parameters": {"type": "object"}}
        server.client().request("PUT", "/agents/teller", {"name": "teller", "tools": [wait]})
        return server, *self.begin_waiting_task(server, "m1")

    def begin_waiting_task(self, server, message_id: str) -> tuple[str, str]:
        message = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": "Hi."}]}
        task = self.ask(server, "SendMessage", {
            "message": message, "configuration": {"returnImmediately": True}})["result"]["task"]
        with server.client().stream(task["id"]) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
        return task["id"], call

    def follow(self, server, method: str, task: str):
        """The results of the events of a task, as they come."""
        return (one["result"] for one in self.follow_answers(server, method, task))

    def follow_answers(self, server, method: str, task: str):
        """The events of a task, as they come: each is an answer of JSON-RPC."""
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
        self.addCleanup(connection.close)
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": task}}
        connection.request("POST", "/api/a2a/default/agents/teller", json.dumps(body), {
            "Authorization": f"Bearer {server.key}", "Content-Type": "application/json"})
        lines = iter(connection.getresponse().readline, b"")
        return (json.loads(line[5:]) for line in lines if line.startswith(b"data:"))
