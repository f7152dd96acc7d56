"""The picture of a run shows what a run shows today."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from support.documents import ROOT
from support.server import binary

PICTURE = ROOT / "docs" / "guide" / "a-run.svg"
BYTES_MAX = 60_000
TEXT = "{http://www.w3.org/2000/svg}text"
LEFT, CELL_WIDTH = 16, 8.4
DURATION = re.compile(r"\b(\d+ ms|\d+\.\d s)\b")
RUN = re.compile(r"\brun_\w+")


def text_of(path: Path) -> str:
    """What can be read at the end, line by line, however long things took."""
    rows: dict[float, str] = {}
    texts = [text for text in ElementTree.parse(path).iter(TEXT)
             if "then" not in text.get("class", "")]
    for text in sorted(texts, key=lambda text: (float(text.get("y")), float(text.get("x")))):
        column = round((float(text.get("x")) - LEFT) / CELL_WIDTH)
        row = float(text.get("y"))
        rows[row] = rows.get(row, "").ljust(column) + text.text
    return RUN.sub("RUN", DURATION.sub("DURATION", "\n".join(rows.values())))


class PictureTest(unittest.TestCase):
    maxDiff = None

    def test_the_picture_shows_what_a_run_shows(self):
        with tempfile.TemporaryDirectory(prefix="errand-test-") as folder:
            fresh = Path(folder) / "a-run.svg"
            subprocess.run([sys.executable, str(ROOT / "tools" / "record_run"), "--binary",
                            binary(), "--output", str(fresh)], check=True, capture_output=True)
            self.assertEqual(text_of(PICTURE), text_of(fresh),
                             "tools/record_run draws it anew")

    def test_the_picture_is_small(self):
        self.assertLess(PICTURE.stat().st_size, BYTES_MAX)


if __name__ == "__main__":
    unittest.main()
