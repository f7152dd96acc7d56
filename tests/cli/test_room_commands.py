"""errand room call, room host, rooms tail and run --room, as people use them."""

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from support.peers.counting_mcp import CountingMcp
from support.peers.room_peer import RoomPeer
from support.script import turn
from support.server import ServerCase, binary, die_with_parent

ROOM = "desk"
SECONDS_MAX = 60


class RoomCommandCase(ServerCase):
    maxDiff = None
    SCRIPT = [turn("unused")]
    CONFIG: dict = {}

    def setUp(self):
        self.server = self.start_server(self.SCRIPT, self.CONFIG)
        self.client = self.server.client()
        self.assertEqual(self.client.request("POST", "/rooms", {"name": ROOM}).status, 201)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.variables = os.environ | {"ERRAND_SERVER": self.server.url,
                                       "ERRAND_API_KEY": self.server.key}

    def run_command(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([binary(), *words], cwd=self.folder, env=self.variables, text=True,
                              capture_output=True, timeout=SECONDS_MAX, check=False)

    def start_command(self, *words: str) -> subprocess.Popen:
        started = subprocess.Popen([binary(), *words], cwd=self.folder, env=self.variables,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=die_with_parent)
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.stderr.close)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def end(self, started: subprocess.Popen) -> int:
        started.send_signal(signal.SIGINT)
        return started.wait(SECONDS_MAX)

    def token(self, name: str) -> str:
        made = self.client.request("POST", f"/rooms/{ROOM}/tokens", {"name": name})
        return made.json()["token"]

    def peer(self, name: str) -> RoomPeer:
        peer = RoomPeer(self.server.url, ROOM, self.token(name)).ready()
        self.addCleanup(peer.close)
        return peer

    def names(self) -> list[str]:
        return [one["name"] for one in
                self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]]


class RoomCommandsTest(RoomCommandCase):
    def test_files_are_lent_and_read_until_ctrl_c(self):
        (self.folder / "plan.md").write_text("Rest on Sundays.\n")
        host = self.start_command("room", "host", ROOM, "--files", ".")
        self.assertRegex(host.stderr.readline(), r'^hosting \d+ tools as toolkit "files"')
        read = self.run_command("room", "call", ROOM, "files", "read_file", '{"path":"plan.md"}')
        self.assertEqual((read.returncode, read.stdout), (0, "Rest on Sundays.\n\n"), read.stderr)
        line = self.run_command("room", "call", ROOM, "files", "read_file", '{"path":"plan.md"}',
                                "--json")
        self.assertIn("Rest on Sundays.", json.dumps(json.loads(line.stdout)))
        outside = self.run_command("room", "call", ROOM, "files", "read_file",
                                   '{"path":"../plan.md"}')
        self.assertNotEqual(outside.returncode, 0)
        self.assertEqual(self.end(host), 0)
        gone = self.run_command("room", "call", ROOM, "files", "read_file", '{"path":"plan.md"}')
        self.assertEqual(gone.returncode, 1)
        self.assertIn("toolkit files was not found", gone.stderr)

    def test_an_mcp_server_is_lent(self):
        mcp = CountingMcp()
        self.addCleanup(mcp.server_close)
        self.addCleanup(mcp.shutdown)
        host = self.start_command("room", "host", ROOM, "--mcp", mcp.url, "--name", "counter")
        self.assertRegex(host.stderr.readline(), r'^hosting 3 tools as toolkit "counter"')
        called = self.run_command("room", "call", ROOM, "counter", "order")
        self.assertEqual(called.returncode, 0, called.stderr)
        self.assertEqual(len(mcp.calls["order"]), 1)
        self.assertEqual(self.end(host), 0)

    def test_an_mcp_server_that_cannot_be_started_is_named(self):
        ended = self.run_command("room", "host", ROOM, "--mcp", "./no-such-program")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("no-such-program", ended.stderr)

    def test_a_call_prints_progress_to_stderr_and_the_answer_to_stdout(self):
        host = self.peer("clerk")
        host.ask("room.register_toolkit", {"name": "crm", "public": True, "tools": {"find": {}}})
        call = self.start_command("room", "call", ROOM, "crm", "find", '{"id":7}')
        number, _, given, _ = host.until("room.tool_call.crm")
        self.assertEqual(given["arguments"], {"type": "json", "json": {"id": 7}})
        host.send("room.tool_call_response_chunk",
                  {"tool_call_id": given["tool_call_id"],
                   "chunk": {"type": "agent.event", "message": "looking"}}, message_id=number)
        self.assertEqual(call.stderr.readline(), "looking\n")
        host.send("room.tool_call_response", {"type": "text", "text": "Ada"}, message_id=number)
        self.assertEqual(call.wait(SECONDS_MAX), 0)
        self.assertEqual(call.stdout.read(), "Ada\n")

    def test_calls_that_fail_say_why(self):
        host = self.peer("clerk")
        host.ask("room.register_toolkit", {"name": "crm", "public": True, "tools": {"find": {}}})
        for words, code, said in (
                ((ROOM, "none", "find"), 1, "toolkit none was not found"),
                ((ROOM, "crm", "none"), 1, "tool none was not found"),
                (("nowhere", "crm", "find"), 1, "room"),
                ((ROOM, "crm", "find", "[1]"), 2, "expected an object"),
                ((ROOM, "crm", "find", "{"), 2, "expected an object")):
            with self.subTest(words):
                ended = self.run_command("room", "call", *words)
                self.assertEqual(ended.returncode, code, ended.stderr)
                self.assertIn(said, ended.stderr)
                self.assertEqual(ended.stdout, "")

    def test_a_host_needs_something_to_lend(self):
        for words, said in (((), "--files DIR or --mcp SERVER"),
                            (("--files", "no-such-folder"), "no-such-folder")):
            with self.subTest(words):
                ended = self.run_command("room", "host", ROOM, *words)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(said, ended.stderr)

    def tail(self, *words: str) -> subprocess.Popen:
        tail = self.start_command("rooms", "tail", ROOM, *words)
        while "errand rooms tail" not in self.names():
            self.assertIsNone(tail.poll())
        return tail

    def read_until(self, tail: subprocess.Popen, part: str) -> str:
        while part not in (line := tail.stdout.readline()):
            self.assertNotEqual(line, "", "the command has ended")
        return line

    def say(self, peer: RoomPeer, **message) -> None:
        answer = peer.ask("room.invoke_tool", {"toolkit": "messaging", "tool": "broadcast",
                                               "arguments": {"type": "json", "json": message}})
        self.assertEqual(answer, {"type": "empty"})

    def test_tail_shows_presence_messages_and_files(self):
        tail = self.tail()
        self.read_until(tail, "messaging.enabled")
        ann = self.peer("ann")
        ann.ask("room.invoke_tool", {"toolkit": "messaging", "tool": "enable"})
        self.assertIn('"name":"ann"', self.read_until(tail, "participant.enabled"))
        self.say(ann, type="note", message_json='{"text":"hi \\u001b[31m"}')
        line = self.read_until(tail, "note from ")
        self.assertIn('"text":"hi', line)
        self.assertNotIn("\x1b", line)
        self.assertEqual(self.end(tail), 0)

    def test_tail_gives_lines_of_json(self):
        tail = self.tail("--json")
        self.read_until(tail, "messaging.enabled")
        self.say(self.peer("ann"), type="note", message_json='{"n":1}')
        line = json.loads(self.read_until(tail, '"note"'))
        self.assertEqual((line["type"], line["header"]["message"]),
                         ("messaging.send", {"n": 1}))
        self.assertEqual(self.end(tail), 0)

    def test_tail_goes_on_after_a_restart(self):
        tail = self.tail()
        self.read_until(tail, "messaging.enabled")
        self.server.kill()
        self.server.restart()
        self.client = self.server.client()
        self.read_until(tail, "messaging.enabled")
        self.say(self.peer("ann"), type="again", message_json="{}")
        self.read_until(tail, "again from ")
        self.assertEqual(self.end(tail), 0)


