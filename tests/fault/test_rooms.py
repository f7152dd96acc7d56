"""Participants that misbehave harm nobody but themselves."""

import base64
import hashlib
import hmac
import http.client
import json
import socket
import sqlite3
import struct
import threading
import unittest
from contextlib import closing

from support.peers.room_peer import CLOSE, RoomPeer, Refused
from support.script import turn
from support.server import ServerCase

ROOM = "hall"
AGENTS = {"agents": {}, "messaging": {}}
MEGABYTE = 1024 * 1024
TOOLKIT = {"name": "kit", "public": True, "tools": {"run": {}}}
# Of unfinished messages of all participants of a server.
UNFINISHED_MAX = 256 * MEGABYTE
CONNECTIONS_MAX = 1000  # of one participant to a room


def encoded(value: dict | bytes) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def signed(payload: dict, secret: str, header: dict | None = None) -> str:
    text = encoded(header or {"alg": "HS256"}) + b"." + encoded(payload)
    mac = hmac.new(secret.encode(), text, hashlib.sha256).digest()
    return (text + b"." + encoded(mac)).decode()


class RoomCase(ServerCase):
    def setUp(self):
        self.server = self.start_server([turn("unused")])
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
        self.assertEqual(peer.ask("room.register_toolkit", TOOLKIT)["type"], "json")
        return peer

    def check_neighbours(self, host: RoomPeer, caller: RoomPeer) -> None:
        """A call between two others is answered."""
        asked = caller.send("room.invoke_tool", {"toolkit": "kit", "tool": "run"})
        call, _, _, _ = host.until("room.tool_call.kit")
        host.send("room.tool_call_response", {"type": "empty"}, message_id=call)
        answer = caller.until("__response__")
        self.assertEqual((answer[0], answer[2]), (asked, {"type": "empty"}))


class DoorTest(RoomCase):
    def refusal(self, token: str, room: str = ROOM) -> int:
        with self.assertRaises(Refused) as refused:
            RoomPeer(self.server.url, room, token)
        return refused.exception.status

    def test_tokens_that_are_not_for_this_room(self):
        key = self.client.request("POST", "/room-keys", {"name": "k"}).json()
        secret = key["apiKey"].split("-", 3)[3]
        good = {"name": "ann", "kid": key["id"], "grants": [{"name": "room", "scope": ROOM}]}
        RoomPeer(self.server.url, ROOM, signed(good, secret)).ready().close()
        other = good | {"grants": [{"name": "room", "scope": "other"}]}
        for what, token in (
                ("none", ""),
                ("nonsense", "a.b.c"),
                ("another secret", signed(good, "x" * 64)),
                ("no algorithm", signed(good, secret, {"alg": "none"})),
                ("expired", signed(good | {"exp": 1}, secret)),
                ("another room", signed(other, secret)),
                ("no room", signed(good | {"grants": []}, secret)),
                ("no name", signed(good | {"name": " "}, secret)),
                ("unknown key", signed(good | {"kid": "00000000-0000-4000-8000-000000000000"},
                                       secret)),
                ("no key", signed({**good, "kid": None}, secret))):
            with self.subTest(what):
                self.assertEqual(self.refusal(token), 403)
        self.assertEqual(self.refusal(signed(good, secret), "NO"), 404)

    def test_a_token_of_another_workspace_opens_its_own_room(self):
        made = self.client.request("POST", "/workspaces", {"slug": "acme"}).json()
        key = made["apiKey"]["apiKey"]
        theirs = type(self.client)(self.server.url, key, "acme")
        self.assertEqual(theirs.request("POST", "/rooms", {"name": ROOM}).status, 201)
        token = theirs.request("POST", f"/rooms/{ROOM}/tokens", {"name": "eve"}).json()["token"]
        host = self.host()
        with RoomPeer(self.server.url, ROOM, token).ready() as eve:
            self.assertEqual(eve.ask("room.list_toolkits", {})["json"], {"tools": {}})
        self.assertEqual(list(host.ask("room.list_toolkits", {})["json"]["tools"]), ["kit"])

    def test_the_three_carriers_of_a_token(self):
        token = self.token("ann")
        RoomPeer(self.server.url, ROOM, token).ready().close()
        RoomPeer(self.server.url, ROOM, query=f"?token={token}&v=1").ready().close()
        with RoomPeer(self.server.url, ROOM,
                      headers={"Sec-WebSocket-Protocol": f"meshagent-room.{token}"}) as peer:
            self.assertIn(f"Sec-WebSocket-Protocol: meshagent-room.{token}", peer.ready().answer)

    def test_a_plain_request_is_told_to_upgrade(self):
        answer = self.client.request_at("GET", f"/rooms/{ROOM}")
        self.assertEqual((answer.status, answer.json()["code"]), (426, "upgrade_required"))

    def test_attributes_give_nobody_another_name_or_role(self):
        peer = self.join("eve")
        peer.send("set_attributes", {"name": "admin", "role": "agent", "mood": "bad"})
        peer.ask("room.list_toolkits", {})
        shown = self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]
        self.assertEqual([(one["name"], one["role"]) for one in shown], [("eve", "user")])


