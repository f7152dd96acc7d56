"""Agents on the official A2A SDKs for Node and Python, and those SDKs as clients."""

import json
import subprocess
import urllib.request
from pathlib import Path

from support.node import INTEROP, NODE, ensure_modules
from support.python_sdk import python_with_sdk
from support.server import die_with_parent

AGENTS = INTEROP / "a2a-agents"
SECONDS_MAX = 120


class Agent:
    """An agent of others: on the SDK for Node of the version 1.0 or 0.3, or on that for
    "python"; or "mantyx", an agent of a server by the A2A server of the agent-runs SDK."""

    def __init__(self, version: str, *arguments: str):
        if version == "mantyx":
            command = [python_with_sdk(AGENTS / "requirements.txt"), AGENTS / "mantyx_agent.py",
                       *arguments]
        elif version == "python":
            command = [python_with_sdk(AGENTS / "requirements.txt"), AGENTS / "agent.py"]
        else:
            ensure_modules(AGENTS)
            command = [NODE, AGENTS / "agent.mjs", version]
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.card_url = f"{self.url}/.well-known/agent-card.json"

    def ask(self, what: str):
        """What it counts: "sent" or "canceled"; "release" lets slow tasks end."""
        with urllib.request.urlopen(f"{self.url}/{what}", timeout=SECONDS_MAX) as answer:
            return json.load(answer)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def mistakes_in(messages: list, schema: Path) -> list[str]:
    """What is wrong with messages, each with its version and its type."""
    python = python_with_sdk(AGENTS / "requirements.txt")
    done = subprocess.run([python, AGENTS / "check_messages.py", schema], text=True,
                          input=json.dumps(messages), capture_output=True, check=False,
                          timeout=SECONDS_MAX)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def use_agent(version: str, card_url: str, key: str) -> dict:
    """What the SDK of a version got from an agent."""
    ensure_modules(AGENTS)
    done = subprocess.run([NODE, AGENTS / "use_agent.mjs", version, card_url, key],
                          capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def use_agent_from_python(base_url: str, key: str) -> dict:
    """What the official Python SDK got from an agent."""
    python = python_with_sdk(AGENTS / "requirements.txt")
    done = subprocess.run([python, AGENTS / "use_agent.py", base_url, key], capture_output=True,
                          text=True, check=False, timeout=SECONDS_MAX)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)
