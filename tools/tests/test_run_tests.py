import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from loading import load_tool

run_tests = load_tool("run_tests")


class CountTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report = Path(folder.name) / "report.json"

    def part(self, count):
        part = run_tests.Part("some_test", ["true"], count)
        part.report = lambda: self.report
        return part

    def test_each_googletest_case_counts(self):
        cases = [{"status": "RUN", "result": "COMPLETED"},
                 {"status": "RUN", "result": "COMPLETED", "failures": [{"failure": "no"}]},
                 {"status": "RUN", "result": "SKIPPED"},
                 {"status": "NOTRUN", "result": "SUPPRESSED"}]
        self.report.write_text(json.dumps({"testsuites": [{"testsuite": cases}]}))
        self.assertEqual(run_tests.count_gtest(self.report), run_tests.Counts(1, 1, 1))

    def test_a_check_is_one_test_by_its_exit_code(self):
        self.assertEqual(run_tests.count_part(self.part(None), 0), run_tests.Counts(passed=1))
        self.assertEqual(run_tests.count_part(self.part(None), 1), run_tests.Counts(failed=1))

    def test_a_program_that_crashes_is_one_failure_more_than_it_reported(self):
        part = self.part(run_tests.count_python)
        self.assertEqual(run_tests.count_part(part, -11), run_tests.Counts(failed=1))
        self.report.write_text('{"passed": 3, "failed": 0, "skipped": 0}')
        self.assertEqual(run_tests.count_part(part, -11), run_tests.Counts(3, 1, 0))

    def test_a_program_that_runs_nothing_has_failed(self):
        part = self.part(run_tests.count_python)
        self.report.write_text('{"passed": 0, "failed": 0, "skipped": 0}')
        self.assertEqual(run_tests.count_part(part, 0), run_tests.Counts(failed=1))


BUILD_LOG = """ninja: Entering directory `build/asan'
[0/1] Re-checking globbed directories...
[1/3] Building CXX object a.o
[2/3] Building CXX object b.o
FAILED: b.o
clang++-19 -c b.cpp
b.cpp:1:1: error: no
ninja: build stopped: subcommand failed.
"""


class ProgressTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def lines_of(self, script: str, progress) -> list[str]:
        """What is printed while a part runs whose progress is asked for very often."""
        part = run_tests.Part("build", ["sh", "-c", script], progress=progress,
                              shows_progress=True, seconds_max=20)
        printed = io.StringIO()
        with mock.patch.object(run_tests, "LOGS", self.folder), \
             mock.patch.object(run_tests, "PROGRESS_SECONDS", 0.01), \
             contextlib.redirect_stdout(printed):
            run_tests.run_part(part, run_tests.Processes())
        return printed.getvalue().splitlines()

    def test_a_build_says_how_far_it_is_where_there_is_no_terminal(self):
        # The script goes on once its progress was asked for after its first line.
        asked = self.folder / "asked"

        def progress(log: str) -> str:
            told = run_tests.build_progress(log)
            if "of" in told:
                asked.touch()
            return told

        lines = self.lines_of(
            f"echo '[120/640] Building a.o'; while [ ! -e {asked} ]; do :; done", progress)
        self.assertRegex(lines[-2], r"^building: 120 of 640, \d+ s$")
        self.assertRegex(lines[-1], r"^ok +build +1 passed")

    def test_a_part_without_progress_is_one_line(self):
        self.assertEqual(len(self.lines_of("sleep 0.1", None)), 1)

    def test_progress_is_the_last_step_that_ninja_told_of(self):
        self.assertEqual(run_tests.build_progress(BUILD_LOG), "building: 2 of 3")
        self.assertEqual(run_tests.build_progress("[0/1] Re-checking\n"), "building")

    def test_progress_of_clang_tidy_is_its_own(self):
        self.assertEqual(run_tests.tidy_progress("tidy: 5 of 18, 1 min\ntidy: 9 of 18, 2 min\n"),
                         "tidy: 9 of 18")
        self.assertEqual(run_tests.tidy_progress(""), "tidy")

    def test_time_is_told_in_seconds_and_then_in_minutes(self):
        self.assertEqual([run_tests.duration(seconds) for seconds in (30.2, 119)],
                         ["30 s", "2 min"])

    def test_a_build_that_fails_shows_what_the_compiler_said(self):
        part = run_tests.Part("build", [], progress=run_tests.build_progress)
        self.assertEqual(run_tests.what_failed(part, BUILD_LOG), (
            "FAILED: b.o\nclang++-19 -c b.cpp\nb.cpp:1:1: error: no\n"
            "ninja: build stopped: subcommand failed.\n"))

    def test_a_part_that_takes_too_long_is_ended(self):
        part = run_tests.Part("slow", ["sleep", "60"], seconds_max=0.1)
        self.assertEqual(run_tests.describe_end(run_tests.Processes().run(part, None)),
                         "took too long")


class ChosenTest(unittest.TestCase):
    def test_parts_are_chosen_by_any_piece_of_their_name(self):
        parts = [run_tests.Part(name, []) for name in ("net_test", "wire/test_a", "fault/test_b")]
        names = [part.name for part in run_tests.chosen(parts, ["net", "wire"])]
        self.assertEqual(names, ["net_test", "wire/test_a"])
        self.assertEqual(run_tests.chosen(parts, []), parts)


class ProcessPartsTest(unittest.TestCase):
    def test_every_test_file_has_a_part(self):
        tests = run_tests.ROOT / "tests"
        # Those of packages and of real models belong to `./dev check --long`.
        others = {"package", "llama", "load"}
        files = [path.relative_to(tests) for path in tests.rglob("test_*.py")]
        expected = {str(path.with_suffix("")) for path in files
                    if not (others | {"node_modules"}) & set(path.parts)}
        self.assertEqual({part.name for part in run_tests.process_parts("asan")}, expected)

    def test_the_release_is_built_once_before_the_parts_that_build_it(self):
        started = []
        session = run_tests.Session(1)
        with mock.patch.object(run_tests.Session, "run",
                               lambda _, parts: started.extend(part.command for part in parts)):
            session.build_release([run_tests.Part("cli/test_cli", [])])
            self.assertEqual(started, [])
            session.build_release([part for part in run_tests.process_parts("asan")
                                   if part.name in ("docs/test_clean_clone", "sdk/test_kill")])
        self.assertEqual(started, [["./dev", "build", "release", "errand", "errand_archive"]])


class TortureTest(unittest.TestCase):
    def seconds_max(self, times: int) -> dict[str, int]:
        with mock.patch.object(run_tests, "TORTURE", times):
            parts = run_tests.process_parts("asan")
        return {part.name: part.seconds_max for part in parts}

    def test_more_kills_have_more_time(self):
        usual = self.seconds_max(1)
        self.assertEqual(usual["fault/test_kill"], run_tests.PART_SECONDS_MAX)
        longer = self.seconds_max(3)
        self.assertEqual(longer["fault/test_kill"], 3 * run_tests.PART_SECONDS_MAX)
        self.assertEqual(longer["cli/test_cli"], usual["cli/test_cli"])
        self.assertEqual(self.seconds_max(1000)["fault/test_kill"], run_tests.BUILD_SECONDS_MAX)


if __name__ == "__main__":
    unittest.main()
