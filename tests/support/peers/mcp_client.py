"""The official MCP SDKs for Node as clients that a test drives."""

import json
import subprocess

from support.mcp_probe import SERVERS
from support.node import NODE
from support.server import die_with_parent


class DrivenClient:
    """A client of the SDK's generation "v1" or "v2" for a target of drive_client.mjs."""

    def __init__(self, generation: str, target: dict):
        self.process = subprocess.Popen(
            [NODE, SERVERS / "drive_client.mjs", generation, json.dumps(target)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        if self.read() != {"ready": True}:
            raise AssertionError("the client is not ready")

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the client ended with {self.process.wait()}")
        return json.loads(line)

    def tell(self, **command) -> None:
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def ask(self, **command):
        self.tell(**command)
        return self.read()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()
