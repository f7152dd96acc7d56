"""A small terminal screen: what a user sees after a program has written to it."""

import re
import unicodedata

SEQUENCE = re.compile(r"\x1b\[(\??\d*)([A-Za-z])")
STYLES = {"0": "", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}


def width_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


class Screen:
    """Understands what Errand may send, and fails on anything else, as that came from outside."""

    def __init__(self, columns: int = 80, rows: int = 24):
        self.columns = columns
        self.rows = rows
        self.lines: list[list[tuple[str, str]]] = [[]]  # cells of (text, style), all ever shown
        self.row = 0
        self.column = 0
        self.style = ""
        self.pending = ""  # an escape sequence that is not all there

    def resize(self, columns: int, rows: int) -> None:
        """As terminals do that leave the lines alone."""
        self.columns, self.rows = columns, rows

    @property
    def top(self) -> int:
        """The first line that the cursor can reach."""
        return max(0, len(self.lines) - self.rows)

    def feed(self, text: str) -> None:
        text, self.pending = self.pending + text, ""
        while text:
            if text[0] != "\x1b":
                self.put(text[0])
                text = text[1:]
                continue
            found = SEQUENCE.match(text)
            if not found:
                if len(text) < 8:
                    self.pending = text
                    return
                raise AssertionError(f"an unknown escape sequence: {text[:40]!r}")
            self.obey(found[1], found[2])
            text = text[found.end():]

    def obey(self, number: str, letter: str) -> None:
        if number.startswith("?"):
            raise AssertionError(f"an unknown escape sequence: {number}{letter}")
        count = int(number or "1")
        if letter == "A":
            self.row = max(self.top, self.row - count)
        elif letter == "B":
            self.row = min(len(self.lines) - 1, self.row + count)
        elif letter == "K" and number == "2":
            self.lines[self.row] = []
        elif letter == "m" and number in STYLES:
            self.style = STYLES[number]
        else:
            raise AssertionError(f"an unknown escape sequence: {number}{letter}")

    def put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.down()
        elif char == "\t":
            self.column = min(self.columns - 1, (self.column // 8 + 1) * 8)
        elif char < " " or "\x7f" <= char < "\xa0":
            raise AssertionError(f"a control character: {char!r}")
        else:
            self.show(char)

    def down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])

    def show(self, char: str) -> None:
        width = width_of(char)
        line = self.lines[self.row]
        if width == 0:
            if line:
                line[-1] = (line[-1][0] + char, line[-1][1])
            return
        if self.column + width > self.columns:
            self.down()
            self.column = 0
            line = self.lines[self.row]
        while len(line) < self.column:
            line.append((" ", ""))
        cells = [(char, self.style), ("", self.style)][:width]
        line[self.column:self.column + width] = cells
        self.column += width

    def text(self) -> str:
        """Everything that was shown, also what has scrolled away."""
        shown = ["".join(cell for cell, _ in line).rstrip() for line in self.lines]
        return "\n".join(shown)

    def styled(self) -> str:
        """The same with <dim>, <red> and <green> around what is."""
        return "\n".join(styled_line(line) for line in self.lines)


class EditedScreen(Screen):
    """Understands what the line editor sends, too."""

    marks_pastes = False

    def obey(self, number: str, letter: str) -> None:
        if number == "?2004" and letter in "hl":
            self.marks_pastes = letter == "h"
            return
        count = int(number or "1")
        line = self.lines[self.row]
        if letter == "G":
            self.column = count - 1
        elif letter == "K" and not number:
            del line[self.column:]
        elif letter == "J" and not number:
            del line[self.column:], self.lines[self.row + 1:]
        elif letter == "@":
            line[self.column:self.column] = [(" ", "")] * count
        elif letter == "P":
            del line[self.column:self.column + count]
        else:
            super().obey(number, letter)

    def put(self, char: str) -> None:
        if char == "\b":
            self.column = max(0, self.column - 1)
        elif char != "\a":
            super().put(char)


def styled_line(line: list[tuple[str, str]]) -> str:
    out, now = "", ""
    for cell, style in [*line, ("", "")]:
        if style != now:
            out += f"</{now}>" if now else ""
            out += f"<{style}>" if style else ""
            now = style
        out += cell
    return out.rstrip()
