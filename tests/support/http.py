"""A small HTTP client over raw sockets, for JSON requests and event streams that can be cut."""

import json
import socket
from dataclasses import dataclass, field
from typing import Iterator
from urllib.parse import urlsplit

SECONDS_MAX = 60
RECEIVE_BYTES = 65536


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes = b""

    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True)
class Frame:
    """One server-sent event: its fields, and its bytes as they came."""

    id: str
    event: str
    data: bytes
    raw: bytes

    def json(self):
        return json.loads(self.data)

    @property
    def seq(self) -> int:
        return int(self.id)


def parse_frame(raw: bytes) -> Frame | None:
    """The frame of these bytes, blank line included; None if it holds comments only."""
    fields: dict[bytes, bytes] = {}
    for line in raw.split(b"\n"):
        name, colon, value = line.partition(b":")
        if name and colon:
            fields[name] = value.removeprefix(b" ")
    if not fields:
        return None
    text = {name: fields.get(name, b"").decode() for name in (b"id", b"event")}
    return Frame(text[b"id"], text[b"event"], fields.get(b"data", b""), raw)


class FrameReader:
    """Cuts the bytes of a stream into frames. `pending` holds the start of the next one."""

    def __init__(self) -> None:
        self.pending = b""
        self.comments = 0

    def feed(self, data: bytes) -> list[Frame]:
        frames = []
        self.pending += data
        while True:
            head, end, rest = self.pending.partition(b"\n\n")
            if not end:
                return frames
            self.pending = rest
            frame = parse_frame(head + end)
            if frame:
                frames.append(frame)
            else:
                self.comments += 1


class ChunkReader:
    """Takes the chunked transfer coding off a body. `done` tells that it ended cleanly."""

    def __init__(self) -> None:
        self.pending = b""
        self.left = 0  # of the chunk that is being read, with its line end
        self.done = False

    def feed(self, data: bytes) -> bytes:
        self.pending += data
        out = b""
        while self.pending and not self.done:
            if self.left == 0:
                line, end, rest = self.pending.partition(b"\r\n")
                if not end:
                    break
                size = int(line.split(b";")[0], 16)
                self.pending = rest
                if size == 0:
                    self.done = True
                else:
                    self.left = size + 2
            else:
                piece = self.pending[: self.left]
                self.pending = self.pending[len(piece) :]
                out += piece[: max(0, self.left - 2)]
                self.left -= len(piece)
        return out


@dataclass
class Head:
    status: int
    headers: dict[str, str]
    rest: bytes = b""  # what came of the body with it

    @property
    def is_chunked(self) -> bool:
        return self.headers.get("transfer-encoding", "").lower() == "chunked"

    @property
    def has_body(self) -> bool:
        return self.status >= 200 and self.status not in (204, 304)


