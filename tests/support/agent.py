"""A client of one run that behaves as the SDKs do: it follows the stream, answers the calls, and
comes back after every cut."""

import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Callable

from support.http import Client, Frame, Refused

GIVEN_UP = "the server was killed 3 times while it worked on this run alone"
TERMINAL = {"result", "error", "cancelled"}


class Availability:
    """Tells clients when the server can be reached, so that they need not poll it."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.up = True

    def went_down(self) -> None:
        with self.condition:
            self.up = False

    def came_up(self) -> None:
        with self.condition:
            self.up = True
            self.condition.notify_all()

    def wait(self, seconds_max: float = 120) -> None:
        with self.condition:
            if not self.condition.wait_for(lambda: self.up, seconds_max):
                raise AssertionError("the server did not come back")


@dataclass
class Cut:
    """How a connection was lost, and after which event."""

    after: int
    error: ConnectionError


@dataclass
class Agent:
    """One run and what its client saw of it. `follow` runs it to its end."""

    client: Client
    spec: dict
    availability: Availability = field(default_factory=Availability)
    on_frame: Callable[["Agent", Frame], None] = lambda agent, frame: None
    on_answered: Callable[["Agent", str], None] = lambda agent, tool_use: None

    run: str = ""
    frames: list[Frame] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    accepted: dict[str, str] = field(default_factory=dict)  # toolUseId -> the text that got 204
    tried: dict[str, list[str]] = field(default_factory=dict)  # toolUseId -> every text sent
    unanswered: list[str] = field(default_factory=list)

    @property
    def last_seq(self) -> int:
        return self.frames[-1].seq if self.frames else 0

    @property
    def is_given_up(self) -> bool:
        """Three kills in a row came while the server worked on this run alone."""
        return self.ended and GIVEN_UP in self.frames[-1].json().get("error", "")

    @property
    def ended(self) -> bool:
        return bool(self.frames) and self.frames[-1].event in TERMINAL

    def create(self) -> None:
        """Creates the run; once, even if a cut leaves it open whether there is one."""
        key = str(uuid.uuid4())
        while not self.run:
            try:
                self.run = self.client.create(key, **self.spec)
            except ConnectionError:
                self.availability.wait()

    def follow(self) -> None:
        self.create()
        while not self.ended:
            try:
                self.answer_all()
                self.read_stream()
            except ConnectionError as error:
                self.cuts.append(Cut(self.last_seq, error))
                self.availability.wait()

    def read_stream(self) -> None:
        by = "header" if len(self.cuts) % 2 else "query"
        with self.client.stream(self.run, self.last_seq, by) as stream:
            for frame in stream:
                self.frames.append(frame)
                self.on_frame(self, frame)
                if frame.event == "local_tool_call":
                    self.unanswered.append(frame.json()["toolUseId"])
                    self.answer_all()
        if not self.ended:
            raise AssertionError(f"{self.run}: the stream ended cleanly after {self.last_seq}, "
                                 "without a terminal event")

    def answer_all(self) -> None:
        while self.unanswered:
            self.answer(self.unanswered[0])
            self.unanswered.pop(0)

    def answer(self, tool_use: str) -> None:
        """Each attempt sends another text, so that the log shows which one was taken."""
        texts = self.tried.setdefault(tool_use, [])
        text = f"answer {len(texts) + 1} to {tool_use}"
        texts.append(text)
        response = self.client.answer(self.run, tool_use, result=text)
        if response.status == 204:
            if tool_use in self.accepted:
                raise AssertionError(f"{self.run}: two answers to {tool_use} got 204")
            self.accepted[tool_use] = text
            self.on_answered(self, tool_use)
        elif len(texts) == 1 or response.status not in (404, 409):
            raise Refused(f"answer to {tool_use}", response)


def join_all(threads: list[threading.Thread], seconds_max: float) -> int:
    """Waits for all of them together; how many have not ended by then."""
    deadline = time.monotonic() + seconds_max
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return sum(thread.is_alive() for thread in threads)


def log_problems(agent: Agent, log: list[Frame]) -> list[str]:
    """What is wrong with the final log of a run, given what its client saw. Empty if nothing."""
    problems = []
    seqs = [frame.seq for frame in log]
    if seqs != list(range(1, len(log) + 1)):
        problems.append(f"the seqs are not 1, 2, 3 ...: {seqs}")
    terminal = [frame.event for frame in log if frame.event in TERMINAL]
    if len(terminal) != 1 or log[-1].event not in TERMINAL:
        problems.append(f"there is not one terminal event at the end: {terminal}")
    if b"".join(frame.raw for frame in agent.frames) != b"".join(frame.raw for frame in log):
        problems.append("what the client saw is not the log")
    taken: dict[str, list[str]] = {}
    for frame in log:
        if frame.event == "local_tool_result_in":
            fields = frame.json()
            taken.setdefault(fields["toolUseId"], []).append(fields.get("result"))
    for tool_use, text in agent.accepted.items():
        if taken.get(tool_use) != [text]:
            problems.append(f"{tool_use}: {text!r} got 204, the log has {taken.get(tool_use)}")
    for tool_use, texts in agent.tried.items():
        if tool_use not in agent.accepted and taken.get(tool_use, [None])[0] not in texts:
            problems.append(f"{tool_use}: nothing that was sent is in the log")
    return [f"{agent.run}: {problem}" for problem in problems]
