"""The code blocks of a document, and how they are run.

- `sh` blocks of a page are one shell session, from top to bottom, which ends at the first command
  that fails. A line with the comment `# until Ctrl-C` is started in the background, as a reader
  would in another terminal, and the next line waits until it is ready.
- `console` blocks are commands behind `$ ` in the same session, and what they print. A line `...`
  stands for any lines.
- `terminal` blocks are the same on a terminal, with what its screen shows. What stands behind its
  prompt, `> `, is typed there.
- Other blocks whose first line is a comment with a file name are that file, in the folder of the
  session, or where a path that is replaced leads to.

Ports of 127.0.0.1 become free ones; everything else is run as it stands.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.server import NO_OLLAMA, SANITIZER_WORDS, STOP_SECONDS_MAX, die_with_parent

ROOT = Path(__file__).resolve().parent.parent.parent
TYPIST = Path(__file__).resolve().parent / "typist.py"
PAGE_SECONDS_MAX = 300
SESSION_LANGUAGES = ("sh", "console", "terminal")
FENCE = re.compile(r"^```(\w*)$")
FILE_NAME = re.compile(r"^(?:#|//) (/\S+|[\w-]+\.\w+)$")
UNTIL_CTRL_C = re.compile(r"^(?P<command>[^#]*\S) +# until Ctrl-C.*$", re.MULTILINE)
PORT = re.compile(r"(127\.0\.0\.1):(\d{4,5})\b")
MASKS = (
    (re.compile(r"\b(run|key|chat|sess|agent|tool|room|tu)_[0-9a-z]{16,}"), r"\1_ID"),
    (re.compile(r"mantyx_(oa_)?[0-9a-f]{5,64}"), "mantyx_KEY"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?"), "TIME"),
    (re.compile(r"\b\d+ (?:ms|s|min)\b|\b\d+\.\d s\b"), "DURATION"),
    (re.compile(r"\b\d+ (tokens )?in, \d+ out\b"), "TOKENS"),
    (re.compile(r"\b\d+ (KB|MB|GB|events)\b"), r"N \1"),
    (re.compile(r"\bprocess \d+"), "process N"),
    (re.compile(r'(\b(?:errand|version) |"version":")\d+\.\d+\.\d+\b'), r"\1VERSION"),
    (PORT, r"\1:PORT"),
    (re.compile(r" {2,}"), "  "),
)
PRELUDE = """set -euo pipefail
await_ready() {  # a process, and the file with what it says
  (set +o pipefail; tail -n +1 -f --pid="$1" "$2" |
    grep -q -m1 -e '"event":"ready"' -e '^Serving until Ctrl-C') && return
  echo "ended, and was never ready:"; cat "$2"; return 1
}
end_all() {
  local jobs; jobs=$(jobs -p)
  if [[ -n $jobs ]]; then kill $jobs 2>/dev/null; wait $jobs; fi
}
trap 'code=$?; set +e; end_all; exit $code' EXIT
"""


@dataclass(frozen=True)
class Block:
    page: str
    line: int  # of its first line
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file_name(self) -> str:
        found = FILE_NAME.match(self.text.split("\n", 1)[0])
        return found[1] if found else ""


def blocks_of(path: Path) -> list[Block]:
    page = str(path.relative_to(ROOT)) if ROOT in path.parents else path.name
    blocks, lines = [], path.read_text().split("\n")
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if not opening:
            if lines[number].lstrip().startswith("```"):
                raise AssertionError(f"{page}:{number + 1}: a fence begins its line, and names "
                                     "no more than a language")
            number += 1
            continue
        end = lines.index("```", number + 1)
        blocks.append(Block(page, number + 2, opening[1], "\n".join(lines[number + 1:end]) + "\n"))
        number = end + 1
    return blocks


def mask(text: str) -> str:
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def fits(expected: list[str], shown: list[str]) -> bool:
    """Whether the lines are those expected, where `...` stands for any."""
    if not expected:
        return not shown
    if expected[0] == "...":
        return any(fits(expected[1:], shown[n:]) for n in range(len(shown) + 1))
    return bool(shown) and shown[0] == expected[0] and fits(expected[1:], shown[1:])


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@dataclass
class Step:
    """A piece of the session: where it stands, and what it must print, if that is said."""

    block: Block
    command: str
    expected: str | None = None


def steps_of(block: Block) -> list[Step]:
    if block.language == "sh":
        return [Step(block, block.text)]
    steps = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command += "\n" + more.removeprefix("> ")
        steps.append(Step(block, command + "\n", output))
    return steps


class Session:
    """The shell session of one page, in an empty home and a folder of its own."""

    def __init__(self, folder: Path, work: Path, environment: dict[str, str],
                 replaced: dict[str, str] | None = None, seconds_max: int = PAGE_SECONDS_MAX):
        self.folder = folder
        self.notes = folder / "session"
        self.notes.mkdir()
        home = folder / "home"
        home.mkdir(exist_ok=True)
        self.work = work
        self.environment = {"HOME": str(home), "LANG": "C.UTF-8", "OLLAMA_HOST": NO_OLLAMA,
                            "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment |= environment
        self.replaced = replaced or {}
        self.seconds_max = seconds_max
        self.ports: dict[str, int] = {}

    def literal(self, text: str) -> str:
        for placeholder, value in self.replaced.items():
            text = text.replace(placeholder, value)
        return PORT.sub(lambda found: f"{found[1]}:{self.port(found[2])}", text)

    def port(self, named: str) -> int:
        return self.ports.setdefault(named, free_port())

    def script(self, steps: list[Step]) -> str:
        out = PRELUDE
        for number, step in enumerate(steps):
            service, file, output = (shlex.quote(str(self.notes / f"{name}-{number}"))
                                     for name in ("service", "step", "output"))
            in_background = (rf": >{service}; \g<command> >>{service} 2>&1 & "
                             rf"await_ready $! {service}")
            text = UNTIL_CTRL_C.sub(in_background, self.literal(step.command))
            (self.notes / f"step-{number}").write_text(text)
            # A command whose output is compared may fail, and say so.
            mercy = " || true" if step.expected is not None else ""
            run = f". {file}"
            if step.block.language == "terminal":
                (self.notes / f"screen-{number}").write_text(step.expected)
                screen = shlex.quote(str(self.notes / f"screen-{number}"))
                run = f"python3 {shlex.quote(str(TYPIST))} {file} {screen}"
            out += f"echo {number} >{shlex.quote(str(self.notes / 'at'))}\n"
            out += f"{run} >{output} 2>&1 </dev/null{mercy}\n"
        return out

    def run(self, blocks: list[Block]) -> list[str]:
        """What is wrong with the blocks, each with its place; empty if nothing. When it is called
        again, files and ports are those from before, and variables are not."""
        steps = []
        for block in blocks:
            if block.language in SESSION_LANGUAGES:
                steps += steps_of(block)
            elif block.file_name:
                self.write_file(block)
        script = self.notes / "session.sh"
        script.write_text(self.script(steps))
        code = self.execute(["bash", str(script)])
        if code != 0:
            number = int((self.notes / "at").read_text())
            return [f"{steps[number].block.place}: exit code {code}\n{self.output(number)}"]
        problems = [self.difference(number, step) for number, step in enumerate(steps)]
        problems += [f"{path.name}: {word}" for path in self.notes.iterdir()
                     for word in SANITIZER_WORDS if word in path.read_text(errors="replace")]
        return [problem for problem in problems if problem]

    def write_file(self, block: Block) -> None:
        """Files elsewhere on the machine are left alone."""
        path = self.work / self.literal(block.file_name)
        if self.folder in path.parents or self.work in path.parents:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.literal(block.text))

    def execute(self, command: list[str]) -> int:
        process = subprocess.Popen(command, cwd=self.work, env=self.environment,
                                   stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=die_with_parent)
        try:
            return process.wait(self.seconds_max)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(STOP_SECONDS_MAX)
            raise

    def output(self, number: int) -> str:
        path = self.notes / f"output-{number}"
        return path.read_text(errors="replace") if path.exists() else ""

    def difference(self, number: int, step: Step) -> str:
        if step.expected is None:
            return ""
        shown = self.output(number)
        for placeholder, value in self.replaced.items():
            shown = shown.replace(value, placeholder)
        expected, shown = mask(step.expected), mask(shown)
        if fits(expected.split("\n"), shown.split("\n")):
            return ""
        return f"{step.block.place}: {step.command}--- expected\n{expected}\n--- shown\n{shown}"
