"""Nobody learns anything about another workspace: every route of /openapi.json, with another
workspace's credential and with its ids.

A route with a new path parameter needs an id in `Victim`, or the test fails."""

import json
import re
import unittest
from dataclasses import dataclass

from support.http import Client, Response
from support.isolation import (OWNER_KEY, REFUSALS, STRANGER_KEY, WORKSPACES, changed, shown)
from support.script import turn
from support.server import Server, ServerCase

BASE = "/api/v1/workspaces/{workspace}"
A2A = "/api/a2a/{workspace}"
MCP = BASE + "/mcp"  # which has errors of its own, and is not in /openapi.json
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
FOR_OPERATORS = BASE + "/workspaces"  # only keys of the workspace "default" do anything there
# Secrets are named by the caller: this sets one of the caller's own.
SETS_OWN = f"PUT {BASE}/secrets/{{secretName}}"
# Paths that name no workspace. The credential decides what /rooms, /accounts and /api/oauth show:
# test_isolation_doors.py tries them with a stranger's.
OF_THE_SERVER = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/rooms/{roomName}",
                 "/rooms/{roomName}/files/{fileName}", "/api/oauth/token", "/api/oauth/revoke",
                 "/api/oauth/userinfo",
                 "/accounts/projects/{projectId}/rooms/{roomName}/connect"}
PARAMETER = re.compile(r"\{(\w+)\}")
EXPIRY = re.compile(r'"(?:expiresAt|lastUsedAt|claimedUntil)":"[^"]*"')
NEW_ID = re.compile(r"\b(?:run|sess|tu|key)_[0-9a-z]+|mantyx_[0-9a-f.]+|"
                    r"\d{4}-\d\d-\d\dT[\d:.]+Z")
TOOL = {"kind": "local", "name": "look"}


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    body: dict | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def names(self) -> list[str]:
        return [name for name in PARAMETER.findall(self.path) if name != "workspace"]


def operations(document: dict) -> list[Operation]:
    """Those that belong to a workspace, with the example of their body."""
    schemas = document["components"]["schemas"]
    found = []
    for path, methods in document["paths"].items():
        if not path.startswith((BASE, A2A)):
            continue
        for method, operation in methods.items():
            body = None
            if content := operation.get("requestBody", {}).get("content"):
                schema = content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
                body = schemas[schema]["example"]
            found.append(Operation(method.upper(), path, body))
    return [*found, Operation("POST", MCP, PING)]


