"""The maps of ARCHITECTURE.md lead to files that are there, and their counts are right."""

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


def ways() -> dict[str, tuple[int, list[str]]]:
    page = PAGE[PAGE.index("## Five ways through the files"):]
    return {way["title"]: (int(way["count"]), files_of(way["text"])) for way in WAY.finditer(page)}


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

    def test_a_run_without_a_server_passes_few_files(self):
        count, _ = ways()["A run without a server"]
        self.assertLessEqual(count, EMBEDDED_MAX)


if __name__ == "__main__":
    unittest.main()
