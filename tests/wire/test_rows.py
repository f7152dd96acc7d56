"""rows.md is true: what it names is there, and what is on the wire is named."""

import json
import re
import unittest
from dataclasses import dataclass
from pathlib import Path

from support.transcript import parse

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
ROWS = FOLDER / "rows.md"
# What issues to come bring, and rows may wait for.
LATER = ("evals", "plans", "supervisor")
ENVELOPE = ("seq", "type", "data")
FRAME = re.compile(r"<< id: (\d+) \| event: (\w+) \| data: (.*)")


@dataclass
class Row:
    section: str
    where: str
    name: str
    shown_by: str
    text: str

    def __str__(self) -> str:
        return f"{self.section}: {self.name}"

    @property
    def path(self) -> Path:
        """A transcript or a test of this folder, or a file by its path from the root."""
        local = FOLDER / self.shown_by
        return local if local.exists() else ROOT / self.shown_by

    @property
    def is_shown(self) -> bool:
        return not self.shown_by.startswith(("later: ", "never: "))


def bare(cell: str) -> str:
    """The text of a cell, without the marks of code."""
    return cell.strip().removeprefix("`").removesuffix("`")


def read_rows() -> list[Row]:
    rows, section = [], ""
    for line in ROWS.read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif section and line.startswith("| ") and not line.startswith("| where |"):
            cells = line.removeprefix("| ").removesuffix("|").split(" | ", 3)
            rows.append(Row(section, *(bare(cell) for cell in cells)))
    return rows


def holds(content: str, text: str) -> bool:
    """Whether a line has the text; after `>> ` or `<< `, whether a line of that kind has it."""
    start = text[:3] if text.startswith((">> ", "<< ")) else ""
    wanted = text.removeprefix(start)
    return any(wanted in line for line in content.splitlines() if line.startswith(start))


def names_of(section: str) -> set[str]:
    return {row.name for row in read_rows() if row.section.startswith(section)}


class Seen:
    """What all transcripts have on the wire, as a reader of JSON sees it."""

    def __init__(self):
        self.events: list[tuple[str, dict]] = []
        self.errors: list[dict] = []
        self.snapshots: list[dict] = []
        for path in sorted(FOLDER.rglob("*.txt")):
            for exchange in parse(path.read_text()).exchanges():
                for line in exchange.expected:
                    self.add(line)

    def add(self, line: str) -> None:
        if frame := FRAME.fullmatch(f"<< {line}"):
            self.events.append((frame.group(2), json.loads(frame.group(3))))
        elif line.startswith('{"error":'):
            self.errors.append(json.loads(line))
        elif line.startswith('{"id":"{run'):
            self.snapshots.append(json.loads(line))


class RowsTest(unittest.TestCase):
    maxDiff = None

    def test_what_a_row_names_shows_it(self):
        for row in read_rows():
            if not row.is_shown:
                continue
            with self.subTest(str(row)):
                self.assertTrue(row.path.is_file(), f"there is no {row.shown_by}")
                self.assertTrue(row.text, "the row does not say what shows it")
                self.assertTrue(holds(row.path.read_text(), row.text),
                                f"{row.shown_by} does not have {row.text}")

    def test_what_is_not_shown_says_why(self):
        waiting = [row for row in read_rows() if not row.is_shown]
        self.assertEqual([str(row) for row in waiting if row.shown_by.startswith("later: ")
                          and row.shown_by.removeprefix("later: ") not in LATER], [])
        self.assertEqual([str(row) for row in waiting if row.shown_by.startswith("never: ")
                          and not row.text], [])
        self.assertGreater(len(read_rows()), len(waiting))

    def test_a_row_is_of_a_document(self):
        named = re.compile(r"(LT|WP1?|AR|own)( [0-9.]+(, [0-9.]+)*)?")
        self.assertEqual([str(row) for row in read_rows() for place in
                          re.split(r", (?=[A-Zo])", row.where) if not named.fullmatch(place)], [])

    def test_no_row_is_there_twice(self):
        rows = [str(row) for row in read_rows()]
        self.assertEqual(sorted({row for row in rows if rows.count(row) > 1}), [])


class ReverseTest(unittest.TestCase):
    """A member or a word that comes to the wire comes to the rows as well."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.seen = Seen()

    def test_every_member_of_every_event(self):
        members = {f"{event}.{key}" for event, fields in self.seen.events for key in fields
                   if key not in ENVELOPE}
        self.assertEqual(sorted(members - names_of("Events")), [])

    def test_every_event_has_its_members_twice(self):
        for event, fields in self.seen.events:
            flat = {key: value for key, value in fields.items() if key not in ENVELOPE}
            self.assertEqual((list(fields)[:2], fields["type"], fields["data"]),
                             (["seq", "type"], event, flat))

    def test_every_word_of_an_end(self):
        ends = [fields for event, fields in self.seen.events if event in ("result", "error")]
        self.assertEqual(sorted({end["subtype"] for end in ends if "subtype" in end}
                                - names_of("Subtypes of result")), [])
        self.assertEqual(sorted({end["errorClass"] for end in ends if "errorClass" in end}
                                - names_of("Error classes")), [])

    def test_every_reason_why_a_turn_ended(self):
        reasons = {fields["finishReason"] for _, fields in self.seen.events
                   if "finishReason" in fields}
        self.assertEqual(sorted(reasons - names_of("Finish reasons")), [])

    def test_every_member_and_code_of_an_error(self):
        self.assertEqual(sorted({key for body in self.seen.errors for key in body}
                                - names_of("Error bodies")), [])
        self.assertEqual(sorted({body.get("code") or body["error"] for body in self.seen.errors}
                                - names_of("Error codes")), [])

    def test_every_member_of_a_snapshot(self):
        self.assertEqual(sorted({key for body in self.seen.snapshots for key in body}
                                - names_of("Snapshot")), [])


if __name__ == "__main__":
    unittest.main()
