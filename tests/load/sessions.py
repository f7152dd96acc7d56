"""What messages of sessions cost, and what a chat takes on the disk."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from load.scenarios import LOAD_SECONDS_MAX, WORDS, LoadFailed, cpu_seconds, drive, load_command
from support.script import turn
from support.server import Server

SHORT_TURNS = 2
LONG_TURNS = 200
SHORT_SESSIONS = 500
LONG_SESSIONS = 40
MESSAGES = 2000
CHAT_MESSAGES = 200
PROMPT = "What does the report say about the harbour, and who wrote that part of it? "

# The number of answers in the conversation selects the turn.
SCRIPTS = {"talk": [turn(*WORDS)] * (LONG_TURNS + MESSAGES // LONG_SESSIONS + 1)}


def run_cpu_ms(server: Server) -> float:
    before = cpu_seconds(server.pid)
    drive(server, "talk", MESSAGES)
    return (cpu_seconds(server.pid) - before) * 1000 / MESSAGES


@dataclass(frozen=True)
class MessageCost:
    message_ms: float  # of the server's CPU
    run_ms: float  # that of a run without a session, on the same store

    @property
    def times(self) -> float:
        return self.message_ms / self.run_ms


def message_cost(server: Server, sessions: int, turns: int) -> MessageCost:
    """A large store makes a run dearer as well: runs come right before and after the messages."""
    command = [*load_command(server, "messages", "talk", MESSAGES), "--sessions", str(sessions),
               "--turns", str(turns)]
    load = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with load:
        try:
            if json.loads(load.stdout.readline())["runs"] != sessions:
                raise LoadFailed("sessions could not be filled")
            run_before = run_cpu_ms(server)
            before = cpu_seconds(server.pid)
            load.communicate(b"\n", LOAD_SECONDS_MAX)
        except BaseException:
            load.kill()
            raise
    if load.returncode != 0:
        raise LoadFailed(server.errors()[-2000:])
    message_ms = (cpu_seconds(server.pid) - before) * 1000 / MESSAGES
    return MessageCost(message_ms, (run_before + run_cpu_ms(server)) / 2)


@dataclass(frozen=True)
class MessageFigures:
    run_ms: float  # server CPU of a run without a session
    short: float  # that of a message to a short session, in multiples of it
    long: float


def measure_messages() -> MessageFigures:
    server = Server(SCRIPTS).start()
    try:
        drive(server, "talk", MESSAGES)
        short = message_cost(server, SHORT_SESSIONS, SHORT_TURNS)
        long = message_cost(server, LONG_SESSIONS, LONG_TURNS)
        return MessageFigures(short.run_ms, short.times, long.times)
    finally:
        server.kill()
        server.close()


def stored_bytes(server: Server) -> int:
    """Of a server that has stopped, so that nothing is left in a write-ahead log."""
    return sum(path.stat().st_size for path in Path(server.data).rglob("*") if path.is_file())


def flat(event: dict) -> dict:
    """An event as the log has it, without the copy of its members that clients get."""
    return {name: value for name, value in event.items() if name != "data"}


def measure_chat_storage() -> float:
    """Bytes on the disk of a chat of so many messages, in multiples of those of its texts and
    events."""
    server = Server(SCRIPTS).start()
    try:
        server.stop()
        before = stored_bytes(server)
        server.start()
        client = server.client()
        session = client.request("POST", "/agent-sessions", {}).json()["sessionId"]
        told = 0
        for _ in range(CHAT_MESSAGES):
            made = client.request("POST", f"/agent-sessions/{session}/messages",
                                  {"prompt": PROMPT})
            log = client.log(made.json()["runId"])
            told += len(PROMPT)
            told += sum(len(json.dumps(flat(frame.json()), separators=(",", ":"))) for frame in log)
        server.stop()
        return (stored_bytes(server) - before) / told
    finally:
        server.kill()
        server.close()
