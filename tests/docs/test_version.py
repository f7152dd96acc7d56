"""A new version number is one line of CMakeLists.txt and one file to compile."""

import json
import os
import unittest
from pathlib import Path

from support.version import ROOT, VERSION

BUILD = Path(os.environ["ERRAND_BINARY"]).parent


class VersionTest(unittest.TestCase):
    @unittest.skipUnless((BUILD / "compile_commands.json").exists(), "the binary is not in a build")
    def test_one_file_is_compiled_with_the_number(self):
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        found = [one["file"] for one in commands if VERSION in one["command"]]
        self.assertEqual(found, [str(ROOT / "src/base/version.cpp")])

    def test_no_page_and_no_transcript_needs_the_number(self):
        places = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/wire").rglob("*.txt")
                  if VERSION in path.read_text()]
        self.assertEqual(places, [])


if __name__ == "__main__":
    unittest.main()