class RunInRoomTest(RoomCommandCase):
    SCRIPT = [turn(calls=[("crm_find", {"id": 7})]), turn("Ada has order 7.")]
    CONFIG = {"network": {"allow": ["127.0.0.0/8"]}}
    RUN = ("run", "Who has order 7?", "--require-toolkit", "crm", "--room")

    def setUp(self):
        super().setUp()
        self.url = self.server.url.replace("http", "ws", 1) + f"/rooms/{ROOM}"
        self.host = self.peer("clerk")
        self.host.ask("room.register_toolkit",
                      {"name": "crm", "public": True, "tools": {"find": {}}})

    def embedded(self) -> tuple[str, ...]:
        return ("--embedded", "--config", str(self.server.config),
                "--data", str(self.folder / "data"))

    def check_answered(self, run: subprocess.Popen) -> None:
        """The host is called, and the model has its answer."""
        number, _, call, _ = self.host.until("room.tool_call.crm")
        self.assertEqual((call["name"], call["arguments"]),
                         ("find", {"type": "json", "json": {"id": 7}}))
        self.host.send("room.tool_call_response", {"type": "json", "json": {"name": "Ada"}},
                       message_id=number)
        output, errors = run.communicate(timeout=SECONDS_MAX)
        self.assertEqual((run.returncode, output), (0, "Ada has order 7.\n"), errors)
        self.assertIn("crm_find", errors)

    def test_by_the_name_of_a_room(self):
        self.check_answered(self.start_command(*self.RUN, ROOM))

    def test_by_the_url_of_a_room(self):
        for variable in ("ERRAND_ROOM_TOKEN", "MESHAGENT_TOKEN"):
            self.variables = self.variables | {variable: self.token("visitor")}
            self.check_answered(self.start_command(*self.RUN, self.url))
            del self.variables[variable]

    def test_without_a_server(self):
        self.variables = self.variables | {"ERRAND_ROOM_TOKEN": self.token("visitor")}
        self.check_answered(self.start_command(*self.RUN, self.url, *self.embedded()))

    def test_rooms_that_cannot_be_joined(self):
        wrong = {"ERRAND_ROOM_TOKEN": "wrong"}
        for words, variables, code, said in (
                ((self.url,), {}, 2, f"there is no token for the room {self.url}"),
                ((self.url,), wrong, 1, "cannot be joined"),
                ((ROOM, *self.embedded()), {}, 1, f'this process has no room "{ROOM}"')):
            with self.subTest(words):
                self.variables = self.variables | variables
                ended = self.run_command(*self.RUN, *words)
                self.assertEqual((ended.returncode, ended.stdout), (code, ""), ended.stderr)
                self.assertIn(said, ended.stderr)

    def test_a_required_toolkit_without_a_room(self):
        ended = self.run_command("run", "Go.", "--require-toolkit", "crm")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("--require-toolkit names a toolkit of --room", ended.stderr)

    def test_a_toolkit_that_is_missing_is_named(self):
        ended = self.run_command(*self.RUN, ROOM, "--require-toolkit", "erp")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
        self.assertIn(f'the room "{ROOM}" has no toolkit "erp"', ended.stderr)
