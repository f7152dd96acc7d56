"""Participants of rooms that attack the server harm nobody but themselves."""

import json
import socket
import struct
import unittest

from support.peers.room_peer import CLOSE, RoomPeer, Refused
from support.room_case import ROOM, RoomCase

MEGABYTE = 1024 * 1024
# Of unfinished messages of all participants of a server.
UNFINISHED_MAX = 256 * MEGABYTE
CONNECTIONS_MAX = 1000  # of one participant to a room


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


if __name__ == "__main__":
    unittest.main()
