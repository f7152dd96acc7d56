"""Runs that use the tools of a room: found, missed, cut off, and after kill -9."""

from support.room_peer import RoomPeer
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


class RoomRunsTest(ServerCase):
    maxDiff = None

    def begin(self, *turns: dict) -> None:
        self.server = self.start_server(list(turns))
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
