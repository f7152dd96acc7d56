"""What the commands look like on terminals of 80 and of 40 columns. The screens are in
tests/cli/screens/widths; run with --update to write them anew, and look at the difference as a user
would."""

import os
import re
import signal
import termios
import unittest
from pathlib import Path

from support.embedded import EmbeddedCase
from support.screen import EditedScreen, Screen
from support.script import local_tool, turn
from support.server import NO_OLLAMA
from support.terminal import CTRL_C, CTRL_D, Terminal
from support.version import VERSION

SCREENS = Path(__file__).resolve().parent / "screens" / "widths"
WIDTHS = (80, 40)
ROWS = 24
TIME = "YYYY-MM-DDTHH:MM:SS.MMMZ"
# What differs from run to run, as it is sent to the terminal. Where a table or a line is fitted to
# the terminal, what stands for a value is as long as the value.
MASKS = ((re.compile(r"\b(run|sess|tu|key)_[0-9a-z]{26}\b"), r"\1_" + "N" * 26),
         (re.compile(r"\bmantyx_[0-9a-f]{64}"), "mantyx_" + "N" * 64),
         (re.compile(r"\bmantyx_[0-9a-f]{5}\b"), "mantyx_NNNNN"),
         (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), TIME),
         (re.compile(r"\d{4}-\d\d-\d\dT\d[\d:.]*…"),
          lambda found: TIME[:len(found[0]) - 1] + "…"),
         (re.compile(r"http://127\.0\.0\.1:\d{5}\b"), "http://127.0.0.1:NNNNN"),
         (re.compile(r"\b\d+ ms\b|\b\d+\.\d s\b"), "N ms"),
         # How much of a result is shown depends on the digits of its duration.
         (re.compile(r"( {2}N ms\x1b\[0m\x1b\[2m {2}\S+ )[^\x1b\n]*…"), r"\1…"),
         (re.compile(r"( {2}N ms\x1b\[0m\x1b\[2m {2})\S{1,9}…"), r"\1…"),
         (re.compile(r"(\bAGE\x1b\[0m) +"), r"\1  "),
         (re.compile(r"\b\d+ s\b( +)?"), lambda found: "N s  " if found[1] else "N s"),
         (re.compile(r"\b[45] min\b"), "N min"),
         (re.compile(rf"\b{re.escape(VERSION)}\b"), "VERSION"))


def recorded(kind: type[Screen]) -> type[Screen]:
    """A screen that keeps what it was sent."""

    class Recorded(kind):
        sent = ""

        def feed(self, text: str) -> None:
            self.sent += text
            super().feed(text)

    return Recorded


class WidthCase(EmbeddedCase):
    scripts = {
        "files": [turn("Let me look.", calls=[("read_file", {"path": "a.txt"}),
                                              ("read_file", {"path": "../secret"})],
                       usage={"inputTokens": 100, "outputTokens": 20}),
                  turn("It says one.", usage={"inputTokens": 140, "cachedTokens": 90,
                                              "outputTokens": 5})],
        "shell": [turn(calls=[("shell", {"command": "echo one; echo two"})]), turn("Done.")],
        "a-model-whose-name-is-quite-long": [turn("Hello.")],
        "weather": [turn(calls=[("get_weather", {"city": "Lagos, the whole of it", "days": 3})])],
        "broken": [turn(error={"status": 401, "code": "authentication_error"})],
    }

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.root), "XDG_CONFIG_HOME": str(self.root / "config"),
                "XDG_STATE_HOME": str(self.root / "state"), "OLLAMA_HOST": NO_OLLAMA}

    def open(self, columns: int, *words: str, kind: type[Screen] = Screen) -> Terminal:
        return self.enterContext(Terminal(*words, cwd=str(self.cwd), columns=columns, rows=ROWS,
                                          screen=recorded(kind), env=self.environment()))

    def check(self, name: str, terminal: Terminal, kind: type[Screen] = Screen) -> None:
        sent = terminal.screen.sent.replace(str(self.root), "ROOT")
        for pattern, word in MASKS:
            sent = pattern.sub(word, sent)
        screen = kind(terminal.screen.columns, ROWS)
        screen.feed(sent)
        path = SCREENS / f"{name}_{screen.columns}.txt"
        if os.environ.get("ERRAND_UPDATE"):
            path.write_text(screen.styled() + "\n")
        self.assertEqual(screen.styled() + "\n", path.read_text())

    def show(self, name: str, *words: str, code: int = 0) -> None:
        """A command to its end, at every width."""
        for columns in WIDTHS:
            terminal = self.open(columns, *words)
            self.assertEqual(terminal.finish(), code, terminal.screen.text())
            self.check(name, terminal)


