import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from loading import load_tool

check_long = load_tool("check_long")
Result = check_long.Result
PASSED = {"passed": 3, "failed": 0, "skipped": 1}
FAILED = {"passed": 1, "failed": 2, "skipped": 0}


class PageTest(unittest.TestCase):
    def page(self, before: str = "", **results) -> list[str]:
        page = check_long.Page.read(before)
        for name, result in results.items():
            page.put(name, result, "abc123, 2030-01-02")
        return page.text(2).splitlines()

    def rows(self, before: str = "", **results) -> list[str]:
        lines = self.page(before, **results)
        start = lines.index("|---|---|---|---|---|---|") + 1
        return lines[start : start + len(check_long.PARTS)]

    def test_the_page_says_how_it_is_made(self):
        lines = self.page()
        self.assertIn("`./dev check --long` writes this page", lines[2])
        self.assertIn("On 2 cores.", lines)

    def test_every_part_has_a_row_with_its_commit(self):
        rows = self.rows(fuzz=Result(True, "9 inputs", "60 s", 130, []),
                         mutate=Result(False, "3 tried", "4", 59, []))
        self.assertEqual(rows[1], "| Tests under the thread sanitizer (`tsan`) | not run | | | | |")
        self.assertEqual([row for row in rows if "not run" not in row], [
            "| Fuzzing (`fuzz`) | ok | 9 inputs | 60 s | 2 min | abc123, 2030-01-02 |",
            "| Mutants against the unit tests (`mutate`) | **failed** | 3 tried | 4 | 59 s "
            "| abc123, 2030-01-02 |",
        ])

    def test_notes_follow_the_table(self):
        lines = self.page(mutate=Result(False, "", "", 0, ["Survived: `a -> b`"]))
        self.assertEqual(lines[-3:], ["## Mutants against the unit tests", "",
                                      "- Survived: `a -> b`"])

    def test_a_part_that_does_not_run_keeps_its_row_and_its_notes(self):
        before = "\n".join(self.page(mutate=Result(False, "", "", 0, ["Survived: `a -> b`"]),
                                     fuzz=Result(True, "9 inputs", "60 s", 130, ["x 9"])))
        after = self.page(before, fuzz=Result(True, "8 inputs", "60 s", 130, ["x 8"]))
        self.assertEqual("\n".join(after).replace("8 inputs", "9 inputs").replace("x 8", "x 9"),
                         before)


