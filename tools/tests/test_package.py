"""What tools/package refuses to pack."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from loading import load_tool

package = load_tool("package")


class NeededTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name) / "program"

    def link(self, *flags: str) -> None:
        subprocess.run(["g++", "-xc++", "-", "-o", str(self.program), *flags], check=True,
                       input=b"#include <cmath>\nint main(int n, char**) { return "
                             b"std::sin(n) > 2; }\n")

    def test_a_program_that_needs_only_glibc_tells_which(self):
        self.link("-static-libstdc++", "-static-libgcc")
        major, minor = package.check_needed(self.program)
        self.assertEqual(major, 2)
        self.assertGreaterEqual(minor, 2)

    def test_a_program_that_needs_more_is_refused(self):
        self.link("-Wl,--no-as-needed", "-lz")
        with self.assertRaisesRegex(package.Refused, r"needs libz\.so\.1.*only glibc"):
            package.check_needed(self.program)


if __name__ == "__main__":
    unittest.main()
