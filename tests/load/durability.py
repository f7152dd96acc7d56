"""Measurements of many runs that wait, are taken over, read again or cancelled."""

import subprocess
import time
from dataclasses import dataclass

from load.scenarios import SCRIPTS, LoadFailed, cpu_seconds, drive, peak_rss_kb, rss_kb
from support.http import Client
from support.script import turn, write_config
from support.server import STOP_SECONDS_MAX, Server

PASSIVE_RUNS = 100_000
UNFINISHED_RUNS = 10_000
LOGGED_EVENTS = 1_000
IN_FLIGHT_RUNS = 500
CLAIMED_RUNS = 100_000
SETTLE_SECONDS = 3  # so long nothing may change
WAIT_SECONDS_MAX = 300

SLOW = {"slow": [turn("at last", delayMs=3_600_000)]}
QUICK = {"slow": [turn("at once")]}
LONG = {"long": [turn(*("word " for _ in range(LOGGED_EVENTS - 2)))]}


def settled(read) -> float:
    """What `read` gives once it no longer changes."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    value, since = read(), time.monotonic()
    while time.monotonic() - since < SETTLE_SECONDS:
        if time.monotonic() > deadline:
            raise LoadFailed("it does not settle")
        time.sleep(0.1)  # paced: memory tells nobody when it changes
        now = read()
        if now != value:
            value, since = now, time.monotonic()
    return value


def wait_for(condition, what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        if time.monotonic() > deadline:
            raise LoadFailed(what)
        time.sleep(0.02)  # paced: how a client waits for many runs


def has_running(client: Client) -> bool:
    return bool(client.request("GET", "/agent-runs?status=running&limit=1").json()["runs"])


def measure_passive() -> float:
    """MB of resident memory of a server with so many runs that wait for their clients."""
    server = Server(SCRIPTS).start()
    try:
        drive(server, "ask", PASSIVE_RUNS, "created")
        return settled(lambda: rss_kb(server.pid)) / 1024
    finally:
        server.kill()
        server.close()


@dataclass(frozen=True)
class RecoveryFigures:
    listening_ms: float  # from before the fork to the ready line
    continued_s: float  # from there until every run has ended


def measure_recovery() -> RecoveryFigures:
    """A server is killed while so many runs wait for the model; the next one has quick answers."""
    server = Server(SLOW).start()
    try:
        drive(server, "slow", UNFINISHED_RUNS, "created")
        server.kill()
        write_config(server.config.parent, QUICK)
        with open(server.errors_path, "ab") as errors:
            begun = time.monotonic()
            process = subprocess.Popen(server.command(), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=errors)
            with process:
                if not process.stdout.readline():
                    raise LoadFailed(server.errors()[-2000:])
                ready = time.monotonic()
                client = server.client()
                wait_for(lambda: not has_running(client), "runs were not continued")
                ended = time.monotonic()
                process.terminate()
                process.wait(STOP_SECONDS_MAX)
        return RecoveryFigures((ready - begun) * 1000, ended - ready)
    finally:
        server.close()


@dataclass(frozen=True)
class ClaimFigures:
    claimed_s: float  # from before the fork until every run is in the hands of the server
    peak_mb: float  # the most memory that the whole process has had until then


def known_runs(client: Client) -> int:
    """The unfinished runs that the server has taken over."""
    text = client.request_at("GET", "/metrics").body.decode()
    return sum(int(line.rpartition(" ")[2]) for line in text.splitlines()
               if line.startswith("errand_runs{"))


def measure_claims(model: str) -> ClaimFigures:
    """A server is killed while a hundred thousand runs wait: most of them for a slot (`slow`), or
    all of them for their clients (`ask`)."""
    limits = {"limits": {"runsInFlightTotal": IN_FLIGHT_RUNS}} if model == "slow" else {}
    server = Server(SLOW | SCRIPTS, limits).start()
    try:
        drive(server, model, CLAIMED_RUNS, "created", in_flight=64)
        server.kill()
        begun = time.monotonic()
        server.start()
        client = server.client()
        wait_for(lambda: known_runs(client) >= CLAIMED_RUNS, "runs were not claimed")
        return ClaimFigures(time.monotonic() - begun, peak_rss_kb(server.pid) / 1024)
    finally:
        server.kill()
        server.close()


def measure_log(readings: int) -> float:
    """ms of server CPU for one reading of a log of so many events from the disk."""
    server = Server(LONG).start()
    try:
        client = server.client()
        run = client.create(prompt="Go.")
        if len(client.log(run)) != LOGGED_EVENTS:
            raise LoadFailed("the log has another length")
        server.stop()
        server.start()
        client.log(run)
        before = cpu_seconds(server.pid)
        for _ in range(readings):
            client.log(run)
        return (cpu_seconds(server.pid) - before) * 1000 / readings
    finally:
        server.kill()
        server.close()


def measure_cancels(cancels: int) -> float:
    """ms from a cancel to the end of its run's stream, at the 99th percentile, with so many runs in
    flight."""
    server = Server(SLOW).start()
    try:
        client = server.client()
        drive(server, "slow", IN_FLIGHT_RUNS, "created")
        times = []
        for _ in range(cancels):
            run = client.create(prompt="Go.")
            with client.stream(run) as stream:
                begun = time.monotonic()
                client.cancel(run)
                while frame := stream.next():
                    last = frame.event
                times.append((time.monotonic() - begun) * 1000)
            if last != "cancelled":
                raise LoadFailed(f"a cancelled run ended with {last}")
        return sorted(times)[int(len(times) * 0.99)]
    finally:
        server.kill()
        server.close()
