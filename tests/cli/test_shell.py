"""`errand run --shell` and `--web-fetch`: what the user is asked, and what reaches the terminal."""

import os
import selectors
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from support.embedded import EmbeddedCase
from support.script import turn, write_config
from support.server import SANITIZER_WORDS, binary, die_with_parent
from support.terminal import CTRL_C, CTRL_D, SECONDS_MAX, plain_environment

QUESTION = "? [y/N/a]"
HOSTILE = r"printf '\033[2J\033]0;title\007\r\233'"


def shell(command: str) -> tuple[str, dict]:
    return "shell", {"command": command}


class ShellCase(EmbeddedCase):
    scripts = {
        "echo": [turn("Look.", calls=[shell("echo one; echo two")]), turn("Done.")],
        "twice": [turn(calls=[shell("echo one"), shell("echo two")]), turn("Done.")],
        "hostile": [turn(calls=[shell(HOSTILE)]), turn("Done.")],
        "forever": [turn(calls=[shell("echo $$ > fifo; exec sleep 1000")]), turn("Done.")],
        "stubborn": [turn(calls=[shell("trap '' TERM; echo $$ > fifo; while :; do sleep 1; done")]),
                     turn("Done.")],
    }

    def run_words(self, *words: str) -> list[str]:
        return super().run_words("--shell", *words)


class QuestionTest(ShellCase):
    def answered(self, answer: str) -> str:
        """What is on the screen in the end."""
        terminal = self.terminal("--model", "echo", columns=150)
        terminal.read_until(QUESTION)
        terminal.type(answer)
        self.assertEqual(terminal.finish(), 0)
        return terminal.screen.text()

    def test_a_yes_runs_the_command(self):
        shown = self.answered("y\n")
        self.assertRegex(shown, r"\A(?s:Look\.\n"
                                r"· shell echo one; echo two\n"
                                r"run echo one; echo two\? \[y/N/a\] y\n"
                                r"✓ shell echo one; echo two  \d.*s  Exit code 0\. one two\n"
                                r"Done\.\n"
                                r"echo, 2 turns, .*\nrun_\w+ .*\n)\Z")

    def test_anything_else_tells_the_model_that_it_may_not(self):
        for answer in ("n\n", "\n", "what?\n"):
            with self.subTest(answer=answer):
                self.assertRegex(self.answered(answer),
                                 r"\n✗ shell echo one; echo two  \d.*s  The user refused ")

    def test_ctrl_d_refuses_and_leaves_the_question_its_line(self):
        self.assertRegex(self.answered(CTRL_D),
                         r"\nrun echo one; echo two\? \[y/N/a\]\n"
                         r"✗ shell echo one; echo two  \d.*s  The user refused ")

    def test_an_a_answers_all_questions(self):
        terminal = self.terminal("--model", "twice", columns=150)
        terminal.read_until(QUESTION)
        terminal.type("a\n")
        self.assertEqual(terminal.finish(), 0)
        shown = terminal.screen.text()
        self.assertEqual(shown.count(QUESTION), 1)
        self.assertRegex(shown, r"(?s)✓ shell echo one .*✓ shell echo two ")

    def test_ctrl_c_is_an_answer_too(self):
        terminal = self.terminal("--model", "echo")
        terminal.read_until(QUESTION)
        terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), 130)
        self.assertIn("errand: cancelling the run", terminal.screen.text())


class YesTest(ShellCase):
    def test_nothing_that_a_command_prints_is_obeyed(self):
        terminal = self.terminal("--model", "hostile", "--yes", columns=150)
        self.assertEqual(terminal.finish(), 0)  # the screen fails on what it is sent
        self.assertNotIn(QUESTION, terminal.screen.text())

    def test_without_a_terminal_a_command_needs_yes(self):
        for flags, ended in ((["--yes"], "<- shell 3 lines, "), ([], "<- shell failed: The user ")):
            with self.subTest(flags=flags):
                done = subprocess.run(
                    [binary(), *self.run_words("--model", "echo", *flags)], cwd=self.cwd,
                    env=plain_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                    text=True, timeout=SECONDS_MAX, start_new_session=True,
                    preexec_fn=die_with_parent)
                self.assertEqual((done.returncode, done.stdout), (0, "Look.\nDone.\n"))
                self.assertIn(ended, done.stderr)
                self.assertFalse([word for word in SANITIZER_WORDS if word in done.stderr])
        self.assertIn("errand: refused, as there is no terminal to ask on (--yes allows it): "
                      "run echo one; echo two\n", done.stderr)


