"""kill -9 of the server under fifty participants with calls in flight: everybody comes back, hosts
offer their tools again, and nothing that was acknowledged is lost."""

import os
import subprocess
import tempfile
import threading

from support.npm_rooms import ROOM, NpmCase
from support.peers.room_peer import RoomPeer
from support.script import turn
from support.server import Server, binary, die_with_parent

PAIRS = 20  # of npm clients: a host and a caller each
COMMANDS = 4  # programs of ours that host files
SENDERS = 3  # of queue messages
WRITERS = 3  # of files
ACKNOWLEDGED_MIN = 10  # of each, before the server is killed
BLOCK = 65536
UNKNOWN = "may or may not have taken effect"
ALL = {"agents": {}, "messaging": {}, "queues": {}, "storage": {}}


class Worker(threading.Thread):
    """A participant that does durable work until the server is gone, and knows what was done."""

    def __init__(self, peer: RoomPeer, name: str):
        super().__init__(daemon=True)
        self.peer = peer
        self.name = name
        self.done: list[int] = []
        self.begun = 0
        self.enough = threading.Event()

    def run(self) -> None:
        try:
            while True:
                self.begun += 1
                self.work(self.begun)
                self.done.append(self.begun)
                if len(self.done) >= ACKNOWLEDGED_MIN:
                    self.enough.set()
        except OSError:
            self.peer.close()


class Sender(Worker):
    def work(self, number: int) -> None:
        answer = self.peer.ask("room.invoke_tool", {
            "toolkit": "queues", "tool": "send", "arguments": {
                "type": "json", "json": {"name": self.name, "create": True,
                                         "message": {"number": number}}}})
        if answer != {"type": "empty"}:
            raise AssertionError(answer)


def content_of(name: str, number: int) -> bytes:
    return f"{name} {number} ".encode() * (1000 + 5000 * (number % 3))


class Writer(Worker):
    def work(self, number: int) -> None:
        data = content_of(self.name, number)
        call = f"up-{number}"
        begin(self.peer, "upload", call, {"path": f"{self.name}/{number}", "size": len(data)})
        sent = 0
        while (chunk := next_output(self.peer)[0])["type"] != "control":
            block(self.peer, call, {"kind": "data"}, data[sent:sent + BLOCK])
            sent += BLOCK
        if chunk["method"] != "close":
            raise AssertionError(chunk)


def block(peer: RoomPeer, call: str, headers: dict, data: bytes = b"") -> None:
    peer.send("room.tool_call_request_chunk",
              {"tool_call_id": call, "chunk": {"type": "binary", "headers": headers}}, data)


def begin(peer: RoomPeer, tool: str, call: str, start: dict) -> None:
    peer.send("room.invoke_tool", {"toolkit": "storage", "tool": tool, "tool_call_id": call,
                                   "arguments": {"type": "control", "method": "open"}})
    block(peer, call, {"kind": "start"} | start)


def next_output(peer: RoomPeer) -> tuple[dict, bytes]:
    _, _, header, attachment = peer.until("room.tool_call_response_chunk")
    return header["chunk"], attachment


