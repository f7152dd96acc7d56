"""Transcripts: what is set up, what is sent, and what must come back. See tests/wire/README.md."""

import json
import re
from dataclasses import dataclass, field

from support.http import Connection, EventStream, Response, parse_frame, request_bytes
from support.script import DEFAULT_MODEL
from support.version import VERSION

# Headers of an answer that are shown if they are there; all others are left out.
SHOWN_HEADERS = ("allow", "cache-control", "www-authenticate", "retry-after", "etag",
                 "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")

# What differs from run to run. Each distinct text gets a number of its own, in order.
MASKS = (
    ("cursor", re.compile(r'(?<="nextCursor":")[^"]+(?=")')),
    ("request", re.compile(r'(?<="requestId":")[^"]+(?=")')),
    ("run", re.compile(r"\brun_[0-9A-Za-z]{16,}\b")),
    ("tu", re.compile(r"\btu_[0-9A-Za-z]{16,}\b")),
    ("claim", re.compile(r"\bclaim_[0-9A-Za-z]{16,}\b")),
    ("sess", re.compile(r"\bsess_[0-9A-Za-z]{16,}\b")),
    ("agent", re.compile(r"\bagent_[0-9A-Za-z]{16,}\b")),
    ("room", re.compile(r"\broom_[0-9A-Za-z]{16,}\b")),
    ("tool", re.compile(r"\btool_[0-9A-Za-z]{16,}\b")),
    ("key", re.compile(r"\bkey_[0-9A-Za-z]{16,}\b")),
    ("client", re.compile(r"\bmantyx_oa_[0-9a-f]{24}\b")),
    ("token", re.compile(r"\bmantyx_(?:at|rt|oas)_[0-9a-f]{64}\b")),
    ("secret", re.compile(r"\bmantyx_[0-9a-f]{64}\b")),
    ("prefix", re.compile(r"\bmantyx_[0-9a-f]{4,16}\b")),
)
TIME = re.compile(r'\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|(?<="at":)\d{13}\b'
                  r'|(?<="endsBy":)\d+\b')
# What is left of the minute of a rate limit, on a machine that may be busy.
LEFT = re.compile(r"(x-ratelimit-reset: |retry-after: |try again in )(?:[345]\d|60)\b")


class Malformed(Exception):
    """A transcript that cannot be read."""


@dataclass
class Exchange:
    """One request and the lines of its answer, as the file has them."""

    sent: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)


@dataclass
class Transcript:
    """A parsed file. `items` holds, in order, lines that are kept as they are, and exchanges."""

    items: list[str | Exchange] = field(default_factory=list)
    scripts: dict[str, list[dict]] = field(default_factory=dict)
    vendors: list[tuple[str, str]] = field(default_factory=list)  # a format and a model each
    config: dict = field(default_factory=dict)
    arguments: tuple[str, ...] = ()

    def text(self, answers: list[list[str]]) -> str:
        """The file, with these lines as the answers of its exchanges."""
        lines = []
        remaining = iter(answers)
        for item in self.items:
            if isinstance(item, Exchange):
                lines += [f">> {line}".rstrip() for line in item.sent]
                lines += [f"<< {line}".rstrip() for line in next(remaining)]
            else:
                lines.append(item)
        return "\n".join(lines) + "\n"

    def exchanges(self) -> list[Exchange]:
        return [item for item in self.items if isinstance(item, Exchange)]


def parse(text: str) -> Transcript:
    transcript = Transcript()
    model = DEFAULT_MODEL
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        last = transcript.items[-1] if transcript.items else None
        if line.startswith(">>"):
            if not isinstance(last, Exchange) or last.expected:
                last = Exchange()
                transcript.items.append(last)
            last.sent.append(line[3:])
        elif line.startswith("<<"):
            if not isinstance(last, Exchange):
                raise Malformed(f"line {number}: an answer without a request")
            last.expected.append(line[3:])
        elif line.startswith("-- "):
            word, _, rest = line[3:].partition(" ")
            if word == "model":
                model = rest
            elif word == "turn":
                transcript.scripts.setdefault(model, []).append(json.loads(rest))
            elif word == "vendor":
                wire, _, name = rest.partition(" ")
                transcript.vendors.append((wire, name))
            elif word == "config":
                transcript.config |= json.loads(rest)
            elif word == "serve":
                transcript.arguments += tuple(rest.split())
            else:
                raise Malformed(f"line {number}: no set-up is called {word}")
            transcript.items.append(line)
        elif not line or line.startswith("#"):
            transcript.items.append(line)
        else:
            raise Malformed(f"line {number}: starts with none of >> << -- #")
    return transcript


