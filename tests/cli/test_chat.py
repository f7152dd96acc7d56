"""`errand chat`, mostly on a terminal. The screens are in tests/cli/screens; run with --update to
write them anew, and look at the difference as a user would."""
# Long because every case shares the chat on a terminal.

import json
import os
import re
import signal
import stat
import subprocess
import termios
from pathlib import Path

from support.embedded import EmbeddedCase
from support.screen import EditedScreen, Screen
from support.script import turn
from support.server import SANITIZER_WORDS, binary, die_with_parent
from support.terminal import CTRL_C, CTRL_D, SECONDS_MAX, Terminal, plain_environment

SCREENS = Path(__file__).resolve().parent / "screens"
DURATION = re.compile(r"\b(\d+ ms|\d+\.\d s)\b")
CHAT_ID = re.compile(r"\bsess_\w+")
UP = "\x1b[A"
LEFT = "\x1b[D"
WORDS = [f"word{n} " for n in range(60)]


def shell(command: str) -> tuple[str, dict]:
    return "shell", {"command": command}


class ChatCase(EmbeddedCase):
    # The scripted model answers by the number of its turns in the conversation.
    scripts = {
        "talk": [turn("Hello."),
                 turn("Let me look.", calls=[("read_file", {"path": "a.txt"})]),
                 turn("It says one."),
                 turn("You are welcome.")],
        "other": [turn(f"Other {n}.") for n in range(1, 5)],
        "slow": [turn("First."), turn(*WORDS, deltaDelayMs=300), turn("Third.")],
        "brief": [turn("First."), turn(*WORDS, deltaDelayMs=20), turn("Third.")],
        "broken": [turn(error={"status": 401, "code": "authentication_error"})],
        "shell": [turn(calls=[shell("echo once >> count")]),
                  turn(calls=[shell("until [ -e go ]; do sleep 0.1; done; echo gone")]),
                  turn("Done.")],
        "evil": [turn("\x1b[2J\x1b]0;title\x07"), turn("Done.")],
    }

    def chat_words(self, *words: str) -> list[str]:
        return ["chat", "--config", str(self.config), "--files", str(self.shared),
                "--data", str(self.data), *words]

    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.root), "XDG_STATE_HOME": str(self.root / "state")}

    def open(self, *words: str, screen: type[Screen] = EditedScreen, columns: int = 300,
             **more: str) -> Terminal:
        """A command on a terminal."""
        terminal = Terminal(*words, cwd=str(self.cwd), columns=columns, screen=screen,
                            env=self.environment() | more)
        return self.enterContext(terminal)

    def chat(self, *words: str, **options) -> Terminal:
        return self.open(*self.chat_words(*words), **options)

    def say(self, terminal: Terminal, *lines: str, first: int = 1) -> None:
        """Enters lines, each at its prompt; the first of them is the prompt of that number."""
        for number, line in enumerate(lines, first):
            terminal.read_to_prompt(number)
            terminal.type(line + "\r")

    def end(self, terminal: Terminal, number: int) -> str:
        """Ctrl-D at the prompt of this number; what the screen has shown."""
        terminal.read_to_prompt(number)
        terminal.type(CTRL_D)
        self.assertEqual(terminal.finish(), 0, terminal.screen.text())
        return terminal.screen.text()

    def check_screen(self, name: str, terminal: Terminal) -> None:
        masked = CHAT_ID.sub("sess_N", DURATION.sub("N ms", terminal.screen.styled()))
        masked = masked.replace(str(self.root), "ROOT")
        path = SCREENS / f"{name}.txt"
        if os.environ.get("ERRAND_UPDATE"):
            path.write_text(masked)
        self.assertEqual(masked, path.read_text())

    def pipe(self, text: bytes, *words: str) -> tuple[int, str, str]:
        """A chat whose messages come from a pipe."""
        done = subprocess.run([binary(), *self.chat_words(*words)], input=text, cwd=self.cwd,
                              env=plain_environment(**self.environment()), capture_output=True,
                              preexec_fn=die_with_parent, timeout=SECONDS_MAX)
        errors = done.stderr.decode()
        self.assertFalse([word for word in SANITIZER_WORDS if word in errors], errors)
        return done.returncode, done.stdout.decode(), errors