class HostileTest(RoomCase):
    def setUp(self):
        super().setUp()
        self.hosting = self.host()
        self.calling = self.join("caller")

    def tearDown(self):
        self.check_neighbours(self.hosting, self.calling)

    def test_packets_that_are_none(self):
        for what, packets, code in (
                ("short", [b"abc"], 1002),
                ("no beginning", [struct.pack("!QI", 1, 1)], 1002),
                ("wrong order", [struct.pack("!QII", 1, 0, 3), struct.pack("!QI", 1, 2)], 1002),
                ("interleaved", [struct.pack("!QII", 1, 0, 3), struct.pack("!QII", 2, 0, 3)], 1002),
                ("header too long", [struct.pack("!QII", 1, 0, 1),
                                     struct.pack("!QIQ", 1, 1, 2**63)], 1002),
                ("too many packets", [struct.pack("!QII", 1, 0, 2**32 - 1)], 1009)):
            with self.subTest(what):
                peer = self.join("eve")
                for packet in packets:
                    peer.send_frame(packet)
                self.assertEqual(peer.close_code(), code)

    def test_a_frame_that_is_too_large(self):
        peer = self.join("eve")
        with self.assertRaises(ConnectionError):
            peer.send_frame(b"x" * 5 * MEGABYTE)
            peer.receive()

    def test_text_frames(self):
        peer = self.join("eve")
        peer.send_frame(b"{}", 1)
        self.assertEqual(peer.close_code(), 1003)

    def test_half_a_frame(self):
        peer = self.join("eve")
        peer.socket.sendall(b"\x82\xfe\x7f")

    def test_half_a_message_and_then_nothing(self):
        peer = self.join("eve")
        peer.send_frame(struct.pack("!QII", 1, 0, 3) + b"room.list_toolkits")

    def test_unfinished_messages_of_many_connections(self):
        token = self.token("eve")  # one is enough for all of them
        piece = b"x" * (4 * MEGABYTE - 1024)
        count = UNFINISHED_MAX // len(piece) + 10
        peers = []
        for _ in range(count):
            peer = RoomPeer(self.server.url, ROOM, token).ready()
            self.addCleanup(peer.close)
            peers.append(peer)
            peer.send_frame(struct.pack("!QII", 1, 0, 3) + b"room.list_toolkits")
            peer.send_frame(struct.pack("!QI", 1, 1) + piece)
            # Others are served meanwhile.
            self.check_neighbours(self.hosting, self.calling)
        closed = [peer.close_code() for peer in peers[:9]]
        self.assertEqual(closed, [1013] * 9)
        # The latest can finish its message, which is answered: it is not JSON.
        peers[-1].send_frame(struct.pack("!QI", 1, 2) + b"y")
        peers[-1].send_frame(struct.pack("!QI", 1, 3) + b"y")
        self.assertEqual(peers[-1].close_code(), 1002)  # its header is longer than the message

    def test_lists_that_are_asked_for_again_and_again(self):
        large = {"name": "large", "public": True, "tools": {}, "description": "x" * 900_000}
        self.assertEqual(self.hosting.ask("room.register_toolkit", large)["type"], "json")
        deaf = RoomPeer(self.server.url, ROOM, self.token("deaf"))
        self.addCleanup(deaf.close)
        deaf.ready()
        for _ in range(500):
            deaf.send("room.list_toolkits", {})
        self.check_neighbours(self.hosting, self.calling)
        # One is on its way, a hundred wait, and the others are refused at once.
        answers = [deaf.until("__response__")[2] for _ in range(500)]
        refused = [one["code"] for one in answers if one["type"] == "error"]
        self.assertEqual(set(refused), {1008})
        self.assertGreater(len(refused), 0)
        self.assertLess(len(refused), 500)

    def test_chunks_of_no_call(self):
        peer = self.join("eve")
        sent = [peer.send("room.tool_call_request_chunk",
                          {"tool_call_id": f"c{number}", "chunk": {"type": "empty"}}, b"x" * 500)
                for number in range(2000)]
        answers = [peer.until("__response__") for _ in sent]
        self.assertEqual([answer[0] for answer in answers], sent)
        self.assertEqual({json.dumps(answer[2]) for answer in answers}, {'{"type": "empty"}'})

    def test_a_header_of_ten_megabytes(self):
        peer = self.join("eve")
        with self.assertRaises(ConnectionError):
            peer.ask("room.list_toolkits", b'{"a":"' + b"x" * 10 * MEGABYTE + b'"}')

    def test_headers_that_are_no_json(self):
        peer = self.join("eve")
        for header in (b"", b"{", b"[]", b'{"a":NaN}', b"\xff\xfe", b"[" * 10_000):
            with self.subTest(header[:10]):
                self.assertEqual(peer.ask("room.invoke_tool", header)["code"], 1002)

    def test_a_participant_that_never_reads(self):
        deaf = RoomPeer(self.server.url, ROOM, self.token("deaf"))
        self.addCleanup(deaf.close)
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.ready()
        deaf.ask("room.invoke_tool", {"toolkit": "messaging", "tool": "enable"})
        # More than the connection's queue holds, and what the kernel takes.
        loud = self.join("loud")
        message = {"type": "json", "json": {"type": "noise", "message_json": "{}",
                                            "attachment_base64": "A" * 4 * MEGABYTE}}
        for _ in range(12):
            said = loud.ask("room.invoke_tool", {"toolkit": "messaging", "tool": "broadcast",
                                                 "arguments": message})
            self.assertEqual(said, {"type": "empty"})
        names = [one["name"] for one in
                 self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]]
        self.assertNotIn("deaf", names)
        self.assertIn("slow_reader", self.server.errors())

    def test_a_close_frame_is_answered(self):
        peer = self.join("eve")
        peer.send_frame(struct.pack("!H", 1000), CLOSE)
        self.assertEqual(peer.close_code(), 1000)


