"""README and quick start, as they stand, on a clean clone with an empty home.

The clone has what is committed, and is built as a newcomer's is. The compiler's cache is that of
this machine, so that only what has changed takes long.
"""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.documents import ROOT, Block, Session, blocks_of

PLACEHOLDER = "<this repository>"
BUILD_SECONDS_MAX = 7200  # from nothing, on a machine that has other things to do
TOUR = re.compile(r"^  (build/bin/errand .+)$", re.MULTILINE)
SERVES = re.compile(r"^Errand serves on (http://127\.0\.0\.1:\d+), with its data in \.errand\.$",
                    re.MULTILINE)


def cache_folder() -> str:
    """Where the compiler's cache is, whatever the home is."""
    asked = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True,
                           check=True)
    return asked.stdout.strip()


class CloneSession(Session):
    """`./dev up` takes the port that is free, and says which."""

    def __init__(self, folder: Path, work: Path):
        folder.mkdir()
        work.mkdir(exist_ok=True)
        super().__init__(folder, work, {"CCACHE_DIR": cache_folder(), "TERM": "dumb"},
                         {PLACEHOLDER: str(ROOT)}, BUILD_SECONDS_MAX)

    def literal(self, text: str) -> str:
        for placeholder, value in self.replaced.items():
            text = text.replace(placeholder, value)
        address = "$(sed 's/.*\"url\":\"\\([^\"]*\\)\".*/\\1/' .errand/credentials)"
        return text.replace("http://127.0.0.1:7300", address)


class CleanCloneTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not (ROOT / ".git").exists():
            self.skipTest("there is no repository to clone")
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def run_page(self, path: Path, *more: str) -> CloneSession:
        """Runs the blocks of a page, and more commands behind them."""
        session = CloneSession(self.root / "first", self.root / "work")
        blocks = [block for block in blocks_of(path) if block.language == "sh"]
        blocks += [Block("behind the page", n, "sh", text + "\n") for n, text in enumerate(more, 1)]
        self.assertEqual("\n\n".join(session.run(blocks)), "")
        return session

    def test_the_readme_and_the_tour_of_dev_up(self):
        # What `./dev up` said is in a file by the time that the tour begins.
        said = self.root / "first" / "session" / "service-0"
        tour = [f"eval \"$(grep '^  build/bin/errand ' {said} | sed -n {n}p)\"" for n in (1, 2, 3)]
        session = self.run_page(ROOT / "README.md", *tour)
        shown = said.read_text()
        self.assertRegex(shown, SERVES)
        self.assertIn('$ errand run --model demo --files . "What is in README.md?"\n', shown)
        self.assertIn("> # Errand\n", shown)
        self.assertEqual(len(TOUR.findall(shown)), len(tour))
        answer, files, runs, models = (session.output(n) for n in range(2, 6))
        self.assertIn("14\n", answer)
        self.assertIn("> guide/\n", files)
        self.assertRegex(runs, r"succeeded  \d+ (?:s|min) +demo")
        self.assertRegex(models, r"(?m)^demo .*reachable$")

    def test_the_quick_start_and_one_more_run_of_what_is_built(self):
        session = self.run_page(ROOT / "docs" / "guide" / "quick-start.md")
        self.assertIn("event: result\n", session.output(3))
        again = CloneSession(self.root / "again", session.work / "errand")
        self.assertEqual(again.run([Block("again", 1, "sh", "./dev up --once\n")]), [])
        self.assertRegex(again.output(0), r"\AErrand serves on ")  # there was nothing to build
        self.assertIn("I am Errand's demo model", again.output(0))


if __name__ == "__main__":
    unittest.main()