class TalkTest(ChatCase):
    def test_every_line_goes_on_from_the_last(self):
        terminal = self.chat()
        self.say(terminal, "Hi", "Look at a.txt", "Thanks", "")
        self.end(terminal, 5)
        self.check_screen("chat", terminal)
        self.check_data()

    def test_a_chat_says_what_it_has_cost(self):
        config = json.loads(self.config.read_text())
        usage = {"inputTokens": 1_000_000, "outputTokens": 1_000_000}
        (self.root / "other.json").write_text(json.dumps(
            {"turns": [turn("One.", usage=usage), turn("Two.", usage=usage)]}))
        for model in config["models"]:
            model["pricing"] = {"inputPer1MUsd": 1, "outputPer1MUsd": 2}
        self.config.write_text(json.dumps(config))
        terminal = self.chat("--model", "other")
        self.say(terminal, "Hi", "Again")
        shown = self.end(terminal, 3)
        self.assertEqual(shown.count(" out, $3.00, "), 2, shown)
        self.assertIn("this chat has cost $6.00 here; to continue: errand chat --resume sess_",
                      shown)

    def test_the_demo_model_knows_what_was_asked_before(self):
        terminal = self.open("chat", "--files", str(self.shared))
        self.say(terminal, "What is in a.txt?")
        terminal.read_until("demo, 2 turns")
        self.say(terminal, "and in b.txt?", first=2)
        terminal.read_until("✓ read_file b.txt")
        self.assertEqual(os.listdir(self.cwd), [".errand"])

    def test_a_line_that_ends_with_a_backslash_goes_on(self):
        terminal = self.chat("--model", "other")
        terminal.read_to_prompt(1)
        terminal.type("one\\\r")
        terminal.read_until("\n.")
        terminal.type("two\r")
        self.say(terminal, f"/save {self.root}/chat.md", first=2)
        self.end(terminal, 3)
        self.assertIn("## You\n\none\ntwo\n\n## Model\n\nOther 1.\n",
                      (self.root / "chat.md").read_text())

    def test_pasted_lines_are_one_message(self):
        terminal = self.chat("--model", "other")
        terminal.read_to_prompt(1)
        terminal.type("Look: ")
        terminal.read_until("> Look:")
        terminal.paste("first\n\tsecond\n\nfourth, Grüße\n")
        terminal.read_until("fourth, Grüße")
        terminal.type("!\r")
        self.say(terminal, f"/save {self.root}/chat.md", first=2)
        self.end(terminal, 3)
        self.check_screen("chat_pasted", terminal)
        self.assertFalse(terminal.screen.marks_pastes)
        self.assertIn("## You\n\nLook: first\n\tsecond\n\nfourth, Grüße!\n\n## Model\n\nOther 1.\n",
                      (self.root / "chat.md").read_text())
        history = self.root / "state" / "errand" / "chat_history"
        self.assertEqual(history.read_text(), f"/save {self.root}/chat.md\n")

    def test_ctrl_c_ends_a_paste_that_does_not_end(self):
        terminal = self.chat("--model", "other")
        terminal.read_to_prompt(1)
        terminal.type("\x1b[200~one\rtwo")
        terminal.type(CTRL_C)
        self.say(terminal, "Hi", first=2)
        self.assertIn("\nOther 1.\n", self.end(terminal, 3))

    def test_a_paste_that_is_too_long_is_left_out(self):
        terminal = self.chat("--model", "other")
        terminal.read_to_prompt(1)
        for piece in ("\x1b[200~", *["x" * 1000 + "\r"] * 1001, "\x1b[201~", "Hi\r"):
            terminal.type(piece)
        self.assertIn("\n> Hi\nOther 1.\n", self.end(terminal, 2))

    def test_nothing_that_the_model_says_is_obeyed(self):
        terminal = self.chat("--model", "evil")
        self.say(terminal, "Go")
        self.assertIn("\n\\x1b[2J\\x1b]0;title\\x07\n", self.end(terminal, 2))

    def test_a_failed_answer_leaves_the_chat_open(self):
        terminal = self.chat("--model", "broken")
        self.say(terminal, "Go", "/model other", "Go")
        shown = self.end(terminal, 4)
        self.assertRegex(shown, r"\nerrand: the run failed: .*\(auth\)\n")
        self.assertIn("\nOther 1.\n", shown)

    def test_a_dumb_terminal_gets_plain_lines(self):
        terminal = self.chat("--model", "other", screen=Screen, TERM="dumb")
        self.say(terminal, "Hi", "/quit")
        self.assertEqual(terminal.finish(), 0)
        self.check_screen("chat_dumb", terminal)


