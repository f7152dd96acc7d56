"""Runs that use the tools of a room: found, missed, cut off, and after kill -9."""

import json

from support.fake_model import FakeModel
from support.peers.room_peer import RoomPeer
from support.script import turn
from support.server import ServerCase

ROOM = "desk"
AGENTS = {"agents": {}, "messaging": {}}
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
FIND = {"description": "Finds an order.",
        "input_spec": {"types": ["json"], "stream": False, "schema": SCHEMA}}
CRM = {"name": "crm", "public": True, "tools": {"find": FIND}, "rules": ["Find orders first."]}
CALL = turn(calls=[("crm_find", {"id": 7})])
UNKNOWN = "may or may not have taken effect"
LOCAL = {"network": {"allow": ["127.0.0.0/8"]}}


class RoomRunsTest(ServerCase):
    maxDiff = None

    def begin(self, *turns: dict, config: dict | None = None) -> None:
        self.server = self.start_server(list(turns) or [turn("unused")], config)
        self.client = self.server.client()
        self.assertEqual(self.client.request("POST", "/rooms", {"name": ROOM}).status, 201)

    def host(self, toolkit: dict) -> RoomPeer:
        made = self.client.request("POST", f"/rooms/{ROOM}/tokens",
                                   {"name": "clerk", "api": AGENTS})
        peer = RoomPeer(self.server.url, ROOM, made.json()["token"]).ready()
        self.addCleanup(peer.close)
        self.assertEqual(peer.ask("room.register_toolkit", toolkit)["type"], "json")
        return peer

    def run_in_room(self, *required: dict, **more) -> str:
        body = {"prompt": "Go.", "room": ROOM, "requiredToolkits": list(required)} | more
        made = self.client.request("POST", "/agent-runs", body)
        self.assertEqual(made.status, 201, made.body)
        return made.json()["runId"]

    def events(self, run: str) -> list[dict]:
        return [frame.json() for frame in self.client.log(run)]

    def one(self, events: list[dict], kind: str) -> dict:
        found = [event for event in events if event["type"] == kind]
        self.assertEqual(len(found), 1, events)
        return found[0]["data"]

    def test_a_hosted_tool_is_called_with_progress_and_its_answer_reaches_the_model(self):
        self.begin(CALL, turn("Found."))
        host = self.host(CRM)
        run = self.run_in_room({"toolkit": "crm", "tools": ["find"], "participantName": "clerk"})
        number, _, call, _ = host.until("room.tool_call.crm")
        self.assertEqual(call["name"], "find")
        self.assertEqual(call["arguments"], {"type": "json", "json": {"id": 7}})
        self.assertEqual(call["caller_context"]["runId"], run)
        host.send("room.tool_call_response_chunk",
                  {"tool_call_id": call["tool_call_id"],
                   "chunk": {"type": "agent.event", "message": "looking", "progress": 1}},
                  message_id=number)
        host.send("room.tool_call_response", {"type": "json", "json": {"name": "Ada"}},
                  message_id=number)
        events = self.events(run)
        self.assertEqual(self.one(events, "tool_progress")["message"], "looking")
        result = self.one(events, "tool_result")
        self.assertEqual((result["name"], result["ok"]), ("crm_find", True))
        self.assertIn("Ada", str(result))
        self.assertEqual(self.one(events, "result")["subtype"], "success")

    def test_a_toolkit_that_is_missing_ends_the_run_and_is_named(self):
        self.begin(CALL)
        run = self.run_in_room({"toolkit": "erp", "timeoutMs": 0})
        error = self.one(self.events(run), "error")
        self.assertEqual(error["error"], f'the room "{ROOM}" has no toolkit "erp"')
        self.assertEqual(error["errorClass"], "required_toolkit_missing")

    def test_without_requirements_a_run_has_what_is_there(self):
        self.begin(CALL, turn("Found."))
        host = self.host(CRM)
        run = self.run_in_room()
        number, _, _, _ = host.until("room.tool_call.crm")
        host.send("room.tool_call_response", {"type": "text", "text": "Ada"}, message_id=number)
        self.assertTrue(self.one(self.events(run), "tool_result")["ok"])

    def test_requirements_without_a_room_are_a_mistake(self):
        self.begin(CALL)
        made = self.client.request("POST", "/agent-runs",
                                   {"prompt": "Go.", "requiredToolkits": [{"toolkit": "crm"}]})
        self.assertEqual(made.status, 400, made.body)
        self.assertIn("/requiredToolkits", made.body.decode())

    def test_a_stored_agent_brings_its_room(self):
        self.begin(CALL, turn("Found."))
        host = self.host(CRM)
        agent = {"name": "helper", "room": ROOM, "requiredToolkits": [{"toolkit": "crm"}]}
        self.assertEqual(self.client.request("POST", "/agents", agent).status, 201)
        made = self.client.request("POST", "/agent-runs", {"prompt": "Go.", "agentId": "helper"})
        number, _, call, _ = host.until("room.tool_call.crm")
        host.send("room.tool_call_response", {"type": "empty"}, message_id=number)
        self.assertTrue(self.one(self.events(made.json()["runId"]), "tool_result")["ok"])

    def test_rules_of_a_toolkit_reach_the_model(self):
        model = FakeModel([turn("Done.")])
        self.addCleanup(model.stop)
        self.begin(config={"models": [{
            "id": "m", "provider": "openai", "api": "chat", "vendorModelId": "m", "apiKey": "k",
            "baseUrl": model.url + "/v1"}], "defaultModel": "m"})
        find = FIND | {"rules": ["Find by number."]}
        self.host(CRM | {"tools": {"find": find}})
        run = self.run_in_room({"toolkit": "crm"}, systemPrompt="Be kind.")
        self.assertEqual(self.one(self.events(run), "result")["subtype"], "success")
        asked, = model.requests()
        system = json.dumps(asked["body"]["messages"][0])
        for part in ("Be kind.", "Find orders first.", "Find by number."):
            self.assertIn(part, system)

    def test_a_call_takes_no_longer_than_its_toolkit_says(self):
        self.begin(CALL, CALL, turn("Found."))
        notes = {"errand.timeout_ms": "find=300", "errand.cancel": "true"}
        host = self.host(CRM | {"annotations": notes})
        run = self.run_in_room({"toolkit": "crm"})
        late, _, call, _ = host.until("room.tool_call.crm")
        _, _, chunk, _ = host.until("room.tool_call_request_chunk.crm")
        self.assertEqual((chunk["tool_call_id"], chunk["chunk"]["status_code"]),
                         (call["tool_call_id"], 1001))
        number, _, _, _ = host.until("room.tool_call.crm")
        # The answer to the first call comes after its time, and the other one in time.
        host.send("room.tool_call_response", {"type": "text", "text": "late"}, message_id=late)
        host.send("room.tool_call_response", {"type": "text", "text": "Ada"}, message_id=number)
        results = [event["data"] for event in self.events(run) if event["type"] == "tool_result"]
        self.assertEqual([result["ok"] for result in results], [False, True])
        self.assertIn("longer than 300 ms", str(results[0]))
        self.assertIn(UNKNOWN, str(results[0]))
        self.assertNotIn("late", str(results))

    def test_a_cancel_reaches_a_host_that_wants_to_know(self):
        self.begin(CALL, turn("unused"))
        host = self.host(CRM | {"annotations": {"errand.cancel": "true"}})
        run = self.run_in_room({"toolkit": "crm"})
        _, _, call, _ = host.until("room.tool_call.crm")
        self.client.cancel(run)
        _, _, chunk, _ = host.until("room.tool_call_request_chunk.crm")
        self.assertEqual(chunk["tool_call_id"], call["tool_call_id"])
        self.assertEqual(chunk["chunk"]["method"], "close")
        self.one(self.events(run), "cancelled")

    def test_a_host_that_goes_in_the_call_leaves_an_unknown_outcome(self):
        self.begin(CALL, turn("I do not know."))
        host = self.host(CRM)
        run = self.run_in_room({"toolkit": "crm"})
        host.until("room.tool_call.crm")
        host.close()
        result = self.one(self.events(run), "tool_result")
        self.assertFalse(result["ok"])
        self.assertIn(UNKNOWN, str(result))

    def test_after_kill_a_call_is_not_made_again(self):
        self.begin(CALL, turn("I do not know."))
        host = self.host(CRM)
        run = self.run_in_room({"toolkit": "crm"})
        host.until("room.tool_call.crm")
        self.server.kill()
        self.server.restart()
        self.client = self.server.client()
        result = self.one(self.events(run), "tool_result")
        self.assertFalse(result["ok"])
        self.assertIn(UNKNOWN, str(result))

    def test_after_kill_a_call_that_changes_nothing_is_made_again(self):
        self.begin(CALL, turn("Found."))
        toolkit = CRM | {"annotations": {"errand.read_only": "find"}}
        host = self.host(toolkit)
        run = self.run_in_room({"toolkit": "crm", "participantName": "clerk"})
        host.until("room.tool_call.crm")
        self.server.kill()
        # The host is in the room before the run is: nobody makes a call that nobody could answer.
        self.server.restart()
        self.client = self.server.client()
        again = self.host(toolkit)
        number, _, _, _ = again.until("room.tool_call.crm")
        again.send("room.tool_call_response", {"type": "text", "text": "Ada"}, message_id=number)
        self.assertTrue(self.one(self.events(run), "tool_result")["ok"])


