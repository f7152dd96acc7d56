"""Two builds of the server measured in turn, so that the hour of the machine counts for neither."""

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from contextlib import nullcontext
from pathlib import Path

from load.attempts import other_build
from load.report import Row

CPU_AND_MEMORY_PERCENT = 5
RATE_PERCENT = 15


@dataclass(frozen=True)
class Change:
    """One row of both builds, and by how much the new one may be worse. There is no verdict if only
    one of them has values."""

    name: str
    unit: str
    digits: int
    before: list[float]
    after: list[float]
    percent_max: int | None  # None: for information

    def worse_percent(self) -> float:
        before, after = statistics.median(self.before), statistics.median(self.after)
        if before == 0:
            return 0.0
        change = (after - before) / before * 100
        return -change if self.unit.endswith("/s") else change

    def shown(self, values: list[float]) -> str:
        if not values:
            return "not measured"
        return f"{statistics.median(values):,.{self.digits}f} {self.unit}"

    def cells(self) -> list[str]:
        before, after = self.shown(self.before), self.shown(self.after)
        if not self.before or not self.after:
            return [self.name, before, after, "", "", ""]
        verdict = ""
        if self.percent_max is not None:
            verdict = "met" if self.worse_percent() <= self.percent_max else "missed"
        allowed = "" if self.percent_max is None else f"at most {self.percent_max} % worse"
        return [self.name, before, after, f"{self.worse_percent():+.1f} %", allowed, verdict]


def percent_max(row: Row) -> int | None:
    if row.unit.endswith("/s"):
        return RATE_PERCENT
    if "CPU" in row.name or "memory" in row.name.lower() or row.unit in ("KB", "MB"):
        return CPU_AND_MEMORY_PERCENT
    return None


def measure_in_turn(measure: Callable[[], list[Row]], before: Path, after: Path,
                    rounds: int) -> list[Change]:
    """Rows with the same name and place are compared; each round measures both builds. Rows that
    `before` cannot give have no values."""
    found: dict[Path, list[list[Row]]] = {before: [], after: []}
    for number in range(rounds):
        # The one that comes second finds a warmer machine.
        for binary in (before, after) if number % 2 == 0 else (after, before):
            os.environ["ERRAND_BINARY"] = str(binary)
            with other_build() if binary == before else nullcontext():
                found[binary].append(measure())
    os.environ["ERRAND_BINARY"] = str(after)
    changes = []
    for place, row in enumerate(found[after][0]):
        values = {binary: [one for rows in found[binary] for one in rows[place].values]
                  for binary in (before, after)}
        changes.append(Change(row.name, row.unit, row.digits, values[before], values[after],
                              percent_max(row)))
    return changes