class CrowdTest(RoomCase):
    def test_connections_of_one_participant(self):
        token = self.token("eve")

        def connect() -> RoomPeer:
            peer = RoomPeer(self.server.url, ROOM, token).ready()
            self.addCleanup(peer.close)
            return peer

        def count() -> int:
            shown = self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]
            return [one["name"] for one in shown].count("eve")

        crowd = [connect() for _ in range(CONNECTIONS_MAX)]
        with self.assertRaises(Refused) as refused:
            connect()
        self.assertEqual(refused.exception.status, 503)
        # Others still come in.
        self.check_neighbours(self.host(), self.join("caller"))
        crowd.pop().close()
        while count() == CONNECTIONS_MAX:
            pass
        connect()


class FilesCase(RoomCase):
    STORAGE = {"storage": {}}
    BLOCK = 65536

    def storage_peer(self, name: str) -> RoomPeer:
        peer = RoomPeer(self.server.url, ROOM, self.token(name, api=self.STORAGE)).ready()
        self.addCleanup(peer.close)
        return peer

    def chunk(self, peer: RoomPeer, call: str, headers: dict, data: bytes = b"") -> None:
        peer.send("room.tool_call_request_chunk",
                  {"tool_call_id": call, "chunk": {"type": "binary", "headers": headers}}, data)

    def begin(self, peer: RoomPeer, tool: str, call: str, start: dict) -> None:
        peer.send("room.invoke_tool", {"toolkit": "storage", "tool": tool, "tool_call_id": call,
                                       "arguments": {"type": "control", "method": "open"}})
        self.chunk(peer, call, {"kind": "start"} | start)

    def next_output(self, peer: RoomPeer) -> tuple[dict, bytes]:
        _, _, header, attachment = peer.until("room.tool_call_response_chunk")
        return header["chunk"], attachment

    def upload(self, peer: RoomPeer, call: str, data: bytes, blocks: int | None = None) -> None:
        """Sends so many blocks; without a number, all, until the file is durable."""
        self.begin(peer, "upload", call, {"path": "a", "size": len(data), "overwrite": True})
        sent = 0
        while True:
            chunk, _ = self.next_output(peer)
            if chunk["type"] == "control":
                return
            self.assertEqual(chunk["headers"]["kind"], "pull")
            if blocks is not None and sent // self.BLOCK >= blocks:
                return
            self.chunk(peer, call, {"kind": "data"}, data[sent:sent + self.BLOCK])
            sent += self.BLOCK

    def content(self, peer: RoomPeer, call: str) -> bytes:
        self.begin(peer, "download", call, {"path": "a", "chunk_size": self.BLOCK})
        data = b""
        while True:
            chunk, block = self.next_output(peer)
            if chunk["type"] == "control":
                return data
            data += block
            self.chunk(peer, call, {"kind": "pull"})


