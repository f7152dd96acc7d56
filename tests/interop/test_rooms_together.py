"""Clients of npm, Python and C++ in one room: each hosts for the others, and calls them."""

import sys
import unittest
from pathlib import Path

from support.node import NODE, NodePeer, ensure_modules
from support.python_packages import find_python, python_with
from support.room_programs import ENVIRONMENTS, ROOMS, ProgramPeer
from support.script import turn
from support.server import ServerCase, binary

ROOM = "support"
FAMILIES = ("npm", "python", "cpp")
LARGE = "x" * 100_000
# What a tool of each name gives.
GIVEN = {
    "text": {"text": "Grüße"},
    "link": {"link": ["there", "https://example.com/"]},
    "file": {"file": ["a.txt", "text/plain", LARGE]},
    "binary": {"binary": [{"n": 1}, "b"]},
    "empty": {"empty": True},
}
# One of each kind.
KINDS = [{"json": {"n": 1, "text": "ü"}}, {"text": "Grüße"}, {"file": ["a", "text/plain", LARGE]},
         {"binary": [{"n": 1}, "bytes"]}, {"link": ["there", "https://example.com/"]},
         {"empty": True}]


class TogetherTest(ServerCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_modules(ROOMS)
        cls.programs = {"npm": (NODE, ROOMS / "peer.mjs"),
                        "cpp": (Path(binary()).parent / "tests" / "errand_room_peer",)}
        try:
            python = python_with(ROOMS / "requirements.txt", ENVIRONMENTS, find_python("3.13"))
            cls.programs["python"] = (python, ROOMS / "peer.py")
        except unittest.SkipTest as skipped:
            print(f"{cls.__name__}: without Python, because {skipped}", file=sys.stderr)
        cls.families = [family for family in FAMILIES if family in cls.programs]

    def setUp(self):
        self.server = self.start_server([turn("unused")])
        self.client = self.server.client()
        self.assertEqual(self.client.request("POST", "/rooms", {"name": ROOM}).status, 201)
        self.peers: dict[str, NodePeer] = {}
        # Everybody is named after the family.
        self.ids = {family: self.join(family, self.programs[family]) for family in self.families}

    def join(self, family: str, program: tuple, **more) -> str:
        self.peers[family] = ProgramPeer(*program)
        self.addCleanup(self.peers[family].close)
        token = self.client.request("POST", f"/rooms/{ROOM}/tokens",
                                    {"name": family, "role": "agent"} | more).json()["token"]
        url = self.server.url.replace("http", "ws", 1) + f"/rooms/{ROOM}"
        return self.ask(family, "join", url=url, token=token)["id"]

    def send(self, family: str, command: str, /, **more) -> dict:
        return self.peers[family].ask({"do": command, "as": family} | more)

    def ask(self, family: str, command: str, /, **more):
        answer = self.send(family, command, **more)
        self.assertIn("ok", answer, (family, command, more))
        return answer["ok"]

    def host(self, *families: str) -> None:
        """Each hosts a toolkit of the family's name."""
        for family in families or self.families:
            if family in self.families:
                self.ask(family, "host", toolkit=family)

    def pairs(self, hosts: tuple = FAMILIES) -> list[tuple[str, str]]:
        """Each of these hosts with each caller."""
        return [(host, caller) for host in hosts if host in self.families
                for caller in self.families]

    def test_every_kind_comes_out_of_every_host(self):
        self.host()
        for host, caller in self.pairs():
            for tool, given in GIVEN.items():
                self.assertEqual(self.ask(caller, "call", toolkit=host, tool=tool, input={}), given)
            # A struct of C++ leaves out what it does not have.
            unit = {} if host == "cpp" else {"unit": None}
            self.assertEqual(self.ask(caller, "call", toolkit=host, tool="json", input={"days": 3}),
                             {"json": {"days": 3} | unit}, (host, caller))

    def test_every_kind_goes_into_every_host_that_takes_it(self):
        self.host("python", "cpp")
        for host, caller in self.pairs(hosts=("python", "cpp")):
            for content in KINDS:
                self.assertEqual(
                    self.ask(caller, "give", toolkit=host, tool="any", content=content), content)

    def test_streams_of_every_shape(self):
        self.host("python", "cpp")
        numbers = [{"json": {"n": n}} for n in (1, 2, 3)]
        for host, caller in self.pairs(hosts=("python", "cpp")):
            self.assertEqual(self.ask(caller, "exchange", toolkit=host, tool="echo", items=KINDS),
                             KINDS)
            self.assertEqual(self.ask(caller, "collect", toolkit=host, tool="sum", items=KINDS),
                             {"json": {"items": KINDS}})
            # npm's client reads a stream only where it has sent one.
            if caller != "npm":
                self.assertEqual(self.ask(caller, "streamOut", toolkit=host, tool="count",
                                          content={"json": {"n": 3}}), numbers)

    def test_a_stream_that_breaks_says_why(self):
        self.host("python", "cpp")
        for host, caller in self.pairs(hosts=("python", "cpp")):
            items = self.ask(caller, "exchange", toolkit=host, tool="broken", items=[])
            self.assertEqual(items[0], {"json": {"n": 1}})
            self.assertIn("broke", items[1]["error"])
            self.assertEqual(len(items), 2)

    def test_progress_reaches_those_who_can_hear_of_it(self):
        self.host("python", "cpp")
        for host, caller in self.pairs(hosts=("python", "cpp")):
            # npm's client cannot read what a host tells, and has the answer all the same.
            if caller == "npm":
                self.assertEqual(self.ask(caller, "call", toolkit=host, tool="report", input={}),
                                 {"text": "whole"})
            else:
                self.assertEqual(self.ask(caller, "reported", toolkit=host, tool="report"),
                                 {"answer": {"text": "whole"}, "report": ["half", 1, 2]},
                                 (host, caller))

    def test_failures_reach_every_caller(self):
        self.host()
        for host, caller in self.pairs():
            failed = self.send(caller, "call", toolkit=host, tool="fail", input={})
            self.assertIn("no luck", failed["error"])
            wrong = self.send(caller, "call", toolkit=host, tool="json", input={"days": "three"})
            self.assertIn("error", wrong)
            none = self.send(caller, "call", toolkit=host, tool="none", input={})
            self.assertEqual((none["error"], none["code"]), ("tool none was not found", 1003))
        for caller in self.families:
            none = self.send(caller, "call", toolkit="nobody", tool="text", input={})
            self.assertEqual((none["error"], none["code"]),
                             ("toolkit nobody was not found", 1003))

    def test_a_host_knows_who_calls(self):
        self.host("python", "cpp")
        for family in self.families:
            self.ask(family, "enable")
        for host, caller in self.pairs(hosts=("python", "cpp")):
            if host == caller:  # presence tells nobody of itself
                continue
            self.assertEqual(self.ask(caller, "call", toolkit=host, tool="who", input={}),
                             {"json": {"caller": self.ids[caller], "name": caller,
                                       "role": "agent"}})

    def test_messages_go_from_each_to_each(self):
        for family in self.families:
            self.ask(family, "enable")
        for sender, receiver in self.pairs():
            if sender == receiver:
                continue
            self.assertEqual(self.ask(sender, "present"),
                             {family: "agent" for family in self.families if family != sender})
            self.ask(sender, "message", to=receiver, text="hi")
            self.assertEqual(self.ask(receiver, "read"),
                             {"from": sender, "type": "chat", "message": {"text": "hi"},
                              "attachment": "attached"})
        for sender in self.families:
            self.ask(sender, "broadcast", text="all")
            for receiver in self.families:
                if receiver != sender:
                    self.assertEqual(self.ask(receiver, "read"),
                                     {"from": sender, "type": "chat", "message": {"text": "all"},
                                      "attachment": ""})

    def test_queues_go_from_each_to_each(self):
        messages = [{"n": 1, "text": "ü"}, {"n": 2}]
        for sender, receiver in self.pairs():
            queue = f"{sender}-{receiver}"
            self.ask(sender, "queueOpen", queue=queue)
            again = self.send(receiver, "queueOpen", queue=queue)
            self.assertEqual(again.get("code"), 5002, (receiver, again))
            for message in messages:
                self.ask(sender, "queuePut", queue=queue, message=message)
            taken = [self.ask(receiver, "queueTake", queue=queue) for _ in range(3)]
            self.assertEqual(taken, [*messages, None], (sender, receiver))

    def test_files_go_from_each_to_each(self):
        for writer, reader in self.pairs():
            for size in (0, 64 * 1024 + 1, 3 * 1024 * 1024):
                path = f"from-{writer}/{size}.txt"
                self.ask(writer, "upload", path=path, size=size)
                self.assertEqual(self.ask(reader, "download", path=path),
                                 {"name": f"{size}.txt", "type": "text/plain", "size": size,
                                  "same": True}, (writer, reader))
            self.assertEqual(self.ask(reader, "files", path=f"from-{writer}"),
                             ["0.txt", "3145728.txt", "65537.txt"])

    def test_what_a_token_does_not_allow(self):
        self.host()
        api = {"agents": {"call": False, "register_public_toolkit": False},
               "storage": {"paths": [{"path": "in", "read_only": True}]}}
        for family in self.families:
            name = f"{family}-limited"
            self.join(name, self.programs[family], api=api)
            self.assertEqual(sorted(self.ask(name, "list")), sorted(self.families))
            for command, arguments in (
                    ("call", {"toolkit": family, "tool": "text", "input": {}}),
                    ("host", {"toolkit": "mine"}),
                    ("queuePut", {"queue": "q", "message": {}}),
                    ("queueTake", {"queue": "q"}),
                    ("upload", {"path": "in/a", "size": 1}),
                    ("download", {"path": "out/a"}),
                    ("files", {"path": "out"})):
                refused = self.send(name, command, **arguments)
                self.assertEqual(refused.get("code"), 1001, (name, command, refused))

    def test_a_host_that_is_killed_in_a_call(self):
        self.host()
        self.join("other", self.programs["npm"])
        # Each is called by the next one, before that one is killed.
        for host, caller in zip(self.families, [*self.families[1:], "other"]):
            with self.subTest(host=host):
                self.ask(caller, "begin", toolkit=host, tool="wait", input={})
                self.assertIn(host, self.ask(caller, "list"))
                self.peers[host].process.kill()
                self.assertEqual(self.ask(caller, "finish"),
                                 {"error": f"the host of toolkit {host} has left the room",
                                  "code": 1008})
                self.assertNotIn(host, self.ask(caller, "list"))

    def test_everybody_comes_back_after_the_server_is_killed(self):
        self.host()
        self.ask("cpp", "begin", toolkit="python", tool="wait", input={})
        self.assertEqual(sorted(self.ask("cpp", "list")), sorted(self.families))
        self.server.kill()
        self.server.restart()
        self.assertIn("error", self.ask("cpp", "finish"))
        for caller in self.families:
            for host in self.families:  # hosts register by themselves
                while self.send(caller, "call", toolkit=host, tool="text",
                                input={}) != {"ok": GIVEN["text"]}:
                    pass
