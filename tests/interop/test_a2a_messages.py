"""What our A2A client and our A2A server send is as the protocol says: the schema of 0.3,
and the protobuf of 1.0."""

import json
import unittest
from pathlib import Path

from support.peers.a2a_agent import mistakes_in
from support.a2a_case import A2aServerCase
from support.counting_a2a import CANCELS, ENDLESS, NAMED, SUBSCRIBES, CountingA2a
from support.peers.a2a_peer import A2aPeer
from support.peers.counting_mcp import CountingMcp
from support.script import turn

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
SCHEMA = Path(__file__).parents[3] / "shared" / "data" / "a2a-schema" / "0.3.0.json"
# What the requests about a task are called in the schema and in the protobuf.
REQUESTS = {
    "0.3": {"message/stream": "SendStreamingMessageRequest", "tasks/get": "GetTaskRequest",
            "tasks/resubscribe": "TaskResubscriptionRequest", "tasks/cancel": "CancelTaskRequest"},
    "1.0": {"SendStreamingMessage": "SendMessageRequest", "GetTask": "GetTaskRequest",
            "SubscribeToTask": "SubscribeToTaskRequest", "CancelTask": "CancelTaskRequest"}}
NEW_MESSAGE = {"messageId": "m1", "role": "ROLE_USER", "parts": [
    {"text": "Hi."}, {"data": {"n": 7}},
    {"raw": "aGk=", "filename": "a.txt", "mediaType": "text/plain"}]}
OLD_MESSAGE = {"kind": "message", "messageId": "m1", "role": "user", "parts": [
    {"kind": "text", "text": "Hi."}, {"kind": "data", "data": {"n": 7}},
    {"kind": "file", "file": {"bytes": "aGk=", "name": "a.txt", "mimeType": "text/plain"}}]}
FILES = [{"filename": "a.txt", "mimeType": "text/plain", "data": "aGk="},
         {"filename": "a.png", "mimeType": "image/png", "data": "aGk="}]


def without_members_of_0_3(card: dict) -> dict:
    """What a client of 1.0 sees of a card that serves both versions."""
    schemes = {name: {"httpAuthSecurityScheme": scheme["httpAuthSecurityScheme"]}
               for name, scheme in card["securitySchemes"].items()}
    old = ("protocolVersion", "url", "preferredTransport", "security")
    return {name: value for name, value in card.items() if name not in old} | {
        "securitySchemes": schemes}


