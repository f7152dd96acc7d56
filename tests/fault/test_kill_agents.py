"""kill -9 while a run waits for an agent that it has called: the call has one run."""

import unittest

from support.http import Client
from support.script import local_tool, turn
from support.server import Server, ServerCase

SCRIPTS = {
    "caller": [turn("I ask.", calls=[("helper", {"message": "Help me."})]), turn("Done.")],
    "helping": [turn("I look.", calls=[("look", {})]), turn("Seen.")],
}
HELPER = {"modelId": "helping", "tools": [local_tool("look")]}
WAIT_SECONDS = 20


class KillAgentsTest(ServerCase):
    def start(self) -> tuple[Server, str]:
        server = self.start_server(SCRIPTS)
        client = server.client()
        self.assertEqual(client.request("PUT", "/agents/helper", HELPER).status, 201)
        return server, client.create(prompt="Go.", tools=[{"kind": "agent", "agentId": "helper"}])

    def called_run(self, client: Client) -> tuple[str, str]:
        """The run and the id of the call that waits for a client."""
        calls = client.request("GET", f"/tool-calls?status=pending&wait={WAIT_SECONDS}").json()
        [call] = calls["toolCalls"]
        return call["runId"], call["toolUseId"]

    def children(self, client: Client, run: str) -> list[dict]:
        return client.request("GET", f"/agent-runs?parentRunId={run}").json()["runs"]

    def check_end(self, server: Server, run: str) -> None:
        client = server.client()
        events = [frame.json() for frame in client.log(run)]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        results = [one["result"] for one in events if one["type"] == "tool_result"]
        self.assertEqual(results, ["Seen."])
        self.assertEqual([one["status"] for one in self.children(client, run)], ["succeeded"])
        self.check_data(server)

    def answer(self, client: Client) -> None:
        child, call = self.called_run(client)
        self.assertEqual(client.answer(child, call, result="There.").status, 204)

    def test_a_kill_at_once(self):
        server, run = self.start()
        server.kill()
        server.start()
        self.answer(server.client())
        self.check_end(server, run)

    def test_a_kill_while_the_agent_waits(self):
        server, run = self.start()
        self.called_run(server.client())
        server.kill()
        server.start()
        self.answer(server.client())
        self.check_end(server, run)

    def test_a_kill_after_the_last_answer(self):
        server, run = self.start()
        self.answer(server.client())
        server.kill()
        server.start()
        self.check_end(server, run)

    def test_a_stop_leaves_the_agent_to_go_on(self):
        server, run = self.start()
        self.called_run(server.client())
        server.stop()
        server.start()
        self.answer(server.client())
        self.check_end(server, run)

    def test_a_cancel_reaches_the_agent_after_a_kill(self):
        server, run = self.start()
        self.called_run(server.client())
        server.kill()
        server.start()
        client = server.client()
        client.cancel(run)
        self.assertEqual([frame.json() for frame in client.log(run)][-1]["type"], "cancelled")
        [child] = self.children(client, run)
        self.assertEqual([frame.json() for frame in client.log(child["runId"])][-1]["type"],
                         "cancelled")
        self.check_data(server)


if __name__ == "__main__":
    unittest.main()
