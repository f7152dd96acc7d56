"""A command of the binary, or another one, on a terminal of its own."""

import codecs
import fcntl
import os
import pty
import selectors
import signal
import struct
import subprocess
import termios

from support.screen import Screen
from support.server import SANITIZER_WORDS, binary, die_with_parent

SECONDS_MAX = 60
CTRL_C = "\x03"
CTRL_D = "\x04"


def plain_environment(**more: str) -> dict[str, str]:
    """Without keys of vendors and settings of the machine, so that every run is the same."""
    foreign = ("_API_KEY", "_BASE_URL", "_HOST", "_PROXY", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items()
            if not name.upper().endswith(foreign)}
    return kept | {"TERM": "xterm-256color"} | more


class Terminal:
    """Runs the command with stdin, stdout and stderr on a terminal; some may be elsewhere."""

    def __init__(self, *words: str, cwd: str, columns: int = 80, rows: int = 24,
                 env: dict[str, str] | None = None, screen: type[Screen] = Screen,
                 command: list[str] | None = None, **elsewhere):
        self.screen = screen(columns, rows)
        self.master, slave = pty.openpty()
        self.set_size(columns, rows)
        streams = {"stdin": slave, "stdout": slave, "stderr": slave} | elsewhere
        self.process = subprocess.Popen(
            command or [binary(), *words], cwd=cwd, env=plain_environment() | (env or {}),
            start_new_session=True, preexec_fn=lambda: prepare(slave), **streams)
        os.close(slave)
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    def set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        self.set_size(columns, rows)
        self.screen.resize(columns, rows)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def paste(self, text: str) -> None:
        """As a terminal does: line ends are those of the Enter key, and pastes are marked for
        programs that have asked for it."""
        keys = text.replace("\n", "\r")
        self.type(f"\x1b[200~{keys}\x1b[201~" if self.screen.marks_pastes else keys)

    def read_until(self, text: str) -> None:
        """Waits until this can be read on the screen."""
        while text not in self.screen.text():
            if not self.read():
                raise AssertionError(f"ended without {text!r}:\n{self.screen.text()}")

    def read_to_prompt(self, number: int) -> None:
        """Waits for the prompt of this number, empty at the end of the screen."""
        def is_there() -> bool:
            lines = self.screen.text().split("\n")
            return lines[-1] == ">" and sum(line.startswith(">") for line in lines) >= number

        while not is_there():
            if not self.read():
                raise AssertionError(f"ended without a prompt:\n{self.screen.text()}")

    def read(self) -> bool:
        """Takes what comes next; False once nothing can come any more."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.master, selectors.EVENT_READ)
            if not selector.select(SECONDS_MAX):
                raise AssertionError(f"nothing comes any more:\n{self.screen.text()}")
        try:
            piece = os.read(self.master, 4096)
        except OSError:  # the other side is closed
            return False
        self.screen.feed(self.decoder.decode(piece))
        return bool(piece)

    def finish(self) -> int:
        """The exit code, once everything is on the screen."""
        while self.read():
            pass
        code = self.process.wait(SECONDS_MAX)
        shown = self.screen.text()
        if any(word in shown for word in SANITIZER_WORDS):
            raise AssertionError(shown)
        return code


def prepare(slave: int) -> None:
    """Runs in the child: the terminal becomes its own, and its signals are not ignored."""
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
