"""What a model says in one turn, free of any vendor's words."""

import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Text:
    pieces: tuple[str, ...]

    @property
    def whole(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Thinking:
    pieces: tuple[str, ...]
    kind: str = "plain"  # or "redacted" or "omitted", which some vendors do

    @property
    def whole(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Refusal:
    pieces: tuple[str, ...]

    @property
    def whole(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Call:
    """A call of a tool. `raw` is the text of the arguments as the model wrote it."""

    name: str
    raw: str

    @property
    def arguments(self):
        """The value of the text, as vendors that send values have it; nothing is {}."""
        try:
            return json.loads(self.raw) if self.raw else {}
        except json.JSONDecodeError:
            return {}

    def fragments(self) -> list[str]:
        """The text in two pieces, so that no reader gets by without joining them."""
        middle = len(self.raw) // 2
        return [piece for piece in (self.raw[:middle], self.raw[middle:]) if piece]


@dataclass(frozen=True)
class Usage:
    """Tokens. `input` includes `cached`, and `output` includes `thinking`, as runs count them."""

    input: int = 20
    cached: int = 0
    output: int = 10
    thinking: int = 0


Part = Text | Thinking | Refusal | Call


@dataclass(frozen=True)
class Turn:
    """The parts of a turn in order, and why it ended.

    `stop` is "end", "length", "filter" or "refusal"; else it is the vendor's own word.
    `interleaved` mixes the fragments of all calls where the format can. `newer` adds events and
    fields that no reader of today knows.
    """

    parts: tuple[Part, ...] = ()
    usage: Usage | None = field(default_factory=Usage)
    stop: str = "end"
    interleaved: bool = False
    newer: bool = False

    @property
    def calls(self) -> list[Call]:
        return [part for part in self.parts if isinstance(part, Call)]

    @property
    def thinks(self) -> bool:
        return any(isinstance(part, Thinking) for part in self.parts)

    @property
    def text(self) -> str:
        return "".join(part.whole for part in self.parts if isinstance(part, Text))


def say(*pieces: str) -> Text:
    return Text(pieces)


def think(*pieces: str, kind: str = "plain") -> Thinking:
    return Thinking(pieces, kind)


def refuse(*pieces: str) -> Refusal:
    return Refusal(pieces)


def call(name: str, raw: str | None = None, **arguments) -> Call:
    return Call(name, json.dumps(arguments) if raw is None else raw)


def turn(*parts: Part, **others) -> Turn:
    return Turn(tuple(parts), **others)


@dataclass(frozen=True)
class Failure:
    """An error that a vendor reports, by its class; `message` in place of the vendor's words."""

    kind: str
    message: str = ""
