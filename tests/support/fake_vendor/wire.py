"""What the wire formats of the vendors have in common here."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field

from support.fake_vendor.turn import Failure, Turn

CREATED = 1_700_000_000  # the time of everything, in seconds


@dataclass(frozen=True)
class Event:
    """One event of a stream. `mark` says what has happened with it, in words of all formats:
    "start", "thought", "text", "block" (one is closed), "call" (one is closed), "end". A `bare` one
    is data alone, which is no event to a reader."""

    data: str | dict
    name: str = ""
    mark: str = ""
    bare: bool = False

    def encode(self, newline: str = "\n") -> bytes:
        data = self.data
        if isinstance(data, dict):
            data = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        if self.bare:
            return data.encode()
        lines = [f"event: {self.name}"] if self.name else []
        lines += [f"data: {line}" for line in data.split("\n")]
        return (newline.join(lines) + newline * 2).encode()


@dataclass
class Asked:
    """A request as it came, and what it was refused for, if it was."""

    path: str
    headers: dict[str, str]
    body: dict
    refusal: str = ""


@dataclass(frozen=True)
class ErrorAnswer:
    status: int
    body: dict
    headers: dict[str, str] = field(default_factory=dict)


class Refused(Exception):
    """The vendor will not have this request."""

    def __init__(self, message: str, status: int = 400, kind: str = "invalid_request"):
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind


class Wire:
    """A vendor's format: makes events of turns, and checks requests as strictly as the vendor does.

    It remembers what it said, because vendors sign it and look for it in later requests. Each
    answer's blocks are in `issued`, in the shape in which they must come back.
    """

    def __init__(self, api_key: str = "secret"):
        self.api_key = api_key
        self.count = 0
        self.issued: list[list[dict]] = []

    def check(self, asked: Asked) -> None:
        """Raises Refused."""
        raise NotImplementedError

    def events(self, turn: Turn, asked: Asked) -> list[Event]:
        raise NotImplementedError

    def error(self, failure: Failure) -> ErrorAnswer:
        raise NotImplementedError

    def stream_error(self, failure: Failure, sent: list[Event]) -> Event:
        """The same in a stream that began well."""
        raise NotImplementedError

    def refusal(self, refused: Refused) -> ErrorAnswer:
        answer = self.error(Failure(refused.kind, refused.message))
        return ErrorAnswer(refused.status, answer.body)

    def mint(self, prefix: str) -> str:
        """An id that the next test run makes too."""
        self.count += 1
        return f"{prefix}{self.count:04}"


def signature(*signed) -> str:
    """What a vendor puts beside what must come back unedited."""
    text = json.dumps(signed, sort_keys=True, ensure_ascii=False)
    return base64.b64encode(hashlib.sha256(f"a vendor's secret:{text}".encode()).digest()).decode()


def require(is_fine: bool, message: str) -> None:
    if not is_fine:
        raise Refused(message)


def require_known(body: dict, known: set[str], words: str = "unknown field") -> None:
    for name in body:
        require(name in known, f"{words}: {name}")


NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
NOT_STRICT = {
    "allOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired",
    "patternProperties", "propertyNames", "minProperties", "maxProperties", "prefixItems",
    "contains", "minContains", "maxContains", "uniqueItems", "unevaluatedItems",
    "unevaluatedProperties"}


def require_strict(schema, where: str) -> None:
    """The subset of JSON Schema that "strict" takes."""
    require(isinstance(schema, dict), f"{where}: a schema is an object")
    for word in schema:
        require(word not in NOT_STRICT, f"{where}: '{word}' is not permitted")
    if schema.get("type") == "object":
        require(schema.get("additionalProperties") is False,
                f"{where}: 'additionalProperties' is required to be supplied and to be false")
        properties = schema.get("properties", {})
        require(set(schema.get("required", [])) == set(properties),
                f"{where}: 'required' is required to include every key in properties")
        for name, inner in properties.items():
            require_strict(inner, f"{where}.{name}")
    if "items" in schema:
        require_strict(schema["items"], f"{where}.items")
    for number, inner in enumerate(schema.get("anyOf", [])):
        require_strict(inner, f"{where}.anyOf[{number}]")
