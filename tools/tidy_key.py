"""The key by which check_tidy knows a source file: a hash of all that decides what is found in it.

A header counts by its declarations, one by one. A declaration is part of a file's key if the file
can see it and names it, or if something else in the key names it. So a function that is added to a
header of `base` changes the keys of the files that use the function, and of one file that stands
for the header as a whole; findings in the header itself are found there.

The key holds no comments, except those that clang-tidy reads: NOLINT, and `/* */`, which may name
an argument. It holds no path outside the repository, so that all clones have the same keys.
"""

import hashlib
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable

SCHEME = "1"  # changes with the meaning of a key

TOKENS = re.compile(
    r"""
    (?P<line>//(?:\\\n|[^\n])*)
  | (?P<block>/\*.*?\*/)
  | (?P<string>\b(?:u8?|U|L)?R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+')
  | (?P<directive>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
WORD = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)")

# Names that the language, the standard library, Boost or GoogleTest look up by themselves.
IMPLICIT = frozenset(
    """begin end rbegin rend cbegin cend data size empty ssize get swap iter_move iter_swap
    hash_value tag_invoke make_error_code make_error_condition PrintTo AbslStringify
    AbslHashValue""".split())
NO_NAME = frozenset(
    """alignas auto bool char const constexpr decltype double explicit extern float if inline int
    long noexcept short signed static static_assert thread_local throw typename unsigned void
    while __attribute__""".split())
SCOPE_HEAD = re.compile(r'\s*(?:inline\s+)?namespace\b[^=]*$|\s*extern\s*" *"?\s*$|\s*extern\s*$')
ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)
TYPE = re.compile(r"\s*(?:class|struct|union|enum(?:\s+(?P<scoped>class|struct))?)\b\s*"
                  r"(?P<name>[\w:]*)\s*(?P<next>.?)", re.DOTALL)
ALIAS = re.compile(r"\s*(?:using|namespace|concept)\s+(\w+)\s*=")
USING = re.compile(r"\s*using\s+(?!namespace\b)(?:typename\s+)?(?:\w*::)*(\w+)\s*;")
QUALIFIED = re.compile(r"((?:\w+\s*::\s*)*~?\w+)\s*$")
ENDS_HERE, GOES_ON = ";", ",{)(=.["


def without_comments(text: str) -> str:
    """The text without line comments and blank lines. Indentation stays: a check reads it."""

    def replace(found: re.Match) -> str:
        is_dropped = found.lastgroup == "line" and "NOLINT" not in found.group()
        return "" if is_dropped else found.group()

    def in_directive(found: re.Match) -> str:
        if found.lastgroup != "directive":
            return replace(found)
        return re.sub(r'("(?:\\.|[^"\\\n])*")|//(?![^\n]*NOLINT)[^\n]*',
                      lambda inner: inner.group(1) or "", found.group())

    lines = (line.rstrip() for line in TOKENS.sub(in_directive, text).split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


def blanked(text: str) -> str:
    """The text with comments and strings as spaces, and directives, too."""
    return TOKENS.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def words_of(text: str) -> frozenset[str]:
    """Every name in the text, in its directives also, but not in its comments and strings."""
    kept = TOKENS.sub(
        lambda found: found.group() if found.lastgroup == "directive" else " ", text)
    return frozenset(WORD.findall(kept))


@dataclass(frozen=True)
class Declaration:
    """A piece of a header. `gives` is what it declares; None if it counts for every file."""

    text: str
    gives: frozenset[str] | None
    words: frozenset[str]


def without_template(head: str) -> str | None:
    """What follows `template <...>`; None for a specialization and for constraints."""
    while found := re.match(r"\s*template\s*<", head):
        depth, position = 1, found.end()
        while depth and position < len(head):
            depth += {"<": 1, ">": -1}.get(head[position], 0)
            position += 1
        if not head[found.end() : position - 1].strip():
            return None
        head = head[position:]
    return None if re.search(r"\brequires\b", head.split("{", 1)[0]) else head


def declarator(head: str) -> frozenset[str] | None:
    """The name of a function or a variable: what stands before its parameters or its value."""
    depth = 0
    for position, char in enumerate(head):
        if char in "<>":
            depth += 1 if char == "<" else -1
        elif char in "(={;[" and depth == 0:
            found = QUALIFIED.search(head, 0, position)
            # Without a type before it, a name is a macro or a constructor: `Type::Type(`.
            if not found or (found.start() == len(head) - len(head.lstrip())
                             and "::" not in found.group(1)):
                return None
            names = frozenset(WORD.findall(found.group(1)))
            return None if names & NO_NAME else names
    return None


def declared(code: str) -> frozenset[str] | None:
    """The names that a declaration, whose comments and strings are blank, adds to its scope."""
    head = without_template(ATTRIBUTE.sub(" ", code))
    if head is None:
        return None
    if found := ALIAS.match(head) or USING.match(head):
        return frozenset([found.group(1)])
    if re.match(r"\s*(?:using|typedef|static_assert|extern|friend)\b", head):
        return None
    if found := TYPE.match(head):
        tail = head[head.rfind("}") + 1 :] if "{" in head else ";"
        is_type = found["next"] in (";", ":", "{") or head[found.end() - 1 :].startswith("final")
        if not is_type or tail.strip() != ";":
            return None
        names = set(WORD.findall(found["name"]))
        if head.lstrip().startswith("enum") and not found["scoped"]:
            names |= set(WORD.findall(head[found.end() :]))
        return frozenset(names) or None
    return None if "operator" in WORD.findall(head.split("{", 1)[0]) else declarator(head)


def end_of_declaration(code: str, position: int, head: int) -> bool:
    """Whether the brace that closes at `position` ends what starts at `head`."""
    following = code[position + 1 :].lstrip()[:1]
    if following and following in ENDS_HERE + GOES_ON:
        return False
    return not TYPE.match(without_template(code[head:position]) or code[head:position])


def declarations(text: str) -> list[Declaration]:
    """The pieces of a header whose comments are gone, in order, each with the scopes it is in."""
    code = blanked(text)
    found: list[Declaration] = []
    scopes: list[str] = []

    def add(start: int, end: int) -> None:
        piece = text[start:end].strip("\n")
        if piece.strip():
            found.append(Declaration(" ".join([*scopes, piece]), declared(code[start:end]),
                                     words_of(piece)))

    directives = {one.start(): one for one in TOKENS.finditer(text)
                  if one.lastgroup == "directive"}
    head = position = depth = 0
    while position < len(code):
        char = code[position]
        if position in directives and depth == 0:
            piece = directives[position].group()
            name = DEFINE.match(piece)
            gives = frozenset([name.group(1)]) if name else None
            # The names in `#include` and `#if` are no uses of anything declared.
            found.append(Declaration(piece, gives, words_of(piece) if name else frozenset()))
            if not code[head:position].strip():
                head = directives[position].end()
            position = directives[position].end()
            continue
        if char == "{" and depth == 0 and SCOPE_HEAD.match(code[head:position]):
            scopes.append(text[head:position].strip())
            head = position + 1
        elif char in "{([":
            depth += 1
        elif char in "})]" and depth == 0:
            if scopes:
                scopes.pop()
            head = position + 1
        elif char in "})]":
            depth -= 1
            if char == "}" and depth == 0 and end_of_declaration(code, position, head):
                add(head, position + 1)
                head = position + 1
        elif char == ";" and depth == 0:
            add(head, position + 1)
            head = position + 1
        position += 1
    add(head, len(text))
    return found


@dataclass
class File:
    modified: int
    text: str
    includes: list[str]
    pieces: list[Declaration]
    words: frozenset[str]


@dataclass
class Unit:
    """A file that is compiled, with every command that compiles it."""

    path: Path
    commands: list[str] = field(default_factory=list)
    folders: tuple[Path, ...] = ()  # of our own, where its includes are looked for

    def add(self, command: dict, root: Path) -> None:
        words = shlex.split(command["command"]) if "command" in command else command["arguments"]
        directory = Path(command["directory"])
        for word in words:
            if word.startswith("-I"):
                folder = (directory / word[2:]).resolve()
                if folder.is_relative_to(root) and folder not in self.folders:
                    self.folders += (folder,)
        output = {index + 1 for index, word in enumerate(words) if word == "-o"}
        shown = [word for index, word in enumerate(words) if index not in output]
        # What is below the root and where objects go means nothing.
        self.commands.append("\0".join(shown).replace(str(root), "."))


class Tree:
    """The files of a clone, and what they see of one another."""

    def __init__(self, root: Path):
        self.root = root
        self.files: dict[Path, File] = {}
        self.found: dict[tuple, Path | None] = {}

    def name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def file(self, path: Path) -> File:
        if path not in self.files:
            modified = path.stat().st_mtime_ns
            text = without_comments(path.read_text(errors="replace"))
            pieces = declarations(text) if path.suffix in (".hpp", ".h", ".ipp") else []
            self.files[path] = File(modified, text, INCLUDE.findall(text), pieces,
                                    words_of(text))
        return self.files[path]

    def find(self, name: str, beside: Path, folders: tuple[Path, ...]) -> Path | None:
        known = (name, beside, folders)
        if known not in self.found:
            candidates = (folder / name for folder in (beside, *folders))
            self.found[known] = next((path for path in candidates if path.is_file()), None)
        return self.found[known]

    def seen_by(self, unit: Unit) -> list[Path]:
        """The headers of ours that a unit includes, each after what it includes itself."""
        order: dict[Path, None] = {}
        entered = {unit.path}

        def visit(path: Path) -> None:
            for name in self.file(path).includes:
                included = self.find(name, path.parent, unit.folders)
                if included and included not in entered:
                    entered.add(included)
                    visit(included)
                    order[included] = None

        visit(unit.path)
        return list(order)

    def is_unchanged(self, unit: Unit) -> bool:
        """Whether the files that the unit's key was made from are as they were then."""
        try:
            return all(path.stat().st_mtime_ns == self.file(path).modified
                       for path in [unit.path, *self.seen_by(unit)])
        except OSError:
            return False

    def stands_for(self, units: Iterable[Unit]) -> dict[Path, Path]:
        """The unit that stands for each header: its own .cpp file, or else the first."""
        chosen: dict[Path, Path] = {}
        for unit in sorted(units, key=lambda one: one.path):
            for header in self.seen_by(unit):
                if header.with_suffix(".cpp") == unit.path:
                    chosen[header] = unit.path
                chosen.setdefault(header, unit.path)
        return chosen

    def relevant(self, unit: Unit, headers: list[Path]) -> set[int]:
        """The ids of the declarations that the unit can mean, directly or by way of others."""
        givers: dict[str, list[Declaration]] = {}
        ahead = set(self.file(unit.path).words | IMPLICIT)
        chosen: set[int] = set()
        for header in headers:
            for piece in self.file(header).pieces:
                if piece.gives is None:
                    chosen.add(id(piece))
                    ahead |= piece.words
                    continue
                for name in piece.gives:
                    givers.setdefault(name, []).append(piece)
        done: set[str] = set()
        while ahead:
            done |= ahead
            more: set[str] = set()
            for name in ahead & givers.keys():
                for piece in givers[name]:
                    if id(piece) not in chosen:
                        chosen.add(id(piece))
                        more |= piece.words
            ahead = more - done
        return chosen

    def key(self, unit: Unit, settings: str, whole: set[Path]) -> str:
        """`whole` are the headers that the unit stands for."""
        digest = hashlib.sha256(f"{SCHEME}\0{settings}\0{self.name(unit.path)}\0".encode())

        def add(text: str) -> None:
            digest.update(text.encode() + b"\0")

        for command in sorted(unit.commands):
            add(command)
        add(self.file(unit.path).text)
        headers = self.seen_by(unit)
        chosen = self.relevant(unit, headers)
        for header in headers:
            if header in whole:
                add(self.name(header))
                add(self.file(header).text)
            pieces = [piece.text for piece in self.file(header).pieces if id(piece) in chosen]
            if pieces:
                add(self.name(header) + "\0" + "\0".join(pieces))
        return digest.hexdigest()

    def keys(self, units: list[Unit], settings: str) -> dict[Path, str]:
        """The key of each unit. These units are all there are: each header needs one of them."""
        whole: dict[Path, set[Path]] = {}
        for header, unit in self.stands_for(units).items():
            whole.setdefault(unit, set()).add(header)
        return {unit.path: self.key(unit, settings, whole.get(unit.path, set()))
                for unit in units}