class FilesTest(FilesCase):
    def test_a_killed_upload_leaves_the_old_file_or_the_new_one(self):
        old, new = b"o" * 700_000, b"n" * 900_000
        self.upload(self.storage_peer("ann"), "c1", old)
        whole = len(new) // self.BLOCK + 1
        for blocks in (0, 1, whole // 2, whole - 1, whole):
            with self.subTest(blocks=blocks):
                self.upload(self.storage_peer("bob"), "c2", new, blocks)
                self.server.kill()
                self.server.restart()
                self.assertIn(self.content(self.storage_peer("eve"), "c3"), (old, new))
        self.upload(self.storage_peer("bob"), "c4", new)
        self.server.kill()
        self.server.restart()
        self.assertEqual(self.content(self.storage_peer("eve"), "c5"), new)

    def test_an_upload_without_an_end(self):
        peer = self.storage_peer("eve")
        for number in range(25):
            self.begin(peer, "upload", f"c{number}", {"path": f"p{number}", "size": None})
        refused = [peer.until("__response__")[2] for _ in range(50)]
        self.assertEqual([one["code"] for one in refused if one["type"] == "error"], [1008] * 5)
        other = self.storage_peer("ann")
        self.upload(other, "c", b"text")
        self.assertEqual(self.content(other, "d"), b"text")


class DeletionTest(FilesCase):
    KEPT = "SELECT kind, count(*) FROM records WHERE kind LIKE 'room\\_%' ESCAPE '\\' GROUP BY kind"
    LARGE = 24 * MEGABYTE

    def kept(self) -> dict[str, int]:
        """How many records of what rooms keep are in the data of a server that has stopped."""
        with closing(sqlite3.connect(self.server.data / "errand.db")) as data:
            found = dict(data.execute(self.KEPT))
        return {kind: count for kind, count in found.items() if not kind.startswith("room_key")}

    def test_a_deletion_that_was_killed_leaves_nothing_behind(self):
        self.upload(self.storage_peer("ann"), "c1", b"x" * self.LARGE)
        deletion = threading.Thread(target=self.try_to_delete)
        deletion.start()
        while self.client.request("GET", f"/rooms/{ROOM}").status != 404:
            pass  # the record goes first, and the file takes a while
        self.server.kill()
        deletion.join()
        left = self.kept()
        self.server.restart()
        # The start goes on with it; whoever asks again hears of its end.
        again = self.server.client().request("DELETE", f"/rooms/{ROOM}")
        self.assertIn(again.status, (204, 404))
        self.server.stop()
        self.assertEqual(self.kept(), {}, left)

    def try_to_delete(self) -> None:
        try:
            self.server.client().request("DELETE", f"/rooms/{ROOM}")
        except (OSError, http.client.HTTPException):
            pass  # the server is killed meanwhile


class KeysTest(RoomCase):
    def make(self, name: str, key: str):
        return self.client.request("POST", "/room-keys", {"name": name}, {"Idempotency-Key": key})

    def test_a_request_that_is_repeated_gives_the_same_key_after_a_crash(self):
        made = self.make("ci", "once")
        self.assertEqual(made.status, 201, made.body)
        self.server.kill()
        self.server.restart()
        self.assertEqual(self.make("ci", "once").json(), made.json())
        other = self.make("cd", "once")
        self.assertEqual((other.status, other.json()["code"]), (409, "idempotency_conflict"))
        listed = self.client.request("GET", "/room-keys").json()["roomKeys"]
        self.assertEqual([one["name"] for one in listed].count("ci"), 1)


class LeavingTest(RoomCase):
    def test_a_deleted_key_sends_its_holders_away(self):
        key = self.client.request("POST", "/room-keys", {"name": "k"}).json()
        secret = key["apiKey"].split("-", 3)[3]
        payload = {"name": "ann", "kid": key["id"], "grants": [{"name": "room", "scope": ROOM}]}
        holder = RoomPeer(self.server.url, ROOM, signed(payload, secret)).ready()
        self.addCleanup(holder.close)
        other = self.join("bob")
        self.assertEqual(self.client.request("DELETE", f"/room-keys/{key['id']}").status, 204)
        self.assertEqual(holder.close_code(), 1000)
        self.assertEqual(other.ask("room.list_toolkits", {})["type"], "json")

    def test_an_expired_token_sends_its_holder_away(self):
        answer = self.client.request("POST", f"/rooms/{ROOM}/tokens",
                                     {"name": "ann", "ttlMs": 2000}).json()
        with RoomPeer(self.server.url, ROOM, answer["token"]).ready() as holder:
            self.assertEqual(holder.close_code(), 1000)

    def test_a_room_that_was_deleted_is_not_the_one_that_is_made_again(self):
        former = self.host()
        self.assertEqual(self.client.request("DELETE", f"/rooms/{ROOM}").status, 204)
        # The close frame is not read, so that the old connection is still there.
        self.assertEqual(self.client.request("POST", "/rooms", {"name": ROOM}).status, 201)
        later = self.join("later")
        self.assertEqual(later.ask("room.list_toolkits", {})["json"], {"tools": {}})
        shown = self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]
        self.assertEqual([one["name"] for one in shown], ["later"])
        self.assertEqual(former.close_code(), 1000)


