"""Measurements on a store of a million runs that have ended, and of many sessions."""

import sqlite3
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from load.durability import wait_for
from load.scenarios import SCRIPTS as ASKED, WORDS, LoadFailed, drive, load_command, time_start
from support.http import Connection, request_bytes
from support.script import turn, write_config
from support.server import Server, binary

RUNS = 1_000_000
FILL_SECONDS_MAX = 1800
LIST_REQUESTS = 1000
STARTS = 5
OFFERED_PER_SECOND = 2000
RETENTION_SECONDS = 10
KEEP_MS = 86_400_000  # what errand_fill makes is older
SCRIPTS = {"talk": [turn(*WORDS)], "fails": [{"error": {"status": 400, "code": "no",
                                                        "message": "no"}}],
           "slow": [turn("at last", delayMs=3_600_000)], "ask": ASKED["ask"]}
WAITING_RUNS = 10_000  # for their clients, while lists are asked for
# Common, rare and absent ones, the way that lists are asked for.
FILTERS = ("status=succeeded", "status=failed", "status=running", "metadata=team:care",
           "metadata=customer:c7", "metadata=customer:nobody", "metadata=team:care&status=failed")
# errand_fill makes sessions in the past, those of the templates are new.
SESSION_FILTERS = ("status=active", "metadata=team:care", "metadata=customer:c7",
                   "metadata=customer:nobody", "metadata=team:care&status=ended",
                   "createdBefore={day_ago}", "createdAfter={day_ago}&status=active")
SESSIONS_SHARE = 10  # one session for so many runs


def fill_program() -> Path:
    return Path(binary()).with_name("errand_fill")


def database(server: Server) -> Path:
    found = list(server.data.glob("*.db"))
    if len(found) != 1:
        raise LoadFailed(f"no database in {server.data}")
    return found[0]


def make_templates(server: Server) -> None:
    """Fifty runs that have ended, one of which has failed: all of a team, each of a customer. The
    same number of sessions."""
    client = server.client()
    for number in range(50):
        model = "fails" if number == 0 else "talk"
        client.log(client.create(prompt="Go.", modelId=model,
                                 metadata={"team": "care", "customer": f"c{number}"}))
        client.request("POST", "/agent-sessions",
                       {"metadata": {"team": "care", "customer": f"c{number}"}})


def filled_server(runs: int) -> Server:
    """A server that has stopped, with so many runs in its store."""
    server = Server(SCRIPTS)
    try:
        server.start()
        make_templates(server)
        server.stop()
        subprocess.run([str(fill_program()), str(database(server)), str(runs),
                        str(runs // SESSIONS_SHARE)], check=True, stdout=subprocess.DEVNULL,
                       timeout=FILL_SECONDS_MAX)
    except BaseException:
        server.kill()
        server.close()
        raise
    return server


@dataclass(frozen=True)
class MillionFigures:
    listening_ms: list[float]  # from before the fork to the ready line
    list_p99_ms: list[float]  # of each filter
    session_list_p99_ms: list[float]
    removed_per_second: float
    created_per_second: float  # meanwhile


def day_ago() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86_400))


def list_p99_ms(server: Server, what: str, query: str) -> float:
    """Of pages of 50, the first one and, half of the time, the one behind it."""
    client = server.client()
    times = []
    cursor = ""
    with Connection(client.address) as connection:
        for _ in range(LIST_REQUESTS):
            path = client.path(f"/{what}?limit=50&{query}" + (f"&cursor={cursor}" if cursor
                                                              else ""))
            request = request_bytes("GET", path, client.headers(), None)
            begun = time.monotonic()
            connection.send(request)
            answer = connection.receive_response()
            times.append((time.monotonic() - begun) * 1000)
            if answer.status != 200:
                raise LoadFailed(f"{query}: {answer.body[:500]}")
            cursor = "" if cursor else answer.json()["nextCursor"] or ""
    return sorted(times)[int(len(times) * 0.99)]


def count_runs(server: Server) -> int:
    with sqlite3.connect(f"file:{database(server)}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT count(*) FROM runs").fetchone()[0]


def measure_retention(server: Server) -> tuple[float, float]:
    """How many old runs retention removes a second while as many new ones are offered, and how many
    new ones there are."""
    write_config(server.config.parent, SCRIPTS, {"limits": {"keepRunsMs": KEEP_MS}})
    server.start()
    first = count_runs(server)
    # It begins a minute after the start.
    wait_for(lambda: count_runs(server) < first, "retention does not begin")
    offered = OFFERED_PER_SECOND * (RETENTION_SECONDS + 5)
    load = subprocess.Popen([*load_command(server, "created", "talk", offered), "--per-second",
                             str(OFFERED_PER_SECOND)], stdout=subprocess.DEVNULL)
    try:
        time.sleep(1)  # paced: the rate is reached
        before, begun = runs_by_age(server), time.monotonic()
        time.sleep(RETENTION_SECONDS)  # paced: what is measured
        after, ended = runs_by_age(server), time.monotonic()
        if load.poll() is not None:
            raise LoadFailed("the offered runs came to their end too early")
    finally:
        load.kill()
        load.wait()
    taken = ended - begun
    return (before.old - after.old) / taken, (after.new - before.new) / taken


@dataclass(frozen=True)
class RunsByAge:
    old: int  # those that errand_fill made: two days old by their own word
    new: int


def runs_by_age(server: Server) -> RunsByAge:
    with sqlite3.connect(f"file:{database(server)}?mode=ro", uri=True) as connection:
        yesterday = (time.time() - 86_400) * 1000
        old, everything = connection.execute(
            "SELECT count(*) FILTER (WHERE created_at < ?), count(*) FROM runs",
            (yesterday,)).fetchone()
        return RunsByAge(old, everything - old)


def measure_million(runs: int = RUNS) -> MillionFigures:
    server = filled_server(runs)
    try:
        starts = [time_start(server).millis for _ in range(STARTS)]
        server.start()
        drive(server, "talk", 1000)
        drive(server, "ask", WAITING_RUNS, "created")
        lists = [list_p99_ms(server, "agent-runs", query) for query in FILTERS]
        sessions = [list_p99_ms(server, "agent-sessions", query.format(day_ago=day_ago()))
                    for query in SESSION_FILTERS]
        server.stop()
        return MillionFigures(starts, lists, sessions, *measure_retention(server))
    finally:
        server.kill()
        server.close()
