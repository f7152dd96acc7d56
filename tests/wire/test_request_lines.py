"""Log lines about requests and runs that failed: one each, with the id of the request."""

import json

from support.http import Client
from support.script import turn
from support.server import ServerCase

CANARY = "canary-log-77aa"


class RequestLinesTest(ServerCase):
    def lines(self, server, message: str) -> list[dict]:
        """Of the log of a server that has stopped."""
        all_lines = [json.loads(line) for line in server.errors().splitlines() if line[:1] == "{"]
        return [line for line in all_lines if line["message"] == message]

    def test_a_failed_request_is_one_line_with_its_id(self):
        server = self.start_server([turn("Hello.")], arguments=("--log-format", "json"))
        client = server.client()
        client.create(prompt="Hi")
        answers = [
            client.request("POST", "/agent-runs", {"prompt": 7}, {"x-request-id": "mine-1"}),
            client.request("GET", f"/agent-runs/run_none?token={CANARY}"),
            Client(server.url, CANARY).request("GET", "/agent-runs"),
            client.request_at("GET", "/nowhere"),
            client.request("POST", "/agent-runs", b"{", {"Content-Length": "999999999"})]
        server.stop()
        told = self.lines(server, "a request failed")
        self.assertEqual([(line["status"], line["requestId"]) for line in told],
                         [(str(one.status), one.headers["x-request-id"]) for one in answers])
        self.assertEqual(
            {key: told[0][key] for key in ("requestId", "method", "path", "status", "error")},
            {"requestId": "mine-1", "method": "POST", "status": "400", "error": "invalid_request",
             "path": "/api/v1/workspaces/default/agent-runs"})
        self.assertNotIn(CANARY, server.errors())

    def test_a_run_with_patterns_that_are_not_checked_is_one_line(self):
        server = self.start_server([turn("Hello.")], arguments=("--log-format", "json"))
        client = server.client()
        words = {CANARY: {"type": "string", "pattern": "^(?!a)"}, "b": {"pattern": "(?<=a)b"}}
        tool = {"kind": "local", "name": "look", "description": "Looks.",
                "parameters": {"type": "object", "properties": words}}
        made = client.request("POST", "/agent-runs", {"prompt": "Hi", "tools": [tool]},
                              {"x-request-id": "mine-3"}).json()
        self.assertEqual(len(made["warnings"]), 2)
        client.create(prompt="Hi")
        server.stop()
        [line] = self.lines(server, "a run has patterns that are not checked")
        self.assertEqual((line["run"], line["requestId"], line["workspace"], line["patterns"]),
                         (made["runId"], "mine-3", "default", "2"))
        self.assertNotIn(CANARY, server.errors())

    def test_a_failed_run_is_one_line_with_the_id_of_its_request(self):
        failing = {"error": {"status": 400, "code": "no", "message": f"key {CANARY} is wrong"}}
        server = self.start_server([failing], arguments=("--log-format", "json"))
        client = server.client()
        made = client.request("POST", "/agent-runs", {"prompt": "Hi"}, {"x-request-id": "mine-2"})
        run = made.json()["runId"]
        client.log(run)
        server.stop()
        [line] = self.lines(server, "a run failed")
        self.assertEqual((line["run"], line["requestId"], line["workspace"]),
                         (run, "mine-2", "default"))
        self.assertNotIn(CANARY, server.errors())
