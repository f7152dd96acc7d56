"""Rooms with the MeshAgent client of npm: tools, streams, grants, loss, compression, examples."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from support.documents import ROOT, blocks_of
from support.node import NODE, SECONDS_MAX
from support.npm_rooms import AGENTS, ROOM, ROOMS, NpmCase
from support.server import Server

GUIDE = ROOT / "docs" / "guide"
LARGE = 100_000


class NpmRoomsTest(NpmCase):
    def test_a_participant_learns_who_it_is(self):
        peer = self.peer()
        seen = self.join(peer, "ann")
        self.assertTrue(seen.pop("id"))
        self.assertEqual(seen, {"name": "ann", "room": ROOM, "url": self.url()})
        shown = self.client.request("GET", f"/rooms/{ROOM}").json()
        self.assertEqual([(one["name"], one["role"], one["toolkits"])
                          for one in shown["participants"]], [("ann", "user", [])])

    def test_every_kind_of_content(self):
        peer = self.hosted()
        kinds = ["json", "text", "link", "file", "empty", "binary"]
        self.assertEqual(peer.ask("list", "bob"), {"kit": [*kinds, "fail", "wait"]})
        for tool, expected in (
                ("text", {"text": "Grüße"}),
                ("link", {"link": ["there", "https://example.com/"]}),
                ("file", {"file": ["a.txt", "text/plain", "x" * LARGE]}),
                ("empty", {"empty": True}),
                ("binary", {"binary": [{"n": 1}, "b"]})):
            with self.subTest(tool):
                self.assertEqual(self.call(peer, "bob", "kit", tool, input={}), {"ok": expected})
        given = {"days": 2**53 - 1, "unit": "ü" * LARGE}
        self.assertEqual(self.call(peer, "bob", "kit", "json", input=given),
                         {"ok": {"json": given}})

    def test_errors_reach_the_caller(self):
        peer = self.hosted()
        for toolkit, tool, given, code, message in (
                ("kit", "fail", {}, None, "Error: no luck"),
                ("kit", "none", {}, 1003, "tool none was not found"),
                ("none", "json", {}, 1003, "toolkit none was not found"),
                ("kit", "json", {"days": "two"}, 1002,
                 "tool 'json' input does not match input_schema: /days"),
                ("kit", "json", {}, 1002, "tool 'json' input does not match input_schema: ")):
            with self.subTest(tool=tool, given=given):
                answer = self.call(peer, "bob", toolkit, tool, input=given)
                self.assertIn(message, answer["error"])
                self.assertEqual(answer.get("code"), code)

    def test_a_key_that_may_be_null_is_filled_in(self):
        self.assertEqual(self.call(self.hosted(), "bob", "kit", "json", input={"days": 3}),
                         {"ok": {"json": {"days": 3, "unit": None}}})

    def test_streams(self):
        peer = self.peer()
        self.join(peer, "ann", query="?v=1")
        self.join(peer, "bob")
        peer.ask("hostStreams", "ann", toolkit="streams")
        items = [{"n": 1}, "bytes", {"n": 3}]
        shown = [{"json": {"n": 1}}, {"binary": [{"n": 1}, "bytes"]}, {"json": {"n": 3}}]
        close = {"control": "close", "status": 1000}
        self.assertEqual(
            peer.ask("streamIn", "bob", toolkit="streams", tool="sum", items=items),
            {"json": {"items": shown}})
        self.assertEqual(
            peer.ask("stream", "bob", toolkit="streams", tool="echo", items=items),
            [*shown, close])
        self.assertEqual(
            peer.ask("stream", "bob", toolkit="streams", tool="broken", items=[]),
            [{"error": "broke"}, close])

    def test_a_host_of_this_client_is_not_asked_to_stream(self):
        peer = self.hosted()
        answer = peer.send("streamIn", "bob", toolkit="kit", tool="text", items=[])
        self.assertEqual((answer["error"], answer["code"]),
                         ("tool 'text' does not take streamed input", 1002))

    def test_private_toolkits(self):
        peer = self.peer()
        ann = self.join(peer, "ann")
        self.join(peer, "bob")
        peer.ask("host", "ann", toolkit="ui", isPublic=False)
        self.assertEqual(peer.ask("list", "bob"), {})
        self.assertEqual(list(peer.ask("list", "bob", participantId=ann["id"])), ["ui"])
        self.assertEqual(self.call(peer, "bob", "ui", "text", input={})["code"], 1003)
        self.assertEqual(
            self.call(peer, "bob", "ui", "text", input={}, participantId=ann["id"]),
            {"ok": {"text": "Grüße"}})

    def test_a_toolkit_that_was_stopped_is_gone(self):
        peer = self.hosted()
        peer.ask("stop", "ann")
        self.assertEqual(peer.ask("list", "bob"), {})

    def test_grants(self):
        peer = self.hosted()
        self.join(peer, "eve", api={})
        self.join(peer, "tom", api={"agents": {"call": False, "register_public_toolkit": False}})
        self.assertEqual(peer.send("list", "eve")["code"], 1001)
        self.assertEqual(list(peer.ask("list", "tom")), ["kit"])
        self.assertEqual(self.call(peer, "tom", "kit", "text", input={})["code"], 1001)
        self.assertEqual(peer.send("host", "tom", toolkit="mine")["code"], 1001)
        self.assertEqual(peer.send("host", "bob", toolkit="kit")["code"], 1004)

    def test_tokens_that_are_refused(self):
        peer = self.peer()
        good = self.token("ann")
        other = self.client.request("POST", "/rooms", {"name": "other"})
        self.assertEqual(other.status, 201)
        for room, token, status in (("other", good, 403), (ROOM, good[:-3], 403),
                                    (ROOM, "nonsense", 403), ("No-Room", good, 404)):
            with self.subTest(room=room, token=token[-10:]):
                answer = peer.send("join", "x", url=self.url(room), token=token)
                self.assertIn(str(status), answer["error"])

    def test_clients_sign_tokens_with_a_key_of_the_workspace(self):
        made = self.client.request("POST", "/room-keys", {"name": "npm"}).json()
        peer = self.peer()
        token = peer.ask("sign", "ann", name="ann", room="made-by-joining", key=made["apiKey"],
                         api=AGENTS)
        joined = peer.ask("join", "ann", url=self.url("made-by-joining"), token=token)
        self.assertEqual(joined["room"], "made-by-joining")
        rooms = self.client.request("GET", "/rooms").json()["rooms"]
        self.assertEqual([one["name"] for one in rooms], [ROOM, "made-by-joining"])
        self.assertEqual(
            self.client.request("DELETE", f"/room-keys/{made['id']}").status, 204)
        answer = peer.send("join", "bob", url=self.url("made-by-joining"), token=token)
        self.assertIn("403", answer["error"])

    def test_a_host_that_dies_in_a_call(self):
        host, caller = self.peer(), self.peer()
        self.join(host, "ann")
        self.join(caller, "bob")
        host.ask("host", "ann", toolkit="kit")
        caller.ask("begin", "bob", toolkit="kit", tool="wait", input={})
        self.assertEqual(list(caller.ask("list", "bob")), ["kit"])
        host.node.process.kill()
        self.assertEqual(caller.ask("finish", "bob"),
                         {"error": "the host of toolkit kit has left the room", "code": 1008})
        self.assertEqual(caller.ask("list", "bob"), {})

    def test_a_room_that_is_deleted(self):
        peer = self.hosted()
        self.assertEqual(self.client.request("DELETE", f"/rooms/{ROOM}").status, 204)
        self.assertIn("error", self.call(peer, "bob", "kit", "text", input={}))

    def test_everybody_comes_back_after_a_restart(self):
        self.come_back(lambda server: server.terminate())

    def test_everybody_comes_back_after_a_crash(self):
        self.come_back(Server.kill)

    def test_the_example_of_the_package(self):
        readme = ROOMS / "node_modules" / "@meshagent" / "meshagent" / "README.md"
        example, = (block for block in blocks_of(readme) if block.language == "js")
        variables = os.environ | {"MESHAGENT_API_URL": self.server.url, "MESHAGENT_ROOM": ROOM,
                                  "MESHAGENT_TOKEN": self.token("simple-echo-toolkit")}
        with tempfile.TemporaryDirectory(dir=ROOMS) as folder:
            # The package's folder makes modules of all programs, and this one is none.
            (Path(folder) / "package.json").write_text("{}")
            (Path(folder) / "example.js").write_text(example.text)
            said = subprocess.run([NODE, f"{folder}/example.js"], env=variables, text=True,
                                  capture_output=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertEqual(json.loads(said.stdout[said.stdout.index("{\n"):]),
                         {"message": "hello from startHostedToolkit", "hostedBy": "toolkit-host"})

    def test_messages_are_not_compressed(self):
        peer = self.peer()
        self.join(peer, "ann")
        self.assertEqual(peer.ask("extensions", "ann"), "")

    def test_the_example_of_the_guide(self):
        files = {block.file_name: block.text.replace("ws://127.0.0.1:7300", self.url()[:-14])
                 for block in blocks_of(GUIDE / "rooms.md") if block.language == "js"}
        with tempfile.TemporaryDirectory(dir=ROOMS) as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text)
            variables = os.environ | {"HOST_TOKEN": self.token("weather"),
                                      "CALLER_TOKEN": self.token("ann")}
            with subprocess.Popen([NODE, f"{folder}/host.mjs"], env=variables, text=True,
                                  stdout=subprocess.PIPE) as host:
                self.addCleanup(host.kill)
                self.assertEqual(host.stdout.readline(), "hosting\n")
                said = subprocess.run([NODE, f"{folder}/call.mjs"], env=variables, text=True,
                                      capture_output=True, timeout=SECONDS_MAX, check=False)
                host.kill()
        self.assertEqual(said.stdout, 'weather\n{"city":"Paris","sky":"clear"}\n', said.stderr)


class NpmCompressedTest(NpmCase):
    CONFIG = {"rooms": {"compression": True}}

    def test_messages_are_compressed_and_mean_the_same(self):
        peer = self.hosted()
        for name in ("ann", "bob"):
            self.assertIn("permessage-deflate", peer.ask("extensions", name))
        given = {"days": 1, "unit": "ü" * LARGE}
        for _ in range(3):  # the window goes on from message to message
            self.assertEqual(self.call(peer, "bob", "kit", "json", input=given),
                             {"ok": {"json": given}})
        self.assertEqual(self.call(peer, "bob", "kit", "file", input={}),
                         {"ok": {"file": ["a.txt", "text/plain", "x" * LARGE]}})
        self.assertEqual(self.call(peer, "bob", "kit", "none", input={})["code"], 1003)

    def test_files_are_compressed_on_their_way_only(self):
        peer = self.peer()
        self.join(peer, "ann", api={"storage": {}})
        peer.ask("upload", "ann", path="a.bin", size=300_000)
        self.assertEqual(peer.ask("download", "ann", path="a.bin")["same"], True)

    def test_everybody_comes_back_after_a_crash(self):
        self.come_back(Server.kill)
