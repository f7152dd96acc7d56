"""Virtual environments with the packages of a lock file, each made once."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import unittest
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

INSTALL_SECONDS_MAX = 600


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Test files run side by side; one of them installs, and the others wait for it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(*command: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=INSTALL_SECONDS_MAX)


def make_environment(folder: Path, lock_file: Path, interpreter: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    made = run(interpreter, "-m", "venv", folder)
    if made.returncode != 0:
        raise RuntimeError("no virtual environment can be made; ./dev test installs python3-venv:"
                           f"\n{made.stdout}{made.stderr}")
    done = run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input",
               "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps",
               "--require-hashes", "-r", lock_file)
    if done.returncode == 0:
        return
    # Another file under a known name is an attack or a mistake; what cannot be fetched is neither.
    if "HASHES" in done.stderr:
        raise RuntimeError(f"a package of {lock_file} is not the pinned one:\n{done.stderr}")
    raise unittest.SkipTest(f"{lock_file} cannot be installed here:\n{done.stderr}")


def find_python(version: str) -> str:
    """A Python of this version, such as "3.13". Skips the test if there is none."""
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for candidate in (f"python{version}", *map(str, pyenv)):
        try:
            if run(candidate, "-c", "").returncode == 0:
                return candidate
        except OSError:
            pass
    raise unittest.SkipTest(f"there is no Python {version} on this machine")


def python_with(lock_file: Path, environments: Path, interpreter: str = sys.executable) -> Path:
    """The Python of an environment with the pinned packages, made once per lock file. Skips the
    test if no package index can be reached."""
    wanted = lock_file.read_bytes() + sys.version.encode() + interpreter.encode()
    key = hashlib.sha256(wanted).hexdigest()[:16]
    folder = environments / key
    finished = folder / "finished"
    with only_one(environments):
        if not finished.exists():
            make_environment(folder, lock_file, interpreter)
            finished.touch()
    return folder / "bin" / "python"