class ConfiguredTest(ServerCase):
    """Rooms that the configuration file names."""

    WORKSPACES = {"workspaces": [{"slug": "default", "rooms": [ROOM], "roomsOnJoin": False}]}

    def test_they_are_there_after_each_start_and_joining_makes_no_others(self):
        server = self.start_server([turn("unused")], self.WORKSPACES)
        client = server.client()
        first = client.request("GET", f"/rooms/{ROOM}").json()
        key = client.request("POST", "/room-keys", {"name": "k"}).json()
        server.terminate()
        server.restart()
        rooms = client.request("GET", "/rooms").json()["rooms"]
        self.assertEqual([(one["name"], one["id"]) for one in rooms], [(ROOM, first["id"])])
        payload = {"name": "ann", "kid": key["id"], "grants": [{"name": "room", "scope": ROOM}]}
        secret = key["apiKey"].split("-", 3)[3]
        RoomPeer(server.url, ROOM, signed(payload, secret)).ready().close()
        other = payload | {"grants": [{"name": "room", "scope": "other"}]}
        with self.assertRaises(Refused) as refused:
            RoomPeer(server.url, "other", signed(other, secret))
        self.assertEqual(refused.exception.status, 404)


class RestartTest(RoomCase):
    def test_connections_end_without_a_close_frame(self):
        peer = self.join("ann")
        self.server.terminate()
        self.assertEqual(peer.close_code(), 0)


if __name__ == "__main__":
    unittest.main()
