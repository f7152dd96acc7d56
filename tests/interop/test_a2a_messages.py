"""What our A2A client and our A2A server send is as the protocol says: the schema of 0.3,
and the protobuf of 1.0."""

import json
import unittest
from pathlib import Path

from support.peers.a2a_agent import mistakes_in
from support.a2a_case import A2aServerCase
from support.peers.a2a_peer import A2aPeer
from support.script import turn

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
SCHEMA = Path(__file__).parents[3] / "shared" / "data" / "a2a-schema" / "0.3.0.json"


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


@unittest.skipUnless(SCHEMA.exists(), "the schema of A2A 0.3 is not there")
class MessagesTest(A2aServerCase):
    def check(self, messages: list) -> None:
        self.assertEqual(mistakes_in(messages, SCHEMA), [])

    def test_messages_of_the_client(self):
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

    def test_messages_of_the_server_in_0_3(self):
        server, _ = self.start_agent()
        message = {"kind": "message", "messageId": "m1", "role": "user", "parts": [
            {"kind": "text", "text": "Hi."}, {"kind": "data", "data": {"n": 7}},
            {"kind": "file", "file": {"bytes": "aGk=", "name": "a.txt",
                                      "mimeType": "text/plain"}}]}
        sent = self.ask(server, "message/send", {"message": message})
        task = {"id": sent["result"]["id"]}
        events = self.events(server, "message/stream", {"message": message | {"messageId": "m2"}})
        self.assertEqual(len(events), 4)
        self.check([
            ["0.3", "SendMessageSuccessResponse", sent],
            *(["0.3", "SendStreamingMessageSuccessResponse", one] for one in events),
            ["0.3", "GetTaskSuccessResponse", self.ask(server, "tasks/get", task)],
            ["0.3", "JSONRPCErrorResponse", self.ask(server, "tasks/cancel", task)],
            ["0.3", "JSONRPCErrorResponse", self.ask(server, "tasks/get", {"id": "none"})],
            ["0.3", "AgentCard", self.card(server)]])

    def test_messages_of_the_server_in_1_0(self):
        server, _ = self.start_agent()
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [
            {"text": "Hi."}, {"data": {"n": 7}},
            {"raw": "aGk=", "filename": "a.txt", "mediaType": "text/plain"}]}
        sent = self.ask(server, "SendMessage", {"message": message})["result"]
        task = {"id": sent["task"]["id"]}
        events = self.events(server, "SendStreamingMessage",
                             {"message": message | {"messageId": "m2"}})
        listed = self.ask(server, "ListTasks", {"includeArtifacts": True})["result"]
        self.check([
            ["1.0", "SendMessageResponse", sent],
            *(["1.0", "StreamResponse", one["result"]] for one in events),
            ["1.0", "Task", self.ask(server, "GetTask", task)["result"]],
            ["1.0", "ListTasksResponse", listed]])

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
