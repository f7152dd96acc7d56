"""Runs use agents of others over A2A, and the official SDKs use ours; both in both versions."""

import base64
import json
import re
import signal
import time
import unittest

from support.peers.a2a_agent import Agent, use_agent, use_agent_from_python
from support.a2a_case import A2aServerCase
from support.peers.a2a_peer import A2aPeer
from support.http import Client
from support.script import turn
from support.server import ServerCase

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
VERSIONS = ("1.0", "0.3")
AGENTS = (*VERSIONS, "python")
WAIT_SECONDS_MAX = 30


def wait_until(is_so) -> None:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError("it did not become so in time")
        time.sleep(0.05)  # paced: an agent of others rings no bell


class A2aToolTest(ServerCase):
    def start_agent(self, version: str) -> Agent:
        agent = Agent(version)
        self.addCleanup(agent.close)
        return agent

    def start(self, agent: Agent, *messages: str, **more):
        """A server, its client, and a run whose model sends these messages in one turn."""
        calls = [("stranger", {"message": text, **more}) for text in messages]
        server = self.start_server([turn(calls=calls), turn("Done.")], ALLOW)
        client = server.client()
        tool = {"kind": "a2a", "name": "stranger", "agentCardUrl": agent.card_url}
        return server, client, client.create(prompt="Go.", tools=[tool])

    def results(self, agent: Agent, *messages: str, **more) -> list[dict]:
        """What came back for each message."""
        server, client, run = self.start(agent, *messages, **more)
        events = [frame.json() for frame in client.log(run)]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        self.check_data(server)
        # Calls run beside each other, and the quickest is shown first.
        found = {one["toolUseId"]: one for one in events if one["type"] == "tool_result"}
        return [found[one["toolUseId"]] for one in events if one["type"] == "tool_call"]

    def test_texts_files_and_data(self):
        for version in AGENTS:
            with self.subTest(version):
                echo, parts = self.results(self.start_agent(version), "echo hä?", "parts please")
                self.assertEqual(echo["result"], "heard: echo hä?")
                self.assertIn("some text", parts["result"])
                self.assertRegex(parts["result"], r'"n":7\b')
                self.assertEqual([one["filename"] for one in parts["files"]], ["a.txt"])

    def test_a_task_that_fails_is_a_failed_result(self):
        for version in AGENTS:
            with self.subTest(version):
                [result] = self.results(self.start_agent(version), "fail now")
                self.assertFalse(result["ok"])
                self.assertIn("It broke.", result["result"])

    def test_a_task_that_needs_input_can_be_answered(self):
        for version in AGENTS:
            with self.subTest(version):
                agent = self.start_agent(version)
                [asked] = self.results(agent, "ask me")
                self.assertRegex(asked["result"], "Which colour|Colour")
                task = re.search(r'taskId "([^"]+)"', asked["result"])[1]
                context = re.search(r'contextId "([^"]+)"', asked["result"])[1]
                [answered] = self.results(agent, "echo red", taskId=task, contextId=context)
                self.assertEqual(answered["result"], "heard: echo red")

    def test_a_cancelled_run_cancels_the_task(self):
        agent = self.start_agent("1.0")
        server, client, run = self.start(agent, "slow one")
        wait_until(lambda: agent.ask("sent") == 1)
        client.cancel(run)
        self.assertEqual([frame.json() for frame in client.log(run)][-1]["type"], "cancelled")
        wait_until(lambda: agent.ask("canceled") == 1)
        self.check_data(server)

    def has_noted_task(self, client: Client, run: str) -> bool:
        entries = client.request("GET", f"/agent-runs/{run}/journal").json()["entries"]
        return any("taskId" in one.get("note", {}) for one in entries)

    def check_resumed(self, server, agent: Agent, run: str) -> None:
        """The run has the result of its one message, and nobody cancelled it."""
        events = [frame.json() for frame in server.client().log(run)]
        results = [one["result"] for one in events if one["type"] == "tool_result"]
        self.assertEqual(results, ["heard: slow one"])
        self.assertEqual((agent.ask("sent"), agent.ask("canceled")), (1, 0))
        self.check_data(server)

    def test_a_task_survives_a_kill_during_the_call(self):
        for version in VERSIONS:
            with self.subTest(version):
                agent = self.start_agent(version)
                server, client, run = self.start(agent, "slow one")
                wait_until(lambda: self.has_noted_task(client, run))
                server.kill()
                server.start()
                agent.ask("release")
                self.check_resumed(server, agent, run)

    def test_a_task_that_ends_while_the_server_is_down_is_asked_about(self):
        for version in VERSIONS:
            with self.subTest(version):
                agent = self.start_agent(version)
                server, client, run = self.start(agent, "slow one")
                wait_until(lambda: self.has_noted_task(client, run))
                server.kill()
                agent.ask("release")
                server.start()
                self.check_resumed(server, agent, run)

    def test_a_message_is_sent_once_after_a_kill_before_it(self):
        agent = self.start_agent("1.0")
        agent.process.send_signal(signal.SIGSTOP)  # it is asked for its card, and does not answer
        server, _, run = self.start(agent, "slow one")
        server.kill()
        agent.process.send_signal(signal.SIGCONT)
        server.start()
        wait_until(lambda: agent.ask("sent") == 1)
        agent.ask("release")
        self.check_resumed(server, agent, run)

    def test_a_task_survives_a_server_that_stops(self):
        agent = self.start_agent("1.0")
        server, client, run = self.start(agent, "slow one")
        wait_until(lambda: self.has_noted_task(client, run))
        server.terminate()
        server.start()
        agent.ask("release")
        self.check_resumed(server, agent, run)

    def start_peer(self) -> A2aPeer:
        peer = A2aPeer("Peer")
        self.addCleanup(peer.close)
        return peer

    def ask_peer(self, client, peer: A2aPeer) -> dict:
        """The result of a run's call to the peer."""
        tool = {"kind": "a2a", "name": "stranger", "agentCardUrl": peer.card_url}
        run = client.create(prompt="Go.", tools=[tool])
        events = [frame.json() for frame in client.log(run)]
        return next(one for one in events if one["type"] == "tool_result")

    def test_an_agent_that_has_moved_is_found_by_its_card(self):
        peer = self.start_peer()
        right, peer.card["url"] = peer.card["url"], "http://127.0.0.1:9/a2a"
        server = self.start_server([turn(calls=[("stranger", {"message": "Hi."})]), turn("Done.")],
                                   ALLOW)
        self.assertFalse(self.ask_peer(server.client(), peer)["ok"])
        peer.card["url"] = right
        self.assertEqual(self.ask_peer(server.client(), peer)["result"], "You asked: Hi.")

    def test_the_paths_of_an_agent_are_tried_in_order(self):
        for path in ("/a2a", "/a2a/rpc", "/a2a/message:send", "/a2a/message/send"):
            with self.subTest(path):
                peer = self.start_peer()
                peer.path = path
                server = self.start_server(
                    [turn(calls=[("stranger", {"message": "Hi."})]), turn("Done.")], ALLOW)
                self.assertEqual(self.ask_peer(server.client(), peer)["result"], "You asked: Hi.")
                self.assertEqual(peer.asked, ["Hi."])

    def test_data_and_files_are_sent(self):
        peer = self.start_peer()
        call = {"message": "Hi.", "data": {"n": 7}, "files": [
            {"name": "a.txt", "mimeType": "text/plain", "text": "hä?"},
            {"name": "b.png", "url": "https://x.example/b.png"}]}
        server = self.start_server([turn(calls=[("stranger", call)]), turn("Done.")], ALLOW)
        self.assertTrue(self.ask_peer(server.client(), peer)["ok"])
        encoded = base64.b64encode("hä?".encode()).decode()
        self.assertEqual(peer.parts, [[
            {"kind": "text", "text": "Hi."}, {"kind": "data", "data": {"n": 7}},
            {"kind": "file", "file": {"name": "a.txt", "mimeType": "text/plain",
                                      "bytes": encoded}},
            {"kind": "file", "file": {"name": "b.png", "uri": "https://x.example/b.png"}}]])

    def test_an_agent_of_the_agent_runs_sdk(self):
        other = self.start_server([turn("First."), turn("Second."),
                                   turn(error={"status": 400, "message": "Enough."})])
        other.client().request("PUT", "/agents/teller", {"name": "teller"})
        agent = Agent("mantyx", other.url, other.key, "teller")
        self.addCleanup(agent.close)
        calls = [turn(calls=[("stranger", {"message": f"Number {n}.", "contextId": "c-7"})])
                 for n in range(3)]
        server = self.start_server([*calls, turn("Done.")], ALLOW)
        client = server.client()
        tool = {"kind": "a2a", "name": "stranger", "agentCardUrl": agent.card_url}
        run = client.create(prompt="Go.", tools=[tool])
        results = [frame.json() for frame in client.log(run) if frame.event == "tool_result"]
        self.assertEqual([one["result"] for one in results[:2]], ["First.", "Second."])
        self.assertFalse(results[2]["ok"])
        self.assertIn("MANTYX run failed", results[2]["result"])
        sessions = other.client().request("GET", "/agent-sessions").json()["sessions"]
        self.assertEqual([one["metadata"] for one in sessions], [{"a2a_context_id": "c-7"}])
        self.check_data(server)

    def test_the_context_of_the_ref_reaches_the_agent(self):
        peer = self.start_peer()
        server = self.start_server([turn(calls=[("stranger", {"message": "Hi."})]), turn("Done.")],
                                   ALLOW)
        tool = {"kind": "a2a", "name": "stranger", "agentCardUrl": peer.card_url,
                "contextId": "c-7"}
        client = server.client()
        client.log(client.create(prompt="Go.", tools=[tool]))
        self.assertEqual(peer.bodies[0]["params"]["message"]["contextId"], "c-7")

    def test_an_agent_that_is_down_is_unavailable(self):
        agent = self.start_agent("1.0")
        agent.process.kill()
        server, client, run = self.start(agent, "echo")
        events = [frame.json() for frame in client.log(run)]
        result = next(one for one in events if one["type"] == "tool_result")
        self.assertFalse(result["ok"])
        self.check_data(server)


