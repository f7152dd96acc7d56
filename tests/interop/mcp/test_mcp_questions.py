"""MCP servers that ask in the middle of a call of a run: the run's model answers sampling, and the
client of the run answers elicitations. The server is server-everything, as a program and over HTTP,
and a server of the modern era on the SDK for Node."""

import json
import os
import subprocess

from support.mcp_probe import SERVERS, ensure_servers, free_port, package, wait_for_port
from support.node import NODE
from support.script import turn
from support.server import ServerCase, die_with_parent

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
ASKING = "every_trigger-elicitation-request"
SAMPLING = "every_trigger-sampling-request"
USAGE = {"inputTokens": 10, "outputTokens": 3}


class McpQuestionsTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def start_process(self, *command, **others) -> subprocess.Popen:
        process = subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   preexec_fn=die_with_parent, **others)

        def end():
            process.kill()
            process.wait()
            process.stdout.close()
        self.addCleanup(end)
        return process

    def everything(self) -> list[tuple[str, dict]]:
        """The refs under which server-everything is to be had, each with its configuration."""
        port = free_port()
        self.start_process(NODE, package("server-everything"), "streamableHttp",
                           env={**os.environ, "PORT": str(port)})
        wait_for_port(port)
        program = {"command": str(NODE), "args": [package("server-everything"), "stdio"]}
        return [("config:every", ALLOW | {"mcpServers": {"every": program}}),
                (f"http://127.0.0.1:{port}/mcp", ALLOW)]

    def begin(self, url: str, config: dict, *calls, name: str = "every", **spec):
        self.server = self.start_server(
            [turn("I think so.", calls=list(calls), usage=USAGE), turn("Done.", usage=USAGE)],
            config)
        client = self.server.client()
        return client, client.create(
            prompt="Go.", tools=[{"kind": "mcp", "name": name, "url": url}], **spec)

    def end(self, client, run: str) -> tuple[list[dict], dict]:
        """The events of a run that succeeds, and the results of its tools by their names."""
        events = [frame.json() for frame in client.log(run)]
        self.assertEqual(events[-1].get("subtype"), "success", events[-1])
        self.check_data(self.server)
        return events, {one["name"]: one for one in events if one["type"] == "tool_result"}

    def asked(self, client, run: str) -> dict:
        with client.stream(run) as stream:
            return stream.until("local_tool_call")[-1].json()

    def test_the_model_of_the_run_answers_sampling_and_the_run_pays(self):
        for url, config in self.everything():
            with self.subTest(url):
                client, run = self.begin(url, config, (SAMPLING, {"prompt": "Is it so?"}))
                events, results = self.end(client, run)
                self.assertTrue(results[SAMPLING]["ok"], results)
                self.assertIn("I think so.", results[SAMPLING]["result"])
                self.assertEqual(events[-1]["tokens"]["inputTokens"], 30)
                self.assertEqual(events[-1]["turns"], 2)

    def test_the_client_of_the_run_answers_an_elicitation(self):
        for url, config in self.everything():
            with self.subTest(url):
                client, run = self.begin(url, config, (ASKING, {}))
                call = self.asked(client, run)
                self.assertEqual((call["name"], call["kind"]), ("mcp_elicitation", "local"))
                self.assertEqual((call["args"]["tool"], call["args"]["mode"]), (ASKING, "form"))
                self.assertEqual(call["args"]["requestedSchema"]["required"], ["name"])
                pending = client.snapshot(run)["pendingCalls"]
                self.assertEqual([one["toolUseId"] for one in pending], [call["toolUseId"]])
                answer = {"action": "accept", "content": {"name": "Ada"}}
                self.assertEqual(
                    client.answer(run, call["toolUseId"], result=json.dumps(answer)).status, 204)
                _, results = self.end(client, run)
                self.assertIn("- Name: Ada", results[ASKING]["result"])
                self.assertIn("- Favorite Integer: 42", results[ASKING]["result"])

    def test_an_elicitation_that_nobody_answers_is_declined(self):
        url, config = self.everything()[0]
        client, run = self.begin(url, config, (ASKING, {}), budgets={"localToolTimeoutMs": 1000})
        events, results = self.end(client, run)
        self.assertIn("User declined", results[ASKING]["result"])
        self.assertFalse(results["mcp_elicitation"]["ok"])
        self.assertNotIn("local_tool_result_in", [one["type"] for one in events])

    def test_a_client_that_does_not_know_what_is_asked_declines(self):
        url, config = self.everything()[0]
        client, run = self.begin(url, config, (ASKING, {}))
        call = self.asked(client, run)
        client.answer(run, call["toolUseId"], error="there is no such tool here")
        _, results = self.end(client, run)
        self.assertIn("User declined", results[ASKING]["result"])

    def test_a_kill_while_the_client_is_asked_takes_the_question_back(self):
        url, config = self.everything()[0]
        client, run = self.begin(url, config, (ASKING, {}))
        call = self.asked(client, run)
        self.server.kill()
        self.server.restart()
        client = self.server.client()
        client.log(run)  # comes to its end with the run
        late = client.answer(run, call["toolUseId"], result="{}")
        self.assertEqual(late.status, 409)
        _, results = self.end(client, run)
        self.assertIn("A restart cut this call off", results[ASKING]["result"])
        self.assertIn("is over", results["mcp_elicitation"]["result"])

    def test_input_that_a_server_of_the_modern_era_requires(self):
        http = self.start_process(NODE, SERVERS / "modern.mjs", "http")
        url = f"http://127.0.0.1:{int(http.stdout.readline())}/"
        program = {"command": str(NODE), "args": [str(SERVERS / "modern.mjs"), "stdio"]}
        config = ALLOW | {"mcpServers": {"new": program}}
        for target in ("config:new", url):
            with self.subTest(target):
                client, run = self.begin(target, config, ("new_introduce", {}), name="new")
                call = self.asked(client, run)
                self.assertEqual(call["args"]["message"], "Who are you?")
                answer = {"action": "accept", "content": {"name": "Ada"}}
                client.answer(run, call["toolUseId"], result=json.dumps(answer))
                _, results = self.end(client, run)
                self.assertEqual(results["new_introduce"]["result"], "Ada says: I think so.")

    def ask_agent(self, method: str, params: dict) -> dict:
        """What the agent `asker` answers to a client of A2A 1.0."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.server.client().request_at("POST", "/api/a2a/default/agents/asker", body,
                                                 {"A2A-Version": "1.0"})
        return answer.json()["result"]

    def start_asker(self) -> dict:
        """A task of the agent, whose run has asked its client for a name."""
        _, config = self.everything()[0]
        self.server = self.start_server(
            [turn("Let me ask.", calls=[(ASKING, {})]), turn("Done.")], config)
        every = {"kind": "mcp", "name": "every", "url": "config:every"}
        self.server.client().request("PUT", "/agents/asker", {"name": "asker", "tools": [every]})
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Go."}]}
        return self.ask_agent("SendMessage", {"message": message})["task"]

    def answer_to(self, task: dict, *parts: dict) -> dict:
        message = {"messageId": "m2", "role": "ROLE_USER", "taskId": task["id"],
                   "parts": list(parts)}
        return self.ask_agent("SendMessage", {"message": message})["task"]

    def test_an_a2a_client_is_asked_and_answers(self):
        task = self.start_asker()
        self.assertEqual(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED")
        text, form = task["status"]["message"]["parts"]
        self.assertTrue(text["text"])
        self.assertEqual(form["data"]["requestedSchema"]["required"], ["name"])
        listed = self.ask_agent("ListTasks", {"status": "TASK_STATE_INPUT_REQUIRED"})
        self.assertEqual([one["id"] for one in listed["tasks"]], [task["id"]])
        done = self.answer_to(task, {"data": {"name": "Ada"}})
        self.assertEqual((done["id"], done["status"]["state"]),
                         (task["id"], "TASK_STATE_COMPLETED"))
        _, results = self.end(self.server.client(), task["id"])
        self.assertIn("- Name: Ada", results[ASKING]["result"])

    def test_an_a2a_client_declines(self):
        task = self.start_asker()
        done = self.answer_to(task, {"text": "Decline"})
        self.assertEqual(done["status"]["state"], "TASK_STATE_COMPLETED")
        _, results = self.end(self.server.client(), task["id"])
        self.assertIn("User declined", results[ASKING]["result"])

    def test_a_stream_tells_an_a2a_client_of_the_question_and_of_its_answer(self):
        task = self.start_asker()

        def states(body: dict, version: str) -> list[str]:
            answer = self.server.client().request_at(
                "POST", "/api/a2a/default/agents/asker", body | {"jsonrpc": "2.0", "id": 1},
                {"A2A-Version": version})
            events = [json.loads(line[5:])["result"] for line in answer.body.splitlines()
                      if line.startswith(b"data:")]
            updates = [one.get("statusUpdate", one) for one in events]
            return [one["status"]["state"] for one in updates if "status" in one]
        waiting = states({"method": "tasks/resubscribe", "params": {"id": task["id"]}}, "")
        self.assertEqual(waiting[-1], "input-required")
        message = {"messageId": "m2", "role": "ROLE_USER", "taskId": task["id"],
                   "parts": [{"data": {"name": "Ada"}}]}
        told = states({"method": "SendStreamingMessage", "params": {"message": message}}, "1.0")
        self.assertEqual(told[-1], "TASK_STATE_COMPLETED")
        self.assertNotIn("TASK_STATE_INPUT_REQUIRED", told)


if __name__ == "__main__":
    import unittest
    unittest.main()
