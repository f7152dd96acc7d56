"""Measurements of the C++ SDK in a process of its own, beside the least that Node needs."""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from load import vendors
from load.scenarios import LOAD_SECONDS_MAX, LoadFailed
from load.stamping_vendor import StampingVendor
from support.server import binary

ROOT = Path(__file__).resolve().parent.parent.parent
NODE_LOOP = Path(__file__).resolve().parent / "node_loop.mjs"
IN_FLIGHT = 8
SLOW_TOOL_MS = 400
TOOLS_AT_ONCE = 3
PROGRAM = ROOT / "tests" / "sdk" / "one_tool.cpp"


def sdk_program() -> Path:
    return Path(binary()).with_name("errand_sdk_bench")


def output_of(command: list[str]) -> dict:
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=LOAD_SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise LoadFailed(f"{command[0]} failed")
    return json.loads(done.stdout)


@contextmanager
def config_file(config: dict) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="errand-bench-") as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        yield path


@dataclass(frozen=True)
class LoopFigures:
    cpu_ms: float  # of the process, for a run
    to_node: float | None  # in multiples of the loop in Node; None without a node


def measure_loop(load: vendors.Load, runs: int) -> LoopFigures:
    """A run in process, and the same in Node, with the same vendor."""
    with vendors.speaking(load) as config, config_file(config) as path:
        tool = ["--tool"] if load.tool else []
        ours = output_of([str(sdk_program()), str(path), "--runs", str(runs), "--in-flight",
                          str(IN_FLIGHT), *tool])["cpuMs"]
        node = shutil.which("node")
        if not node:
            return LoopFigures(ours, None)
        model = config["models"][0]
        theirs = output_of([node, str(NODE_LOOP), model["baseUrl"], model["vendorModelId"],
                            str(runs), str(IN_FLIGHT), *(["tool"] if load.tool else [])])["cpuMs"]
        return LoopFigures(ours, ours / theirs)


def play_stamped(vendor: StampingVendor, *options: str) -> list[int]:
    """When handlers began."""
    config = {"models": [{"id": "vendor", "provider": "anthropic", "vendorModelId": "m",
                          "baseUrl": vendor.url, "apiKey": "k"}], "defaultModel": "vendor"}
    with config_file(config) as path:
        return output_of([str(sdk_program()), str(path), "--tool", "--in-flight", "1",
                          "--warm-up", "0", *options])["starts"]


def measure_first_step(calls: int) -> float:
    """ms from the close of a call's block to the start of its handler, at the 99th percentile."""
    vendor = StampingVendor()
    try:
        starts = play_stamped(vendor, "--runs", str(calls))
        delays = sorted((start - closed) / 1e6 for start, closed in zip(starts, vendor.closed))
        if len(delays) != calls:
            raise LoadFailed(f"{len(delays)} of {calls} calls were made")
        return delays[int(len(delays) * 0.99)]
    finally:
        vendor.close()


def measure_parallel_tools(turns: int) -> list[float]:
    """ms from the end of a stream with three calls of 400 ms each to the next question."""
    vendor = StampingVendor(calls=TOOLS_AT_ONCE, pause=0)
    try:
        play_stamped(vendor, "--runs", str(turns), "--tool-ms", str(SLOW_TOOL_MS))
        return [(asked - ended) / 1e6 for asked, ended in zip(vendor.asked_again, vendor.ended)]
    finally:
        vendor.close()


def measure_compiling() -> float | None:
    """Seconds that g++ needs for a program with one tool; None without a g++."""
    compiler = shutil.which("g++")
    if not compiler:
        return None
    with tempfile.TemporaryDirectory(prefix="errand-bench-") as folder:
        begun = time.monotonic()
        subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-c",
                        f"-I{ROOT / 'include'}", str(PROGRAM), "-o", f"{folder}/one_tool.o"],
                       check=True)
        return time.monotonic() - begun
