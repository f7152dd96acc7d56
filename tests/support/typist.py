"""Runs a script on a terminal, types what a document says, and prints what the screen has shown.

Usage: typist.py SCRIPT SCREEN

SCREEN is the file with the screen as the document has it. Whenever the screen ends with an empty
prompt, the line that the document has there is typed.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from support.screen import EditedScreen  # noqa: E402
from support.terminal import CTRL_D, Terminal  # noqa: E402

COLUMNS = 100  # as wide as the lines of a document
PROMPT = "> "


def type_all(terminal: Terminal, expected: list[str]) -> None:
    """Until the command ends, or asks where the document has no answer."""
    typed = -1  # the last row with a prompt that was answered
    while terminal.read():
        shown = terminal.screen.text().split("\n")
        row = len(shown) - 1
        if shown[-1] != PROMPT.strip() or row <= typed:
            continue
        if row >= len(expected) or not expected[row].startswith(PROMPT):
            terminal.type(CTRL_D)
        else:
            terminal.type(expected[row].removeprefix(PROMPT) + "\r")
        typed = row


def main(script: str, screen: str) -> int:
    expected = Path(screen).read_text().rstrip("\n").split("\n")
    with Terminal(cwd=os.getcwd(), columns=COLUMNS, screen=EditedScreen,
                  command=["bash", script], env=dict(os.environ)) as terminal:
        type_all(terminal, expected)
        terminal.finish()
        print(terminal.screen.text())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
