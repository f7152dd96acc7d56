"""What the bare Debian root is made of, and how commands in it end."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from support.system.bare_root import BareRoot, debian_sources, end
from support.server import die_with_parent

SECONDS_MAX = 30


class SourcesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.apt = Path(folder.name)
        (self.apt / "sources.list.d").mkdir()
        (self.apt / "sources.list.d" / "vendor.list").write_text("deb https://example.com a b\n")

    def test_the_sources_of_other_vendors_are_left_out(self):
        (self.apt / "sources.list").write_text("deb http://deb.debian.org/debian bookworm main\n")
        self.assertEqual(debian_sources(self.apt),
                         "deb http://deb.debian.org/debian bookworm main\n")
        (self.apt / "sources.list.d" / "debian.sources").write_text("Types: deb\n")
        self.assertEqual(debian_sources(self.apt), "Types: deb\n")

    def test_a_machine_without_sources_of_debian_skips_the_test(self):
        with self.assertRaises(unittest.SkipTest):
            debian_sources(self.apt)


LISTENS = ("import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7));"
           "print('ready', flush=True); signal.pause()")
IS_DEAF = ("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
           "print('ready', flush=True); signal.pause()")


@unittest.skipIf(os.geteuid() != 0, "a root of its own needs root")
class EndTest(unittest.TestCase):
    """Commands of another account, in the root of this machine."""

    def start(self, program: str) -> subprocess.Popen:
        here = SimpleNamespace(path=Path("/"))
        command = BareRoot.command(here, "python3", "-c", program, user="nobody", group="nogroup")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, SECONDS_MAX)
        self.addCleanup(process.kill)
        if process.stdout.readline() != b"ready\n":
            self.skipTest("commands cannot have mounts of their own here")
        return process

    def test_a_command_hears_that_it_shall_end(self):
        self.assertEqual(end(self.start(LISTENS), SECONDS_MAX), 7)

    def test_a_command_that_does_not_end_is_killed(self):
        process = self.start(IS_DEAF)
        with self.assertRaises(subprocess.TimeoutExpired):
            end(process, 0.1)
        self.assertEqual(process.stdout.read(), b"")  # nobody holds the pipe

    def test_a_command_dies_with_unshare(self):
        process = self.start(IS_DEAF)
        process.kill()
        self.assertEqual(process.stdout.read(), b"")


if __name__ == "__main__":
    unittest.main()
