"""Two builds are measured in turn, and each row is judged by what it may lose."""

import os
import unittest
from pathlib import Path

from load.compare import measure_in_turn
from load.report import Row

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


if __name__ == "__main__":
    unittest.main()
