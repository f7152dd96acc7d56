"""The MCP client as a program (tests/support/mcp_probe), and servers of others for it."""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

from support.node import INTEROP, NODE, ensure_modules
from support.server import binary, die_with_parent

SERVERS = INTEROP / "mcp-servers"
PACKAGES = SERVERS / "node_modules" / "@modelcontextprotocol"
SECONDS_MAX = 120


def ensure_servers() -> None:
    ensure_modules(SERVERS)


def probe_path() -> Path:
    return Path(binary()).parent / "tests" / "mcp_probe"


def fixture_path() -> Path:
    """A server on our own core, over stdio."""
    return Path(binary()).parent / "tests" / "mcp_fixture"


def package(name: str) -> str:
    return str(PACKAGES / name / "dist" / "index.js")


def probe(target: list[str], *calls: tuple[str, dict], environment: dict | None = None) -> list:
    """What the client says of the server, its tools, and the calls, as JSON."""
    lines = "".join(json.dumps({"tool": tool, "arguments": arguments}) + "\n"
                    for tool, arguments in calls)
    done = subprocess.run([probe_path(), *target], input=lines, capture_output=True, text=True,
                          check=False, timeout=SECONDS_MAX,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise AssertionError(f"mcp_probe ended with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def program(*arguments: str) -> list[str]:
    """A server as a program of node, for probe()."""
    return ["--", str(NODE), *arguments]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)  # paced: a server of others says in its own words that it is ready


def start_everything(kind: str) -> tuple[subprocess.Popen, int]:
    """server-everything over HTTP, "streamableHttp" or "sse", and its port."""
    port = free_port()
    process = subprocess.Popen([NODE, package("server-everything"), kind],
                               env={**os.environ, "PORT": str(port)}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=die_with_parent)
    wait_for_port(port)
    return process, port


def start_modern() -> tuple[subprocess.Popen, int]:
    process = subprocess.Popen([NODE, SERVERS / "modern.mjs", "http"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
    return process, int(process.stdout.readline())
