"""What a run notices of another workspace that wants everything."""

import statistics
import time
from dataclasses import dataclass

from load.scenarios import LoadFailed
from support.http import Client
from support.script import turn
from support.server import Server

WAITING_RUNS = 1000
RUNS = 20
SCRIPTS = {"slow": [turn(*("word " for _ in range(10)), delayMs=20, deltaDelayMs=20)]}
GREEDY_KEY, MODEST_KEY = "mantyx_" + "a" * 64, "mantyx_" + "b" * 64
CONFIG = {"workspaces": [{"slug": "greedy", "apiKeys": [GREEDY_KEY]},
                         {"slug": "modest", "apiKeys": [MODEST_KEY]}],
          "limits": {"runsInFlightTotal": 16}}


@dataclass(frozen=True)
class FairnessFigures:
    alone_ms: float  # latency of a run
    beside: float  # the same beside a thousand runs of another workspace, in multiples of it


def latency_ms(client: Client) -> float:
    """The median over several runs, one after the other."""
    times = []
    for _ in range(RUNS):
        begun = time.monotonic()
        client.log(client.create(prompt="Go."))
        times.append((time.monotonic() - begun) * 1000)
    return statistics.median(times)


def measure_fairness() -> FairnessFigures:
    server = Server(SCRIPTS, CONFIG).start()
    try:
        modest = Client(server.url, MODEST_KEY, "modest")
        greedy = Client(server.url, GREEDY_KEY, "greedy")
        alone = latency_ms(modest)
        for _ in range(WAITING_RUNS):
            greedy.create(prompt="Go.")
        beside = latency_ms(modest)
        queued = greedy.request("GET", "/agent-runs?status=queued&limit=1").json()["runs"]
        if not queued:
            raise LoadFailed("the other workspace had too few runs")
        return FairnessFigures(alone, beside / alone)
    finally:
        server.kill()
        server.close()
