"""Commands that run without a server, in a folder of their own."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from support.script import write_config
from support.server import CHECK_SECONDS_MAX, Server, binary
from support.terminal import Terminal

FILES = {"a.txt": "one\ntwo\n", "b.txt": "three\n"}


class EmbeddedCase(unittest.TestCase):
    """`scripts` are the models; the folder `shared` has a few files."""

    maxDiff = None
    scripts: dict[str, list[dict]] = {}
    extra_config: dict = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.cwd = self.root / "cwd"
        self.data = self.root / "data"
        self.shared = self.root / "shared"
        self.cwd.mkdir()
        self.shared.mkdir()
        for name, text in FILES.items():
            (self.shared / name).write_text(text)
        if self.scripts:
            self.config = write_config(self.root, self.scripts, self.extra_config)

    def run_words(self, *words: str) -> list[str]:
        return ["run", "Go.", "--config", str(self.config), "--files", str(self.shared), *words]

    def terminal(self, *words: str, **options) -> Terminal:
        """A run on a terminal."""
        terminal = Terminal(*self.run_words(*words), cwd=str(self.cwd), **options)
        self.enterContext(terminal)
        return terminal

    def serve_data(self) -> Server:
        """A server on what runs have left in the data directory."""
        server = Server(None)
        server.data, server.config = self.data, self.config
        self.addCleanup(server.close)
        return server.start()

    def check_data(self) -> None:
        done = subprocess.run([binary(), "check-data", "--data", str(self.data)],
                              capture_output=True, text=True, timeout=CHECK_SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