class CutOffTest(ShellCase):
    def setUp(self):
        super().setUp()
        os.mkfifo(self.shared / "fifo")
        # With a writer of our own there is no end between the commands of a test.
        self.fifo = os.open(self.shared / "fifo", os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, self.fifo)

    def wait_for_command(self) -> int:
        """The process of the command, once it runs, as a descriptor that tells of its end."""
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.fifo, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                self.assertTrue(selector.select(SECONDS_MAX), "the command does not run")
                line += os.read(self.fifo, 100)
        process = os.pidfd_open(int(line))
        self.addCleanup(os.close, process)
        return process

    def expect_end(self, process: int) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(process, selectors.EVENT_READ)
            self.assertTrue(selector.select(SECONDS_MAX), "the command goes on")

    def test_ctrl_c_ends_the_command_and_the_run(self):
        for model in ("forever", "stubborn"):
            with self.subTest(model=model):
                terminal = self.terminal("--model", model, "--yes", columns=150)
                process = self.wait_for_command()
                terminal.type(CTRL_C)
                self.assertEqual(terminal.finish(), 130)
                self.expect_end(process)
                shown = terminal.screen.text()
                self.assertIn("errand: cancelling the run; Ctrl-C again leaves at once\n", shown)
                self.assertIn(f"{model}, 1 turn, ", shown)

    def test_a_second_ctrl_c_leaves_at_once_and_takes_the_command_along(self):
        for model in ("forever", "stubborn"):
            with self.subTest(model=model):
                terminal = self.terminal("--model", model, "--yes")
                process = self.wait_for_command()
                terminal.type(CTRL_C)
                terminal.read_until("cancelling the run")
                terminal.type(CTRL_C)
                # -2: the first had ended everything when the second came.
                self.assertIn(terminal.finish(), (130, -2))
                self.expect_end(process)

    def test_ctrl_c_ends_the_command_although_nobody_reads(self):
        terminal = self.terminal("--model", "forever", "--yes", "--json", stdout=subprocess.PIPE)
        process = self.wait_for_command()
        terminal.process.stdout.close()
        terminal.type(CTRL_C)
        # 0: an event came before the key, and nobody was there to read it. -2: the key came while
        # the command was leaving because of that, when nothing keeps a signal from ending it.
        self.assertIn(terminal.finish(), (0, 130, -2))
        self.expect_end(process)


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # the connection is kept, and there at the end of the command

    def do_GET(self) -> None:
        body = b"<h1>Title</h1><p>A <b>page</b>.</p>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


class WebFetchTest(EmbeddedCase):
    scripts = {"page": []}

    def setUp(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        url = f"http://127.0.0.1:{self.server.server_port}/"
        self.scripts = {"page": [turn(calls=[("web_fetch", {"url": url})]), turn("Done.")]}
        super().setUp()

    def fetched(self, *flags: str) -> str:
        """The line of the result."""
        terminal = self.terminal("--web-fetch", *flags, columns=200)
        self.assertEqual(terminal.finish(), 0)
        return terminal.screen.text().splitlines()[0]

    def test_a_page_is_read_if_its_network_is_allowed(self):
        self.assertRegex(self.fetched("--allow-network", "127.0.0.0/8"),
                         r"^✓ web_fetch http://127\.0\.0\.1:\d+/  .*# Title A \*\*page\*\*\.")

    def test_a_page_is_read_if_the_configuration_allows_its_network(self):
        self.config = write_config(self.root, self.scripts, {"network": {"allow": ["127.0.0.1"]}})
        self.assertRegex(self.fetched(), r"^✓ web_fetch http://127\.0\.0\.1:\d+/  ")

    def test_flags_allow_more_than_the_configuration(self):
        self.config = write_config(self.root, self.scripts, {"network": {"allow": ["10.0.0.0/8"]}})
        self.assertRegex(self.fetched(), r"^✗ web_fetch ")
        self.assertRegex(self.fetched("--allow-network", "127.0.0.1"), r"^✓ web_fetch ")

    def test_private_addresses_are_refused(self):
        self.assertRegex(self.fetched(), r"^✗ web_fetch http://127\.0\.0\.1:\d+/  .*127\.0\.0\.1")
