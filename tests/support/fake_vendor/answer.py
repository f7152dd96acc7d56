"""How one answer travels: what is sent, where it breaks or waits, and in which pieces."""

import json
import select
import socket
import threading
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import cycle

from support.fake_vendor.turn import Failure, Turn
from support.fake_vendor.wire import Asked, Event, Wire

WAIT_SECONDS_MAX = 60
GZIP_WINDOW = 31
REASONS = {529: "Overloaded"}


@dataclass(frozen=True)
class At:
    """A place in a stream: after the event that is the `number`th with this mark, and `more` bytes.
    Without a mark, after all events. Before the start is the start."""

    mark: str = ""
    number: int = 1
    more: int = 0

    def offset(self, events: list[Event], ends: list[int]) -> int:
        if not self.mark:
            return max(0, (ends[-1] if ends else 0) + self.more)
        found = [end for event, end in zip(events, ends) if event.mark == self.mark]
        # Not every format has an event that only starts an answer.
        if self.mark == "start" and not found:
            return self.more
        return found[self.number - 1] + self.more


class Gate:
    """Holds an answer back until it is opened. `reached` says that all before it was sent, and
    `left` that the client went away meanwhile."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.left = threading.Event()
        self.ours, self.theirs = socket.socketpair()

    def open(self) -> None:
        self.ours.close()

    def close(self) -> None:
        self.open()
        if not self.reached.is_set():
            self.theirs.close()

    def wait(self, connection: socket.socket) -> bool:
        """Whether the client is still there when it opens."""
        self.reached.set()
        try:
            ready, _, _ = select.select([connection, self.theirs], [], [], WAIT_SECONDS_MAX)
            if connection not in ready or connection.recv(1):
                return bool(ready)
        except OSError:
            pass
        finally:
            self.theirs.close()
        self.left.set()
        return False


@dataclass
class Answer:
    """One answer: a `turn` or a `failure` in the vendor's words, or `events` or a `body` as given.

    `late_failure` follows the turn in its stream, in place of its end. `cut` and `stall` are places
    in the stream (True: its end); after a stall it goes on when `gate` opens. `sizes` are those of
    the pieces that are written, again and again. `coding` is "chunked", "gzip", "length", or
    "close" for a body that ends with the connection.
    """

    events: list[str | dict | Event] = field(default_factory=list)
    names: bool = False  # whether each event has its "type" as a name
    status: int = 200
    error: dict | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool | At = False
    stall: bool | At = False

    turn: Turn | None = None
    failure: Failure | None = None
    late_failure: Failure | None = None
    body: bytes | None = None
    content_type: str = ""
    newline: str = "\n"
    comments: bool = False
    sizes: tuple[int, ...] = ()
    coding: str = "chunked"
    gate: Gate | None = None

    def __post_init__(self) -> None:
        if self.stall:
            self.gate = Gate()

    def render(self, wire: Wire | None, asked: Asked) -> "Sending":
        """What goes over the wire in answer to this request."""
        if self.failure:
            error = wire.error(self.failure)
            return Sending(error.status, error.headers | self.headers,
                           json.dumps(error.body).encode(), "application/json")
        if self.error is not None or self.body is not None:
            data = self.body if self.error is None else json.dumps(self.error).encode()
            return Sending(self.status, self.headers, data, self.content_type or "application/json")
        events = [self.as_event(event) for event in self.events]
        if self.turn is not None:
            events += wire.events(self.turn, asked)
        if self.late_failure:
            events = [event for event in events if event.mark != "end"]
            events.append(wire.stream_error(self.late_failure, events))
        return self.stream(events)

    def as_event(self, event: str | dict | Event) -> Event:
        if isinstance(event, Event):
            return event
        name = event["type"] if self.names and isinstance(event, dict) else ""
        return Event(event, name)

    def stream(self, events: list[Event]) -> "Sending":
        data, ends = b"", []
        for event in events:
            if self.comments:
                data += f": keep-alive{self.newline * 2}".encode()
            data += event.encode(self.newline)
            ends.append(len(data))
        sending = Sending(self.status, self.headers, data, "text/event-stream")
        if self.cut:
            sending.cut = (At() if self.cut is True else self.cut).offset(events, ends)
        if self.stall:
            sending.stall = (At() if self.stall is True else self.stall).offset(events, ends)
        return sending

    def give(self, handler: BaseHTTPRequestHandler, wire: Wire | None, asked: Asked) -> None:
        sending = self.render(wire, asked)
        handler.send_response(sending.status, REASONS.get(sending.status))
        handler.send_header("content-type", self.content_type or sending.content_type)
        for name, value in sending.headers.items():
            handler.send_header(name, value)
        writer = Writer(handler, self.coding, len(sending.data))
        handler.end_headers()
        end = len(sending.data) if sending.cut is None else sending.cut
        stall = end if sending.stall is None else min(sending.stall, end)
        self.write(writer, sending.data[:stall])
        if sending.stall is not None and not self.gate.wait(handler.connection):
            handler.close_connection = True
            return
        self.write(writer, sending.data[stall:end])
        if sending.cut is None:
            writer.finish()
        else:
            handler.close_connection = True

    def write(self, writer: "Writer", data: bytes) -> None:
        place = 0
        sizes = cycle(self.sizes or (len(data),))
        while place < len(data):
            size = next(sizes)
            writer.write(data[place : place + size])
            place += size


@dataclass
class Sending:
    status: int
    headers: dict[str, str]
    data: bytes
    content_type: str
    cut: int | None = None
    stall: int | None = None


class Writer:
    """Writes a body in one of the codings, each piece by itself."""

    def __init__(self, handler: BaseHTTPRequestHandler, coding: str, length: int):
        self.handler = handler
        self.coding = coding
        self.packer = zlib.compressobj(wbits=GZIP_WINDOW) if coding == "gzip" else None
        if coding == "length":
            handler.send_header("content-length", str(length))
        elif coding == "close":
            handler.send_header("connection", "close")
        else:
            handler.send_header("transfer-encoding", "chunked")
        if self.packer:
            handler.send_header("content-encoding", "gzip")

    def write(self, data: bytes) -> None:
        if self.packer:
            data = self.packer.compress(data) + self.packer.flush(zlib.Z_SYNC_FLUSH)
        self.send(data)

    def send(self, data: bytes) -> None:
        if self.coding in ("chunked", "gzip") and data:
            data = b"%x\r\n%s\r\n" % (len(data), data)
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def finish(self) -> None:
        if self.packer:
            self.send(self.packer.flush())
        if self.coding in ("chunked", "gzip"):
            self.handler.wfile.write(b"0\r\n\r\n")
        if self.coding == "close":
            self.handler.close_connection = True