class Names:
    """The names that stand in the file for what differs from run to run."""

    def __init__(self, port: int):
        self.port = port
        self.name_of: dict[str, str] = {}
        self.value_of: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def bind(self, name: str, value: str) -> None:
        self.name_of[value] = name
        self.value_of[name] = value

    def mask(self, text: str) -> str:
        for kind, pattern in MASKS:
            text = pattern.sub(lambda found, kind=kind: self.masked(kind, found.group()), text)
        text = LEFT.sub(r"\1{seconds}", text)
        text = TIME.sub("{time}", text).replace(f'"version":"{VERSION}"', '"version":"{version}"')
        return text.replace(f"127.0.0.1:{self.port}", "127.0.0.1:{port}")

    def masked(self, kind: str, value: str) -> str:
        if value not in self.name_of:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.bind(f"{kind}{self.counts[kind]}", value)
        return "{" + self.name_of[value] + "}"

    def fill(self, text: str) -> str:
        """The text with every known name replaced by what it stands for."""
        return re.sub(r"\{(\w+)\}",
                      lambda found: self.value_of.get(found.group(1), found.group()), text)


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None = None
    until: str = ""  # the type of event after which the reader leaves


def parse_request(lines: list[str], names: Names) -> Request:
    """`METHOD PATH   Header: value   Header: value`, then lines of the body or directives."""
    first, *headers = re.split(r" {3,}", names.fill(lines[0]))
    method, path = first.split(" ", 1)
    request = Request(method, path, dict(header.split(": ", 1) for header in headers))
    parts = []
    for line in lines[1:]:
        word, _, rest = line.partition(" ")
        if word == "@until":
            request.until = rest
        elif word == "@repeat":
            count, _, text = rest.partition(" ")
            parts.append(text.encode() * int(count))
        elif word == "@bytes":
            parts.append(rest.encode("latin-1").decode("unicode_escape").encode("latin-1"))
        else:
            parts.append(names.fill(line).encode())
    if parts:
        request.body = b"".join(parts)
    elif method in ("POST", "PUT", "PATCH"):
        request.body = b""
    return request


class Player:
    """Plays the exchanges of a transcript against a server, whose models `vendor` plays, if any."""

    def __init__(self, client, port: int, vendor=None):
        self.client = client
        self.vendor = vendor
        self.names = Names(port)
        self.names.bind("secret", client.key)

    def play(self, exchange: Exchange) -> list[str]:
        """The lines of the answer."""
        if exchange.sent[0].startswith("ASKED "):
            return [self.names.mask(self.asked(*exchange.sent[0].split()[1:]))]
        request = parse_request(exchange.sent, self.names)
        headers = self.client.headers()
        if request.body:
            headers["Content-Type"] = "application/json"
        headers |= request.headers
        headers = {name: value for name, value in headers.items() if value != "none"}
        with Connection(self.client.address) as connection:
            connection.send(request_bytes(request.method, request.path, headers, request.body))
            if request.until:
                lines = self.read_until(connection, request.until)
            else:
                lines = self.show(connection.receive_response(), request.method)
        return [self.names.mask(line) for line in lines]

    def asked(self, number: str, pointer: str) -> str:
        """What the vendor was asked there in its so-manieth request, or `nothing`."""
        value = self.vendor.requests()[int(number) - 1]["body"]
        for key in pointer.split("/")[1:]:
            try:
                value = value[int(key) if isinstance(value, list) else key]
            except (KeyError, IndexError):
                return "nothing"
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def read_until(self, connection: Connection, event: str) -> list[str]:
        head = connection.receive_head()
        stream = EventStream(connection, head)
        frames = stream.until(event)
        return [first_line(Response(head.status, head.headers)),
                *(frame_line(frame.raw) for frame in frames), "..."]

    def show(self, response: Response, method: str) -> list[str]:
        lines = [first_line(response)]
        body = response.body.decode("utf-8", errors="backslashreplace")
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            frames = body.removesuffix("\n\n").split("\n\n") if body else []
            kept = [f"{frame}\n\n".encode() for frame in frames]
            return lines + [frame_line(raw) for raw in kept if parse_frame(raw)]
        if not body:
            return lines
        return lines + body.removesuffix("\n").split("\n")


def first_line(response: Response) -> str:
    words = [str(response.status)]
    if "content-type" in response.headers:
        words.append(response.headers["content-type"])
    shown = [f"{name}: {response.headers[name]}" for name in SHOWN_HEADERS
             if name in response.headers]
    return "   ".join([" ".join(words), *shown])


def frame_line(raw: bytes) -> str:
    return raw.decode().removesuffix("\n\n").replace("\n", " | ")