def parse_head(data: bytes) -> Head | None:
    """The status and headers of an answer; None until they are complete."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return Head(int(first.split(" ")[1]), headers, rest)


class Closed(ConnectionError):
    """The peer closed the connection in the middle of an answer, in the ordinary way."""


class Connection:
    """One connection to the server, for bytes of any kind."""

    def __init__(self, address: tuple[str, int], seconds_max: float = SECONDS_MAX):
        self.socket = socket.create_connection(address, timeout=seconds_max)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self) -> bytes:
        """Some bytes; empty when the peer has closed in the ordinary way."""
        return self.socket.recv(RECEIVE_BYTES)

    def receive_head(self) -> Head:
        data = b""
        while not (head := parse_head(data)):
            piece = self.receive()
            if not piece:
                raise Closed(f"closed after {len(data)} bytes of a head")
            data += piece
        if head.status == 100:
            return self.receive_rest(head)
        return head

    def receive_rest(self, interim: Head) -> Head:
        data = interim.rest
        while not (head := parse_head(data)):
            data += self.receive()
        return head

    def receive_response(self) -> Response:
        head = self.receive_head()
        if not head.has_body:
            return Response(head.status, head.headers)
        if head.is_chunked:
            chunks = ChunkReader()
            body = bytearray(chunks.feed(head.rest))
            while not chunks.done:
                body += chunks.feed(self.receive_some())
            return Response(head.status, head.headers, bytes(body))
        length = int(head.headers["content-length"])
        body = bytearray(head.rest)
        while len(body) < length:
            body += self.receive_some()
        return Response(head.status, head.headers, bytes(body))

    def receive_some(self) -> bytes:
        data = self.receive()
        if not data:
            raise Closed("closed in the middle of a body")
        return data


def request_bytes(method: str, path: str, headers: dict[str, str], body: bytes | None) -> bytes:
    lines = [f"{method} {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


class EventStream:
    """An open event stream. Ends with None; a cut raises a ConnectionError."""

    def __init__(self, connection: Connection, head: Head):
        self.connection = connection
        self.headers = head.headers
        self.chunks = ChunkReader() if head.is_chunked else None
        self.frames = FrameReader()
        self.ready: list[Frame] = []
        self.bytes_in = 0
        self.ended = False
        self.take(head.rest)

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def take(self, data: bytes) -> None:
        if self.chunks:
            data = self.chunks.feed(data)
            self.ended = self.chunks.done
        self.bytes_in += len(data)
        self.ready += self.frames.feed(data)

    def next(self) -> Frame | None:
        """The next frame, or None once the body has ended cleanly."""
        while not self.ready:
            if self.ended:
                return None
            data = self.connection.receive()
            if not data:
                if self.chunks:
                    raise Closed("closed without the last chunk")
                self.ended = True
            self.take(data)
        return self.ready.pop(0)

    def __iter__(self) -> Iterator[Frame]:
        while frame := self.next():
            yield frame

    def until(self, event: str) -> list[Frame]:
        """Frames up to and with the first one of this type."""
        found = []
        for frame in self:
            found.append(frame)
            if frame.event == event:
                return found
        raise AssertionError(f"the stream ended without {event}: {[f.event for f in found]}")

    def close(self) -> None:
        self.connection.close()


class Refused(Exception):
    """The server answered a request with another status than was wanted."""

    def __init__(self, what: str, response: Response):
        super().__init__(f"{what}: {response.status} {response.body[:2000]!r}")
        self.response = response


@dataclass
class Client:
    """What a caller of the agent-runs API does, in one workspace. Each request has a connection."""

    url: str
    key: str
    workspace: str = "default"
    seconds_max: float = SECONDS_MAX
    address: tuple[str, int] = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        self.address = (parts.hostname or "127.0.0.1", parts.port or 80)

    def path(self, rest: str) -> str:
        return f"/api/v1/workspaces/{self.workspace}{rest}"

    def headers(self) -> dict[str, str]:
        return {"Host": f"{self.address[0]}:{self.address[1]}",
                "Authorization": f"Bearer {self.key}"}

    def request(self, method: str, rest: str, body=None, headers=None) -> Response:
        """Asks for a path of the workspace."""
        return self.request_at(method, self.path(rest), body, headers)

    def request_at(self, method: str, path: str, body=None, headers=None) -> Response:
        all_headers = self.headers() | (headers or {})
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            all_headers.setdefault("Content-Type", "application/json")
        elif method == "POST":
            data = b""
        with Connection(self.address, self.seconds_max) as connection:
            connection.send(request_bytes(method, path, all_headers, data))
            return connection.receive_response()

    def create(self, idempotency_key: str = "", **spec) -> str:
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
        response = self.request("POST", "/agent-runs", spec, headers)
        if response.status != 201:
            raise Refused("create", response)
        return response.json()["runId"]

    def answer(self, run: str, tool_use: str, **outcome) -> Response:
        body = {"toolUseId": tool_use} | outcome
        return self.request("POST", f"/agent-runs/{run}/tool-results", body)

    def cancel(self, run: str) -> Response:
        return self.request("POST", f"/agent-runs/{run}/cancel")

    def snapshot(self, run: str) -> dict:
        response = self.request("GET", f"/agent-runs/{run}")
        if response.status != 200:
            raise Refused("snapshot", response)
        return response.json()

    def stream(self, run: str, after: int = 0, by: str = "header") -> EventStream:
        """Opens the stream of a run, after a seq that is sent by `header` or by `query`."""
        headers = self.headers() | {"Accept": "text/event-stream"}
        path = self.path(f"/agent-runs/{run}/stream")
        if after and by == "header":
            headers["Last-Event-ID"] = str(after)
        elif after:
            path += f"?lastSeq={after}"
        connection = Connection(self.address, self.seconds_max)
        try:
            connection.send(request_bytes("GET", path, headers, None))
            head = connection.receive_head()
            if head.status != 200:
                raise Refused("stream", Response(head.status, head.headers, head.rest))
            return EventStream(connection, head)
        except BaseException:
            connection.close()
            raise

    def log(self, run: str) -> list[Frame]:
        """Every frame of a run that has ended."""
        with self.stream(run) as stream:
            return list(stream)
