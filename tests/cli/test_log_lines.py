"""Warnings of the engine on a terminal, among lines that change. The screens are in
tests/cli/screens; run with --update to write them anew."""

import contextlib
import json
import os
import re
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.embedded import EmbeddedCase
from support.screen import EditedScreen
from support.script import turn
from support.terminal import CTRL_C, CTRL_D, SECONDS_MAX, Terminal

SCREENS = Path(__file__).resolve().parent / "screens"
MASKS = ((re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
         (re.compile(r"\b(\d+ ms|\d+\.\d s)\b"), "N ms"),
         (re.compile(r"\b(run|chat)_\w+"), r"\1_N"))
WARNING = "a model gave no answer; asking the next fallback model"


class Vendor(ThreadingHTTPServer):
    """Fails when it is told to."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Failing)
        self.asked = threading.Semaphore(0)
        self.failing = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Failing(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked.release()
        self.server.failing.wait(SECONDS_MAX)
        with contextlib.suppress(ConnectionError):  # whoever asked may have been killed
            self.send_error(500)

    def log_message(self, *_):
        pass


class LogLinesTest(EmbeddedCase):
    scripts = {
        "patient": [turn(calls=[("shell", {"command": "until [ -e go ]; do sleep 0.1; done"})]),
                    turn("Done.")],
        "spare": [turn("Spare.")],
    }

    def setUp(self):
        super().setUp()
        self.vendor = Vendor()
        self.addCleanup(self.vendor.server_close)
        self.addCleanup(self.vendor.shutdown)
        self.addCleanup(self.vendor.failing.set)
        config = json.loads(self.config.read_text())
        config["models"].append({
            "id": "shaky", "provider": "openai-compatible", "api": "chat", "retries": 0,
            "baseUrl": f"http://127.0.0.1:{self.vendor.server_port}/v1", "fallback": ["spare"]})
        self.config.write_text(json.dumps(config))
        self.leave_a_run()

    def leave_a_run(self) -> None:
        """A run in the data that the next process goes on with: its model is asked again."""
        terminal = self.terminal("--data", str(self.data), "--model", "shaky")
        self.assertTrue(self.vendor.asked.acquire(timeout=SECONDS_MAX))
        terminal.process.kill()
        terminal.process.wait()

    def check_screen(self, name: str, terminal: Terminal) -> None:
        shown = terminal.screen.styled()
        for pattern, word in MASKS:
            shown = pattern.sub(word, shown)
        shown = shown.replace(str(self.root), "ROOT")
        path = SCREENS / f"{name}.txt"
        if os.environ.get("ERRAND_UPDATE"):
            path.write_text(shown)
        self.assertEqual(shown, path.read_text())

    def fail_the_other_run(self, terminal: Terminal) -> None:
        self.assertTrue(self.vendor.asked.acquire(timeout=SECONDS_MAX))
        self.vendor.failing.set()
        terminal.read_until(WARNING)

    def test_a_warning_is_a_line_of_its_own_below_a_call(self):
        terminal = self.terminal("--data", str(self.data), "--shell", "--yes", columns=200)
        terminal.read_until("· shell")
        self.fail_the_other_run(terminal)
        (self.shared / "go").touch()
        self.assertEqual(terminal.finish(), 0, terminal.screen.text())
        self.check_screen("log_below_a_call", terminal)

    def test_a_warning_at_the_prompt_leaves_what_is_typed(self):
        terminal = self.enterContext(Terminal(
            "chat", "--config", str(self.config), "--data", str(self.data), cwd=str(self.cwd),
            columns=200, screen=EditedScreen,
            env={"HOME": str(self.root), "XDG_STATE_HOME": str(self.root / "state")}))
        terminal.read_to_prompt(1)
        terminal.type("some words")
        terminal.read_until("> some words")
        self.fail_the_other_run(terminal)
        terminal.read_until("\n> some words")
        terminal.type(CTRL_C)
        terminal.read_to_prompt(2)
        terminal.type(CTRL_D)
        self.assertEqual(terminal.finish(), 0, terminal.screen.text())
        self.check_screen("log_at_the_prompt", terminal)


if __name__ == "__main__":
    unittest.main()
