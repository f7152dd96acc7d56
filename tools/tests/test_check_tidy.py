import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from loading import load_tool

check_tidy = load_tool("check_tidy")


class StillTree:
    """A tree in which only the named files change."""

    def __init__(self, *changed: str):
        self.changed = changed

    def name(self, path: Path) -> str:
        return str(path)

    def is_unchanged(self, unit) -> bool:
        return str(unit.path) not in self.changed


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.record = check_tidy.Record(Path(folder.name) / "errand" / "tidy")
        self.ran: list[str] = []

    def run_check(self, findings: dict[str, str], tree=StillTree(), fresh=False) -> list[str]:
        """Checks a.cpp and b.cpp, and returns the lines that are printed."""

        def run(path: Path) -> str:
            self.ran.append(str(path))
            return findings.get(str(path), "")

        units = [check_tidy.Unit(Path(name)) for name in ("a.cpp", "b.cpp")]
        keys = {unit.path: f"key of {unit.path}" for unit in units}
        printed = io.StringIO()
        self.ran.clear()
        with contextlib.redirect_stdout(printed):
            check_tidy.Check(tree, keys, self.record, run).run_all(units, fresh, jobs=1)
        return [line.rsplit(",", 1)[0] for line in printed.getvalue().splitlines()]

    def test_what_passed_is_not_checked_again(self):
        self.assertEqual(self.run_check({}),
                         ["tidy: 2 files, 0 known, 2 checked, 0 with findings"])
        self.assertEqual(self.run_check({}),
                         ["tidy: 2 files, 2 known, 0 checked, 0 with findings"])
        self.assertEqual(self.ran, [])

    def test_what_has_findings_is_printed_and_checked_again(self):
        for known in (0, 1):
            self.assertEqual(self.run_check({"a.cpp": "a.cpp:1:1: error: no"}), [
                "a.cpp:1:1: error: no",
                f"tidy: 2 files, {known} known, {2 - known} checked, 1 with findings"])

    def test_a_file_that_changes_while_it_is_checked_is_not_remembered(self):
        self.run_check({}, StillTree("b.cpp"))
        self.run_check({})
        self.assertEqual(self.ran, ["b.cpp"])

    def test_fresh_checks_what_is_known(self):
        self.run_check({})
        self.run_check({}, fresh=True)
        self.assertEqual(sorted(self.ran), ["a.cpp", "b.cpp"])

    def test_a_record_that_nobody_asks_for_is_forgotten(self):
        for key, age in (("old", check_tidy.KEPT_SECONDS + 60), ("young", 60)):
            self.record.add(key)
            then = check_tidy.time.time() - age
            os.utime(self.record.path(key), (then, then))
        self.record.forget_old()
        self.assertEqual([self.record.has(key) for key in ("old", "young")], [False, True])

    def test_asking_for_a_record_keeps_it(self):
        self.record.add("key")
        then = check_tidy.time.time() - check_tidy.KEPT_SECONDS - 60
        os.utime(self.record.path("key"), (then, then))
        self.assertTrue(self.record.has("key"))
        self.record.forget_old()
        self.assertTrue(self.record.has("key"))

    def test_the_record_is_in_the_cache_folder_of_the_user(self):
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "/some/cache"}):
            self.assertEqual(check_tidy.record_folder(), Path("/some/cache/errand/tidy"))
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "", "HOME": "/home/anna"}):
            self.assertEqual(check_tidy.record_folder(), Path("/home/anna/.cache/errand/tidy"))


if __name__ == "__main__":
    unittest.main()
