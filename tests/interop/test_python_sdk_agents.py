"""Stored agents with the official Python SDK: runs and sessions by id and by name."""

import unittest

from support.python_sdk import SdkCase
from support.script import turn

CALL = turn(calls=[("read_file", {"path": "x"})])


class Agents:
    """What users do with stored agents; for each of the SDK's two clients."""

    def store(self, server, **members) -> dict:
        made = server.client().request("POST", "/agents", {"name": "support", **members})
        self.assertEqual(made.status, 201, made.body)
        return made.json()

    def spec_of_latest_run(self, server) -> dict:
        client = server.client()
        run = client.request("GET", "/agent-runs?limit=1").json()["runs"][0]["runId"]
        return client.request("GET", f"/agent-runs/{run}/journal").json()["entries"][0]["spec"]

    def test_a_run_is_carried_out_by_a_stored_agent(self):
        server = self.start_server([CALL, turn("Read.")])
        agent = self.store(server, systemPrompt="Be kind.", metadata={"team": "a"})
        for agent_id in (agent["id"], "support"):
            done = self.call(server, "run_agent", ["read_file"], agent_id=agent_id,
                             system_prompt="Be rude.")
            self.assertEqual(done.returned["text"], "Read.")
            self.assertEqual(done.all("tool"), [{"read_file": "x"}])
            spec = self.spec_of_latest_run(server)
            self.assertEqual((spec["systemPrompt"], spec["agentId"], spec["agentVersion"]),
                             ("Be kind.", agent["id"], 1))
            self.assertEqual(spec["metadata"], {"team": "a"})
        self.check_data(server)

    def test_a_session_is_carried_out_by_a_stored_agent(self):
        server = self.start_server([turn("First."), turn("Second.")])
        agent = self.store(server, systemPrompt="Be kind.")
        done = self.call(server, "session", [], steps=[
            ("create", {"agent_id": "support"}), ("send", {"text": "One?"}),
            ("send", {"text": "Two?"})])
        sent = [step["send"]["text"] for step in done.all("step") if "send" in step]
        self.assertEqual(sent, ["First.", "Second."])
        self.assertEqual(self.spec_of_latest_run(server)["agentId"], agent["id"])
        self.check_data(server)

    def test_an_agent_that_is_not_there_is_an_error(self):
        server = self.start_server([turn("?")])
        done = self.call(server, "run_agent", [], agent_id="nobody")
        self.assertEqual((done.raised["error"], done.raised["status"]), ("MantyxError", 403))


class SyncAgentsTest(Agents, SdkCase):
    client = "sync"


class AsyncAgentsTest(Agents, SdkCase):
    client = "async"


if __name__ == "__main__":
    unittest.main()