class Victim:
    """One of everything that a path can name, in a workspace that strangers must not see."""

    def __init__(self, server: Server):
        self.client = Client(server.url, OWNER_KEY, "acme")
        self.run = self.client.create(prompt="Look.", tools=[TOOL])
        with self.client.stream(self.run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
            stream.until("assistant_message")
        self.client.request("POST", f"/agent-runs/{self.run}/feedback", {"verdict": "UP"})
        session = self.client.request("POST", "/agent-sessions", {}).json()["sessionId"]
        # A key of the configuration file, which nobody can revoke and only its owner may know of.
        key = self.client.request("GET", "/api-keys").json()["apiKeys"][0]["id"]
        agent = self.stored("agents", {"name": "clerk"})
        tool = self.stored("tools", {"name": "look_up", "http": {"url": "https://192.0.2.1/"}})
        secret = self.stored("secrets", {"name": "OWNERS_TOKEN", "value": "a-token-of-the-crm"})
        client = self.client.request("POST", "/oauth-clients",
                                     {"name": "portal", "scopes": ["runs:read"]}).json()["id"]
        self.client.request("POST", "/rooms", {"name": "parlour"})  # there may be one already
        room_key = self.client.request("POST", "/room-keys", {"name": "theirs"}).json()
        self.ids = {"runId": self.run, "toolUseId": call, "sessionId": session, "keyId": key,
                    "agentId": agent, "toolId": tool, "secretName": secret, "clientId": client,
                    "roomName": "parlour", "roomKeyId": room_key["id"]}

    def stored(self, kind: str, body: dict) -> str:
        return self.client.request("PUT", f"/{kind}/{body['name']}", body).json()["id"]

    def state(self) -> list[str]:
        """What no stranger may change. Times until something are told to the millisecond only."""
        paths = (f"/agent-runs/{self.run}", f"/agent-sessions/{self.ids['sessionId']}",
                 "/api-keys", "/agent-runs", "/agent-sessions", "/tool-calls", "/agents", "/tools",
                 "/secrets", "/oauth-clients", "/rooms", "/rooms/parlour", "/room-keys",
                 f"/agent-runs/{self.run}/feedback")
        return [EXPIRY.sub("", self.client.request("GET", path).body.decode()) for path in paths]


def send(client: Client, operation: Operation, workspace: str, ids: dict[str, str]) -> Response:
    path = PARAMETER.sub(lambda found: ids.get(found[1], workspace), operation.path)
    body = operation.body
    if body and "toolUseId" in body:
        body = body | {"toolUseId": ids["toolUseId"]}
    return client.request_at(operation.method, path, body)


class IsolationTest(ServerCase):
    def setUp(self):
        self.server = self.start_server(
            {"scripted": [turn(calls=[("look", {"n": 1})]), turn("Done.")],
             "plain": [turn("Hello.")]}, WORKSPACES)
        self.document = Client(self.server.url, "").request_at("GET", "/openapi.json").json()
        self.operations = operations(self.document)
        self.stranger = Client(self.server.url, STRANGER_KEY, "other")

    def test_every_parameter_of_a_path_has_an_id(self):
        known = set(Victim(self.server).ids)
        self.assertEqual([str(one) for one in self.operations if not set(one.names) <= known], [])
        self.assertGreater(len(self.operations), 20)

    def test_no_path_is_left_out(self):
        others = {path for path in self.document["paths"] if not path.startswith((BASE, A2A))}
        self.assertEqual(others, OF_THE_SERVER)

    def test_a_room_is_joined_with_a_token_of_its_workspace_alone(self):
        Victim(self.server)
        made = self.stranger.request("POST", "/rooms", {"name": "lobby"})
        self.assertEqual(made.status, 201, made.body)
        token = self.stranger.request("POST", "/rooms/lobby/tokens",
                                      {"name": "guest"}).json()["token"]
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        nobody = Client(self.server.url, "")
        answers = [nobody.request_at("GET", f"/rooms/{name}?token={token}", None, upgrade)
                   for name in ("parlour", "nowhere")]
        for answer, name in zip(answers, ("parlour", "nowhere")):
            self.assertIn(answer.status, REFUSALS, answer.body)
            self.assertNotIn(OWNER_KEY, answer.body.decode())
        self.assertEqual(shown(answers[0], {"roomName": "parlour"}),
                         shown(answers[1], {"roomName": "nowhere"}))

    def test_a_path_of_another_workspace_says_the_same_as_one_of_none(self):
        victim = Victim(self.server)
        before = victim.state()
        for operation in self.operations:
            with self.subTest(str(operation)):
                theirs = send(self.stranger, operation, "acme", victim.ids)
                nobodys = send(self.stranger, operation, "nobody", victim.ids)
                self.assertIn(theirs.status, REFUSALS)
                self.assertEqual(shown(theirs, victim.ids), shown(nobodys, victim.ids))
        self.assertEqual(victim.state(), before)

    def test_another_workspaces_id_says_the_same_as_one_that_nobody_has(self):
        victim = Victim(self.server)
        before = victim.state()
        unknown = {name: changed(value) for name, value in victim.ids.items()}
        for operation in self.operations:
            with self.subTest(str(operation)):
                theirs = send(self.stranger, operation, "other", victim.ids)
                if not operation.names:
                    found = [value for value in victim.ids.values()
                             if value in theirs.body.decode()]
                    self.assertEqual(found, [])
                    continue
                nobodys = send(self.stranger, operation, "other", unknown)
                if str(operation) == SETS_OWN:
                    self.assertEqual((theirs.status, nobodys.status), (201, 201))
                    for ids in (victim.ids, unknown):
                        self.stranger.request("DELETE", f"/secrets/{ids['secretName']}")
                    continue
                self.assertIn(theirs.status, REFUSALS)
                self.assertEqual(shown(theirs, victim.ids), shown(nobodys, unknown))
        self.assertEqual(victim.state(), before)

    def own_call(self) -> tuple[str, str]:
        """A run of the stranger, and its call that waits."""
        run = self.stranger.create(prompt="Look.", tools=[TOOL])
        with self.stranger.stream(run) as stream:
            return run, stream.until("local_tool_call")[-1].json()["toolUseId"]

    def outcome(self, method: str, path: str, body: dict | None, sent: str) -> list:
        """The answer to the stranger, and what its new run shows, if there is one; ids left out."""
        answer = self.stranger.request(method, path, body)
        told = [shown(answer, {"sent": sent})]
        made = answer.json() if answer.status == 201 else {}
        if "runId" in made:
            told += [(frame.event, frame.data.decode().replace(sent, "{sent}"))
                     for frame in self.stranger.log(made["runId"])]
        return json.loads(NEW_ID.sub("ID", json.dumps(told)))

    def test_ids_in_bodies_and_queries_say_the_same_as_ones_that_nobody_has(self):
        victim = Victim(self.server)
        claim = victim.client.request("POST", f"/tool-calls/{victim.ids['toolUseId']}/claim",
                                      {"ttlMs": 60000}).json()["claimId"]
        run, call = self.own_call()
        before = victim.state()

        def run_with(**members) -> tuple:
            return "POST", "/agent-runs", {"prompt": "Hi.", "modelId": "plain"} | members

        def reach(secret: str) -> dict:
            return {"kind": "mcp", "name": "m", "url": "http://192.0.2.1/mcp",
                    "headers": {"Authorization": f"{{{{secret:{secret}}}}}"}}

        ids = victim.ids
        for one, request in (
                (ids["agentId"], lambda sent: run_with(agentId=sent)),
                ("clerk", lambda sent: run_with(agentId=sent)),
                (ids["toolId"], lambda sent: run_with(tools=[{"kind": "mantyx", "id": sent}])),
                ("look_up", lambda sent: run_with(tools=[{"kind": "mantyx", "id": sent}])),
                (ids["agentId"], lambda sent: run_with(tools=[{"kind": "agent", "agentId": sent}])),
                (ids["secretName"], lambda sent: run_with(tools=[reach(sent)])),
                (ids["agentId"], lambda sent: ("POST", "/agent-sessions", {"agentId": sent})),
                (ids["agentId"], lambda sent: ("POST", "/api-keys", {"agents": [sent]})),
                (ids["toolUseId"], lambda sent: ("POST", f"/agent-runs/{run}/tool-results",
                                                 {"toolUseId": sent, "result": "x"})),
                (claim, lambda sent: ("POST", f"/tool-calls/{call}/extend", {"claimId": sent})),
                (ids["sessionId"], lambda sent: ("GET", f"/agent-runs?sessionId={sent}", None)),
                (ids["runId"], lambda sent: ("GET", f"/agent-runs?parentRunId={sent}", None)),
                (ids["runId"], lambda sent: ("GET", f"/agent-runs?cursor={sent}", None)),
                (ids["agentId"], lambda sent: ("GET", f"/agent-runs?agentId={sent}", None)),
                ("clerk", lambda sent: ("GET", f"/agent-sessions?agentId={sent}", None)),
                ("clerk", lambda sent: ("GET", f"/agents?cursor={sent}", None))):
            with self.subTest(str(request(one))):
                theirs = self.outcome(*request(one), one)
                nobodys = self.outcome(*request(changed(one)), changed(one))
                self.assertEqual(theirs, nobodys)
        self.assertEqual(victim.state(), before)

    def test_an_idempotency_key_of_another_workspace_is_a_new_one(self):
        victim = Victim(self.server)
        headers, body = {"Idempotency-Key": "the-same"}, {"prompt": "Hi.", "modelId": "plain"}
        theirs, mine = (client.request("POST", "/agent-runs", body, headers).json()["runId"]
                        for client in (victim.client, self.stranger))
        self.assertNotEqual(theirs, mine)
        self.assertEqual(self.stranger.request("GET", f"/agent-runs/{theirs}").status, 404)
        session, own = (client.request("POST", "/agent-sessions", {}, headers)
                        for client in (victim.client, self.stranger))
        # The key was used for a run, in both workspaces.
        self.assertEqual((session.status, own.status), (409, 409))

    def call(self, client: Client, path: str, method: str, params: dict) -> dict:
        """The answer to a JSON-RPC request."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Accept": "application/json, text/event-stream", "A2A-Version": "1.0"}
        if path.endswith("/mcp"):
            headers["MCP-Session-Id"] = self.open_session(client, path)
        answer = client.request_at("POST", path, body, headers)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def open_session(self, client: Client, path: str) -> str:
        """The id of a new session of MCP."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {},
                  "clientInfo": {"name": "stranger", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = client.request_at("POST", path, body,
                                   {"Accept": "application/json, text/event-stream"})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.headers["mcp-session-id"]

    def test_ids_in_json_rpc_say_the_same_as_ones_that_nobody_has(self):
        victim = Victim(self.server)
        said = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Hi."}]}
        task = self.call(victim.client, "/api/a2a/acme/agents/clerk", "SendMessage",
                         {"message": said})["result"]["task"]
        log = f"errand://runs/{victim.run}/events"
        self.stranger.request("PUT", "/agents/clerk", {"name": "clerk"})
        agent, mcp = "/api/a2a/other/agents/clerk", MCP.replace("{workspace}", "other")
        before = victim.state()
        for path, method, params in (
                (agent, "GetTask", {"id": task["id"]}),
                (agent, "GetTask", {"id": victim.run}),
                (agent, "CancelTask", {"id": task["id"]}),
                (agent, "SubscribeToTask", {"id": task["id"]}),
                (agent, "SendMessage", {"message": said | {"taskId": task["id"]}}),
                (agent, "SendMessage", {"message": said | {"contextId": task["contextId"]}}),
                (agent, "ListTasks", {"contextId": task["contextId"]}),
                (mcp, "resources/read", {"uri": log}),
                (mcp, "tools/call", {"name": "look_up", "arguments": {}})):
            with self.subTest(f"{method} {params}"):
                ids = [task["id"], task["contextId"], victim.run]
                theirs = json.dumps(self.call(self.stranger, path, method, params))
                sent = json.dumps(params)
                for one in ids:
                    sent = sent.replace(one, changed(one))
                nobodys = json.dumps(self.call(self.stranger, path, method, json.loads(sent)))
                for one in ids:
                    theirs, nobodys = theirs.replace(one, "ID"), nobodys.replace(changed(one), "ID")
                self.assertEqual(theirs, nobodys)
                if method != "ListTasks":
                    self.assertIn("error", theirs.lower())
        listed = json.dumps([self.call(self.stranger, agent, "ListTasks", {}),
                             self.call(self.stranger, mcp, "resources/list", {}),
                             self.call(self.stranger, mcp, "tools/list", {})])
        for one in (task["id"], task["contextId"], victim.run, "look_up"):
            self.assertNotIn(one, listed)
        self.assertEqual(victim.state(), before)

    def test_nothing_is_told_without_a_credential(self):
        victim = Victim(self.server)
        for key in ("", "mantyx_" + "c" * 64):
            nobody = Client(self.server.url, key)
            for operation in self.operations:
                with self.subTest(f"{operation} with {key[:8]!r}"):
                    theirs = send(nobody, operation, "acme", victim.ids)
                    nobodys = send(nobody, operation, "nobody", victim.ids)
                    self.assertEqual(theirs.status, 401)
                    self.assertEqual(shown(theirs, victim.ids), shown(nobodys, victim.ids))

    def test_the_owner_is_never_refused(self):
        """The requests of the other tests are ones that do something."""
        for operation in self.operations:
            with self.subTest(str(operation)):
                victim = Victim(self.server)
                if operation.path.endswith("/stream"):
                    victim.client.cancel(victim.run)
                answer = send(victim.client, operation, "acme", victim.ids)
                if operation.path == FOR_OPERATORS:
                    self.assertEqual(answer.status, 403)
                    continue
                self.assertNotIn(answer.status, REFUSALS, answer.body)
                self.assertLess(answer.status, 500)
                if operation.path != MCP:
                    self.assertNotEqual(answer.status, 400, answer.body)


if __name__ == "__main__":
    unittest.main()
