"""The MeshAgent client of PyPI, unmodified, in a room with that of npm."""

import base64
import os
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
import uuid
from pathlib import Path

from support.documents import ROOT, blocks_of, free_port
from support.node import SECONDS_MAX, NodePeer, ensure_modules
from support.python_packages import find_python, python_with
from support.room_programs import ENVIRONMENTS, ROOMS, ProgramPeer
from support.script import turn
from support.server import ServerCase, die_with_parent

GUIDE = ROOT / "docs" / "guide" / "rooms.md"
ROOM = "support"
TOOLS = ["any", "binary", "broken", "count", "echo", "empty", "fail", "file", "json", "link",
         "report", "sum", "text", "wait", "who"]
CLOSE = {"control": "close", "status": 1000}
NOON = {"json": {"city": "Paris", "time": "12:00"}}


def parts_of(key: str) -> dict[str, str]:
    """A room key as the variables that the package reads it from."""
    _, key_id, project, secret = key.split("-", 3)

    def as_uuid(part: str) -> str:
        return str(uuid.UUID(bytes=base64.urlsafe_b64decode(part.replace(".", "-") + "==")))
    return {"MESHAGENT_KEY_ID": as_uuid(key_id), "MESHAGENT_PROJECT_ID": as_uuid(project),
            "MESHAGENT_SECRET": secret}


