"""What `errand run` looks like on a terminal. The screens are in tests/cli/screens; run with
--update to write them anew, and look at the difference as a user would."""

import json
import os
import re
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.embedded import EmbeddedCase
from support.script import turn
from support.terminal import CTRL_C, SECONDS_MAX, Terminal

SCREENS = Path(__file__).resolve().parent / "screens"
DURATION = re.compile(r"\b(\d+ ms|\d+\.\d s)\b")
RUN = re.compile(r"\brun_\w{20,}")
WIDE_ENOUGH = 150  # for every line, however many digits a duration has
FRAMES_TO_SEE = 30  # of the spinner, ten a second
WORDS = [f"word{n} " for n in range(60)]
WIDE = "世界の窓から見える風景.txt"
EVIL = "\x1b[2J\x1b]0;title\x07\x9b31m\rroot\x08"


def read(name: str) -> tuple[str, dict]:
    return "read_file", {"path": name}


class BusyVendor(BaseHTTPRequestHandler):
    """Wants every question half a minute later."""

    def do_POST(self):  # noqa: N802
        self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.set()
        body = json.dumps({"error": {"message": "The model is overloaded; come back later."}})
        self.send_response(503)
        self.send_header("retry-after", "30")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class ScreenCase(EmbeddedCase):
    scripts = {
        "files": [turn("Let me look.", calls=[read("a.txt"), read("../secret")],
                       thinking=["I should ", "look."],
                       usage={"inputTokens": 100, "outputTokens": 20}),
                  turn("It says one.", usage={"inputTokens": 140, "cachedTokens": 90,
                                              "outputTokens": 5})],
        "one": [turn("Let me look.", calls=[read("a.txt")]), turn("It says one.")],
        "long": [turn(calls=[read("a-name-that-is-longer-than-the-line.txt"), read(WIDE)]),
                 turn("Neither 世界 is there.")],
        "evil": [turn("\x1b[2J\x1b", "]0;title\x07", calls=[read("evil.txt"), read(EVIL)],
                      thinking=["\x1b", "[31m"]),
                 turn("Done.")],
        "slow": [turn(*WORDS, deltaDelayMs=300)],
    }

    def setUp(self):
        super().setUp()
        (self.shared / "evil.txt").write_text("first " + EVIL.replace("\r", " ") + "\n")

    def check_screen(self, name: str, shown: str) -> None:
        # Where the last line of a narrow screen breaks depends on how long the run took.
        masked = RUN.sub("run_N", DURATION.sub("N ms", shown.split("<dim>long, ")[0]))
        path = SCREENS / f"{name}.txt"
        if os.environ.get("ERRAND_UPDATE"):
            path.write_text(masked)
        self.assertEqual(masked, path.read_text())

    def show(self, name: str, *words: str, columns: int = WIDE_ENOUGH, **options) -> None:
        """A run to its end, compared with the screen of this name."""
        terminal = self.terminal(*words, columns=columns, **options)
        self.assertEqual(terminal.finish(), 0, terminal.screen.text())
        self.check_screen(name, terminal.screen.styled())


class LookTest(ScreenCase):
    def test_calls_become_results_and_everything_but_the_answer_is_dim(self):
        self.show("colour", "--reasoning", "low")

    def test_no_color_is_honoured(self):
        self.show("no_color", env={"NO_COLOR": "1"})

    def test_a_dumb_terminal_gets_plain_lines(self):
        self.show("dumb", "--model", "one", env={"TERM": "dumb"})

    def test_a_narrow_terminal_cuts_lines_and_wraps_none_of_a_tool(self):
        self.show("narrow", "--model", "long", columns=20)

    def test_wide_characters_are_measured(self):
        self.show("wide", "--model", "long", columns=30)

    def test_nothing_that_models_and_tools_say_is_obeyed(self):
        self.show("hostile", "--model", "evil", "--reasoning", "low")

    def test_only_the_answer_goes_to_stdout(self):
        terminal = self.terminal(columns=WIDE_ENOUGH, stdout=subprocess.PIPE)
        self.assertEqual(terminal.finish(), 0)
        self.assertEqual(terminal.process.stdout.read(), b"Let me look.\nIt says one.\n")
        terminal.process.stdout.close()
        self.check_screen("answer_elsewhere", terminal.screen.styled())


