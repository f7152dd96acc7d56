"""The figures as a table, and docs/bench.md."""

import os
import platform
import re
import statistics
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

BY_HAND_BEGIN = "<!-- Written by hand from here; bench.py keeps it. -->"
BY_HAND_END = "<!-- Written by hand up to here. -->"
GROUP = re.compile(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)

INTRODUCTION = """\
# Benchmarks

What the release build takes, measured by `./dev bench --save`, which writes this page; `./dev bench
--save GROUP...` measures these groups again and leaves the other tables as they are. CPU and memory
are those of the server's process alone; client and server share the machine, so rates and latencies
are low bounds.

"""

EXPLANATION = """
## What is measured

Each figure is the median, then the smallest and the largest.

- **Run of 20 deltas**: `POST` creates a run of a scripted model, `GET` reads its stream to the end;
  8 in flight over connections that are kept alive. Everything is stored in SQLite with
  `synchronous=FULL` before it is shown. CPU is user and system time of all threads, divided by the
  runs. The server has done 1,000 runs before.
- **The same with one client tool**: ten deltas, a call that the client answers over a second
  connection, ten deltas.
- **Paused run**: 1,000 runs that wait for their client, each with its open stream. What counts is
  the resident memory with them less that before them, divided by 1,000: runs, connections, streams,
  and whatever else grows meanwhile. The server has done 2,000 runs before, so that what it takes
  once (page caches, pools of memory) does not count; what is left free of that is used again. The
  kernel's memory for sockets does not count.
- **Start**: from before the fork to the ready line, when requests are accepted. The existing
  directory holds 2,000 runs that have ended.
- **Idle server**: resident memory right after the ready line, the pages of the binary included.
- **Runs that wait for their clients**: 100,000 runs with an unanswered call and without readers,
  all dropped from memory; the resident memory of the whole process.
- **Unfinished runs**: a server is killed while 10,000 runs wait for the model. The next one
  listens, takes them over, asks the model for each (paced), and ends them all; a client polls for
  the end.
- **Claimed**: a server is killed while 100,000 runs wait, 500 of them for the model and the others
  for a slot, or all of them for their clients. `/metrics` of the next one tells when it has taken
  over all of them; its peak memory is that from its start until then.
- **Ended runs**: copies of 50 real runs (`errand_fill`), of one team, 50 customers and one failure
  in 50. Lists are asked for by seven filters, each 1,000 times over one connection, the first page
  and the one behind it in turn, while 10,000 other runs wait for their clients; each filter is one
  value. Old runs are removed while 2,000 new ones are offered a second; both are counted in the
  database.
- **Message to a session**: 500 sessions of 2 turns, or 40 of 200, get messages in turn; each answer
  is one of 20 deltas and read to its end. What counts is the server's CPU, in multiples of that of
  runs without a session that come right before and after, on a store of the same size. **Chat**:
  what 200 messages add to the data directory, in multiples of their prompts and the events of their
  runs.
- **Beside 1,000 waiting runs**: 16 runs may be in flight. The median of 20 runs of 200 ms.
- **In process**: `errand::Runtime` with its store in memory, eight threads that each wait for their
  run; CPU of the whole process. The bare loop in Node (`node_loop.mjs`) asks the same vendor, which
  is named above the table, keeps nothing, and has eight runs in flight, too. **Close of a call's
  block**: stamped by a vendor of its own before it sends the end of the block, and by the handler.
- **Log from the disk**: the stream of a run that ended before the server started, read to its end.
- **Cancel**: from before the `POST` to the end of the run's stream, which comes after the model's
  stream has been closed. The scripted model has no socket of its own.
- **Model over HTTP**: the model is the vendor that is named above the table, on the same machine,
  asked in the format of OpenAI's chat completions. It shares the cores, so that latencies are low
  bounds; its CPU does not count. Five client tools: five turns with one call each, then 20 deltas.
  Five built-in tools: the same with the calculator of the server.
- **Model that is speaking**: 1,000 runs that are held after the first of the vendor's deltas, each
  with its connection to the vendor and its open stream; measured like a paused run. The paused run
  over HTTP has had one answer of the vendor and waits for its client.
- **500 streams**: 500 runs, begun one every 2 ms, each of 200 deltas at a pace of one in 20 ms; how
  much later a delta is read than by the pace of the most punctual one of its stream.
- **Creating a run with 64 tools**: what it costs more than one without tools. New tools are such
  that no schema was seen before.
- **Validating, decoding**: in process (`errand_micro`). The arguments are an order with three
  lines, the document one with 1,360; streams are 20,000 deltas in pieces of 16 KB, through the
  reader of server-sent events.
- **Room**: everybody is a WebSocket over loopback, without compression, on one thread of the
  program that measures; the server has a thread of its own. A call goes from its caller to the
  room, to its host and back the same way; its time is what the caller sees. A message to 1,000
  participants has arrived when the last one has read it. The relay on Node (`ws`) does the least
  that the same clients need: no tokens, no grants, no limits. `./dev bench rooms` measures these
  alone.

What others notice while somebody asks for much is in [stalls.md](stalls.md).

"""

