"""Everything at once for a long time: what a server holds must not grow.

Clients create runs, answer, cut their streams, cancel, poll for calls and fork; the server is
killed in the first quarter and at the end. From the first quarter on its memory is watched, and
its descriptors are counted whenever everybody rests. ERRAND_SOAK_SECONDS is how long it takes; a
short soak judges everything but memory, which needs minutes to settle.
"""

import contextlib
import itertools
import os
import random
import statistics
import threading
import time
from pathlib import Path
from typing import Callable

from support.http import Client, Refused
from support.script import local_tool, turn
from support.server import Server, ServerCase

SECONDS = float(os.environ.get("ERRAND_SOAK_SECONDS", "8"))
SEED = int(os.environ.get("ERRAND_SEED", "1"))
JUDGED_SECONDS_MIN = 600  # a shorter soak says nothing about memory
GROWTH_MAX = 0.02
KILLS = 4
SAMPLE_SECONDS = 0.5
PAUSE_SECONDS = 0.02  # of a client between two rounds
REST_SECONDS_MAX = 30
SOCKETS_AT_REST_MAX = 2  # the listener, and what asked last

SCRIPTS = {
    "answered": [turn("Look.", calls=[("fetch", {"n": 1})]), turn(*["word "] * 20)],
    "polled": [turn(calls=[("poll", {})]), turn("Done.")],
    "talk": [turn(*["word "] * 50, deltaDelayMs=2)],
}


def answered(client: Client, _: random.Random) -> None:
    run = client.create(prompt="Go.", modelId="answered", tools=[local_tool("fetch")])
    with client.stream(run) as stream:
        frames = stream.until("local_tool_call")
        client.answer(run, frames[-1].json()["toolUseId"], result="x" * 2000)
        list(stream)
    client.snapshot(run)


def cut(client: Client, chance: random.Random) -> None:
    run = client.create(prompt="Go.", modelId="talk")
    with client.stream(run) as stream:
        for _ in range(chance.randint(1, 10)):
            stream.next()
    if chance.random() < 0.5:
        client.cancel(run)


def polled(client: Client, chance: random.Random) -> None:
    client.create(prompt="Go.", modelId="polled", tools=[local_tool("poll")])
    calls = client.request("GET", "/tool-calls?wait=1&name=poll&limit=5").json()["toolCalls"]
    for call in calls[:chance.randint(1, 5)]:
        claim = client.request("POST", f"/tool-calls/{call['toolUseId']}/claim", {"ttlMs": 1000})
        if claim.status == 200:
            client.answer(call["runId"], call["toolUseId"], result="ok",
                          claimId=claim.json()["claimId"])


def forked(client: Client, _: random.Random) -> None:
    run = client.create(prompt="Go.", modelId="talk")
    with client.stream(run) as stream:
        list(stream)
    fork = client.request("POST", f"/agent-runs/{run}/fork", {})
    if fork.status == 201:
        with client.stream(fork.json()["runId"]) as stream:
            list(stream)


class Crowd:
    """Clients that go round and round, and rest when they are told to."""

    ROUNDS = (answered, answered, cut, cut, polled, polled, forked)

    def __init__(self, client: Callable[[], Client]):
        self.client = client
        self.may_go = threading.Event()
        self.is_over = False
        self.busy = 0
        self.rounds = 0
        self.changed = threading.Condition()
        self.threads = [threading.Thread(target=self.go_round, args=(number, one), daemon=True)
                        for number, one in enumerate(self.ROUNDS)]
        for thread in self.threads:
            thread.start()

    def go_round(self, number: int, one: Callable[[Client, random.Random], None]) -> None:
        chance = random.Random(SEED * 1000 + number)
        while self.may_go.wait() and not self.is_over:
            with self.changed:
                self.busy += 1
            try:
                one(self.client(), chance)
            except (ConnectionError, TimeoutError, Refused):
                pass  # the server was killed, or is not back yet
            with self.changed:
                self.busy -= 1
                self.rounds += 1
                self.changed.notify_all()
            time.sleep(PAUSE_SECONDS)  # paced: so that a soak does not fill the disk

    def rest(self) -> None:
        self.may_go.clear()
        with self.changed:
            assert self.changed.wait_for(lambda: self.busy == 0, REST_SECONDS_MAX)

    def end(self) -> None:
        self.is_over = True
        self.may_go.set()
        for thread in self.threads:
            thread.join(REST_SECONDS_MAX)


def rss_kb(server: Server) -> int:
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def descriptors(server: Server) -> list[str]:
    folder = Path(f"/proc/{server.pid}/fd")
    held = []
    for one in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            held.append(os.readlink(one))
    return sorted(held)


class SoakTest(ServerCase):
    def descriptors_at_rest(self, crowd: Crowd, server: Server) -> list[str]:
        """What they lead to, when neither clients nor their runs hold any."""
        crowd.rest()
        # A run whose call nobody has asked for waits for minutes.
        for run in server.client().request("GET", "/agent-runs?status=running").json()["runs"]:
            server.client().cancel(run["runId"])
            server.client().log(run["runId"])  # comes to its end with the run
        # The server hears of a connection that its client has closed soon, but not at once.
        until = time.monotonic() + REST_SECONDS_MAX
        while True:
            held = descriptors(server)
            sockets = [one for one in held if one.startswith("socket:")]
            if len(sockets) <= SOCKETS_AT_REST_MAX or time.monotonic() > until:
                return held
            time.sleep(0.05)  # paced: the kernel tells nobody that it has closed a descriptor

    def sample(self, crowd: Crowd, server: Server, until: float) -> list[int]:
        crowd.may_go.set()
        samples = [rss_kb(server)]
        while time.monotonic() < until:
            time.sleep(SAMPLE_SECONDS)  # paced: how memory goes over time
            samples.append(rss_kb(server))
        return samples

    def kill_for_a_while(self, crowd: Crowd, server: Server, until: float) -> None:
        crowd.may_go.set()
        chance = random.Random(SEED)
        for number in itertools.count():
            left = until - time.monotonic()
            if left <= 0 or number == KILLS:
                break
            time.sleep(left * chance.uniform(0.3, 0.9) / (KILLS - number))  # paced: moments
            server.kill()
            server.start()
        self.sample(crowd, server, until)

    def test_nothing_grows(self):
        server = self.start_server(SCRIPTS)
        begun = time.monotonic()
        crowd = Crowd(server.client)
        try:
            self.kill_for_a_while(crowd, server, begun + SECONDS / 4)
            before = self.descriptors_at_rest(crowd, server)
            samples = self.sample(crowd, server, begun + SECONDS)
            after = self.descriptors_at_rest(crowd, server)
        finally:
            crowd.end()
        window = max(1, len(samples) // 15)
        first, last = (statistics.median(part) for part in (samples[:window], samples[-window:]))
        growth = last / first - 1
        print(f"soak: {crowd.rounds} rounds in {SECONDS:.0f} s, {KILLS + 1} kills, memory "
              f"{first / 1024:.1f} to {last / 1024:.1f} MB ({growth:+.1%}), descriptors "
              f"{len(before)} to {len(after)}")
        self.assertGreater(crowd.rounds, len(Crowd.ROUNDS))
        # The store's readers come and go by a few.
        self.assertLessEqual(len(after), len(before) + 3, f"{before}, then {after}")
        if SECONDS >= JUDGED_SECONDS_MIN:
            self.assertLess(growth, GROWTH_MAX)
        server.kill()
        server.start()
        self.check_data(server)


if __name__ == "__main__":
    import unittest

    unittest.main()