class WaitTest(ScreenCase):
    """A run whose model says nothing, and one whose vendor asks for a pause."""

    def setUp(self):
        super().setUp()
        vendor = ThreadingHTTPServer(("127.0.0.1", 0), BusyVendor)
        vendor.asked = threading.Event()
        self.vendor = vendor
        threading.Thread(target=vendor.serve_forever, daemon=True).start()
        self.addCleanup(vendor.server_close)
        self.addCleanup(vendor.shutdown)
        self.config.write_text(json.dumps({"models": [
            {"id": "mute", "provider": "scripted", "script": "mute.json"},
            {"id": "busy", "provider": "openai-compatible", "vendorModelId": "m",
             "baseUrl": f"http://127.0.0.1:{vendor.server_address[1]}/v1"}]}))

    scripts = {"mute": [turn("Never said.", delayMs=3_600_000)]}

    def check_wait(self, name: str, model: str, words: str, columns: int,
                   *place: str) -> None:
        terminal = self.enterContext(Terminal(
            "run", "Go.", "--model", model, *(place or ("--config", str(self.config))),
            cwd=str(self.cwd), columns=columns))
        terminal.read_until(words)
        # Any frame of the spinner, and any number of seconds.
        shown = re.sub(r", \d+ s\b", "", terminal.screen.styled())
        shown = re.sub(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠋", re.sub(r"\b\d\d s\b", "NN s", shown))
        self.check_screen(name, shown + "\n")
        terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), 130)
        self.assertNotIn(words, terminal.screen.text())

    def test_a_silent_model_is_seen_to_be_waited_for(self):
        self.check_wait("waiting_80", "mute", "waiting for the model", 80)
        self.check_wait("waiting_40", "mute", "waiting for the model", 40)

    def test_a_retry_says_when_and_why(self):
        self.check_wait("retrying_80", "busy", "retrying in ", 80)
        self.check_wait("retrying_40", "busy", "retrying in ", 40)

    def test_a_retry_of_a_server_says_so_too(self):
        server = self.serve_data()
        place = ("--server", server.url, "--key", server.key)
        self.check_wait("retrying_80", "busy", "retrying in ", 80, *place)
        self.check_wait("retrying_40", "busy", "retrying in ", 40, *place)

    def test_a_retry_of_another_run_is_not_shown_as_ones_own(self):
        killed = self.terminal("--model", "busy", "--data", str(self.data))
        killed.read_until("retrying in ")
        killed.process.kill()
        killed.process.wait()
        self.vendor.asked.clear()
        terminal = self.terminal("--model", "mute", "--data", str(self.data))
        self.assertTrue(self.vendor.asked.wait(SECONDS_MAX), "the killed run goes on")
        for _ in range(FRAMES_TO_SEE):
            terminal.read()
        self.assertIn("waiting for the model", terminal.screen.text())
        self.assertNotIn("retrying", terminal.screen.text())
        terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), 130)


class NewcomerTest(ScreenCase):
    def test_the_demo_model_reads_a_file(self):
        words = ("run", "What is in a.txt?", "--files", str(self.shared))
        terminal = self.enterContext(Terminal(*words, cwd=str(self.cwd), columns=WIDE_ENOUGH))
        self.assertEqual(terminal.finish(), 0)
        answer = terminal.screen.styled().rsplit("<dim>demo, 2 turns, ", 1)[0]
        self.check_screen("newcomer", answer)


class ResizeTest(ScreenCase):
    def test_a_resize_counts_from_the_next_line_on(self):
        terminal = self.terminal("--model", "slow")
        terminal.read_until("word1 ")
        terminal.resize(20, 10)
        terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), 130)
        self.assertIn("errand: cancelling t\nhe run; Ctrl-C again\n", terminal.screen.text())


class CtrlCTest(ScreenCase):
    def test_ctrl_c_cancels_the_run(self):
        terminal = self.terminal("--model", "slow")
        terminal.read_until("word1 ")
        terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), 130)
        shown = terminal.screen.text()
        self.assertIn("errand: cancelling the run; Ctrl-C again leaves at once\n", shown)
        self.assertRegex(shown, r"cancelled: slow, 1 turn, ")

    def test_a_closed_terminal_ends_the_run(self):
        terminal = self.terminal("--model", "slow")
        terminal.read_until("word1 ")
        terminal.process.send_signal(signal.SIGHUP)
        self.assertEqual(terminal.process.wait(SECONDS_MAX), 130)


class HeadTest(ScreenCase):
    def test_a_reader_of_one_line_ends_the_command(self):
        pipe = subprocess.PIPE
        with subprocess.Popen(["head", "-1"], stdin=pipe, stdout=pipe) as head:
            terminal = self.terminal(stdout=head.stdin)
            head.stdin.close()
            self.assertEqual(head.stdout.read(), b"Let me look.\n")
            self.assertEqual(terminal.finish(), 0)
