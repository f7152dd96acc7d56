"""Two builds are measured in turn, and each row is judged by what it may lose."""

import io
import os
import unittest
from contextlib import redirect_stderr
from pathlib import Path

from load.attempts import attempt
from load.compare import measure_in_turn
from load.report import Row
from load.scenarios import LoadFailed

BEFORE, AFTER = Path("/builds/before"), Path("/builds/after")
FIGURES = {BEFORE: {"cpu": 1.0, "rate": 100.0, "late": 1.0},
           AFTER: {"cpu": 1.06, "rate": 86.0, "late": 9.0}}


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.environ.update, {"ERRAND_BINARY": os.environ.get("ERRAND_BINARY", "")})
        self.order: list[str] = []

    def measure(self) -> list[Row]:
        binary = Path(os.environ["ERRAND_BINARY"])
        self.order.append(binary.name)
        figures = FIGURES[binary]
        return [Row("Run: server CPU", "ms", [figures["cpu"]], 2),
                Row("Run: rate", "runs/s", [figures["rate"]], 0),
                Row("Run: latency", "ms", [figures["late"]], 0)]

    def test_each_round_measures_both_and_turns_their_order(self):
        measure_in_turn(self.measure, BEFORE, AFTER, rounds=2)
        self.assertEqual(self.order, ["before", "after", "after", "before"])

    def test_cpu_may_lose_five_percent_a_rate_fifteen_and_a_latency_anything(self):
        changes = measure_in_turn(self.measure, BEFORE, AFTER, rounds=1)
        self.assertEqual([one.cells()[3:] for one in changes], [
            ["+6.0 %", "at most 5 % worse", "missed"],
            ["+14.0 %", "at most 15 % worse", "met"],
            ["+800.0 %", "", ""]])

    def test_what_the_other_build_cannot_do_is_tried_once_and_has_no_verdict(self):
        def play() -> list[float]:
            self.order.append(Path(os.environ["ERRAND_BINARY"]).name)
            if self.order[-1] == "before":
                raise LoadFailed("unknown setting")
            return [2.0]

        with redirect_stderr(io.StringIO()) as said:
            changes = measure_in_turn(
                lambda: [Row("New: server CPU", "ms", attempt("new runs", play), 1)], BEFORE,
                AFTER, rounds=2)
        self.assertEqual(said.getvalue(), "bench: /builds/before gives no figures for new runs: "
                                          "unknown setting\n")
        self.assertEqual(changes[0].cells(),
                         ["New: server CPU", "not measured", "2.0 ms", "", "", ""])
        self.assertEqual(self.order, ["before", "after", "after"])

    def test_what_our_own_build_cannot_do_ends_the_benchmark(self):
        def play() -> list[float]:
            if Path(os.environ["ERRAND_BINARY"]) == AFTER:
                raise LoadFailed("broken")
            return [2.0]

        with self.assertRaisesRegex(LoadFailed, "broken"):
            measure_in_turn(lambda: [Row("Run: rate", "runs/s", attempt("old runs", play), 0)],
                            BEFORE, AFTER, rounds=1)

    def test_a_row_without_values_says_why_and_has_no_verdict(self):
        row = Row("To Node", "times", [], 2, 0.4, missing="not measured: no node")
        self.assertEqual(row.cells(),
                         ["To Node", "not measured: no node", "", "at most 0.4 times", ""])


if __name__ == "__main__":
    unittest.main()