class PythonRoomsTest(ServerCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_modules(ROOMS)
        cls.python = python_with(ROOMS / "requirements.txt", ENVIRONMENTS, find_python("3.13"))

    def setUp(self):
        self.server = self.start_server([turn("unused")],
                                        {"network": {"allow": ["127.0.0.0/8"]}})
        self.client = self.server.client()
        self.client.request("POST", "/rooms", {"name": ROOM})
        self.peers = {"python": ProgramPeer(self.python, ROOMS / "peer.py"),
                      "npm": NodePeer("rooms/peer.mjs")}
        for peer in self.peers.values():
            self.addCleanup(peer.close)

    def send(self, peer: str, command: str, name: str, /, **more) -> dict:
        return self.peers[peer].ask({"do": command, "as": name} | more)

    def ask(self, peer: str, command: str, name: str, /, **more):
        answer = self.send(peer, command, name, **more)
        self.assertIn("ok", answer)
        return answer["ok"]

    def join(self, peer: str, name: str, **more) -> dict:
        made = self.client.request("POST", f"/rooms/{ROOM}/tokens", {"name": name} | more)
        token = made.json()["token"]
        url = self.server.url.replace("http", "ws", 1) + f"/rooms/{ROOM}"
        return self.ask(peer, "join", name, url=url, token=token)

    def test_python_hosts_and_npm_calls(self):
        self.join("python", "ann")
        bob = self.join("npm", "bob")
        self.ask("python", "host", "ann", toolkit="kit")
        listed = self.ask("npm", "list", "bob")
        self.assertEqual(sorted(listed["kit"]), TOOLS)

        def call(tool: str, **given) -> dict:
            return self.send("npm", "call", "bob", toolkit="kit", tool=tool, input=given)

        self.assertEqual(call("text"), {"ok": {"text": "Grüße"}})
        self.assertEqual(call("json", days=3), {"ok": {"json": {"days": 3, "unit": None}}})
        self.assertEqual(call("file"), {"ok": {"file": ["a.txt", "text/plain", "x" * 100_000]}})
        self.assertEqual(call("who")["ok"]["json"]["caller"], bob["id"])
        self.assertIn("no luck", call("fail")["error"])
        self.assertIn("error", call("json", days="three"))
        self.assertEqual(
            self.ask("npm", "stream", "bob", toolkit="kit", tool="echo", items=[{"n": 1}, "b"]),
            [{"json": {"n": 1}}, {"binary": [{"n": 1}, "b"]}, CLOSE])

    def test_npm_hosts_and_python_calls(self):
        self.join("npm", "ann")
        self.join("python", "bob")
        self.ask("npm", "host", "ann", toolkit="kit")
        self.assertEqual(self.ask("python", "call", "bob", toolkit="kit", tool="text", input={}),
                         {"text": "Grüße"})
        answer = self.send("python", "call", "bob", toolkit="kit", tool="json",
                           input={"days": "three"})
        self.assertEqual(answer["code"], 1002)

    def test_python_streams_to_python(self):
        self.join("python", "ann")
        self.join("python", "bob")
        self.ask("python", "host", "ann", toolkit="kit")
        self.assertEqual(
            self.ask("python", "stream", "bob", toolkit="kit", tool="echo",
                     items=[{"n": 1}, "b", {"n": 3}]),
            [{"json": {"n": 1}}, {"binary": [{"n": 1}, "b"]}, {"json": {"n": 3}}, CLOSE])

    def test_grants(self):
        self.join("python", "ann")
        self.join("python", "eve", api={})
        self.join("python", "tom", api={"agents": {"call": False,
                                                   "register_public_toolkit": False}})
        self.join("python", "kim", api={"agents": {"allowed_toolkits": ["other"]}})
        self.ask("python", "host", "ann", toolkit="kit")
        self.assertEqual(self.send("python", "list", "eve")["code"], 1001)
        self.assertEqual(list(self.ask("python", "list", "tom")), ["kit"])
        self.assertEqual(self.ask("python", "list", "kim"), {})
        for name in ("eve", "tom", "kim"):
            refused = self.send("python", "call", name, toolkit="kit", tool="text", input={})
            self.assertEqual(refused["code"], 1001, name)
        self.assertEqual(self.send("python", "host", "tom", toolkit="mine")["code"], 1001)
        self.assertEqual(self.send("python", "host", "kim", toolkit="kit")["code"], 1004)

    def test_messages_and_presence(self):
        for name in ("ann", "bob"):
            self.join("python", name)
            self.ask("python", "enable", name)
        self.ask("python", "message", "bob", to="ann", text="hi")
        self.assertEqual(self.ask("python", "read", "ann"),
                         {"from": "bob", "type": "chat", "message": {"text": "hi"},
                          "attachment": "attached"})

    def test_queues_outlive_the_server(self):
        self.join("python", "ann")
        for n in (1, 2):
            self.ask("python", "queueSend", "ann", queue="q", message={"n": n})
        self.server.kill()
        self.server.restart()
        self.assertEqual(self.join("python", "bob")["name"], "bob")
        got = [self.ask("python", "queueReceive", "bob", queue="q") for _ in range(3)]
        self.assertEqual(got, [{"n": 1}, {"n": 2}, None])

    def test_an_empty_folder(self):
        self.join("python", "ann")
        self.assertEqual(self.ask("python", "files", "ann", path=".schemas"), [])

    def test_files_go_from_each_client_to_the_other(self):
        self.join("python", "ann")
        self.join("npm", "bob")
        people = {"python": "ann", "npm": "bob"}
        for writer, reader in (("python", "npm"), ("npm", "python"), ("python", "python")):
            for size in (0, 64 * 1024 + 1, 3 * 1024 * 1024):
                with self.subTest(writer=writer, reader=reader, size=size):
                    path = f"from-{writer}/{size}.txt"
                    self.ask(writer, "upload", people[writer], path=path, size=size)
                    seen = self.ask(reader, "download", people[reader], path=path)
                    self.assertEqual(seen, {"name": f"{size}.txt", "type": "text/plain",
                                            "size": size, "same": True})
        self.assertEqual(self.ask("npm", "files", "bob", path="from-python"),
                         ["0.txt", "3145728.txt", "65537.txt"])

    def test_files_outlive_the_server_and_their_changes_are_refused_with_codes(self):
        self.join("python", "ann")
        self.ask("python", "upload", "ann", path="a/b.txt", size=100_000)
        self.server.kill()
        self.server.restart()
        self.join("python", "bob")
        for command, arguments, code in (
                ("upload", {"path": "a/b.txt", "size": 1, "overwrite": False}, 3005),
                ("download", {"path": "a/none"}, 3001),
                ("download", {"path": "a/../b"}, 3004),
                ("delete", {"path": "a"}, 3002),
                ("move", {"source": "none", "destination": "c"}, 3001)):
            with self.subTest(command=command, arguments=arguments):
                self.assertEqual(self.send("python", command, "bob", **arguments)["code"], code)
        self.ask("python", "move", "bob", source="a/b.txt", destination="c.txt")
        self.assertEqual(self.ask("python", "download", "bob", path="c.txt")["same"], True)
        self.ask("python", "delete", "bob", path="c.txt")
        self.assertEqual(self.ask("python", "files", "bob", path=""), [])

    def test_an_address_of_a_file_opens_it_for_others(self):
        self.join("npm", "ann")
        self.ask("npm", "upload", "ann", path="a/ü.txt", size=300_000)
        url = self.ask("npm", "downloadUrl", "ann", path="a/ü.txt")
        with urllib.request.urlopen(url, timeout=60) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/plain")
            self.assertEqual(len(answer.read()), 300_000)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url[:-3], timeout=60)
        self.assertEqual(refused.exception.code, 403)
        refused.exception.close()

    def test_an_agent_of_the_package_is_called_into_the_room(self):
        made = self.client.request("POST", "/room-keys", {"name": "k"}).json()
        token = self.ask("npm", "sign", "ann", name="ann", room=ROOM, key=made["apiKey"],
                         api={"agents": {}})
        url = self.server.url.replace("http", "ws", 1) + f"/rooms/{ROOM}"
        port = free_port()
        self.ask("python", "answerCalls", "helper", port=port,
                 secret=made["apiKey"].split("-", 3)[3])
        self.ask("npm", "join", "ann", url=url, token=token)
        self.ask("python", "join", "bob", url=url, token=token)
        given = {"text": "Grüße 😀", "n": [1.0, 1e22]}
        agent = f"http://127.0.0.1:{port}/webhook"
        self.ask("npm", "callAgent", "ann", name="helper", url=agent, arguments=given)
        self.assertEqual(self.ask("python", "calledWith", "helper"), given)
        self.ask("python", "host", "helper", toolkit="kit")
        self.assertEqual(self.ask("npm", "call", "ann", toolkit="kit", tool="text", input={}),
                         {"text": "Grüße"})
        self.ask("python", "callAgent", "bob", agent="helper", url=agent, arguments={"n": 2})
        self.assertEqual(self.ask("python", "calledWith", "helper"), {"n": 2})

    def start_hosting(self, *arguments: str, **variables: str) -> subprocess.Popen:
        host = subprocess.Popen([self.python, ROOMS / "hosting.py", *arguments],
                                env=os.environ | variables, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        return host

    def check_clock(self, host: subprocess.Popen) -> None:
        """The clock comes, and tells the time."""
        while list(self.ask("npm", "list", "bob")) != ["clock"]:
            self.assertIsNone(host.poll())
        self.assertEqual(self.ask_time(), {"ok": NOON})

    def ask_time(self) -> dict:
        return self.send("npm", "call", "bob", toolkit="clock", tool="get_time",
                         input={"city": "Paris"})

    def test_a_toolkit_is_connected_with_a_token_or_a_key(self):
        self.join("npm", "bob")
        made = self.client.request("POST", f"/rooms/{ROOM}/tokens",
                                   {"name": "clock", "role": "tool"}).json()
        key = self.client.request("POST", "/room-keys", {"name": "k"}).json()
        for what, variables in (("token", {"MESHAGENT_TOKEN": made["token"]}),
                                ("key", parts_of(key["apiKey"]))):
            with self.subTest(what):
                host = self.start_hosting("connect", ROOM, MESHAGENT_API_URL=self.server.url,
                                          **variables)
                self.check_clock(host)
                shown = self.client.request("GET", f"/rooms/{ROOM}").json()["participants"]
                self.assertEqual({one["name"]: one["role"] for one in shown},
                                 {"bob": "user", "clock": "tool"})
                host.terminate()
                self.ask_time()  # the package notices the signal when a message comes
                self.assertEqual(host.wait(SECONDS_MAX), 0)
                self.assertEqual(self.ask("npm", "list", "bob"), {})

    def test_a_service_of_the_package_is_called_into_the_room(self):
        key = self.client.request("POST", "/room-keys", {"name": "k"}).json()["apiKey"]
        token = self.ask("npm", "sign", "bob", name="bob", room=ROOM, key=key, api={"agents": {}})
        url = self.server.url.replace("http", "ws", 1) + f"/rooms/{ROOM}"
        self.ask("npm", "join", "bob", url=url, token=token)
        port = free_port()
        host = self.start_hosting("service", str(port), parts_of(key)["MESHAGENT_SECRET"])
        while self.send("npm", "callAgent", "bob", name="clock",
                        url=f"http://127.0.0.1:{port}/clock",
                        arguments={}) != {"ok": None}:  # until it listens
            self.assertIsNone(host.poll())
        self.check_clock(host)
        host.terminate()
        # The package notices the signal when somebody connects.
        socket.create_connection(("127.0.0.1", port)).close()
        self.assertEqual(host.wait(SECONDS_MAX), 0)
        while self.ask("npm", "list", "bob") != {}:
            pass

    def test_the_example_of_the_guide(self):
        block, = (block for block in blocks_of(GUIDE) if block.language == "python")
        made = self.client.request("POST", f"/rooms/{ROOM}/tokens", {"name": "clock"}).json()
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / block.file_name
            program.write_text(block.text.replace("ws://127.0.0.1:7300/rooms/support",
                                                  made["url"]))
            with subprocess.Popen([self.python, program], text=True, stdout=subprocess.PIPE,
                                  env=os.environ | {"CLOCK_TOKEN": made["token"]},
                                  preexec_fn=die_with_parent) as host:
                self.addCleanup(host.kill)
                self.assertEqual(host.stdout.readline(), "hosting\n")
                self.join("npm", "bob")
                self.assertEqual(self.ask_time(), {"ok": NOON})
                host.kill()

    def test_a_host_comes_back_after_a_restart(self):
        self.join("python", "ann")
        self.join("npm", "bob")
        self.ask("python", "host", "ann", toolkit="kit")
        self.ask("npm", "begin", "bob", toolkit="kit", tool="wait", input={})
        self.assertEqual(list(self.ask("npm", "list", "bob")), ["kit"])
        self.server.terminate()
        self.server.restart()
        self.assertIn("error", self.ask("npm", "finish", "bob"))
        self.ask("npm", "statuses", "bob", reconnected=1)
        while self.ask("npm", "list", "bob") == {}:  # the host registers by itself
            pass
        self.assertEqual(self.ask("npm", "call", "bob", toolkit="kit", tool="text", input={}),
                         {"text": "Grüße"})


if __name__ == "__main__":
    unittest.main()
