"""Participants of rooms that attack the server harm nobody but themselves."""

import json
import socket
import struct
import unittest
from contextlib import contextmanager
from typing import Iterator

from support.peak_memory import MEGABYTE, NO_QUARANTINE, PeakMemory
from support.peers.neighbours import Neighbours
from support.peers.room_peer import CLOSE, RoomPeer, Refused
from support.room_case import ROOM, RoomCase

BEGINNING = struct.pack("!QII", 1, 0, 3)  # of a message of three packets
CALLS = 20  # of neighbours, at least, in each attack
FRAME_MAX = 4 * MEGABYTE + 1024
CONNECTIONS_MAX = 1000  # of one participant to a room
# Of all participants of a server: unfinished messages and frames, and what they do not read, which
# is looked at again after so many bytes.
UNFINISHED_MAX = 64 * MEGABYTE
UNREAD_MAX = 128 * MEGABYTE
LOOK_EVERY = 16 * MEGABYTE
# One connection: a message of 8 MB, as it comes, as JSON, as it goes on and in packets; a frame of
# 4 MB; and 16 MB that it does not read.
GROWTH_MAX = (4 * 8 + 4 + 16) * MEGABYTE
CROWD_GROWTH_MAX = CONNECTIONS_MAX * 64 * 1024


class HostileTest(RoomCase):
    VARIABLES = NO_QUARANTINE

    def setUp(self):
        super().setUp()
        self.hosting = self.host()
        self.calling = self.join("caller")

    def tearDown(self):
        self.check_neighbours(self.hosting, self.calling)

    @contextmanager
    def attack(self, growth_max: int = GROWTH_MAX) -> Iterator[Neighbours]:
        """Two others call each other from before the attack until after it, and are answered while
        the attackers are still there. The server does not grow beyond a bound."""
        memory = PeakMemory(self.server.pid)
        with Neighbours(self.hosting, self.calling) as neighbours:
            yield neighbours
            neighbours.more(CALLS)
        self.assertLess(memory.growth(), growth_max)

    def crowd(self, count: int) -> Iterator[RoomPeer]:
        """Connections with one token."""
        token = self.token("eve")
        for _ in range(count):
            peer = RoomPeer(self.server.url, ROOM, token).ready()
            self.addCleanup(peer.close)
            yield peer

    def test_packets_that_are_none(self):
        with self.attack() as neighbours:
            for what, packets, code in (
                    ("short", [b"abc"], 1002),
                    ("no beginning", [struct.pack("!QI", 1, 1)], 1002),
                    ("wrong order", [BEGINNING, struct.pack("!QI", 1, 2)], 1002),
                    ("interleaved", [BEGINNING, struct.pack("!QII", 2, 0, 3)], 1002),
                    ("header too long", [struct.pack("!QII", 1, 0, 1),
                                         struct.pack("!QIQ", 1, 1, 2**63)], 1002),
                    ("too many packets", [struct.pack("!QII", 1, 0, 2**32 - 1)], 1009)):
                with self.subTest(what):
                    peer = self.join("eve")
                    for packet in packets:
                        peer.send_frame(packet)
                        neighbours.more(1)
                    self.assertEqual(peer.close_code(), code)

    def test_a_frame_that_is_too_large(self):
        with self.attack():
            peer = self.join("eve")
            with self.assertRaises(ConnectionError):
                peer.send_frame(b"x" * 5 * MEGABYTE)
                peer.receive()

    def test_text_frames(self):
        with self.attack():
            peer = self.join("eve")
            peer.send_frame(b"{}", 1)
            self.assertEqual(peer.close_code(), 1003)

    def test_half_a_frame_is_waited_for(self):
        with self.attack() as neighbours:
            peer = self.join("eve")
            for number, half in enumerate((1, 5, 20, 36, 45, 60)):
                frames = (peer.frame(struct.pack("!QII", number, 0, 1) + b"room.list_toolkits")
                          + peer.frame(struct.pack("!QIQ", number, 1, 2) + b"{}"))
                peer.socket.sendall(frames[:half])
                neighbours.more(1)
                peer.socket.sendall(frames[half:])
                self.assertEqual(peer.until("__response__")[0], number)

    def test_half_frames_of_many_connections(self):
        frame = RoomPeer.frame(b"x" * (FRAME_MAX - 1024))
        with self.attack(UNFINISHED_MAX + GROWTH_MAX) as neighbours:
            peers = []
            for peer in self.crowd(UNFINISHED_MAX // len(frame) + 20):
                peer.socket.sendall(frame[:-1])
                neighbours.more(1)
                peers.append(peer)
            self.assertEqual([peer.close_code() for peer in peers[:20]], [1013] * 20)
            # The latest can finish its frame, which is none of a room's.
            peers[-1].socket.sendall(frame[-1:])
            self.assertEqual(peers[-1].close_code(), 1002)

    def test_half_a_message_and_then_nothing(self):
        with self.attack() as neighbours:
            peer = self.join("eve")
            peer.send_frame(BEGINNING + b"room.list_toolkits")
            neighbours.more(1)
            for number, packet in enumerate((struct.pack("!Q", 2), b"{", b"}"), start=1):
                peer.send_frame(struct.pack("!QI", 1, number) + packet)
                neighbours.more(1)
            self.assertEqual(peer.until("__response__")[0], 1)

    def test_unfinished_messages_of_many_connections(self):
        piece = b"x" * (FRAME_MAX - 2048)
        with self.attack(UNFINISHED_MAX + GROWTH_MAX) as neighbours:
            peers = []
            for peer in self.crowd(UNFINISHED_MAX // len(piece) + 20):
                peer.send_frame(BEGINNING + b"room.list_toolkits")
                peer.send_frame(struct.pack("!QI", 1, 1) + piece)
                neighbours.more(1)
                peers.append(peer)
            self.assertEqual([peer.close_code() for peer in peers[:20]], [1013] * 20)
            # The latest can finish its message, whose header is longer than the message.
            peers[-1].send_frame(struct.pack("!QI", 1, 2) + b"y")
            peers[-1].send_frame(struct.pack("!QI", 1, 3) + b"y")
            self.assertEqual(peers[-1].close_code(), 1002)

    def test_lists_that_are_asked_for_again_and_again(self):
        large = {"name": "large", "public": True, "tools": {}, "description": "x" * 900_000}
        with self.attack():
            self.assertEqual(self.join("eve").ask("room.register_toolkit", large)["type"], "json")
            deaf = self.join("deaf")
            for _ in range(500):
                deaf.send("room.list_toolkits", {})
            # One is on its way, a hundred wait, and the others are refused at once.
            answers = [deaf.until("__response__")[2] for _ in range(500)]
            refused = [one["code"] for one in answers if one["type"] == "error"]
            self.assertEqual(set(refused), {1008})
            self.assertGreater(len(refused), 0)
            self.assertLess(len(refused), 500)

    def test_chunks_of_no_call(self):
        with self.attack():
            peer = self.join("eve")
            sent = [peer.send("room.tool_call_request_chunk",
                              {"tool_call_id": f"c{number}", "chunk": {"type": "empty"}},
                              b"x" * 500)
                    for number in range(2000)]
            answers = [peer.until("__response__") for _ in sent]
            self.assertEqual([answer[0] for answer in answers], sent)
            self.assertEqual({json.dumps(answer[2]) for answer in answers}, {'{"type": "empty"}'})

    def test_a_header_of_ten_megabytes(self):
        with self.attack():
            peer = self.join("eve")
            with self.assertRaises(ConnectionError):
                peer.ask("room.list_toolkits", b'{"a":"' + b"x" * 10 * MEGABYTE + b'"}')

    def test_waiting_calls_with_long_arguments(self):
        arguments = {"type": "json", "json": {"name": "q", "create": True, "wait": True,
                                              "more": "x" * 3 * MEGABYTE}}
        with self.attack():
            peer = RoomPeer(self.server.url, ROOM, self.token("eve", api={"queues": {}})).ready()
            self.addCleanup(peer.close)
            peer.packet_bytes = MEGABYTE
            for _ in range(3 * GROWTH_MAX // (3 * MEGABYTE)):
                peer.send("room.invoke_tool",
                          {"toolkit": "queues", "tool": "receive", "arguments": arguments})
            shown = peer.ask("room.invoke_tool", {"toolkit": "queues", "tool": "list"})
            self.assertEqual([one["name"] for one in shown["json"]["queues"]], ["q"])

    def test_headers_that_are_no_json(self):
        with self.attack() as neighbours:
            peer = self.join("eve")
            for header in (b"", b"{", b"[]", b'{"a":NaN}', b"\xff\xfe", b"[" * 10_000):
                with self.subTest(header[:10]):
                    self.assertEqual(peer.ask("room.invoke_tool", header)["code"], 1002)
                    neighbours.more(1)

    def deaf(self) -> RoomPeer:
        """Nobody reads what it gets, and the kernel takes little of it."""
        peer = self.join("deaf")
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        return peer

    def test_a_participant_that_never_reads(self):
        message = {"type": "json", "json": {"type": "noise", "message_json": "{}",
                                            "attachment_base64": "A" * 4 * MEGABYTE}}
        with self.attack():
            self.deaf().ask("room.invoke_tool", {"toolkit": "messaging", "tool": "enable"})
            # More than the connection's queue holds, and what the kernel takes.
            loud = self.join("loud")
            for _ in range(12):
                said = loud.ask("room.invoke_tool", {"toolkit": "messaging", "tool": "broadcast",
                                                     "arguments": message})
                self.assertEqual(said, {"type": "empty"})
            names = [one["name"] for one in
                     self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]]
            self.assertNotIn("deaf", names)
            self.assertIn("slow_reader", self.server.errors())

    def test_participants_that_ask_for_much_and_break_the_protocol(self):
        kit = {"name": "large", "public": True, "tools": {"run": {}}}
        large = b"x" * 5 * MEGABYTE
        # The sanitizer takes 80 KB for a packet of 64.
        with self.attack((UNREAD_MAX + LOOK_EVERY) * 80 // 64 + GROWTH_MAX):
            host = self.join("eve")
            host.packet_bytes = MEGABYTE
            host.ask("room.register_toolkit", kit)
            for _ in range(30):
                deaf = self.deaf()
                for _ in range(3):  # nearly as much as its queue holds
                    deaf.send("room.invoke_tool", {"toolkit": "large", "tool": "run"})
                    call, _, _, _ = host.until("room.tool_call.large")
                    host.send("room.tool_call_response", {"type": "binary", "headers": {}}, large,
                              message_id=call)
                host.ask("room.list_toolkits", {})  # the room has all answers before this
                deaf.send_frame(b"abc")

    def test_a_close_frame_is_answered(self):
        with self.attack():
            peer = self.join("eve")
            peer.send_frame(struct.pack("!H", 1000), CLOSE)
            self.assertEqual(peer.close_code(), 1000)

    def test_more_connections_than_one_participant_may_have(self):
        def count() -> int:
            shown = self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]
            return [one["name"] for one in shown].count("eve")

        with self.attack(CROWD_GROWTH_MAX):
            crowd = list(self.crowd(CONNECTIONS_MAX))
            with self.assertRaises(Refused) as refused:
                next(self.crowd(1))
            self.assertEqual(refused.exception.status, 503)
            self.join("another")  # others still come in
        crowd.pop().close()
        while count() == CONNECTIONS_MAX:
            pass
        next(self.crowd(1))


if __name__ == "__main__":
    unittest.main()