class CommandsTest(ChatCase):
    def test_commands_say_what_there_is(self):
        terminal = self.chat()
        self.say(terminal, "/help", "/tools", "/model", "/model other", "/model othre",
                 "/model nope", "/what", "/save", f"/save {self.root}/chat.md", "//etc", "/quit")
        self.assertEqual(terminal.finish(), 0)
        self.check_screen("chat_commands", terminal)

    def test_the_conversation_is_saved_as_a_document(self):
        file = self.root / "my chat.md"
        terminal = self.chat()
        self.say(terminal, "Hi", "Look at a.txt", "/save ~/my chat.md")
        self.end(terminal, 4)
        text = CHAT_ID.sub("sess_N", file.read_text())
        self.assertEqual(text, "# Chat sess_N\n\n## You\n\nHi\n\n## Model\n\nHello.\n\n"
                               "## You\n\nLook at a.txt\n\n## Model\n\nLet me look.\n\n"
                               'Calls read_file:\n\n```\n{"path":"a.txt"}\n```\n\n'
                               "read_file gives:\n\n```\none\ntwo\n```\n\nIt says one.\n")
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)

    def test_a_file_is_replaced_only_if_that_is_asked_for(self):
        file = self.root / "chat.md"
        file.write_text("mine")
        terminal = self.chat()
        self.say(terminal, "Hi", f"/save {file}")
        terminal.read_until(f"hint: /save {file} --force replaces it")
        self.assertEqual(file.read_text(), "mine")
        self.say(terminal, f"/save {file} --force", first=3)
        self.end(terminal, 4)
        self.assertIn("Hello.", file.read_text())


