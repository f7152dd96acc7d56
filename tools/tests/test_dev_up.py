"""What `./dev up` says while it builds. A program of the test stands in for ninja."""

import os
import pty
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
SCRIPT = f"""set -euo pipefail
die() {{ printf 'dev: %s\\n' "$*" >&2; exit 1; }}
lock_build() {{ :; }}
unlock_build() {{ :; }}
configure() {{ mkdir -p build/bin; }}
source {TOOLS / "dev_up.sh"}
up_build
"""
FIRST_TIME = "Building Errand. The first time takes some minutes.\n"
SUCCEEDS = "echo '[1/3] Building a.o'; echo '[2/3] Building b.o'; echo '[3/3] Linking errand'"
FAILS = """echo '[1/3] Building a.o'
echo 'FAILED: b.o'; echo 'clang++-19 -c b.cpp'; echo 'b.cpp:1:1: error: no'
echo 'ninja: build stopped: subcommand failed.'
exit 1"""
NOTHING = "echo '[0/2] Re-checking globbed directories...'; echo 'ninja: no work to do.'"


def read_all(terminal: int) -> str:
    """What was written to the other side, which is closed."""
    shown = b""
    with os.fdopen(terminal, "rb", buffering=0) as pieces:
        try:
            while piece := pieces.read(4096):
                shown += piece
        except OSError:
            pass
    return shown.decode()


class BuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def build(self, ninja: str, **streams) -> subprocess.CompletedProcess:
        program = self.root / "ninja"
        program.write_text(f"#!/bin/sh\n{ninja}\n")
        program.chmod(0o755)
        search = f"{self.root}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", SCRIPT], cwd=self.root, text=True,
                              env=os.environ | {"PATH": search}, **streams)

    def said(self, ninja: str) -> tuple[int, str]:
        """The exit code, and what is on stderr, which is no terminal."""
        done = self.build(ninja, stderr=subprocess.PIPE)
        return done.returncode, done.stderr

    def make_built(self) -> None:
        binary = self.root / "build" / "bin" / "errand"
        binary.parent.mkdir(parents=True)
        binary.write_text("")
        binary.chmod(0o755)

    def test_a_terminal_has_one_line_that_is_gone_at_the_end(self):
        self.make_built()
        master, slave = pty.openpty()
        self.build(SUCCEEDS, stderr=slave)
        os.close(slave)
        shown = read_all(master)
        self.assertEqual(shown.split("\r\x1b[K"), ["", "Building 1 of 3 ...", "Building 2 of 3 ...",
                                                   "Building 3 of 3 ...", ""])

    def test_elsewhere_there_is_a_line_now_and_then(self):
        self.assertEqual(self.said(SUCCEEDS), (0, FIRST_TIME + "Building 1 of 3 ...\n"))

    def test_nothing_is_said_if_there_is_nothing_to_do(self):
        self.make_built()
        self.assertEqual(self.said(NOTHING), (0, ""))

    def test_a_build_that_fails_shows_what_the_compiler_said(self):
        self.make_built()
        self.assertEqual(self.said(FAILS), (1, (
            "Building 1 of 3 ...\nFAILED: b.o\nclang++-19 -c b.cpp\nb.cpp:1:1: error: no\n"
            "ninja: build stopped: subcommand failed.\n"
            "dev: the build failed; all that it said is in build/up.log.\n")))


if __name__ == "__main__":
    unittest.main()
