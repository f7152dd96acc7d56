"""A bare Debian root, in which nothing of this machine is installed.

It is made once, from Debian's packages alone, and unpacked for each test. Commands run in it with
processes and mounts of their own, which end with them. The network is that of the machine.
"""

import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.system.debian_program import FOLDER, debian_program
from support.server import die_with_parent

SUITE = "bookworm"
ARCHIVE = FOLDER / "bare-root.tar"
MAKE_SECONDS_MAX = 900
RUN_SECONDS_MAX = 900
SOURCES = Path("/etc/apt")
VARIABLES = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
             "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def debian_sources(sources: Path = SOURCES) -> str:
    """Where this machine has Debian's packages from: in one format, and without other vendors'."""
    new = sources / "sources.list.d" / "debian.sources"
    for path in (new, sources / "sources.list"):
        if path.is_file() and (text := path.read_text()).strip():
            return text
    raise unittest.SkipTest(f"neither {new} nor sources.list says where Debian's packages are")


def make_archive() -> None:
    program = debian_program("mmdebstrap", "usr/bin/mmdebstrap")
    partial = ARCHIVE.with_suffix(".partial.tar")
    made = subprocess.run(["perl", program, "--mode=root", "--variant=apt", SUITE, str(partial),
                           "-"], input=debian_sources(), capture_output=True, text=True,
                          timeout=MAKE_SECONDS_MAX)
    if made.returncode != 0:
        raise unittest.SkipTest(f"no bare Debian root can be made here: {made.stderr[-2000:]}")
    partial.rename(ARCHIVE)


def end(process: subprocess.Popen, seconds_max: float) -> int:
    """Has a command of BareRoot.command end as by SIGTERM; returns its exit code.

    unshare ignores SIGTERM and passes no signal on: the command, its only child, gets the signal.
    """
    words = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for child in words:
        os.kill(int(child), signal.SIGTERM)
    try:
        return process.wait(seconds_max)
    except subprocess.TimeoutExpired:
        for child in words:
            os.kill(int(child), signal.SIGKILL)
        process.kill()
        raise


class BareRoot:
    """The test is skipped, by name, where such a root cannot be had."""

    def __init__(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest("a bare Debian root needs root")
        FOLDER.mkdir(parents=True, exist_ok=True)
        with (FOLDER / "bare-root.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not ARCHIVE.exists():
                make_archive()
        self.folder = tempfile.TemporaryDirectory(prefix="errand-root-")
        self.path = Path(self.folder.name) / "root"
        self.path.mkdir()
        subprocess.run(["tar", "xf", str(ARCHIVE), "-C", str(self.path)], check=True)
        shutil.copy("/etc/resolv.conf", self.path / "etc" / "resolv.conf")
        if self.run("true").returncode != 0:
            self.close()
            raise unittest.SkipTest("commands cannot have mounts of their own here")

    def close(self) -> None:
        self.folder.cleanup()

    def command(self, *words: str, shared: Path | None = None, user: str = "",
                group: str = "") -> list[str]:
        """The words of a command in the root. `shared` is a folder that is there, too. The group
        has the name of the user if it is not said."""
        mounts = f"mount -t proc proc {self.path}/proc\n"
        if shared:
            mounts += f"mkdir -p {self.path}{shared}\nmount --bind {shared} {self.path}{shared}\n"
        if user:
            # A change of the account makes the kernel forget what --kill-child has asked for.
            words = ("setpriv", f"--reuid={user}", f"--regid={group or user}", "--init-groups",
                     "--pdeathsig", "KILL", *words)
        script = f"set -e\n{mounts}exec chroot {self.path} {shlex.join(words)}\n"
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]

    def run(self, *words: str, shared: Path | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(*words, shared=shared), capture_output=True, text=True,
                              env=VARIABLES, timeout=RUN_SECONDS_MAX, preexec_fn=die_with_parent)

    def put(self, source: Path, folder: str) -> None:
        target = self.path / folder.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