class ResumeTest(ChatCase):
    def test_the_latest_chat_goes_on(self):
        for model in ("other", "talk"):
            terminal = self.chat("--model", model)
            self.say(terminal, "Hi")
            self.end(terminal, 2)
        terminal = self.chat("--resume")
        self.say(terminal, "Look at a.txt", first=2)
        self.end(terminal, 3)
        self.check_screen("chat_resumed", terminal)

    def test_a_chat_is_chosen_by_its_id(self):
        terminal = self.chat("--model", "other")
        self.say(terminal, "Hi")
        chat = CHAT_ID.search(self.end(terminal, 2))[0]
        self.pipe(b"Hi\n")
        code, out, errors = self.pipe(b"Go on\n", "--resume", chat)
        self.assertEqual((code, out), (0, "Other 2.\n"), errors)

    def test_a_chat_that_is_not_there_is_named(self):
        code, out, errors = self.pipe(b"Hi\n", "--resume")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(errors, "errand: there is no chat to continue\n"
                                 "hint: 'errand chat' begins one\n")
        code, out, errors = self.pipe(b"Hi\n", "--resume", "chat_1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn('errand: there is no chat "chat_1" here\n', errors)

    def test_an_answer_that_was_killed_comes_to_its_end(self):
        killed = self.chat("--model", "brief")
        self.say(killed, "Hi", "Go")
        killed.read_until("word1 ")
        killed.process.kill()
        killed.process.wait()
        terminal = self.chat("--resume")
        self.say(terminal, "And then?", first=2)
        shown = self.end(terminal, 3)
        self.assertIn("word58 word59", shown.replace("\n", ""))
        self.assertIn("\nThird.\n", shown)
        self.check_data()

    def test_a_command_that_was_cut_off_is_not_run_again(self):
        words = ("--shell", "--yes")
        killed = self.chat("--model", "shell", *words)
        self.say(killed, "Go")
        killed.read_until("· shell until")
        killed.process.kill()
        killed.process.wait()
        (self.shared / "go").touch()
        terminal = self.chat("--resume", *words)
        shown = self.end(terminal, 1)
        self.assertRegex(shown, r"(?s)✓ shell echo once .*✗ shell until .*A restart cut .*Done\.\n")
        self.assertEqual((self.shared / "count").read_text(), "once\n")

    def test_a_server_keeps_the_chats_of_its_clients(self):
        server = self.serve_data()
        words = ["chat", "--data", str(self.data), "--model", "other"]
        terminal = self.open(*words)
        self.say(terminal, "Hi")
        self.end(terminal, 2)
        terminal = self.open(*words, "--resume")
        self.say(terminal, "Hi again", first=2)
        self.assertIn("\nOther 2.\n", self.end(terminal, 3))
        runs = server.client().request("GET", "/agent-runs").json()["runs"]
        self.assertEqual([run["status"] for run in runs], ["succeeded", "succeeded"])
        self.assertEqual(runs[0]["metadata"], runs[1]["metadata"])

    def test_chats_are_listed_the_last_used_first(self):
        ids = []
        for message in ("One fine day", "Another fine day"):
            terminal = self.chat("--model", "other")
            self.say(terminal, message + " to talk")
            ids.append(CHAT_ID.search(self.end(terminal, 2))[0])
        self.pipe(b"Go on\n", "--resume", ids[0])
        code, out, errors = self.pipe(b"", "--list")
        self.assertEqual(code, 0, errors)
        lines = [line.split(None, 2) for line in out.splitlines()]
        self.assertEqual(out.splitlines()[0].split(), ["CHAT", "LAST", "USED", "ABOUT"])
        self.assertEqual([line[0] for line in lines[1:]], ids)
        self.assertEqual([line[2] for line in lines[1:]],
                         ["One fine day to talk", "Another fine day to talk"])

    def test_no_chats_are_an_empty_list(self):
        self.assertEqual(self.pipe(b"", "--list")[:2], (0, "CHAT  LAST USED  ABOUT\n"))


class TwoTerminalsTest(ChatCase):
    def setUp(self):
        super().setUp()
        self.server = self.serve_data()
        self.words = ["chat", "--data", str(self.data)]

    def test_the_same_chat_goes_on_in_two_terminals(self):
        first = self.open(*self.words, "--model", "other")
        self.say(first, "From the first")
        first.read_to_prompt(2)
        chat = self.server.client().request("GET", "/agent-sessions").json()["sessions"][0]["id"]
        second = self.open(*self.words, "--resume", chat)
        self.say(second, "From the second", first=2)
        second.read_to_prompt(3)
        self.assertIn("Other 2.", second.screen.text())
        first.type("Again\r")
        shown = self.end(first, 3)
        self.assertRegex(shown, r"(?s)meanwhile in this chat:\n> From the second\n"
                                r"Other 2\..*Other 3\.")
        session = self.server.client().request("GET", f"/agent-sessions/{chat}").json()
        self.assertEqual([one["content"] for one in session["messages"]],
                         ["From the first", "Other 1.", "From the second", "Other 2.",
                          "Again", "Other 3."])

    def test_a_chat_of_forks_goes_on(self):
        client = self.server.client()
        metadata = {"errand.command": "chat", "errand.chat": "chat_1"}
        run = client.request("POST", "/agent-runs", {
            "prompt": "Hi", "modelId": "other", "metadata": metadata}).json()["runId"]
        with client.stream(run) as events:
            events.until("result")
        for words in (("--resume",), ("--resume", "chat_1")):
            terminal = self.open(*self.words, *words)
            self.say(terminal, "And?", first=2)
            shown = self.end(terminal, 3)
            self.assertIn(f"to continue: errand chat --resume chat_1 --data {self.data}", shown)
        self.assertIn("\nOther 3.\n", shown)
        self.assertEqual(client.request("GET", "/agent-sessions").json()["total"], 0)
        runs = client.request("GET", "/agent-runs?metadata=errand.chat:chat_1").json()["runs"]
        self.assertEqual(len(runs), 3)


class StorageTest(ChatCase):
    ANSWER = "y" * 400
    scripts = {"many": [turn(ANSWER)] * 200}

    def test_a_chat_of_200_messages_takes_room_in_proportion(self):
        sizes = []
        for words in ((), ("--resume",)):
            code, out, errors = self.pipe((b"x" * 500 + b"\n") * 100, *words)
            self.assertEqual((code, out), (0, (self.ANSWER + "\n") * 100), errors[-2000:])
            sizes.append((self.data / "errand.db").stat().st_size)
        self.assertLess(sizes[1], 2.2 * sizes[0])


class KeysTest(ChatCase):
    def test_ctrl_c_stops_the_answer_and_the_chat_goes_on(self):
        terminal = self.chat("--model", "slow")
        self.say(terminal, "Hi", "Go")
        terminal.read_until("word1 ")
        terminal.type(CTRL_C)
        terminal.read_to_prompt(3)
        self.assertIn("errand: cancelling the run; Ctrl-C again leaves at once\n",
                      terminal.screen.text())
        self.say(terminal, "/model talk", "Look at a.txt", first=3)
        # The answer that was stopped is no turn of the conversation: this is the second one.
        self.assertIn("\nIt says one.\n", self.end(terminal, 5))

    def test_a_signal_cancels_the_answer_and_ends_the_chat(self):
        terminal = self.chat("--model", "slow")
        self.say(terminal, "Hi", "Go")
        terminal.read_until("word1 ")
        terminal.process.send_signal(signal.SIGTERM)
        self.assertEqual(terminal.finish(), 130)
        runs = self.serve_data().client().request("GET", "/agent-runs").json()["runs"]
        self.assertEqual([run["status"] for run in runs], ["cancelled", "succeeded"])

    def test_ctrl_c_clears_the_line_and_ends_the_chat_the_second_time(self):
        terminal = self.chat()
        terminal.read_to_prompt(1)
        terminal.type("forget this")
        terminal.read_until("> forget this")
        terminal.type(CTRL_C)
        terminal.read_to_prompt(2)
        terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), 130)
        self.assertIn("> forget this^C\nerrand: Ctrl-C again ends the chat\n> ^C\n",
                      terminal.screen.text() + "\n")

    def test_the_chat_says_how_it_goes_on_after_two_ctrl_c(self):
        terminal = self.chat("--model", "other")
        self.say(terminal, "Hi")
        for number in (2, 3):
            terminal.read_to_prompt(number)
            terminal.type(CTRL_C)
        self.assertEqual(terminal.finish(), 130)
        shown = "".join(terminal.screen.text().splitlines())
        chat = CHAT_ID.search(shown)[0]
        flags = f"--files {self.shared} --config {self.config} --data {self.data}"
        self.assertIn(f"to continue: errand chat --resume {chat} {flags}", shown)
        words = ["chat", "--resume", chat, *flags.split()]
        done = subprocess.run([binary(), *words], input=b"And?\n", cwd=self.cwd,
                              env=plain_environment(**self.environment()), capture_output=True,
                              preexec_fn=die_with_parent, timeout=SECONDS_MAX)
        self.assertEqual((done.returncode, done.stdout), (0, b"Other 2.\n"), done.stderr)

    def test_text_between_two_ctrl_c_keeps_the_chat_open(self):
        terminal = self.chat("--model", "other")
        terminal.read_to_prompt(1)
        terminal.type(CTRL_C)
        terminal.read_to_prompt(2)
        terminal.type("x")
        terminal.read_until("> x")
        terminal.type(CTRL_C)
        self.say(terminal, "Hi", first=3)
        self.assertIn("\nOther 1.\n", self.end(terminal, 4))

    def test_lines_are_edited_in_utf_8(self):
        terminal = self.chat("--model", "other")
        terminal.read_to_prompt(1)
        terminal.type("Grüße, 世x界" + LEFT + "\x7f" + "\x05!")
        terminal.read_until("> Grüße, 世界!")
        terminal.type("\r")
        self.say(terminal, f"/save {self.root}/chat.md", first=2)
        self.end(terminal, 3)
        self.assertIn("\n\nGrüße, 世界!\n", (self.root / "chat.md").read_text())

    def test_earlier_lines_come_back_also_in_the_next_chat(self):
        terminal = self.chat()
        self.say(terminal, "/tools", "/help")
        self.end(terminal, 3)
        terminal = self.chat()
        terminal.read_to_prompt(1)
        terminal.type(UP + UP)
        terminal.read_until("> /tools")
        terminal.type("\r")
        terminal.read_until("read_file  ")
        self.end(terminal, 2)
        history = self.root / "state" / "errand" / "chat_history"
        self.assertEqual(history.read_text(), "/tools\n/help\n/tools\n")
        self.assertEqual(stat.S_IMODE(history.stat().st_mode), 0o600)

    def test_a_resize_shows_the_line_anew(self):
        terminal = self.chat()
        terminal.read_to_prompt(1)
        terminal.type("some words")
        terminal.read_until("> some words")
        terminal.resize(60, 20)
        terminal.type(" more")
        terminal.read_until("> some words more")
        terminal.type(CTRL_C)
        shown = self.end(terminal, 2)
        self.assertIn("\n> some words more^C\n", shown)

    def test_a_chat_that_was_stopped_goes_on_with_its_line(self):
        terminal = self.chat("--model", "other")
        before = termios.tcgetattr(terminal.master)
        terminal.read_to_prompt(1)
        terminal.type("bc")
        terminal.read_until("> bc")
        terminal.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)
        termios.tcsetattr(terminal.master, termios.TCSANOW, before)  # as a shell does
        terminal.process.send_signal(signal.SIGCONT)
        terminal.type("\x01a")
        terminal.read_until("> abc")
        terminal.type("\r")
        terminal.read_until("Other 1.")

    def test_a_signal_at_the_prompt_leaves_the_terminal_as_it_was(self):
        terminal = self.chat()
        before = termios.tcgetattr(terminal.master)
        terminal.read_to_prompt(1)
        self.assertNotEqual(termios.tcgetattr(terminal.master), before)
        terminal.process.send_signal(signal.SIGTERM)
        self.assertEqual(terminal.process.wait(SECONDS_MAX), 130)
        self.assertEqual(termios.tcgetattr(terminal.master), before)