class KillRoomsTest(NpmCase):
    SCRIPT = [turn(calls=[("kit0_wait", {})]), turn("I do not know.")]

    def member(self, name: str) -> RoomPeer:
        peer = RoomPeer(self.server.url, ROOM, self.token(name, ALL)).ready()
        self.addCleanup(peer.close)
        return peer

    def start_command(self, folder: str, name: str) -> subprocess.Popen:
        variables = os.environ | {"ERRAND_SERVER": self.server.url,
                                  "ERRAND_API_KEY": self.server.key}
        command = subprocess.Popen([binary(), "room", "host", ROOM, "--files", folder,
                                    "--name", name], stderr=subprocess.PIPE, text=True,
                                   cwd=folder, env=variables, preexec_fn=die_with_parent)
        self.addCleanup(command.stderr.close)
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        self.assertIn("hosting", command.stderr.readline())
        return command

    def toolkits(self, peer: RoomPeer) -> set[str]:
        return set(peer.ask("room.list_toolkits", {})["json"]["tools"])

    def received(self, peer: RoomPeer, queue: str) -> list[int]:
        numbers = []
        while True:
            answer = peer.ask("room.invoke_tool", {
                "toolkit": "queues", "tool": "receive", "arguments": {
                    "type": "json", "json": {"name": queue, "create": False, "wait": False}}})
            if answer["type"] == "empty":
                return numbers
            numbers.append(answer["json"]["number"])

    def file(self, peer: RoomPeer, path: str) -> bytes | None:
        """The content of a file; None if there is none."""
        begin(peer, "download", path, {"path": path, "chunk_size": BLOCK})
        data = b""
        while True:
            _, kind, header, attachment = peer.receive()
            if kind == "__response__" and header.get("code") == 3001:
                return None
            if kind != "room.tool_call_response_chunk":
                continue
            if header["chunk"]["type"] == "control":
                return data
            data += attachment
            block(peer, path, {"kind": "pull"})

    def test_everybody_returns_and_nothing_is_lost(self):
        npm = self.peer()
        for pair in range(PAIRS):
            self.join(npm, f"host-{pair}")
            npm.ask("host", f"host-{pair}", toolkit=f"kit{pair}")
            self.join(npm, f"caller-{pair}")
            npm.ask("begin", f"caller-{pair}", toolkit=f"kit{pair}", tool="wait", input={})
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for number in range(COMMANDS):
            self.start_command(folder.name, f"files-{number}")
        run = self.client.request("POST", "/agent-runs", {
            "prompt": "Go.", "room": ROOM, "requiredToolkits": [{"toolkit": "kit0"}]})
        self.assertEqual(run.status, 201, run.body)
        npm.ask("waiting", calls=PAIRS + 1)
        offered = {f"kit{pair}" for pair in range(PAIRS)} | {
            f"files-{number}" for number in range(COMMANDS)}
        workers = [Sender(self.member(f"sender-{n}"), f"queue-{n}") for n in range(SENDERS)] + [
            Writer(self.member(f"writer-{n}"), f"folder-{n}") for n in range(WRITERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.enough.wait()
        Server.kill(self.server)
        for worker in workers:
            worker.join()
        self.server.restart()
        self.client = self.server.client()

        for pair in range(PAIRS):
            self.assertIn("error", npm.ask("finish", f"caller-{pair}"))
            for name in (f"host-{pair}", f"caller-{pair}"):
                self.assertEqual(npm.ask("statuses", name, reconnected=1),
                                 ["disconnected", "reconnected"])
        witness = self.member("witness")
        while not offered <= self.toolkits(witness):  # hosts register by themselves
            pass
        for pair in range(PAIRS):
            self.assertEqual(self.call(npm, f"caller-{pair}", f"kit{pair}", "text", input={}),
                             {"ok": {"text": "Grüße"}})
        for number in range(COMMANDS):
            answer = witness.ask("room.invoke_tool", {"toolkit": f"files-{number}",
                                                      "tool": "list_files", "arguments": {
                                                          "type": "json", "json": {}}})
            self.assertNotEqual(answer["type"], "error", answer)
        self.check_durable(witness, workers)
        self.check_run(run.json()["runId"])

    def check_durable(self, witness: RoomPeer, workers: list[Worker]) -> None:
        for worker in workers:
            with self.subTest(worker.name):
                # What was under way when the server died is there or not, and never in part.
                if isinstance(worker, Sender):
                    numbers = self.received(witness, worker.name)
                    self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
                    self.assertIn(len(numbers), (len(worker.done), worker.begun))
                    continue
                for number in range(1, worker.begun + 1):
                    wanted = content_of(worker.name, number)
                    data = self.file(witness, f"{worker.name}/{number}")
                    if data is not None or number in worker.done:
                        self.assertEqual(data, wanted)

    def check_run(self, run: str) -> None:
        events = [frame.json() for frame in self.client.log(run)]
        result, = (event["data"] for event in events if event["type"] == "tool_result")
        self.assertFalse(result["ok"])
        self.assertIn(UNKNOWN, str(result))
        ended, = (event["data"] for event in events if event["type"] == "result")
        self.assertEqual(ended["subtype"], "success")
