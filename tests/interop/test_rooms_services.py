"""What a room itself offers, used by the MeshAgent clients of npm and PyPI: queues, streams of
messages, events of files, logs, and the grants of each."""

import unittest

from support.node import NodePeer, ensure_modules
from support.python_packages import find_python, python_with
from support.room_programs import ENVIRONMENTS, ROOMS, ProgramPeer
from support.script import turn
from support.server import ServerCase

ROOM = "support"
ALL = {"agents": {}, "messaging": {}, "queues": {}, "storage": {}, "developer": {}}


class ServicesTest(ServerCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_modules(ROOMS)
        cls.python = python_with(ROOMS / "requirements.txt", ENVIRONMENTS, find_python("3.13"))

    def setUp(self):
        self.server = self.start_server([turn("unused")])
        self.client = self.server.client()
        self.assertEqual(self.client.request("POST", "/rooms", {"name": ROOM}).status, 201)
        self.peers = {"npm": NodePeer("rooms/peer.mjs"),
                      "python": ProgramPeer(self.python, ROOMS / "peer.py")}
        for peer in self.peers.values():
            self.addCleanup(peer.close)
        self.homes: dict[str, str] = {}  # of each participant: the program that plays it

    def join(self, family: str, name: str, api: dict | None = None) -> str:
        self.homes[name] = family
        made = self.client.request("POST", f"/rooms/{ROOM}/tokens",
                                   {"name": name, "api": ALL if api is None else api})
        self.assertEqual(made.status, 201, made.body)
        url = self.server.url.replace("http", "ws", 1) + f"/rooms/{ROOM}"
        return self.ask(name, "join", url=url, token=made.json()["token"])["id"]

    def send(self, name: str, command: str, /, **more) -> dict:
        return self.peers[self.homes[name]].ask({"do": command, "as": name} | more)

    def ask(self, name: str, command: str, /, **more):
        answer = self.send(name, command, **more)
        self.assertIn("ok", answer, (name, command, more))
        return answer["ok"]

    def code(self, name: str, command: str, /, **more):
        """The code with which the room refuses a command."""
        return self.send(name, command, **more)["code"]

    def join_both(self) -> list[tuple[str, str]]:
        """Somebody of each family; gives both orders of the two."""
        self.join("npm", "ann")
        self.join("python", "bob")
        return [("ann", "bob"), ("bob", "ann")]

    # Queues.

    def test_a_message_goes_to_the_receiver_that_waits_for_it(self):
        for sender, receiver in self.join_both():
            queue = f"to-{receiver}"
            self.ask(sender, "queueOpen", queue=queue)
            self.assertEqual(self.code(receiver, "queueOpen", queue=queue), 5002)
            self.ask(receiver, "queueWait", queue=queue)
            self.ask(sender, "queuePut", queue=queue, message={"n": 1, "text": "ü"})
            self.assertEqual(self.ask(receiver, "queueGot"), {"n": 1, "text": "ü"})
            for n in (2, 3, 4):
                self.ask(sender, "queuePut", queue=queue, message={"n": n})
            self.assertEqual(self.ask(receiver, "queues")[queue], 3)
            self.assertEqual(self.ask(receiver, "queueTake", queue=queue), {"n": 2})
            self.ask(receiver, "queueDrain", queue=queue)
            self.assertEqual(self.ask(sender, "queues")[queue], 0)
            self.assertIsNone(self.ask(receiver, "queueTake", queue=queue))
            self.ask(receiver, "queueClose", queue=queue)
            self.assertNotIn(queue, self.ask(sender, "queues"))
            for command in ("queueTake", "queueDrain", "queueClose"):
                self.assertEqual(self.code(sender, command, queue=queue), 5001)
            self.assertEqual(self.code(sender, "queuePut", queue=queue, message={}), 5001)

    def test_a_receiver_that_leaves_swallows_no_message(self):
        self.join_both()
        self.ask("bob", "queueOpen", queue="q")
        self.ask("ann", "queueWait", queue="q")
        self.ask("bob", "queueWait", queue="q")
        self.ask("ann", "leave")
        while len(self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]) > 1:
            pass
        self.join("npm", "cem")
        self.ask("cem", "queuePut", queue="q", message={"n": 1})
        self.assertEqual(self.ask("bob", "queueGot"), {"n": 1})

    def test_grants_of_queues(self):
        self.join_both()
        for queue in ("in", "out"):
            self.ask("bob", "queueOpen", queue=queue)
        for family, name in (("npm", "eve"), ("python", "tom")):
            self.join(family, name, {"queues": {"send": ["out"], "receive": ["in"], "list": False}})
            self.ask(name, "queuePut", queue="out", message={})
            self.assertIsNone(self.ask(name, "queueTake", queue="in"))
            self.assertEqual(self.code(name, "queuePut", queue="in", message={}), 1001)
            self.assertEqual(self.code(name, "queueTake", queue="out"), 1001)
            self.assertEqual(self.code(name, "queues"), 1001)
        self.join("npm", "nobody", {})
        self.assertEqual(self.code("nobody", "queueTake", queue="in"), 1001)

    # Message streams, which npm's client does not have.

    def join_stream(self) -> None:
        for name in ("ann", "bob"):
            self.join("python", name)
            self.ask(name, "enable")
            self.ask(name, "hearStreams")

    def test_messages_stream_both_ways_until_one_side_closes(self):
        self.join_stream()
        for opener, other in (("ann", "bob"), ("bob", "ann")):
            self.ask(opener, "streamOpen", to=other, text="may I?")
            self.assertEqual(self.ask(other, "streamAccept"),
                             {"type": "chat", "message": {"text": "may I?"},
                              "attachment": "attached"})
            self.ask(opener, "streamOpened")
            for speaker, hearer in ((opener, other), (other, opener), (opener, other)):
                self.ask(speaker, "streamSay", text=f"I am {speaker}")
                self.assertEqual(self.ask(hearer, "streamHear"),
                                 {"type": "chat", "message": {"text": f"I am {speaker}"},
                                  "attachment": ""})
            # Each side closes once.
            self.ask("bob", "streamClose")
            self.assertEqual(self.ask("ann", "streamHear"),
                             {"event": "MessagingStreamClientDisconnected"})
            self.assertIsNone(self.ask("ann", "streamHear"))

    def test_a_stream_that_the_other_side_does_not_want(self):
        self.join_stream()
        self.ask("ann", "streamOpen", to="bob", text="may I?")
        self.ask("bob", "streamReject", message="not now")
        self.assertIn("not now", self.send("ann", "streamOpened")["error"])

    def test_a_stream_without_a_grant(self):
        self.join_stream()
        self.join("python", "eve", {"messaging": {"send": False}})
        self.ask("eve", "enable")
        self.ask("eve", "streamOpen", to="bob", text="may I?")
        self.assertEqual(self.code("eve", "streamOpened"), 1001)

    # Files.

    def test_events_of_files_reach_those_who_may_see_them(self):
        ids = {"ann": self.join("npm", "ann"), "bob": self.join("python", "bob")}
        paths = {"storage": {"paths": [{"path": "open"}]}}
        self.join("npm", "cem", paths)
        self.join("python", "dan", paths)
        for name in self.homes:
            self.ask(name, "watchFiles")
        for doer in ("ann", "bob"):
            self.ask(doer, "upload", path=f"open/{doer}", size=10)
            self.ask(doer, "upload", path=f"closed/{doer}", size=10)
            self.ask(doer, "move", source=f"open/{doer}", destination=f"closed/{doer}-2")
            self.ask(doer, "delete", path=f"closed/{doer}")
            self.ask(doer, "upload", path="open/end", size=1)
            by = ids[doer]
            there = {"event": "file.updated", "by": by, "path": f"open/{doer}"}
            end = there | {"path": "open/end"}
            for name in ("ann", "bob"):
                self.assertEqual([self.ask(name, "fileEvent") for _ in range(5)], [
                    there, there | {"path": f"closed/{doer}"},
                    {"event": "file.moved", "by": by, "source_path": f"open/{doer}",
                     "destination_path": f"closed/{doer}-2"},
                    {"event": "file.deleted", "by": by, "path": f"closed/{doer}"}, end])
            # Who sees one end of a move alone hears of a deletion.
            for name in ("cem", "dan"):
                self.assertEqual([self.ask(name, "fileEvent") for _ in range(3)],
                                 [there, there | {"event": "file.deleted"}, end])

    def test_grants_of_files(self):
        self.join_both()
        for path in ("open/a", "read/a", "closed/a"):
            self.ask("bob", "upload", path=path, size=10)
        paths = [{"path": "open"}, {"path": "read", "read_only": True}]
        for family, name in (("npm", "eve"), ("python", "tom")):
            self.join(family, name, {"storage": {"paths": paths}})
            self.ask(name, "upload", path=f"open/{name}", size=10)
            for path in ("open/a", "read/a"):
                self.assertTrue(self.ask(name, "download", path=path)["same"])
            for command, arguments in (
                    ("upload", {"path": "read/b", "size": 1}),
                    ("upload", {"path": "openly/b", "size": 1}),
                    ("download", {"path": "closed/a"}),
                    ("delete", {"path": "read/a"}),
                    ("move", {"source": "read/a", "destination": "open/b"}),
                    ("move", {"source": "open/a", "destination": "closed/b"}),
                    ("exists", {"path": "closed/a"}),
                    ("files", {"path": "closed"})):
                with self.subTest(name=name, command=command, arguments=arguments):
                    self.assertEqual(self.code(name, command, **arguments), 1001)
        self.join("python", "nobody", {})
        self.assertEqual(self.code("nobody", "files", path="open"), 1001)

    # Logs.

    def test_lines_of_logs_reach_those_who_listen(self):
        for writer, reader in self.join_both():
            self.ask(reader, "listen")
            for n in (1, 2):
                self.ask(writer, "log", type="step", data={"n": n, "text": "ü"})
            self.assertEqual([self.ask(reader, "nextLog") for _ in range(2)],
                             [{"type": "step", "data": {"n": n, "text": "ü"}} for n in (1, 2)])


if __name__ == "__main__":
    unittest.main()
