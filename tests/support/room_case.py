"""A room of a server of its own, and participants over raw sockets."""

from support.peers.neighbours import ANSWER, call_between, register
from support.peers.room_peer import RoomPeer
from support.script import turn
from support.server import ServerCase

ROOM = "hall"
AGENTS = {"agents": {}, "messaging": {}}


class RoomCase(ServerCase):
    VARIABLES: dict[str, str] = {}  # of the server's environment

    def setUp(self):
        self.server = self.start_server([turn("unused")], variables=self.VARIABLES)
        self.client = self.server.client()
        self.assertEqual(self.client.request("POST", "/rooms", {"name": ROOM}).status, 201)

    def token(self, name: str, room: str = ROOM, api: dict | None = None) -> str:
        answer = self.client.request("POST", f"/rooms/{room}/tokens",
                                     {"name": name, "api": AGENTS if api is None else api})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json()["token"]

    def join(self, name: str, **more) -> RoomPeer:
        peer = RoomPeer(self.server.url, ROOM, self.token(name), **more).ready()
        self.addCleanup(peer.close)
        return peer

    def host(self) -> RoomPeer:
        peer = self.join("host")
        self.assertEqual(register(peer)["type"], "json")
        return peer

    def check_neighbours(self, host: RoomPeer, caller: RoomPeer) -> None:
        """A call between two others is answered."""
        self.assertEqual(call_between(host, caller), ANSWER)
