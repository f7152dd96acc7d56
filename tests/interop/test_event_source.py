"""The EventSource of npm reads a run to its end through a connection that keeps breaking."""

import json

from support.http import Frame
from support.node import ensure_modules, start_node
from support.peers.proxy import CuttingProxy
from support.script import local_tool, turn
from support.server import ServerCase

SCRIPT = [
    turn(*(f"a{n} " for n in range(60)), calls=[("look", {"path": "ä/\u2028"})]),
    turn(*(f"b{n} " for n in range(60))),
]
# In the middle of the head, of a frame, and of a later frame.
CUTS = [90, 3000, 9001]


class EventSourceTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        ensure_modules()

    def setUp(self):
        self.client = self.start_server(SCRIPT).client()

    def read(self, run: str, port: int) -> list[dict]:
        """What the EventSource reports, with calls answered as they come."""
        url = f"http://127.0.0.1:{port}{self.client.path(f'/agent-runs/{run}/stream')}"
        reader = start_node("read_events.mjs", url, self.client.key)
        self.addCleanup(reader.kill)
        events = []
        with reader.stdout:
            for line in reader.stdout:
                event = json.loads(line)
                events.append(event)
                if event["event"] == "local_tool_call":
                    call = json.loads(event["data"])["toolUseId"]
                    self.assertEqual(self.client.answer(run, call, result="seen").status, 204)
        self.assertEqual(reader.wait(60), 0)
        return events

    def test_the_joined_events_equal_the_uncut_ones(self):
        proxy = CuttingProxy(self.client.address, CUTS)
        self.addCleanup(proxy.close)
        run = self.client.create(prompt="Look.", tools=[local_tool("look", path="string")])
        events = self.read(run, proxy.port)

        def as_event(frame: Frame) -> dict:
            return {"id": frame.id, "event": frame.event, "data": frame.data.decode()}

        self.assertEqual(events, [as_event(frame) for frame in self.client.log(run)])
        self.assertEqual(proxy.connections, len(CUTS) + 1)