class PartTest(unittest.TestCase):
    """Each part, with a report in place of the program that would run."""

    def run_part(self, name: str, ok: bool, report: dict) -> Result:
        ended = check_long.Ended(ok, report)
        with mock.patch.object(check_long, "call", return_value=ended) as self.called:
            return check_long.PARTS[name][1]()

    def test_thread_sanitizer_counts_tests_and_names_programs_that_fail(self):
        result = self.run_part("tsan", False, {"parts": {
            "build": {"passed": 1, "failed": 0, "skipped": 0}, "net_test": PASSED,
            "engine_test": FAILED}})
        self.assertEqual(result.counts, "4 tests passed, 2 failed, 1 skipped")
        self.assertEqual(result.notes, ["engine_test fails."])

    def test_fuzzing_counts_inputs(self):
        result = self.run_part("fuzz", False, {
            "seconds": 60, "executed": {"a_fuzz": 1000, "b_fuzz": 234567}, "failed": ["b_fuzz"]})
        self.assertEqual((result.counts, result.budget),
                         ("235 567 inputs to 2 targets",
                          "60 seconds per target, 300 s of the HTTP API"))
        self.assertEqual(result.notes, ["b_fuzz has an input that fails.",
                                        "Inputs by target: a_fuzz 1 000, b_fuzz 234 567."])

    def test_mutants_and_survivors_are_counted(self):
        with mock.patch.dict(check_long.os.environ, {"ERRAND_MUTANTS": "5", "ERRAND_SEED": "7"}):
            result = self.run_part("mutate", False, {
                "tried": 5, "killed": 3, "survivors": ["a.cpp:1: x -> y"], "accepted": ["b"]})
        self.assertEqual(result.counts, "5 mutants tried, 3 killed, 1 survivor, 1 accepted")
        self.assertEqual(result.notes, ["Survived: `a.cpp:1: x -> y`"])
        self.assertEqual(self.called.call_args.args[0],
                         ["tools/mutate", "--count", "5", "--seed", "7"])

    def test_a_program_that_wrote_no_report_is_no_success(self):
        for name in ("tsan", "fuzz", "mutate"):
            self.assertFalse(self.run_part(name, False, {}).ok)

    def test_a_soak_tells_of_itself(self):
        log = "test_nothing_grows ... soak\nsoak: 9 rounds in 8 s, memory +0.1%\nok\n"
        self.assertEqual(check_long.soak_counts(log), "9 rounds in 8 s, memory +0.1%")
        self.assertEqual(check_long.soak_counts("Traceback\n"), "did not run to its end")

    def test_packages_tell_of_their_tests_and_of_the_newcomer(self):
        log = "newcomer: 97 s from the .deb to an answered tool in C++\n9 passed, 0 failed\n"
        self.assertEqual(check_long.package_counts(PASSED, log),
                         "3 tests passed, 0 failed, 1 skipped; 97 s from the .deb to an answered "
                         "tool in C++")
        self.assertEqual(check_long.package_counts(PASSED, ""),
                         "3 tests passed, 0 failed, 1 skipped; no newcomer")
        self.assertEqual(check_long.package_counts({}, log), "did not run to its end")

    def test_kills_are_added_up(self):
        logs = ["kill: 150 kills\nok\n", "", "torture: 9 runs, 12 kills, 3 cuts"]
        self.assertEqual(check_long.kills_in(logs), 162)

    def test_each_test_tells_of_its_kills(self):
        logs = ["kill_tools: 300 kills of runs with a shell, 9 left out a call\nOK\n",
                "vendor torture: 7 runs, 6 kills\nRan 2 tests\n", "no kills\n"]
        self.assertEqual(check_long.kills_told(logs), [
            "kill_tools: 300 kills of runs with a shell, 9 left out a call.",
            "vendor torture: 7 runs, 6 kills."])


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, value in (("LOGS", self.folder / "logs"), ("PAGE", self.folder / "checks.md"),
                            ("ROOT", self.folder)):
            patch = mock.patch.object(check_long, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def run_parts(self, commit: str, *names: str, ok=True) -> tuple[int, str]:
        """The exit code and the page."""
        parts = {name: (name, lambda: Result(ok, "", "", 0, [])) for name in ("one", "two")}
        with mock.patch.object(check_long, "PARTS", parts), \
             mock.patch.object(check_long, "commit", return_value=commit), \
             mock.patch("builtins.print"):
            code = check_long.main(list(names))
        return code, check_long.PAGE.read_text()

    def test_each_row_names_the_commit_of_its_part(self):
        self.run_parts("abc", "one")
        page = self.run_parts("def", "two")[1]
        self.assertEqual([line.split("| ")[-1].split(",")[0] for line in page.splitlines()
                          if "| ok |" in line], ["abc", "def"])

    def test_a_part_that_fails_fails_the_check_and_is_on_the_page(self):
        code, page = self.run_parts("abc", ok=False)
        self.assertEqual((code, page.count("| **failed** |")), (1, 2))

    def test_a_report_is_read_only_if_it_is_of_this_run(self):
        check_long.LOGS.mkdir()
        (check_long.LOGS / "long-x.json").write_text('{"old": 1}')
        self.assertEqual(check_long.call(["true"], "x"), check_long.Ended(True, {}))
        script = self.folder / "program"
        script.write_text("#!/bin/sh\necho '{\"new\": 1}' > $2\nexit 1\n")
        script.chmod(0o755)
        self.assertEqual(check_long.call([str(script)], "x"), check_long.Ended(False, {"new": 1}))


class RunTestsReportTest(unittest.TestCase):
    def test_every_part_is_in_the_report_of_run_tests(self):
        run_tests = load_tool("run_tests")
        with tempfile.TemporaryDirectory() as folder, mock.patch("builtins.print"):
            report = Path(folder) / "report.json"
            with mock.patch.object(run_tests, "check_parts",
                                   return_value=[run_tests.Part("format", ["true"])]), \
                 mock.patch.object(run_tests, "LOGS", Path(folder)):
                run_tests.main(["--report", str(report), "--only", "format"])
            self.assertEqual(json.loads(report.read_text()), {
                "passed": 1, "failed": 0, "skipped": 0,
                "parts": {"format": {"passed": 1, "failed": 0, "skipped": 0}}})


if __name__ == "__main__":
    unittest.main()