class PipeTest(ChatCase):
    def test_every_line_of_a_pipe_is_a_message(self):
        code, out, errors = self.pipe(b"Hi\n\nLook\\\nat a.txt\r\n/model other\nThanks")
        self.assertEqual(code, 0, errors)
        self.assertEqual(out, "Hello.\nLet me look.\nIt says one.\nOther 4.\n")
        self.assertRegex(errors, r"^talk, 1 turn, .*\n-> read_file .*\n<- read_file 2 lines, .*\n"
                                 r"talk, 2 turns, .*\nother\n")

    def test_the_first_failure_ends_a_script(self):
        code, out, errors = self.pipe(b"/model broken\nHi\n/model other\nHi\n")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(errors, r"\nerrand: the run failed: .*\(auth\)\n$")

    def test_a_wrong_command_or_line_ends_a_script(self):
        for text, said in ((b"/what\nHi\n", 'errand: there is no command "/what"\n'),
                           (b"\xff\xfe\nHi\n", "errand: a line on stdin is not UTF-8\n"),
                           (b"x" * 2_000_000, "errand: a line on stdin is longer than ")):
            with self.subTest(said=said):
                code, out, errors = self.pipe(text)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(said, errors)

    def test_a_server_that_is_down_is_named(self):
        code, out, errors = self.pipe_to_nobody()
        self.assertEqual((code, out), (3, ""))
        self.assertRegex(errors, r"^errand: cannot connect to 127\.0\.0\.1:1: .*\n"
                                 r"hint: .*--embedded runs without one\n$")

    def pipe_to_nobody(self) -> tuple[int, str, str]:
        words = ["chat", "--server", "http://127.0.0.1:1", "--key", "k"]
        done = subprocess.run([binary(), *words], input=b"Hi\n", cwd=self.cwd,
                              env=plain_environment(), capture_output=True, timeout=SECONDS_MAX)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
