import json
import tempfile
import unittest
from pathlib import Path

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


class ChosenTest(unittest.TestCase):
    def test_parts_are_chosen_by_any_piece_of_their_name(self):
        parts = [run_tests.Part(name, []) for name in ("net_test", "wire/test_a", "fault/test_b")]
        names = [part.name for part in run_tests.chosen(parts, ["net", "wire"])]
        self.assertEqual(names, ["net_test", "wire/test_a"])
        self.assertEqual(run_tests.chosen(parts, []), parts)


if __name__ == "__main__":
    unittest.main()