class A2aServerTest(A2aServerCase):
    def test_sdks_use_the_agent(self):
        server, base = self.start_agent()
        card_url = f"{base}/.well-known/agent-card.json"
        old = {"text": "It is said.", "state": "completed", "same": True,
               "events": ["task", "status-update", "artifact-update", "status-update"],
               "streamed": "It is said."}
        new = old | {"state": 3, "events": ["task", "statusUpdate", "artifactUpdate",
                                            "statusUpdate"]}
        for version, seen in (("1.0", new), ("0.3", old)):
            with self.subTest(version):
                got = use_agent(version, card_url, server.key)
                self.assertEqual({name: got[name] for name in seen}, seen)
                self.assertNotEqual(got["missing"], "found")
                self.assertNotEqual(got["late"], "cancelled")
        self.check_data(server)

    def test_python_sdk_uses_the_agent(self):
        server, base = self.start_agent()
        self.assertEqual(use_agent_from_python(base, server.key), {
            "name": "teller", "state": "TASK_STATE_COMPLETED", "text": "It is said.",
            "same": True, "listed": 2,
            "events": ["task", "status_update", "artifact_update", "status_update"]})
        self.check_data(server)

    def test_a_client_that_comes_back_gets_the_rest(self):
        server, task, call = self.start_waiting_task()
        new = self.follow(server, "SubscribeToTask", task)
        old = self.follow(server, "tasks/resubscribe", task)
        self.assertEqual(next(new)["task"]["status"]["state"], "TASK_STATE_WORKING")
        self.assertEqual(next(old)["status"]["state"], "working")
        server.client().answer(task, call, result="go on")
        self.assertEqual(list(new)[-1]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED")
        last = list(old)[-1]
        self.assertEqual((last["status"]["state"], last["final"]), ("completed", True))

    def test_a_running_task_is_cancelled(self):
        server, task, _ = self.start_waiting_task()
        done = self.ask(server, "CancelTask", {"id": task})["result"]
        self.assertEqual(done["status"]["state"], "TASK_STATE_CANCELED")
        self.assertEqual(server.client().log(task)[-1].json()["type"], "cancelled")
        again = self.ask(server, "CancelTask", {"id": task})
        self.assertEqual(again["error"]["code"], -32002)

    def test_a_task_outlives_a_restart(self):
        server, task, call = self.start_waiting_task()
        server.kill()
        server.restart()
        known = self.ask(server, "GetTask", {"id": task})["result"]
        self.assertEqual(known["status"]["state"], "TASK_STATE_WORKING")
        server.client().answer(task, call, result="go on")
        server.client().log(task)
        ended = self.ask(server, "GetTask", {"id": task})["result"]
        self.assertEqual(ended["status"]["state"], "TASK_STATE_COMPLETED")
        self.assertEqual(ended["artifacts"][0]["parts"][0]["text"], "It is said.")
        self.check_data(server)

    def test_the_card_says_how_to_authenticate(self):
        server, _ = self.start_agent()
        card = server.client().request_at(
            "GET", "/api/a2a/default/agents/teller/.well-known/agent-card.json").json()
        scheme = card["securitySchemes"]["key"]
        self.assertEqual((scheme["type"], scheme["scheme"]), ("http", "Bearer"))
        self.assertEqual(scheme["httpAuthSecurityScheme"], {"scheme": "Bearer"})
        self.assertEqual(card["security"], [{"key": []}])
        self.assertEqual(card["securityRequirements"], [{"schemes": {"key": {"list": []}}}])

    def test_a_message_that_is_repeated_gives_the_same_task(self):
        server, _ = self.start_agent()
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Hi."}]}
        first = self.ask(server, "SendMessage", {"message": message})["result"]["task"]
        again = self.ask(server, "SendMessage", {"message": message})["result"]["task"]
        self.assertEqual(first["id"], again["id"])
        listed = self.ask(server, "ListTasks", {"contextId": first["contextId"]})["result"]
        self.assertEqual([one["id"] for one in listed["tasks"]], [first["id"]])

    def test_a_task_belongs_to_its_agent(self):
        server, _ = self.start_agent()
        other = server.client().request("PUT", "/agents/other", {"name": "other"}).json()["id"]
        # Whoever creates a run chooses its metadata, but not whose task it is.
        server.client().log(server.client().create(prompt="Hi.", agentId="teller",
                                                   metadata={"a2a_agent": other}))
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Hi."}]}
        task = self.ask(server, "SendMessage", {"message": message})["result"]["task"]
        with_context = message | {"messageId": "m2", "contextId": task["contextId"]}
        for method, params, code in (
                ("GetTask", {"id": task["id"]}, -32001),
                ("CancelTask", {"id": task["id"]}, -32001),
                ("SendMessage", {"message": with_context}, -32602),
                ("SendMessage", {"message": message | {"taskId": task["id"]}}, -32001)):
            with self.subTest(method):
                answer = self.ask(server, method, params, agent="other")
                self.assertEqual(answer["error"]["code"], code)
        listed = self.ask(server, "ListTasks", {}, agent="other")["result"]
        self.assertEqual(listed["tasks"], [])

    def test_a_list_has_pages(self):
        server, _ = self.start_agent()
        for n in range(3):
            message = {"messageId": f"m{n}", "role": "ROLE_USER", "parts": [{"text": "Hi."}]}
            self.ask(server, "SendMessage", {"message": message})
        first = self.ask(server, "ListTasks", {"pageSize": 2, "includeArtifacts": True})["result"]
        self.assertEqual((len(first["tasks"]), first["totalSize"]), (2, 3))
        self.assertEqual([task["artifacts"][0]["parts"][0]["text"] for task in first["tasks"]],
                         ["It is said."] * 2)
        last = self.ask(server, "ListTasks", {"pageToken": first["nextPageToken"]})["result"]
        self.assertEqual((len(last["tasks"]), last["nextPageToken"], last["totalSize"]), (1, "", 3))
        failed = self.ask(server, "ListTasks", {"status": "TASK_STATE_FAILED"})["result"]
        self.assertEqual((failed["tasks"], failed["totalSize"]), ([], 0))

    def test_the_task_that_changed_last_is_listed_first(self):
        server, first, call = self.start_waiting_task()
        second, _ = self.begin_waiting_task(server, "m2")

        def listed(**params) -> list[str]:
            answer = self.ask(server, "ListTasks", params)["result"]
            return [one["id"] for one in answer["tasks"]]
        self.assertEqual(listed(), [second, first])
        server.client().answer(first, call, result="go on")
        server.client().log(first)
        self.assertEqual(listed(), [first, second])
        self.assertEqual(listed(contextId="nobody"), [])
        after = self.ask(server, "GetTask", {"id": first})["result"]["status"]["timestamp"]
        self.assertEqual(listed(statusTimestampAfter=after), [first])

    def test_a_message_may_be_sent_again_with_another_configuration(self):
        server, _ = self.start_agent()
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Hi."}]}
        first = self.ask(server, "SendMessage", {"message": message})["result"]["task"]
        again = self.ask(server, "SendMessage", {
            "message": message, "configuration": {"returnImmediately": True}})["result"]["task"]
        self.assertEqual(first["id"], again["id"])
        other = message | {"parts": [{"text": "Ho."}]}
        self.assertEqual(self.ask(server, "SendMessage", {"message": other})["error"]["code"],
                         -32004)

    def test_a_key_for_other_agents_is_refused(self):
        server, _ = self.start_agent()
        key = server.client().request("POST", "/api-keys", {"name": "k", "agents": ["other"]})
        client = Client(server.url, key.json()["apiKey"])
        for method, path in (("GET", "/.well-known/agent-card.json"), ("POST", "")):
            answer = client.request_at(method, "/api/a2a/default/agents/teller" + path, {})
            self.assertEqual(answer.status, 403)

    def test_errors_have_the_codes_of_the_protocol(self):
        server, _ = self.start_agent()
        for method, params, version, code in (
                ("GetTask", {"id": "run_none"}, "1.0", -32001),
                ("tasks/get", {"id": "run_none"}, "", -32001),
                ("tasks/pushNotificationConfig/set", {}, "", -32003),
                ("GetExtendedAgentCard", {}, "1.0", -32004),
                ("agent/getAuthenticatedExtendedCard", {}, "", -32007),
                ("ListTasks", {"pageSize": 0}, "1.0", -32602),
                ("SendMessage", {}, "1.0", -32602),
                ("SendMessage", {}, "9.9", -32009),
                ("NoSuchMethod", {}, "1.0", -32601)):
            with self.subTest(method):
                self.assertEqual(self.ask(server, method, params, version)["error"]["code"], code)


if __name__ == "__main__":
    unittest.main()
