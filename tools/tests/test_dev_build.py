"""Two builds at once. A program of the test stands in for ninja, and says if another one runs."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

DEV = Path(__file__).resolve().parent.parent.parent / "dev"
BUILDS = 3
NINJA = """#!/bin/sh
mkdir running || { echo "two at once"; exit 1; }
sleep 0.1
rmdir running
echo "$@" >> built
"""


class DevBuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copy(DEV, self.root / "dev")
        (self.root / "build" / "asan").mkdir(parents=True)
        (self.root / "build" / "asan" / "build.ninja").touch()
        ninja = self.root / "programs" / "ninja"
        ninja.parent.mkdir()
        ninja.write_text(NINJA)
        ninja.chmod(0o755)

    def test_builds_of_one_preset_wait_for_each_other(self):
        environment = os.environ | {"PATH": f"{self.root}/programs:{os.environ['PATH']}"}
        builds = [subprocess.Popen(["./dev", "build", "asan", "errand"], cwd=self.root, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env=environment) for _ in range(BUILDS)]
        for build in builds:
            said, _ = build.communicate()
            self.assertEqual(build.returncode, 0, said)
        self.assertEqual((self.root / "built").read_text(),
                         "-C build/asan --quiet errand\n" * BUILDS)
