"""Makes mutants: copies of a C++ source file in which one condition, bound or sign is wrong.

A mutant that all tests pass is a gap in the tests. Only what clang-format has laid out is
understood: a comparison has a space on either side, a template's bracket does not.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Iterator

TOKENS = re.compile(
    r"""
    //[^\n]*
  | /\*.*?\*/
  | \b(?:u8?|U|L)?R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)"
  | "(?:\\.|[^"\\\n])*"
  | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'
  | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "+=": "-=", "-=": "+=",
}
OPERATOR = re.compile(r"(?<=\s)(?:<=|>=|==|!=|&&|\|\||\+=|-=|[<>+-])(?=\s)")
NEGATION = re.compile(r"(?<![\w)!])!(?=[\w(*:])")
NUMBER = re.compile(r"(?<![\w.'<])\d+(?=(?:[uU]?[lL]{0,2}|[lL]{0,2}[uU]?)(?![\w.']))")
TRUTH = re.compile(r"\b(?P<verb>(?:co_)?return) (?P<value>true|false);")
GUARD = re.compile(r"^[ \t]*(?P<guard>if \([^\n]*\) (?:co_)?return\b[^\n]*;)[ \t]*$", re.MULTILINE)
CALL_THEN_RETURN = re.compile(
    r"^[ \t]*if \([^\n]*\) \{\n(?:[^\n{}]*\n)*?"  # a guard with a body of simple statements
    r"[ \t]*(?P<call>(?:co_await )?[\w:.>()-]+\([^\n]*\);)\n[ \t]*(?:co_)?return\b", re.MULTILINE)
REMOVED = "(nothing)"


@dataclass(frozen=True)
class Mutant:
    path: str
    start: int
    end: int
    replacement: str
    line: int
    was: str  # the line, without its indentation
    becomes: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.was} -> {self.becomes}"

    def identity(self) -> str:
        """What stays the same as long as the line does, wherever it moves."""
        return f"{self.path}: {self.was} -> {self.becomes}"

    def apply(self, text: str) -> str:
        return text[: self.start] + self.replacement + text[self.end :]


def blanked(text: str) -> str:
    return TOKENS.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def changes(text: str) -> Iterator[tuple[int, int, str]]:
    """Where something is replaced, and by what."""
    code = blanked(text)
    for found in OPERATOR.finditer(code):
        joins_text = '"' in text[found.start() - 2] + text[found.end() + 1]
        if not (found.group() in "+-" and joins_text):
            yield found.start(), found.end(), SWAPS[found.group()]
    for found in NEGATION.finditer(code):
        yield found.start(), found.end(), ""
    for found in NUMBER.finditer(code):
        value = int(found.group(), 8 if re.fullmatch("0[0-7]+", found.group()) else 10)
        yield found.start(), found.end(), str(value + 1)
        if value > 0:
            yield found.start(), found.end(), str(value - 1)
    for found in TRUTH.finditer(code):
        other = "false" if found["value"] == "true" else "true"
        yield found.start("value"), found.end("value"), other
    for pattern, group in ((GUARD, "guard"), (CALL_THEN_RETURN, "call")):
        for found in pattern.finditer(code):
            yield found.start(group), found.end(group), ""


def mutants(path: str, text: str) -> list[Mutant]:
    """All mutants of a file, in the order of their lines."""
    made = []
    for start, end, replacement in changes(text):
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        after = (text[first:start] + replacement + text[end:last]).strip()
        made.append(Mutant(path, start, end, replacement, text.count("\n", 0, start) + 1,
                           text[first:last].strip(), after or REMOVED))
    return sorted(set(made), key=lambda one: (one.start, one.end, one.replacement))


def in_order(made: list[Mutant], seed: int) -> list[Mutant]:
    """A random order by the seed, in which a change elsewhere moves no mutant past another."""

    def place(one: Mutant) -> str:
        return hashlib.sha256(f"{seed} {one.identity()}".encode()).hexdigest()

    return sorted(made, key=lambda one: (place(one), one.start))


def read_accepted(text: str) -> dict[str, str]:
    """The accepted survivors and why, from a file of identities with indented reasons."""
    accepted: dict[str, str] = {}
    identity = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if not identity:
                raise ValueError(f"a reason without a mutant: {line.strip()}")
            accepted[identity] = f"{accepted[identity]} {line.strip()}".strip()
        else:
            identity = line.strip()
            accepted[identity] = ""
    unexplained = [identity for identity, reason in accepted.items() if not reason]
    if unexplained:
        raise ValueError(f"no reason is given for {unexplained[0]}")
    return accepted
