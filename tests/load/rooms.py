"""Rooms, beside a relay on Node that is written for this, measured with the same program."""

import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from load.scenarios import LOAD_SECONDS_MAX, LoadFailed, Running, rss_kb
from support.node import INTEROP, NODE, ensure_modules
from support.server import binary, die_with_parent, raise_file_limit

ROOM = "hall"
# Nobody is told of the others: a thousand who are would cost more than what is measured.
API = {"agents": {}, "messaging": {"list": False}}
IDLE = 5000
LISTENERS = 1000
PAIRS = 16  # of hosts and callers at once
TOKENS = 8  # one opens no more than 1,000 connections
RELAY = Path(__file__).resolve().parent / "rooms" / "relay.mjs"


def room_program() -> Path:
    return Path(binary()).with_name("errand_room_load")


@dataclass(frozen=True)
class Place:
    """Where a room is, and the process that serves it."""

    url: str
    tokens: list[str]
    pid: int


@contextmanager
def errand_room() -> Iterator[Place]:
    with Running() as server:
        client = server.client()
        client.request("POST", "/rooms", {"name": ROOM})
        made = [client.request("POST", f"/rooms/{ROOM}/tokens",
                               {"name": f"x{n}", "api": API}).json() for n in range(TOKENS)]
        yield Place(made[0]["url"], [one["token"] for one in made], server.pid)


@contextmanager
def relay_room() -> Iterator[Place]:
    ensure_modules(INTEROP / "rooms")
    raise_file_limit()
    with subprocess.Popen([NODE, RELAY, INTEROP / "rooms" / "package.json"],
                          stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent) as relay:
        try:
            port = int(relay.stdout.readline())
            yield Place(f"ws://127.0.0.1:{port}/rooms/{ROOM}", ["x"], relay.pid)
        finally:
            relay.kill()


def command(place: Place, scenario: str, participants: int, rounds: int) -> list[str]:
    tokens = [word for token in place.tokens for word in ("--token", token)]
    return [str(room_program()), scenario, "--url", place.url, *tokens,
            "--participants", str(participants), "--rounds", str(rounds)]


def drive(place: Place, scenario: str, participants: int, rounds: int) -> dict:
    done = subprocess.run(command(place, scenario, participants, rounds), capture_output=True,
                          timeout=LOAD_SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise LoadFailed(done.stderr.decode())
    return json.loads(done.stdout)


def measure_idle(place: Place) -> float:
    """KB of resident memory for each participant that only listens."""
    drive(place, "calls", PAIRS, 100)  # what is taken once does not count
    before = rss_kb(place.pid)
    with subprocess.Popen(command(place, "idle", IDLE, 1), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as load:
        try:
            joined = json.loads(load.stdout.readline() or b"{}").get("participants")
            with_them = rss_kb(place.pid)
            load.communicate(b"\n", LOAD_SECONDS_MAX)
        except BaseException:
            load.kill()
            raise
    if joined != IDLE or load.returncode != 0:
        raise LoadFailed(f"{joined} participants joined")
    return (with_them - before) / IDLE


@dataclass(frozen=True)
class RoomFigures:
    idle_kb: float
    call_p50_ms: float
    call_p99_ms: float
    calls_per_second: float
    last_p50_ms: float  # until the last one of many has a message
    last_max_ms: float


def measure_room(open_room, rounds: int) -> RoomFigures:
    """All figures of one repetition, on a room of its own."""
    with open_room() as place:
        drive(place, "calls", 1, rounds // 4)  # warm
        one = drive(place, "calls", 1, rounds)
        many = drive(place, "calls", PAIRS, rounds)
        said = drive(place, "broadcast", LISTENERS, max(20, rounds // 50))
    with open_room() as place:
        idle_kb = measure_idle(place)
    return RoomFigures(idle_kb, one["p50Ms"], one["p99Ms"], many["callsPerSecond"],
                       said["p50Ms"], said["maxMs"])
