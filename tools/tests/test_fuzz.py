import tempfile
import unittest
from pathlib import Path

from loading import load_tool

fuzz = load_tool("fuzz")
LOG = """#2 INITED cov: 10 ft: 11 corp: 1/1b exec/s: 0 rss: 60Mb
Done 1234 runs in 2 second(s)
stat::number_of_executed_units: 1234
stat::average_exec_per_sec:     617
"""


class FuzzTest(unittest.TestCase):
    def test_the_inputs_of_a_target_are_counted(self):
        outcome = fuzz.outcome_of("a_fuzz", 0, LOG)
        self.assertEqual((outcome.executed, outcome.ok), (1234, True))
        self.assertEqual(outcome.line().split(), ["ok", "a_fuzz", "1234", "inputs"])

    def test_a_target_fails_by_its_exit_code_and_keeps_its_count(self):
        outcome = fuzz.outcome_of("a_fuzz", 77, LOG)
        self.assertEqual((outcome.executed, outcome.ok), (1234, False))

    def test_a_target_that_ran_nothing_has_failed(self):
        self.assertFalse(fuzz.outcome_of("a_fuzz", 0, "").ok)

    def test_the_report_names_what_failed(self):
        outcomes = [fuzz.outcome_of("a_fuzz", 0, LOG), fuzz.outcome_of("b_fuzz", 77, LOG)]
        self.assertEqual(fuzz.report(outcomes, 60), {
            "seconds": 60, "executed": {"a_fuzz": 1234, "b_fuzz": 1234}, "failed": ["b_fuzz"]})

    def test_every_file_is_a_target(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file in ("b_fuzz.cpp", "a_fuzz.cpp", "shared.hpp"):
                (folder / file).touch()
            self.assertEqual(fuzz.target_names(folder, []), ["a_fuzz", "b_fuzz"])
            self.assertEqual(fuzz.target_names(folder, ["b"]), ["b_fuzz"])


if __name__ == "__main__":
    unittest.main()
