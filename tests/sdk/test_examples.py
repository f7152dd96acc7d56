"""The programs of examples/ and of the guide, built from an installed copy and run."""

import json
import os
import re
import signal
import subprocess
import unittest
from pathlib import Path

from sdk.installed import COMPILERS, ROOT, InstalledCase, in_parallel
from support.documents import blocks_of
from support.peers.room_peer import RoomPeer
from support.server import Server

EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "guide" / "cpp.md"
ROOMS_PAGE = ROOT / "docs" / "guide" / "rooms.md"
SECONDS_MAX = 60
FIRST_TOOL_LINES_MAX = 15
README_LINES_MAX = 10  # blank ones left out
# What those print that need no server.
PRINTED = {
    "typed_output": "The lamp flickers (angry)\noutput_invalid: {\"name\":\"lamp\"}\n",
    "parallel_tools": "I have read three pages.\n3 answers, at once\n",
    "own_model": "It is 42. (20 tokens in)\n",
    "agent_test": "passed\n",
}


class ExampleTest(InstalledCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = Server(None).start()
        cls.addClassCleanup(cls.server.close)

    def environment(self) -> dict[str, str]:
        return os.environ | {"ERRAND_SERVER": self.server.url, "ERRAND_API_KEY": self.server.key}

    def output_of(self, program: Path, *words: str) -> str:
        return self.must(program, *words, env=self.environment(), timeout=SECONDS_MAX,
                         cwd=self.work)

    def test_every_example_is_built_and_run(self):
        names = sorted(path.parent.name for path in EXAMPLES.glob("*/main.cpp"))
        self.assertEqual(set(names) - PRINTED.keys(),
                         {"weather", "worker_pool", "embedded_durable", "room", "mcp_server"})
        built = in_parallel(lambda case: self.build_project(case[0], EXAMPLES / case[1]),
                            [(compiler, name) for name in names for compiler in COMPILERS])
        for folder in built:
            name = folder.name.split("-")[1]
            with self.subTest(folder.name):
                self.check(name, folder / name)

    def check_room(self, program: Path) -> None:
        client = self.server.client()
        room = f"lab-{program.parent.name}".replace("_", "-").lower().replace("+", "")
        client.request("POST", "/rooms", {"name": room})
        tokens = [client.request("POST", f"/rooms/{room}/tokens", {"name": name}).json()
                  for name in ("shop", "ann")]
        printed = self.output_of(program, tokens[0]["url"], *(made["token"] for made in tokens))
        self.assertEqual(printed, "orders: 1 tool\non its way, 2 days\nThank you, Ann.\n"
                                  "0 toolkits are left\n")

    def check_mcp_server(self, program: Path) -> None:
        """tests/sdk/test_mcp_example.py has the clients of others."""
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        done = subprocess.run([program], input=json.dumps(request) + "\n", capture_output=True,
                              text=True, check=True, timeout=SECONDS_MAX)
        self.assertEqual(json.loads(done.stdout), {"jsonrpc": "2.0", "id": 1, "result": {}})

    def check(self, name: str, program: Path) -> None:
        if name == "weather":
            self.assertIn("Lagos: 31 degrees, rain in the afternoon", self.output_of(program))
        elif name == "worker_pool":
            self.check_workers(program)
        elif name == "room":
            self.check_room(program)
        elif name == "mcp_server":
            self.check_mcp_server(program)
        elif name == "embedded_durable":
            data = self.work / f"data-{program.parent.name}"
            self.assertEqual(self.output_of(program, str(data)), "I have counted to 20.\n")
            self.assertEqual((data / "effects").read_text().split(),
                             [str(number) for number in range(1, 21)])
        else:
            self.assertEqual(self.output_of(program), PRINTED[name])

    def check_workers(self, program: Path) -> None:
        workers = [subprocess.Popen([program, "work"], stdout=subprocess.PIPE, text=True,
                                    env=self.environment()) for _ in range(2)]
        try:
            for worker in workers:
                self.assertEqual(worker.stdout.readline(), "working\n")
            self.assertIn("cat.png has 320 pixels", self.output_of(program, "ask"))
            said = []
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
                said.append(worker.communicate(timeout=SECONDS_MAX)[0])
            self.assertEqual(sorted(said), ["answered 0\n", "answered 1\n"])
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
                worker.stdout.close()


class GuideTest(ExampleTest):
    test_every_example_is_built_and_run = None

    def test_the_program_of_the_readme_works(self):
        [block] = [block for block in blocks_of(ROOT / "README.md") if block.language == "cpp"]
        lines = [line for line in block.text.splitlines() if line]
        self.assertLessEqual(len(lines), README_LINES_MAX)
        source = self.work / "readme" / "main.cpp"
        source.parent.mkdir()
        source.write_text(block.text)
        self.assertIn("Lagos: 31 degrees, rain", self.output_of(self.compile("g++", source)))

    def test_the_first_project_of_the_guide_is_short_and_works(self):
        """The project file of the guide, with its first program."""
        blocks = blocks_of(PAGE)
        project, = (block for block in blocks if block.language == "cmake")
        program = next(block for block in blocks if block.language == "cpp")
        self.assertLessEqual(len(program.text.strip().splitlines()), FIRST_TOOL_LINES_MAX)
        folder = self.work / "first-project"
        folder.mkdir()
        (folder / project.file_name).write_text(project.text)
        (folder / "main.cpp").write_text(program.text)
        for compiler in COMPILERS:
            with self.subTest(compiler):
                build = self.build_project(compiler, folder)
                self.assertIn("Lagos: 31 degrees, sunny", self.output_of(build / "weather"))

    def test_the_tests_that_the_guide_names_are_there(self):
        """The tables for those who come from Python: each file, and each test in it."""
        page = PAGE.read_text()
        tables = page[page.index("## Coming from Python"):]
        named = re.findall(r"\]\(\.\./\.\./([^)]+)\)(?: `([A-Za-z0-9.]+)`)?", tables)
        self.assertGreater(len(named), 30)
        for file, test in named:
            with self.subTest(f"{file} {test}"):
                self.assertTrue((ROOT / file).exists())
                if test:
                    suite, name = test.split(".")
                    self.assertRegex((ROOT / file).read_text(),
                                     rf"TEST(_[FP])?\({suite}, {name}\)")

    def test_the_programs_of_the_guide_work(self):
        """Each C++ block is a program, and the block of text behind it is what it prints."""
        blocks = blocks_of(PAGE)
        programs = [block for block in blocks if block.language == "cpp"]
        self.assertGreater(len(programs), 1)
        for index, block in enumerate(programs):
            with self.subTest(block.place):
                source = self.work / f"guide-{index}" / "main.cpp"
                source.parent.mkdir()
                source.write_text(block.text)
                after = blocks[blocks.index(block) + 1]
                self.assertEqual(after.language, "text")
                program = self.compile("g++", source)
                self.assertIn(after.text.strip(), self.output_of(program))

    def test_the_program_of_the_guide_about_rooms(self):
        block, = (block for block in blocks_of(ROOMS_PAGE) if block.language == "cpp")
        client = self.server.client()
        client.request("POST", "/rooms", {"name": "support"})
        made = {name: client.request("POST", "/rooms/support/tokens", {"name": name}).json()
                for name in ("desk", "weather", "clock", "ann")}
        source = self.work / "guide-rooms" / block.file_name
        source.parent.mkdir()
        source.write_text(block.text.replace("ws://127.0.0.1:7300/rooms/support",
                                             made["desk"]["url"]))
        environment = self.environment() | {"DESK_TOKEN": made["desk"]["token"]}
        with (RoomPeer(self.server.url, "support", made["weather"]["token"]).ready() as weather,
              RoomPeer(self.server.url, "support", made["clock"]["token"]).ready() as clock,
              RoomPeer(self.server.url, "support", made["ann"]["token"]).ready() as ann,
              subprocess.Popen([self.compile("g++", source)], env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE) as desk):
            self.addCleanup(desk.kill)
            self.assertEqual(desk.stdout.readline(), "hosting\n")
            for host, toolkit, tool in ((weather, "weather", "get_weather"),
                                        (clock, "clock", "get_time")):
                host.ask("room.register_toolkit",
                         {"name": toolkit, "public": True, "tools": {tool: {}}})
            ann.send("room.invoke_tool", {"toolkit": "desk", "tool": "brief",
                                          "arguments": {"city": "Paris"}})
            for host, toolkit, given in ((weather, "weather", {"sky": "clear"}),
                                         (clock, "clock", {"time": "12:00"})):
                number, _, call, _ = host.until(f"room.tool_call.{toolkit}")
                self.assertEqual(call["arguments"]["json"], {"city": "Paris"})
                host.send("room.tool_call_response",
                          {"type": "json", "json": {"city": "Paris"} | given}, message_id=number)
            self.assertEqual(ann.until("__response__")[2],
                             {"type": "text", "text": "Paris: clear, 12:00"})
            desk.communicate("\n", timeout=SECONDS_MAX)
            self.assertEqual(desk.returncode, 0)


if __name__ == "__main__":
    unittest.main()
