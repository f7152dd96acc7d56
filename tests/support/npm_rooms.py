"""The MeshAgent client of npm, unmodified, as participants of a room."""

from support.node import INTEROP, NodePeer, ensure_modules
from support.script import turn
from support.server import ServerCase

ROOMS = INTEROP / "rooms"
ROOM = "support"
AGENTS = {"agents": {}}


class Peer:
    """A Node process with any number of participants."""

    def __init__(self):
        self.node = NodePeer("rooms/peer.mjs")

    def send(self, command: str, name: str = "", /, **more) -> dict:
        return self.node.ask({"do": command, "as": name} | more)

    def ask(self, command: str, name: str = "", /, **more):
        answer = self.send(command, name, **more)
        if "ok" not in answer:
            raise AssertionError(answer)
        return answer["ok"]


class NpmCase(ServerCase):
    maxDiff = None
    CONFIG: dict = {}
    SCRIPT = [turn("unused")]

    @classmethod
    def setUpClass(cls):
        ensure_modules(ROOMS)

    def setUp(self):
        self.server = self.start_server(self.SCRIPT, extra_config=self.CONFIG)
        self.client = self.server.client()
        created = self.client.request("POST", "/rooms", {"name": ROOM})
        self.assertEqual(created.status, 201, created.body)

    def peer(self) -> Peer:
        peer = Peer()
        self.addCleanup(peer.node.close)
        return peer

    def token(self, name: str, api: dict | None = None, **more) -> str:
        answer = self.client.request("POST", f"/rooms/{ROOM}/tokens",
                                     {"name": name, "api": AGENTS if api is None else api} | more)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json()["token"]

    def url(self, room: str = ROOM, query: str = "") -> str:
        return self.server.url.replace("http", "ws", 1) + f"/rooms/{room}{query}"

    def join(self, peer: Peer, name: str, api: dict | None = None, query: str = "") -> dict:
        return peer.ask("join", name, url=self.url(query=query), token=self.token(name, api))

    def call(self, peer: Peer, name: str, toolkit: str, tool: str, **given) -> dict:
        return peer.send("call", name, toolkit=toolkit, tool=tool, **given)

    def hosted(self) -> Peer:
        """A peer with a host `ann` of the toolkit `kit`, and a caller `bob`."""
        peer = self.peer()
        self.join(peer, "ann")
        self.join(peer, "bob")
        peer.ask("host", "ann", toolkit="kit")
        return peer

    def come_back(self, end) -> None:
        peer = self.hosted()
        peer.ask("begin", "bob", toolkit="kit", tool="wait", input={})
        self.assertEqual(list(peer.ask("list", "ann")), ["kit"])
        end(self.server)
        self.server.restart()
        self.assertIn("error", peer.ask("finish", "bob"))
        for name in ("ann", "bob"):
            self.assertEqual(peer.ask("statuses", name, reconnected=1),
                             ["disconnected", "reconnected"])
        while peer.ask("list", "bob") == {}:  # the host registers by itself
            pass
        self.assertEqual(self.call(peer, "bob", "kit", "text", input={}),
                         {"ok": {"text": "Grüße"}})
