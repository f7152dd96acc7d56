#!/usr/bin/env python3
"""Measures the release build of the server.

Usage: tests/load/bench.py [GROUP...] [--quick] [--save] [--mock PROGRAM] [--root DIR]
       tests/load/bench.py --against BINARY [--rounds N] [GROUP...] [--quick] [--root DIR]

Starts the server named by ERRAND_BINARY (build/bin/errand without it) on temporary data directories
with scripted models, drives it with the errand_load beside it, and prints a table: the median of
several repetitions, the smallest and the largest, the target, and whether it is met. Timings are
never a test: the exit code is 0 whatever they are.

The groups are runs, durability, million, sessions, tenants, vendors, sdk, mcp, rooms, parts and
stalls; without names all but stalls are measured.

--quick   fewer repetitions, each shorter, and smaller stores
--save    writes docs/bench.md: the tables of the groups that were measured; stalls have a page of
          their own, docs/stalls.md
--against  another build of the server: both are measured in turn, in N rounds (5), and each row
           says how much worse this one is. CPU and memory may be 5 % worse, rates 15 %. Without
           names the groups are runs and vendors. Both get the same load and the same vendor. What
           an older build cannot do is not measured; what errand_micro says is, if BINARY has one
           beside it, too
--mock    the vendor of models behind HTTP, instead of `errand fake-model`: a program that takes
          --port, speaks as OpenAI's chat completions do, and says what the name of its model asks
          for, such as mock-tools-5-deltas-20
--root    where data directories are made (default: build/, because /tmp may not be a disk)
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from load import (  # noqa: E402
    compare, durability, mcp, million, report, rooms, scenarios, sdk, sessions, stall_probe, stalls,
    tenants, vendors,
)
from load.attempts import attempt  # noqa: E402
from load.report import Row  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    repetitions: int
    runs: int  # in each repetition
    starts: int
    large: int  # repetitions of what takes long
    stored: int  # runs in a store


FULL = Effort(repetitions=5, runs=5000, starts=20, large=3, stored=1_000_000)
ROUND = Effort(repetitions=1, runs=5000, starts=5, large=1, stored=1_000_000)
QUICK = Effort(repetitions=2, runs=1000, starts=5, large=1, stored=100_000)


def repeated(what: str, times: int, measure: Callable[[], T]) -> list[T]:
    """What so many measurements give."""
    return attempt(what, lambda: [measure() for _ in range(times)])


def measure_runs(effort: Effort) -> list[Row]:
    def of(model: str) -> list[scenarios.RunFigures]:
        return attempt(f"runs of '{model}'", lambda: scenarios.measure_runs(
            model, effort.repetitions, effort.runs))

    talk, ask = of("talk"), of("ask")
    paused = repeated("paused runs", effort.repetitions, scenarios.measure_paused)
    fresh = repeated("fresh starts", effort.starts, scenarios.measure_start_fresh)
    again = attempt("later starts", lambda: scenarios.measure_starts_again(effort.starts))
    idle = [one.rss_mb for one in fresh[:effort.repetitions]]
    return [
        Row("Run of 20 deltas: server CPU", "ms", [one.cpu_ms for one in talk], 3, 0.15),
        Row("Run of 20 deltas: rate", "runs/s", [one.per_second for one in talk], 0),
        Row("Run of 20 deltas: latency, p50", "ms", [one.p50_ms for one in talk], 2),
        Row("Run of 20 deltas: latency, p99", "ms", [one.p99_ms for one in talk], 2),
        Row("The same with one client tool: server CPU", "ms", [one.cpu_ms for one in ask], 3),
        Row("The same with one client tool: rate", "runs/s", [one.per_second for one in ask], 0),
        Row("Paused run with its open stream: memory", "KB", paused, 1, 10),
        Row("Start on a fresh data directory", "ms", [one.millis for one in fresh], 1, 30),
        Row("Start on an existing data directory", "ms", [one.millis for one in again], 1, 30),
        Row("Idle server, freshly started: memory", "MB", idle, 1, 15),
    ]


def measure_durability(effort: Effort) -> list[Row]:
    passive = repeated("passive runs", effort.large, durability.measure_passive)
    taken = repeated("a recovery", effort.large, durability.measure_recovery)
    claimed = repeated("claims of runs that wait for a slot", effort.large,
                       lambda: durability.measure_claims("slow"))
    clients = repeated("claims of runs that wait for their clients", effort.large,
                       lambda: durability.measure_claims("ask"))
    logs = repeated("a log", effort.repetitions,
                    lambda: durability.measure_log(effort.starts * 10))
    cancels = repeated("cancels", effort.repetitions,
                       lambda: durability.measure_cancels(effort.starts * 10))
    return [
        Row("100,000 runs that wait for their clients: memory in all", "MB", passive, 0, 100),
        Row("10,000 unfinished runs: from start to listening", "ms",
            [one.listening_ms for one in taken], 0, 100),
        Row("10,000 unfinished runs: until all are continued and ended", "s",
            [one.continued_s for one in taken], 1, 10),
        Row("100,000 unfinished runs: from start until all are claimed", "s",
            [one.claimed_s for one in claimed], 1, 15),
        Row("The same: peak memory in all", "MB", [one.peak_mb for one in claimed], 0, 100),
        Row("100,000 runs that wait for their clients: from start until all are claimed", "s",
            [one.claimed_s for one in clients], 1, 15),
        Row("The same: peak memory in all", "MB", [one.peak_mb for one in clients], 0, 100),
        Row("Log of 1,000 events from the disk: server CPU", "ms", logs, 2, 2),
        Row("Cancel to the end of its stream, 500 runs in flight, p99", "ms", cancels, 1, 100),
    ]


def measure_million(effort: Effort) -> list[Row]:
    found = million.measure_million(effort.stored)
    stored = f"{effort.stored:,} ended runs"
    return [
        Row(f"{stored}: from start to listening", "ms", found.listening_ms, 0, 50),
        Row(f"{stored}: list of 50 by status or metadata, p99", "ms", found.list_p99_ms, 1, 5),
        Row(f"{stored}, {effort.stored // million.SESSIONS_SHARE:,} sessions: list of 50 sessions "
            "by status, metadata or time, p99", "ms", found.session_list_p99_ms, 1),
        Row(f"{stored}: removed beside 2,000 new runs a second", "runs/s",
            [found.removed_per_second], 0, 2000, is_least=True),
        Row("New runs meanwhile", "runs/s", [found.created_per_second], 0, 1900, is_least=True),
    ]


def measure_sessions(effort: Effort) -> list[Row]:
    found = [sessions.measure_messages() for _ in range(effort.large)]
    stored = [sessions.measure_chat_storage() for _ in range(effort.large)]
    return [
        Row("Run without a session: server CPU", "ms", [one.run_ms for one in found], 3),
        Row("Message to a session of 2 turns, to such a run: server CPU", "times",
            [one.short for one in found], 2, 1.3),
        Row("Message to a session of 200 turns, to such a run: server CPU", "times",
            [one.long for one in found], 2, 1.3),
        Row("Chat of 200 messages, to its texts and events: storage", "times", stored, 2, 3),
    ]


def measure_tenants(effort: Effort) -> list[Row]:
    found = [tenants.measure_fairness() for _ in range(effort.large)]
    return [
        Row("Run of a workspace alone: latency", "ms", [one.alone_ms for one in found], 1),
        Row("The same beside 1,000 waiting runs of another workspace", "times",
            [one.beside for one in found], 2, 1.1),
    ]


def measure_sdk(effort: Effort) -> list[Row]:
    talk = [sdk.measure_loop(vendors.ONE_TURN, effort.runs) for _ in range(effort.repetitions)]
    tools = [sdk.measure_loop(vendors.FIVE_CALLS, effort.runs // 4)
             for _ in range(effort.repetitions)]
    delays = [sdk.measure_first_step(effort.starts * 10) for _ in range(effort.large)]
    turns = [took for _ in range(effort.large) for took in sdk.measure_parallel_tools(5)]

    def to_node(found: list[sdk.LoopFigures], target: float) -> Row:
        values = [one.to_node for one in found if one.to_node is not None]
        return Row("The same, to a bare loop in Node", "times", values, 2, target,
                   missing="not measured: no node")

    rows = [
        Row("In process, run of 20 deltas: CPU", "ms", [one.cpu_ms for one in talk], 3),
        to_node(talk, 0.40),
        Row("In process, five tools in turn: CPU", "ms", [one.cpu_ms for one in tools], 3),
        to_node(tools, 0.35),
        Row("Close of a call's block to the start of its handler, p99", "ms", delays, 2, 1),
        Row("Three tools of 400 ms: from the stream's end to the next question", "ms", turns, 0,
            450),
    ]
    if compiling := [took for _ in range(effort.repetitions) if (took := sdk.measure_compiling())]:
        rows.append(Row("Compiling one include and one tool with g++", "s", compiling, 2, 2.5))
    return rows


def measure_vendors(effort: Effort) -> list[Row]:
    """Rows of runs whose model is behind HTTP."""
    def of(load: vendors.Load, runs: int) -> list[scenarios.RunFigures]:
        return attempt(f"'{load.mock}'{' of the server' if load.plugin else ''}",
                       lambda: vendors.measure_vendor(load, effort.repetitions, runs))

    one = of(vendors.ONE_TURN, effort.runs)
    five = of(vendors.FIVE_CALLS, effort.runs // 4)
    built_in = of(vendors.FIVE_BUILT_IN, effort.runs // 4)
    held = repeated("speaking models", effort.repetitions, vendors.measure_held)
    paused = repeated("paused runs over HTTP", effort.repetitions, vendors.measure_paused)
    first = of(vendors.FIRST_TOKEN_50, effort.runs)
    long = of(vendors.LONG_TURN, effort.runs // 20)
    steady = attempt("streams", lambda: vendors.measure_streams(effort.repetitions))
    return [
        Row("Model over HTTP, 20 deltas: server CPU", "ms", [one.cpu_ms for one in one], 3, 0.20),
        Row("Model over HTTP, five client tools in turn: server CPU", "ms",
            [one.cpu_ms for one in five], 3, 0.95),
        Row("Model over HTTP, five built-in tools in turn: server CPU", "ms",
            [one.cpu_ms for one in built_in], 3, 0.45),
        Row("Model that is speaking, with an open stream: memory", "KB", held, 1, 17),
        Row("Model over HTTP, paused run with its open stream: memory", "KB", paused, 1, 11),
        Row("Model over HTTP, first token after 50 ms, 200 in flight: p50", "ms",
            [one.p50_ms for one in first], 1, 60),
        Row("The same: p99", "ms", [one.p99_ms for one in first], 1, 90),
        Row("Model over HTTP, a turn of 1,000 deltas: server CPU", "ms",
            [one.cpu_ms for one in long], 2, 10),
        Row("500 streams of 50 deltas a second: delay of a delta, p50", "ms",
            [one.p50_ms for one in steady], 1),
        Row("The same: p99", "ms", [one.p99_ms for one in steady], 1, 20),
        Row("The same: server CPU for a delta", "us", [one.cpu_us for one in steady], 1),
    ]


def measure_parts(effort: Effort) -> list[Row]:
    created = repeated("creation", effort.large,
                       lambda: vendors.measure_creation(effort.starts * 10))
    parts = repeated("errand_micro", effort.large, vendors.measure_parts)

    def of(key: str) -> list[float]:
        return [one[key] for one in parts if key in one]

    return [
        Row("Creating a run with 64 new tools of 1 KB: server CPU on top", "ms",
            [one.first_ms for one in created], 2, 1.0),
        Row("The same with tools that are known: server CPU on top", "ms",
            [one.later_ms for one in created], 2, 0.2),
        Row("Validating arguments of 200 bytes", "us",
            of("smallValidationMicros"), 2, 2),
        Row("Validating a document of 60 KB", "us",
            of("largeValidationMicros"), 0, 200),
    ] + [Row(f"Decoding a stream of {name}", "MB/s", of(key), 0, 100, is_least=True)
         for key, name in (("chat", "OpenAI chat"), ("responses", "OpenAI Responses"),
                           ("anthropic", "Anthropic"), ("gemini", "Gemini"))]


def measure_mcp(effort: Effort) -> list[Row]:
    """Rows of MCP, ours and those of the SDK for Node in turn."""
    rows = []

    def add(name: str, found: list[mcp.Pair], target: float) -> None:
        rows.append(Row(f"{name}: rate", "calls/s", [one.ours for one in found], 0))
        rows.append(Row("The same with the SDK for Node", "calls/s",
                        [one.theirs for one in found], 0))
        rows.append(Row("The same: times the rate of the SDK", "", [one.times for one in found], 1,
                        target, is_least=True))

    calls = effort.runs * 2
    add("MCP call over HTTP, 16 in flight", mcp.measure_http(effort.repetitions, calls), 5)
    add("MCP call over stdio, one in flight", mcp.measure_stdio(effort.repetitions, calls, 1), 2)
    add("MCP call over stdio, 16 in flight",
        mcp.measure_stdio(effort.repetitions, calls, mcp.MANY), 1.5)
    rows.append(Row("Run with five tools of a program, over MCP: times the CPU of built-in ones",
                    "", mcp.measure_runs(effort.repetitions, effort.runs // 4), 2, 2))
    return rows


def latency_rows(what: str, found: list[stall_probe.Latency]) -> list[Row]:
    if not found:
        return []
    return [
        Row(f"The same: {what}, p99", "ms", [one.p99_ms for one in found], 1, 25),
        Row(f"The same: {what}, longest", "ms", [one.longest_ms for one in found], 1, 100),
    ]


def measure_stalls(effort: Effort) -> list[Row]:
    rows = []
    for name, prepare in stalls.ATTACKS.items():
        found = [stalls.measure_stall(prepare) for _ in range(effort.large)]
        rows.append(Row(f"{name}: longest task, CPU", "ms", [one.task_ms for one in found], 1, 5))
        rows += latency_rows("/healthz", [one.healthz for one in found])
        rows += latency_rows("a call of neighbours", [one.calls for one in found if one.calls])
        rows.append(Row("The same: peak memory", "MB", [one.peak_mb for one in found], 0, 250))
    return rows


def measure_rooms(effort: Effort) -> list[Row]:
    rounds = effort.runs // 2
    ours = [rooms.measure_room(rooms.errand_room, rounds) for _ in range(effort.large)]
    relay = [rooms.measure_room(rooms.relay_room, rounds) for _ in range(effort.large)]

    def beside(name: str, unit: str, key: str, digits: int, target: float | None = None,
               is_least: bool = False) -> list[Row]:
        return [Row(f"Room: {name}", unit, [getattr(one, key) for one in ours], digits, target,
                    is_least),
                Row("The same in a relay on Node", unit, [getattr(one, key) for one in relay],
                    digits)]

    return (beside("an idle participant of 5,000: memory", "KB", "idle_kb", 1, 12)
            + beside("a call between two participants, p50", "ms", "call_p50_ms", 3, 0.5)
            + beside("a call between two participants, p99", "ms", "call_p99_ms", 3)
            + beside("calls of 16 pairs at once", "calls/s", "calls_per_second", 0, 10_000, True)
            + beside("a message to 1,000 reaches the last, p50", "ms", "last_p50_ms", 1)
            + beside("a message to 1,000 reaches the last, longest", "ms", "last_max_ms", 1, 50))


GROUPS = {"runs": measure_runs, "durability": measure_durability, "million": measure_million,
          "sessions": measure_sessions, "tenants": measure_tenants, "vendors": measure_vendors,
          "sdk": measure_sdk, "mcp": measure_mcp, "rooms": measure_rooms, "parts": measure_parts,
          "stalls": measure_stalls}
# The groups whose runs ask a vendor over HTTP.
WITH_VENDOR = ("vendors", "sdk", "mcp")


def compare_builds(options: argparse.Namespace, binary: Path, effort: Effort) -> str:
    def measure() -> list[Row]:
        return [row for name in options.groups or ["runs", "vendors"]
                for row in GROUPS[name](effort)]

    changes = compare.measure_in_turn(measure, options.against.resolve(), binary.resolve(),
                                      options.rounds)
    return report.aligned([["what", "before", "after", "worse by", "allowed", "verdict"],
                           *(one.cells() for one in changes)])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage="")
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mock", type=Path)
    parser.add_argument("--root", type=Path, default=ROOT / "build")
    options = parser.parse_args()
    for group in options.groups:
        if group not in GROUPS:
            parser.error(f"there is no group '{group}'; the groups are {', '.join(GROUPS)}")
    if options.mock:
        os.environ["ERRAND_BENCH_MOCK"] = str(options.mock.resolve())

    binary = Path(os.environ.setdefault("ERRAND_BINARY", str(ROOT / "build/bin/errand")))
    for program in (binary, scenarios.load_program(), vendors.micro_program(),
                    mcp.mcp_load_program(), rooms.room_program(), million.fill_program(),
                    sdk.sdk_program()):
        if not program.exists():
            print(f"bench: there is no {program}; ./dev bench builds it", file=sys.stderr)
            return 1
    os.environ["ERRAND_LOAD_PROGRAMS"] = str(binary.parent)
    options.root.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(options.root.resolve())

    machine = report.describe_machine(binary, options.root)
    print(report.machine_text(machine), flush=True)
    effort = QUICK if options.quick else FULL
    if options.against:
        print(compare_builds(options, binary, QUICK if options.quick else ROUND))
        return 0
    for name in options.groups or [name for name in GROUPS if name != "stalls"]:
        when = report.moment(ROOT)
        if name in WITH_VENDOR:
            when += f"\nVendor: `{vendors.vendor_name()}`."
        rows = GROUPS[name](effort)
        print(f"{name}: {when}\n\n{report.table(rows)}\n", flush=True)
        if options.save and name == "stalls":
            report.save_stalls(ROOT / "docs" / "stalls.md", machine, when, rows)
        elif options.save:
            report.save(ROOT / "docs" / "bench.md", machine, name, when, rows, list(GROUPS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