class ElsewhereTest(ServerCase):
    """Runs in a room of another server, by its URL and a token that is a secret."""

    def begin(self, *turns: dict, config: dict | None = None) -> None:
        self.elsewhere = self.start_server([turn("unused")])
        self.owner = self.elsewhere.client()
        self.assertEqual(self.owner.request("POST", "/rooms", {"name": ROOM}).status, 201)
        self.here = self.start_server([*turns], LOCAL if config is None else config)
        self.client = self.here.client()
        self.token = self.token_for("visitor")
        self.keep(self.token)

    def keep(self, token: str) -> None:
        kept = self.client.request("PUT", "/secrets/ROOM_TOKEN", {"value": token})
        self.assertIn(kept.status, (200, 201), kept.body)

    def token_for(self, name: str) -> str:
        made = self.owner.request("POST", f"/rooms/{ROOM}/tokens", {"name": name, "api": AGENTS})
        return made.json()["token"]

    def host(self) -> RoomPeer:
        peer = RoomPeer(self.elsewhere.url, ROOM, self.token_for("clerk")).ready()
        self.addCleanup(peer.close)
        self.assertEqual(peer.ask("room.register_toolkit", CRM)["type"], "json")
        return peer

    def start_run(self) -> str:
        url = self.elsewhere.url.replace("http", "ws", 1) + f"/rooms/{ROOM}"
        made = self.client.request("POST", "/agent-runs", {
            "prompt": "Go.", "room": {"url": url, "token": "{{secret:ROOM_TOKEN}}"},
            "requiredToolkits": [{"toolkit": "crm", "timeoutMs": 10_000}]})
        self.assertEqual(made.status, 201, made.body)
        return made.json()["runId"]

    def log(self, run: str) -> list[dict]:
        return [frame.json() for frame in self.client.log(run)]

    @staticmethod
    def answer(host: RoomPeer, text: str) -> None:
        number, _, _, _ = host.until("room.tool_call.crm")
        host.send("room.tool_call_response", {"type": "text", "text": text}, message_id=number)

    def test_the_run_is_who_the_token_says(self):
        self.begin(CALL, turn("Found."))
        host = self.host()
        run = self.start_run()
        number, _, call, _ = host.until("room.tool_call.crm")
        shown = self.owner.request("GET", f"/rooms/{ROOM}").json()["participants"]
        names = {one["id"]: one["name"] for one in shown}
        self.assertEqual(names[call["caller_id"]], "visitor")
        # A host that repeats the token gives it to nobody.
        host.send("room.tool_call_response", {"type": "text", "text": f"it is {self.token}"},
                  message_id=number)
        events = self.log(run)
        self.assertEqual(events[-1]["subtype"], "success")
        result, = (event for event in events if event["type"] == "tool_result")
        self.assertIn("it is [redacted]", str(result))
        for path in ("", "/journal", "/events"):
            body = self.client.request("GET", f"/agent-runs/{run}{path}").body.decode()
            self.assertNotIn(self.token, body)
        self.assertNotIn(self.token, self.here.errors())

    def test_a_server_that_restarts_between_two_calls_is_joined_again(self):
        self.begin(CALL, CALL, turn("Found."))
        host = self.host()
        run = self.start_run()
        number, _, _, _ = host.until("room.tool_call.crm")
        self.elsewhere.kill()
        self.elsewhere.restart()
        self.owner = self.elsewhere.client()
        # The first call was lost with the server, so that the run goes on with the second one.
        self.answer(self.host(), "Ada")
        results = [event for event in self.log(run) if event["type"] == "tool_result"]
        self.assertEqual([result["ok"] for result in results], [False, True], number)
        self.assertIn(UNKNOWN, str(results[0]))

    def test_tokens_that_do_not_open_the_room(self):
        self.begin(CALL)
        other = self.owner.request("POST", "/rooms", {"name": "other"})
        self.assertEqual(other.status, 201)
        for_another = self.owner.request("POST", "/rooms/other/tokens", {"name": "visitor"})
        for token in ("nonsense", for_another.json()["token"]):
            with self.subTest(token=token[:8]):
                self.keep(token)
                error = self.log(self.start_run())[-1]["data"]
                self.assertEqual(error["errorClass"], "required_toolkit_missing")
                self.assertIn("cannot be joined", error["error"])
                self.assertNotIn(token, str(error))

    def test_an_address_that_may_not_be_reached(self):
        self.begin(CALL, config={})
        self.host()
        error = self.log(self.start_run())[-1]["data"]
        self.assertEqual(error["errorClass"], "required_toolkit_missing")
        self.assertIn("which is not a public address", error["error"])
        shown = self.owner.request("GET", f"/rooms/{ROOM}").json()["participants"]
        self.assertEqual([one["name"] for one in shown], ["clerk"])
