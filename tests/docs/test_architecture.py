"""The maps of ARCHITECTURE.md lead to files that are there, and their counts are right."""

import functools
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
EMBEDDED_MAX = 16  # files that a run without a server passes
PATH = re.compile(r"`((?:[a-z0-9_]+/)+[a-z0-9_]+\.[ch]pp)`")
WAY = re.compile(r"^\*\*(?P<title>[^*]+)\*\*[^(]*\((?P<count>\d+)\):\n(?P<text>.*?)(?=^\*\*|^## )",
                 re.MULTILINE | re.DOTALL)


def files_of(text: str) -> list[str]:
    """In a numbered list the first path of each item is what is passed."""
    items = re.findall(r"^\d+\. .*$", text, re.MULTILINE)
    if not items:
        return PATH.findall(text)
    return [PATH.search(item).group(1) for item in items]


INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
BASES = re.compile(r"(?:class|struct) [\w:]+(?: final)? : (public [^{;]+)\{")


@functools.cache
def text_of(path: str) -> str:
    file = ROOT / "src" / path
    return file.read_text() if file.exists() else ""


def both_of(path: str) -> list[str]:
    """A source and its header."""
    stem = path.rpartition(".")[0]
    return [stem + ".hpp", stem + ".cpp"]


def header_of(path: str) -> str:
    """Its own header, or the one that declares the class whose members a source defines."""
    header = both_of(path)[0]
    if text_of(header):
        return header
    members = set(re.findall(r"^\S.*?\b(\w+)::\w+\(", text_of(path), re.MULTILINE))
    return next(target for target in INCLUDE.findall(text_of(path))
                if any(declares(target, name) for name in members))


def includes_of(path: str) -> set[str]:
    return {target for part in both_of(path) for target in INCLUDE.findall(text_of(part))}


def near(path: str) -> set[str]:
    """What a source includes, and what is included there."""
    direct = includes_of(path)
    return direct.union(*(INCLUDE.findall(text_of(target)) for target in direct))


@functools.cache
def all_seen_by(path: str) -> frozenset[str]:
    """The headers that a source sees, however far away."""
    seen, ahead = set(), list(includes_of(path))
    while ahead:
        target = ahead.pop()
        if target not in seen:
            seen.add(target)
            ahead += INCLUDE.findall(text_of(target))
    return frozenset(seen)


def interfaces_of(path: str) -> set[str]:
    """The names of the classes that those of a source are derived from."""
    found = BASES.findall("".join(text_of(part) for part in both_of(path)))
    return {base.rpartition("::")[2] for one in found
            for base in re.findall(r"public ([\w:]+)", one)}


def declares(path: str, name: str) -> bool:
    return re.search(rf"^\s*class (?:\w+::)*{name}(?: final)?(?: :| \{{)", text_of(path),
                     re.MULTILINE) is not None


def sees_an_interface_of(path: str, other: str) -> bool:
    return any(declares(seen, name) for name in interfaces_of(other) for seen in all_seen_by(path))


def hand_on(one: str, other: str) -> bool:
    """As far as includes can tell: one of them includes the other, perhaps through one header, or
    sees an interface of it."""
    return (header_of(other) in near(one) or header_of(one) in near(other)
            or sees_an_interface_of(one, other) or sees_an_interface_of(other, one))


def matched_ways() -> list[re.Match]:
    return list(WAY.finditer(PAGE[PAGE.index("## Five ways through the files"):]))


def texts_of_ways() -> dict[str, str]:
    return {way["title"]: way["text"] for way in matched_ways()}


def ways() -> dict[str, tuple[int, list[str]]]:
    return {way["title"]: (int(way["count"]), files_of(way["text"])) for way in matched_ways()}


class ArchitectureTest(unittest.TestCase):
    def test_every_file_is_there(self):
        missing = [path for path in PATH.findall(PAGE)
                   if not any((ROOT / below / path).exists() for below in ("src", "."))]
        self.assertEqual(missing, [])

    def test_each_way_has_as_many_files_as_it_says_and_none_twice(self):
        self.assertEqual(len(ways()), 5, list(ways()))
        for title, (count, files) in ways().items():
            with self.subTest(title):
                self.assertEqual((len(files), len(set(files))), (count, count), files)

    def test_each_file_of_a_way_is_reached_from_the_one_before_it(self):
        for title, text in texts_of_ways().items():
            files = files_of(text)
            lost = []
            for at, file in enumerate(files[1:], start=1):
                comes_back = f"; `{file}`" in " ".join(text.split())
                before = files[:at] if comes_back else files[at - 1:at]
                if not any(hand_on(one, file) for one in before):
                    lost.append(file)
            with self.subTest(title):
                self.assertEqual(lost, [])

    def test_a_run_without_a_server_passes_few_files(self):
        count, _ = ways()["A run without a server"]
        self.assertLessEqual(count, EMBEDDED_MAX)


if __name__ == "__main__":
    unittest.main()