STALLS_INTRODUCTION = """\
# Stalls

What others notice while somebody asks for much of a server, measured by `./dev bench stalls
--save`, which writes this page. Client, prober and server share the machine: latencies grow with
whatever else runs there, CPU and memory hardly do.

"""

STALLS_EXPLANATION = """
## What is measured

Each figure is the median, then the smallest and the largest. Every attack has a server of its own.

- **Longest task, CPU**: of the event loop, on which every connection and every run lives, while the
  attack lasts (`errand_loop_task_cpu_seconds` of `/metrics`). A task that is not the longest since
  the start is told by the upper bound of its bucket; 0 means that none took a millisecond.
- **/healthz**: asked every 2 ms over one connection, from before the attack to after it.
- **A call of neighbours**: of a tool, between two participants of the attacked room who have no
  part in the attack; made as often as /healthz is asked.
- **Peak memory**: the high-water mark of the process, from its start on.
"""

BY_HAND_EMPTY = """\
## Where the time goes

Not written yet.
"""


@dataclass(frozen=True)
class Row:
    """One measured thing. Without a target it is there for information; without values it has no
    verdict."""

    name: str
    unit: str
    values: list[float]
    digits: int
    target: float | None = None
    is_least: bool = False  # the target is what it must have at least
    missing: str = "not measured"  # why there are no values

    def number(self, value: float) -> str:
        return f"{value:,.{self.digits}f}"

    def cells(self) -> list[str]:
        target, verdict = "", ""
        if self.target is not None:
            target = f"at {'least' if self.is_least else 'most'} {self.target:g} {self.unit}"
        if not self.values:
            return [self.name, self.missing, "", target, verdict]
        median = statistics.median(self.values)
        if self.target is not None:
            is_met = median >= self.target if self.is_least else median <= self.target
            verdict = "met" if is_met else "missed"
        spread = f"{self.number(min(self.values))} - {self.number(max(self.values))}"
        return [self.name, f"{self.number(median)} {self.unit}", spread, target, verdict]


def table(rows: list[Row]) -> str:
    return aligned([["what", "median", "min - max", "target", "verdict"],
                    *(row.cells() for row in rows)])


def aligned(lines: list[list[str]]) -> str:
    """Markdown that reads well as plain text too. The first line is the head of the table."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
        for line in lines)


def output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def cpu_model() -> str:
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else platform.machine()


def memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def filesystem_of(folder: Path) -> str:
    return output_of("df", "--output=fstype", str(folder)).splitlines()[-1].strip()


def compiler_of(binary: Path) -> str:
    """As the compiler itself wrote it into the binary."""
    found = re.search(rb"[\x20-\x7e]*clang version [\d.]+", binary.read_bytes())
    return found.group().decode() if found else "unknown"


def moment(root: Path) -> str:
    """What was measured, when, and beside what."""
    commit = output_of("git", "-C", str(root), "describe", "--always", "--dirty=, with changes")
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    return (f"Commit {commit or 'unknown'}, {date}; load average before: {os.getloadavg()[0]:.1f}, "
            "from other work on the machine.")


def describe_machine(binary: Path, data_root: Path) -> dict[str, str]:
    return {
        "CPU": f"{cpu_model()}, {os.cpu_count()} cores",
        "Memory": f"{memory_gb():.0f} GB",
        "Kernel": f"{platform.system()} {platform.release()}",
        "Filesystem of the data directory": filesystem_of(data_root),
        "Compiler": compiler_of(binary),
    }


def machine_text(machine: dict[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in machine.items()) + "\n"


def by_hand(page: Path) -> str:
    """The section that people write, from the page as it is."""
    text = page.read_text() if page.exists() else ""
    _, begin, rest = text.partition(BY_HAND_BEGIN + "\n")
    section, end, _ = rest.partition(BY_HAND_END)
    return section if begin and end else BY_HAND_EMPTY


def tables(page: Path) -> dict[str, str]:
    """By group, the tables of a page and when they were measured."""
    text = page.read_text() if page.exists() else ""
    return {group: body.strip() for group, body in GROUP.findall(text)}


def save(page: Path, machine: dict[str, str], group: str, when: str, rows: list[Row],
         order: list[str]) -> None:
    """Puts the table of a group into docs/bench.md, whose other tables stay."""
    found = tables(page) | {group: f"{when}\n\n{table(rows)}"}
    sections = "\n".join(f"## `{name}`\n\n{found[name]}\n" for name in order if name in found)
    page.write_text(f"{INTRODUCTION}{machine_text(machine)}\n{sections}{EXPLANATION}"
                    f"{BY_HAND_BEGIN}\n{by_hand(page)}{BY_HAND_END}\n")


def save_stalls(page: Path, machine: dict[str, str], when: str, rows: list[Row]) -> None:
    page.write_text(f"{STALLS_INTRODUCTION}{machine_text(machine)}\n{when}\n\n{table(rows)}\n"
                    f"{STALLS_EXPLANATION}")
