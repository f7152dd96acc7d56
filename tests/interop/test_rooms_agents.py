"""Agents that participants call into a room, and tokens that commands ask for before they join."""

import base64
import hashlib
import hmac
import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.node import SECONDS_MAX
from support.npm_rooms import ROOM, NpmCase
from support.peers.room_peer import RoomPeer
from support.peers.room_token import claims
from support.script import turn


class Agent(ThreadingHTTPServer):
    """An agent that is called by its URL, and answers with `status`."""

    def __init__(self, status: int = 200):
        self.status = status
        self.calls: list[tuple[bytes, str]] = []
        self.traces: list[str | None] = []  # the header traceparent of each
        super().__init__(("127.0.0.1", 0), AgentHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/call"


class AgentHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((body, self.headers["Meshagent-Signature"]))
        self.server.traces.append(self.headers["traceparent"])
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class NpmAgentsTest(NpmCase):
    """room.call, and what commands ask before they join."""

    CONFIG = {"network": {"allow": ["127.0.0.0/8"]}}

    def agent(self, status: int = 200) -> Agent:
        agent = Agent(status)
        self.addCleanup(agent.server_close)
        self.addCleanup(agent.shutdown)
        return agent

    def key(self) -> tuple[str, str, str]:
        """A room key, its secret and its project."""
        made = self.client.request("POST", "/room-keys", {"name": "npm"}).json()
        token = self.peer().ask("sign", name="x", room=ROOM, key=made["apiKey"])
        return made["apiKey"], made["apiKey"].split("-", 3)[3], claims(token)["sub"]

    def call_agent(self, agent: Agent, **more) -> dict:
        key, self.secret, _ = self.key()
        self.caller = self.peer()
        token = self.caller.ask("sign", name="ann", room=ROOM, key=key,
                                api={"agents": {}, "storage": {"paths": [{"path": "in"}]}})
        self.caller.ask("join", "ann", url=self.url(), token=token)
        return self.caller.send("callAgent", "ann", name="helper", url=agent.url, **more)

    def test_an_agent_is_called_into_the_room(self):
        agent = self.agent()
        given = {"text": "Grüße 😀 \x7f\n", "n": [1, 1.0, 1e22, 1e-7, -0.5, None, True], "o": {}}
        self.assertEqual(self.call_agent(agent, arguments=given), {"ok": None})
        (body, signature), = agent.calls
        # As the vendor's receivers check it: the text is parsed and written again.
        self.assertEqual(json.dumps(json.loads(body)).encode(), body)
        scheme, token = signature.split(" ")
        self.assertEqual(scheme, "Bearer")
        signed_part, _, mac = token.rpartition(".")
        wanted = hmac.new(self.secret.encode(), signed_part.encode(), hashlib.sha256).digest()
        self.assertEqual(mac, base64.urlsafe_b64encode(wanted).decode().rstrip("="))
        self.assertEqual(claims(token), {"sha256": hashlib.sha256(body).hexdigest()})
        call = json.loads(body)
        self.assertEqual(call["event"], "room.call")
        data = call["data"]
        self.assertEqual((data["room_name"], data["room_url"]), (ROOM, self.url()))
        self.assertEqual(data["arguments"], given)
        joined = self.caller.ask("join", "agent", url=data["room_url"], token=data["token"])
        self.assertEqual(joined["name"], "helper")
        self.caller.ask("host", "agent", toolkit="kit")
        self.assertEqual(self.call(self.caller, "ann", "kit", "text", input={}),
                         {"ok": {"text": "Grüße"}})
        grants = {grant["name"]: grant["scope"] for grant in claims(data["token"])["grants"]}
        self.assertEqual(grants["role"], "agent")
        self.assertEqual(grants["api"],
                         {"agents": {}, "storage": {"paths": [{"path": "in"}]}})

    def test_the_trace_of_the_caller_goes_on_at_the_agent(self):
        agent = self.agent()
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        with RoomPeer(self.server.url, ROOM, self.token("ann")).ready() as ann:
            for given in (trace, "x\r\nEvil: yes"):
                self.assertEqual(ann.ask("room.call", {
                    "name": "helper", "url": agent.url, "arguments": {},
                    "__meshagent__": {"v": 1, "otel": {"traceparent": given}}}), {"type": "empty"})
        self.assertEqual(agent.traces, [trace, None])

    def test_an_agent_that_refuses(self):
        answer = self.call_agent(self.agent(503), arguments={})
        self.assertEqual(answer, {"error": "the agent answered the call with 503", "code": 1008})

    def test_an_agent_that_leads_elsewhere_is_not_followed(self):
        self.assertEqual(self.call_agent(self.agent(302), arguments={})["code"], 1008)

    def test_an_agent_at_an_address_that_is_not_allowed(self):
        self.server = self.start_server([turn("unused")])
        self.client = self.server.client()
        agent = self.agent()
        answer = self.call_agent(agent, arguments={})
        self.assertEqual(answer["code"], 1001)
        self.assertEqual(agent.calls, [])

    def test_an_agent_gets_no_more_than_its_caller_has(self):
        agent = self.agent()
        answer = self.call_agent(agent, arguments={}, api={"storage": {"paths": []}})
        self.assertEqual(answer["code"], 1001)
        self.assertEqual(agent.calls, [])

    def connect(self, project: str, key: str, body: dict, room: str = ROOM):
        request = urllib.request.Request(
            f"{self.server.url}/accounts/projects/{project}/rooms/{room}/connect",
            data=json.dumps(body).encode(), method="POST",
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
            return json.load(answer)

    def test_a_room_key_connects(self):
        key, _, project = self.key()
        for body, name in (({}, "npm"), ({"email": "ann@example.com"}, "ann@example.com")):
            with self.subTest(body=body):
                made = self.connect(project, key, body)
                jwt = made.pop("jwt")
                self.assertEqual(made, {"room_name": ROOM, "project_id": project,
                                        "room_url": self.url()})
                peer = self.peer()
                self.assertEqual(peer.ask("join", "x", url=self.url(), token=jwt)["name"], name)

    def test_keys_that_connect_to_nothing(self):
        key, _, project = self.key()
        other = "00000000-0000-4000-8000-000000000000"
        for given, status in (((project, key[:-1] + "x", {}), 401), ((project, "ma-", {}), 401),
                              ((project, self.server.key, {}), 401), ((other, key, {}), 404),
                              ((project, key, {"email": 1}), 400),
                              ((project, key, {}, "No-Room"), 404)):
            with self.subTest(given[0:1], status=status):
                with self.assertRaises(urllib.error.HTTPError) as raised:
                    self.connect(*given)
                self.assertEqual(raised.exception.code, status)
                raised.exception.close()
