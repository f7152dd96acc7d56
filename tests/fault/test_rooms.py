"""Who may come into a room, who has to leave it, and what a crash leaves of what it keeps."""

import http.client
import json
import sqlite3
import threading
import unittest
from contextlib import closing

from support.peers.room_peer import RoomPeer, Refused
from support.peers.room_token import signed
from support.room_case import ROOM, RoomCase
from support.script import turn
from support.server import ServerCase

MEGABYTE = 1024 * 1024


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
