"""A participant of a room that can also misbehave: frames and packets over a raw socket."""

import json
import os
import socket
import struct
from urllib.parse import urlsplit

SECONDS_MAX = 60
PACKET_BYTES = 1024
BINARY, CLOSE, PING, PONG = 2, 8, 9, 10


class Refused(Exception):
    """The server answered the handshake with another status than 101."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


class RoomPeer:
    """`query` and `headers` are sent as they are, beside the token in the header Authorization."""

    packet_bytes = PACKET_BYTES

    def __init__(self, url: str, room: str, token: str = "", query: str = "",
                 headers: dict[str, str] | None = None):
        address = urlsplit(url)
        self.socket = socket.create_connection((address.hostname, address.port), SECONDS_MAX)
        # As every client of rooms does: a message is several frames.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines = {"Host": address.netloc, "Connection": "Upgrade", "Upgrade": "websocket",
                 "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        if token:
            lines["Authorization"] = f"Bearer {token}"
        head = f"GET /rooms/{room}{query} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in (lines | (headers or {})).items())
        self.socket.sendall(head.encode() + b"\r\n")
        self.pending = b""
        self.answer = self.read_through(b"\r\n\r\n").decode()
        self.last_id = 0
        self.unread: list[tuple[int, str, dict, bytes]] = []
        status = int(self.answer.split(" ")[1])
        if status != 101:
            self.close()
            raise Refused(status)

    def __enter__(self) -> "RoomPeer":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def read_more(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.pending += data

    def read_through(self, pattern: bytes) -> bytes:
        while pattern not in self.pending:
            self.read_more()
        end = self.pending.index(pattern) + len(pattern)
        return self.take(end)

    def take(self, count: int) -> bytes:
        while len(self.pending) < count:
            self.read_more()
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    # Frames.

    @staticmethod
    def frame(payload: bytes, opcode: int = BINARY) -> bytes:
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        mask = os.urandom(4)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(
            size, "big") if size else b""
        return head + mask + masked

    def send_frame(self, payload: bytes, opcode: int = BINARY) -> None:
        self.socket.sendall(self.frame(payload, opcode))

    def receive_frame(self) -> tuple[int, bytes]:
        """The next frame that is no ping; pings are answered."""
        while True:
            first, size = self.take(2)
            if size == 126:
                size, = struct.unpack("!H", self.take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.take(8))
            payload = self.take(size)
            if first & 15 != PING:
                return first & 15, payload
            self.send_frame(payload, PONG)

    def close_code(self) -> int:
        """The code of the close frame that comes; 0 if the connection ends without one."""
        try:
            while True:
                opcode, payload = self.receive_frame()
                if opcode == CLOSE:
                    return struct.unpack("!H", payload[:2])[0]
        except ConnectionError:
            return 0

    # Messages.

    def send(self, kind: str, header: dict | bytes, attachment: bytes = b"",
             message_id: int | None = None) -> int:
        if message_id is None:
            self.last_id += 1
            message_id = self.last_id
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        payload = struct.pack("!Q", len(text)) + text + attachment
        step = self.packet_bytes
        pieces = [payload[i:i + step] for i in range(0, len(payload), step)]
        self.send_frame(struct.pack("!QII", message_id, 0, len(pieces)) + kind.encode())
        for number, piece in enumerate(pieces, start=1):
            self.send_frame(struct.pack("!QI", message_id, number) + piece)
        return message_id

    def receive(self) -> tuple[int, str, dict, bytes]:
        """The next message: id, type, header, attachment."""
        if self.unread:
            return self.unread.pop(0)
        opcode, first = self.receive_frame()
        if opcode != BINARY:
            raise ConnectionError(f"frame {opcode} {first!r}")
        message_id, _, count = struct.unpack("!QII", first[:16])
        payload = b"".join(self.receive_frame()[1][12:] for _ in range(count))
        size, = struct.unpack("!Q", payload[:8])
        return message_id, first[16:].decode(), json.loads(payload[8:8 + size]), payload[8 + size:]

    def until(self, kind: str) -> tuple[int, str, dict, bytes]:
        """The next message of this type; what comes before is kept for receive()."""
        kept = []
        try:
            while True:
                message = self.receive()
                if message[1] == kind:
                    return message
                kept.append(message)
        finally:
            self.unread = kept + self.unread

    def ask(self, kind: str, header: dict | bytes, attachment: bytes = b"") -> dict:
        """The header of the answer to a request."""
        wanted = self.send(kind, header, attachment)
        while True:
            message_id, _, content, _ = self.until("__response__")
            if message_id == wanted:
                return content

    def ready(self) -> "RoomPeer":
        """Reads the two messages after which a client may go on."""
        self.until("connected")
        self.until("room_ready")
        return self
