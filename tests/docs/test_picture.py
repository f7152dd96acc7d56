"""The pictures of runs show what runs show today."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from support.documents import ROOT
from support.server import binary

GUIDE = ROOT / "docs" / "guide"
SCENES = ("a-run", "a-kill")
BYTES_MAX = 60_000
TEXT = "{http://www.w3.org/2000/svg}text"
LEFT, CELL_WIDTH = 16, 8.4
DURATION = re.compile(r"\b(\d+ ms|\d+\.\d s)\b")
RUN = re.compile(r"\brun_\w+")
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


def text_of(path: Path) -> str:
    """What can be read at the end, line by line, however long things took."""
    rows: dict[float, str] = {}
    texts = [text for text in ElementTree.parse(path).iter(TEXT)
             if "then" not in text.get("class", "")]
    for text in sorted(texts, key=lambda text: (float(text.get("y")), float(text.get("x")))):
        column = round((float(text.get("x")) - LEFT) / CELL_WIDTH)
        row = float(text.get("y"))
        rows[row] = rows.get(row, "").ljust(column) + text.text
    text = DURATION.sub("DURATION", "\n".join(rows.values()))
    return PORT.sub("PORT", RUN.sub("RUN", text))


class PictureTest(unittest.TestCase):
    maxDiff = None

    def test_the_pictures_show_what_runs_show(self):
        with tempfile.TemporaryDirectory(prefix="errand-test-") as folder:
            subprocess.run([sys.executable, str(ROOT / "tools" / "record_run"), "--binary",
                            binary(), "--folder", folder, *SCENES], check=True,
                           capture_output=True)
            for scene in SCENES:
                with self.subTest(scene=scene):
                    self.assertEqual(text_of(GUIDE / f"{scene}.svg"),
                                     text_of(Path(folder) / f"{scene}.svg"),
                                     "tools/record_run draws it anew")

    def test_the_pictures_are_small(self):
        for scene in SCENES:
            self.assertLess((GUIDE / f"{scene}.svg").stat().st_size, BYTES_MAX)


if __name__ == "__main__":
    unittest.main()
