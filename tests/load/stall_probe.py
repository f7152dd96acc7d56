"""What is noticed of an attack: when /healthz and neighbours answer, the tasks of the loop, and the
memory."""

import multiprocessing
import re
import socket
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Callable

from load.scenarios import LoadFailed
from support.peers.neighbours import ANSWER, call_between, register
from support.peers.room_peer import RoomPeer
from support.server import Server

PROBE_SECONDS = 0.002  # between two requests


@dataclass(frozen=True)
class Latency:
    p99_ms: float
    longest_ms: float

    @staticmethod
    def of(took: list[float]) -> "Latency":
        took = sorted(took)
        return Latency(took[int(len(took) * 0.99)], took[-1])


@dataclass(frozen=True)
class StallFigures:
    task_ms: float  # CPU of the longest task on the event loop; 0: none took a millisecond
    healthz: Latency
    calls: Latency | None  # of neighbours in an attacked room
    peak_mb: float  # of resident memory


class Prober:
    """A process of its own, which measures until it is told to stop."""

    def __init__(self, measure: Callable[..., None], *given):
        context = multiprocessing.get_context("fork")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=measure, args=(*given, there))
        self.process.start()
        there.close()  # so that its end is noticed here

    def stop(self) -> Latency:
        self.pipe.send("stop")
        took = self.pipe.recv()
        self.process.join()
        return Latency.of(took)


def probe_calls(url: str, room: str, host_token: str, caller_token: str, out: Connection) -> None:
    """A host and a caller in a room call each other, as `probe` asks /healthz."""
    took = []
    with RoomPeer(url, room, host_token) as host, RoomPeer(url, room, caller_token) as caller:
        register(host.ready())
        caller.ready()
        while not out.poll(PROBE_SECONDS):
            begun = time.monotonic()
            if call_between(host, caller) != ANSWER:
                raise LoadFailed("a call of neighbours was refused")
            took.append((time.monotonic() - begun) * 1000)
    out.send(took)


def probe(port: int, out: Connection) -> None:
    """Asks /healthz again and again until told to stop, then sends what each answer took."""
    request = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    took = []
    with socket.create_connection(("127.0.0.1", port)) as peer:
        while not out.poll(PROBE_SECONDS):
            begun = time.monotonic()
            peer.sendall(request)
            answer = b""
            while b"\r\n\r\n" not in answer or not answer.rstrip().endswith(b"}"):
                piece = peer.recv(65536)
                if not piece:
                    raise LoadFailed("/healthz was cut off")
                answer += piece
            took.append((time.monotonic() - begun) * 1000)
    out.send(took)


@dataclass(frozen=True)
class LoopFigures:
    """What /metrics says of the tasks on the event loop."""

    longest_ms: float  # since the start
    counts: dict[float, int]  # of tasks up to so many milliseconds, each with all that are shorter

    @staticmethod
    def read(server: Server) -> "LoopFigures":
        text = server.client().request_at("GET", "/metrics").body.decode()
        longest = re.search(r"^errand_loop_longest_task_cpu_seconds (\S+)$", text, re.MULTILINE)
        counts = re.findall(r'^errand_loop_task_cpu_seconds_bucket{le="(.+)"} (\d+)$', text,
                            re.MULTILINE)
        return LoopFigures(float(longest[1]) * 1000,
                           {float(le) * 1000: int(count) for le, count in counts})

    def longest_since(self, before: "LoopFigures") -> float:
        """Exact if it is the longest of all; else the upper bound of its bucket."""
        if self.longest_ms > before.longest_ms:
            return self.longest_ms
        since = {bound: count - before.counts[bound] for bound, count in self.counts.items()}
        tasks = max(since.values())
        if tasks == 0:
            return 0.0
        return min(bound for bound, count in since.items() if count == tasks)


def peak_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise LoadFailed("no VmHWM")