class CommandTest(WidthCase):
    def words(self, *words: str) -> list[str]:
        return [*words, "--config", str(self.config)]

    def test_a_run(self):
        self.show("run", *self.words("run", "Go.", "--files", str(self.shared)))

    def test_a_run_that_fails(self):
        self.show("run_failed", *self.words("run", "Go.", "--model", "broken"), code=1)

    def test_a_question_of_the_shell(self):
        for columns in WIDTHS:
            terminal = self.open(columns, *self.words("run", "Go.", "--model", "shell", "--shell"))
            terminal.read_until("[y/N/a]")
            terminal.type("y\n")
            self.assertEqual(terminal.finish(), 0, terminal.screen.text())
            self.check("question", terminal)

    def test_a_chat(self):
        for columns in WIDTHS:
            terminal = self.open(columns, *self.words("chat", "--files", str(self.shared)),
                                 kind=EditedScreen)
            for number, line in enumerate(("/help", "/model", "Look at a.txt, please."), 1):
                terminal.read_to_prompt(number)
                terminal.type(line + "\r")
            terminal.read_to_prompt(4)
            terminal.type(CTRL_D)
            self.assertEqual(terminal.finish(), 0, terminal.screen.text())
            self.check("chat", terminal, EditedScreen)

    def test_a_server(self):
        for columns in WIDTHS:
            data = str(self.root / f"data-{columns}")
            terminal = self.open(columns, *self.words("serve", "--listen", "127.0.0.1:0", "--data",
                                                      data))
            terminal.read_until("this folder:")
            terminal.read_until('"Hello"')
            terminal.type(CTRL_C)
            self.assertEqual(terminal.finish(), 0, terminal.screen.text())
            self.check("serve", terminal)

    def test_mistakes(self):
        self.show("mistyped", "runs", "lst", code=2)
        self.show("no_server", "runs", "list", code=3)
        self.show("failed_start", "serve", "--listen", "7300", code=2)

    def test_models(self):
        self.show("models", *self.words("models"))


class ServerTest(WidthCase):
    """Lists of a server that has something to show."""

    def setUp(self):
        super().setUp()
        self.server = self.serve_data()
        self.place = ("--server", self.server.url, "--key", self.server.key)

    def run_to(self, event: str, model: str, **more) -> None:
        client = self.server.client()
        with client.stream(client.create(modelId=model, **more)) as stream:
            stream.until(event)

    def test_lists(self):
        self.run_to("result", "files", prompt="What is in the file a.txt?")
        self.run_to("result", "a-model-whose-name-is-quite-long", prompt="Say hello.")
        self.run_to("error", "broken", prompt="Go.", name="nightly")
        self.run_to("local_tool_call", "weather", prompt="Weather?",
                    tools=[local_tool("get_weather", city="string", days="integer")])
        self.show("runs_list", "runs", "list", *self.place)
        self.show("calls_list", "calls", "list", *self.place)
        self.show("keys_list", "keys", "list", *self.place)

    def test_a_login(self):
        for columns in WIDTHS:
            terminal = self.open(columns, "login", self.server.url)
            terminal.read_until("API key for ")
            terminal.type(self.server.key + "\n")
            self.assertEqual(terminal.finish(), 0, terminal.screen.text())
            self.check("login", terminal)

    def test_ctrl_c_at_the_key_of_a_login_leaves_the_terminal_as_it_was(self):
        terminal = self.open(80, "login", self.server.url)
        terminal.read_until("API key for ")
        self.assertFalse(termios.tcgetattr(terminal.master)[3] & termios.ECHO)
        terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), -signal.SIGINT)
        self.assertTrue(termios.tcgetattr(terminal.master)[3] & termios.ECHO)


if __name__ == "__main__":
    unittest.main()