class NewPeer(A2aPeer):
    """The same agent in 1.0."""

    def __init__(self, name: str):
        super().__init__(name)
        at = {"url": self.card.pop("url"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        self.card["supportedInterfaces"] = [at]
        del self.card["protocolVersion"]

    def reply(self, body: dict) -> dict:
        said = super().reply(body)
        return {"message": {"messageId": "m1", "role": "ROLE_AGENT",
                            "parts": [{"text": said["parts"][0]["text"]}]}}


class AskingMcp(CountingMcp):
    """An MCP server whose tools ask the client for a name."""

    def result_of(self, body: dict) -> dict | None:
        if body.get("method") != "tools/call" or "inputResponses" in body["params"]:
            return super().result_of(body)
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        question = {"mode": "form", "message": "Your name?", "requestedSchema": form}
        return {"resultType": "input_required", "inputRequests": {
            "name": {"method": "elicitation/create", "params": question}}}


@unittest.skipUnless(SCHEMA.exists(), "the schema of A2A 0.3 is not there")
class MessagesTest(A2aServerCase):
    def check(self, messages: list) -> None:
        self.assertEqual(mistakes_in(messages, SCHEMA), [])


class ClientMessagesTest(MessagesTest):
    def test_a_message_with_data_and_files(self):
        call = {"message": "Hi.", "contextId": "c", "data": {"n": 7}, "files": [
            {"name": "a.txt", "mimeType": "text/plain", "text": "a"},
            {"name": "b.png", "url": "https://x.example/b.png"}]}
        sent = []
        for version, make in (("0.3", A2aPeer), ("1.0", NewPeer)):
            peer = make("Peer")
            self.addCleanup(peer.close)
            server = self.start_server([turn(calls=[("stranger", call)]), turn("Done.")], ALLOW)
            tool = {"kind": "a2a", "name": "stranger", "agentCardUrl": peer.card_url}
            client = server.client()
            run = client.create(prompt="Go.", tools=[tool])
            [result] = [one.json() for one in client.log(run) if one.event == "tool_result"]
            self.assertEqual(result["result"], "You asked: Hi.")
            [body] = peer.bodies
            sent.append([version, "SendMessageRequest",
                         body if version == "0.3" else body["params"]])
        self.check(sent)

    def requests_of(self, version: str, way: int) -> list[dict]:
        """What a run's call sends to an agent that cuts its stream off. A call whose task does not
        end is cancelled with its run."""
        peer = CountingA2a(version, way)
        self.addCleanup(peer.close)
        server = self.start_server(
            [turn(calls=[("counter", {"message": "Hi."})]), turn("Done.")], ALLOW)
        client = server.client()
        tool = {"kind": "a2a", "name": "counter", "agentCardUrl": peer.card_url}
        run = client.create(prompt="Go.", tools=[tool])
        if way == ENDLESS:
            peer.wait_for(SUBSCRIBES)
            client.cancel(run)
            peer.wait_for(CANCELS)
        client.log(run)  # comes to its end with the run
        return peer.bodies

    def test_requests_about_a_task(self):
        for version, kinds in REQUESTS.items():
            with self.subTest(version):
                bodies = [body for way in (NAMED, ENDLESS)
                          for body in self.requests_of(version, way)]
                self.assertEqual({body["method"] for body in bodies}, set(kinds))
                self.check([[version, kinds[body["method"]],
                             body if version == "0.3" else body["params"]] for body in bodies])


class ServerMessagesTest(MessagesTest):
    def test_a_task_in_0_3(self):
        server, _ = self.start_agent()
        sent = self.ask(server, "message/send", {"message": OLD_MESSAGE})
        task = {"id": sent["result"]["id"]}
        events = self.events(server, "message/stream",
                             {"message": OLD_MESSAGE | {"messageId": "m2"}})
        self.assertEqual(len(events), 4)
        self.check([
            ["0.3", "SendMessageSuccessResponse", sent],
            *(["0.3", "SendStreamingMessageSuccessResponse", one] for one in events),
            ["0.3", "GetTaskSuccessResponse", self.ask(server, "tasks/get", task)],
            ["0.3", "AgentCard", self.card(server)]])

    def test_a_task_in_1_0(self):
        server, _ = self.start_agent()
        sent = self.ask(server, "SendMessage", {"message": NEW_MESSAGE})["result"]
        task = {"id": sent["task"]["id"]}
        events = self.events(server, "SendStreamingMessage",
                             {"message": NEW_MESSAGE | {"messageId": "m2"}})
        self.assertEqual(len(events), 4)
        listed = self.ask(server, "ListTasks", {"includeArtifacts": True})["result"]
        self.check([
            ["1.0", "SendMessageResponse", sent],
            *(["1.0", "StreamResponse", one["result"]] for one in events),
            ["1.0", "Task", self.ask(server, "GetTask", task)["result"]],
            ["1.0", "ListTasksResponse", listed],
            ["1.0", "AgentCard", without_members_of_0_3(self.card(server))]])

    def test_errors_in_0_3(self):
        server, _ = self.start_agent()
        task = {"id": self.ask(server, "message/send", {"message": OLD_MESSAGE})["result"]["id"]}
        config = {"taskId": task["id"], "pushNotificationConfig": {"url": "https://a.example/b"}}
        archive = {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "application/zip"}}
        answers = [
            [kind, self.ask(server, method, params)] for kind, method, params in (
                ("TaskNotFoundError", "tasks/get", {"id": "none"}),
                ("TaskNotCancelableError", "tasks/cancel", task),
                ("UnsupportedOperationError", "tasks/resubscribe", task),
                ("PushNotificationNotSupportedError", "tasks/pushNotificationConfig/set", config),
                ("AuthenticatedExtendedCardNotConfiguredError",
                 "agent/getAuthenticatedExtendedCard", {}),
                ("ContentTypeNotSupportedError", "message/send",
                 {"message": OLD_MESSAGE | {"messageId": "m2", "parts": [archive]}}),
                ("InvalidParamsError", "message/send", {}),
                ("MethodNotFoundError", "tasks/none", {}))]
        self.check([["0.3", "JSONRPCErrorResponse", answer] for _, answer in answers] +
                   [["0.3", kind, answer["error"]] for kind, answer in answers])

    def test_a_task_that_is_cancelled(self):
        server, first, _ = self.start_waiting_task()
        second, _ = self.begin_waiting_task(server, "m2")
        old = self.ask(server, "tasks/cancel", {"id": first})
        new = self.ask(server, "CancelTask", {"id": second})["result"]
        self.assertEqual((old["result"]["status"]["state"], new["status"]["state"]),
                         ("canceled", "TASK_STATE_CANCELED"))
        self.check([["0.3", "CancelTaskSuccessResponse", old], ["1.0", "Task", new]])

    def test_a_task_that_is_followed_and_gives_files(self):
        server, task, call = self.start_waiting_task()
        streams = [self.follow_answers(server, method, task)
                   for method in ("tasks/resubscribe", "SubscribeToTask")]
        begun = [next(stream) for stream in streams]
        server.client().answer(task, call, result="Here.", files=FILES)
        old, new = [[first, *rest] for first, rest in zip(begun, streams)]
        whole = self.ask(server, "tasks/get", {"id": task})
        self.assertEqual([part["kind"] for one in whole["result"]["artifacts"]
                          for part in one["parts"]], ["file", "file", "text"])
        self.check([
            *(["0.3", "SendStreamingMessageSuccessResponse", one] for one in old),
            ["0.3", "GetTaskSuccessResponse", whole],
            *(["1.0", "StreamResponse", one["result"]] for one in new),
            ["1.0", "Task", self.ask(server, "GetTask", {"id": task})["result"]]])

    def test_a_task_that_waits_for_input(self):
        peer = AskingMcp()
        self.addCleanup(peer.close)
        server = self.start_server(
            [turn("Let me ask.", calls=[("m_order", {})]), turn("Done.")], peer.config())
        server.client().request("PUT", "/agents/teller", {
            "name": "teller", "tools": [{"kind": "mcp", "name": "m", "url": peer.url}]})
        sent = self.ask(server, "SendMessage", {"message": NEW_MESSAGE})["result"]
        self.assertEqual(sent["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED")
        task = sent["task"]["id"]
        old = list(self.follow_answers(server, "tasks/resubscribe", task))
        self.assertEqual(old[-1]["result"]["status"]["state"], "input-required")
        whole = self.ask(server, "tasks/get", {"id": task})
        # A subscription of 1.0 goes on until the task is over.
        new = self.follow(server, "SubscribeToTask", task)
        begun = next(new)
        canceled = self.ask(server, "CancelTask", {"id": task})["result"]
        self.check([
            ["1.0", "SendMessageResponse", sent],
            *(["0.3", "SendStreamingMessageSuccessResponse", one] for one in old),
            ["0.3", "GetTaskSuccessResponse", whole],
            *(["1.0", "StreamResponse", one] for one in (begun, *new)),
            ["1.0", "Task", canceled]])

    def events(self, server, method: str, params: dict) -> list[dict]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = server.client().request_at("POST", "/api/a2a/default/agents/teller", body)
        return [json.loads(line[5:]) for line in answer.body.splitlines()
                if line.startswith(b"data:")]

    def card(self, server) -> dict:
        return server.client().request_at(
            "GET", "/api/a2a/default/agents/teller/.well-known/agent-card.json").json()


if __name__ == "__main__":
    unittest.main()
