"""Every code block of the guide is run; every table of settings is complete.

The blocks of README and quick start are those of test_clean_clone, those of the service's page are
run by test_service and test_proxies, those of the C++ page by tests/sdk, those of the page about
packages by tests/package, those in JavaScript by tests/interop/test_rooms_npm.py, all others
here."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.documents import ROOT, Block, Session, blocks_of
from support.server import NO_OLLAMA, START_SECONDS_MAX, binary, die_with_parent

GUIDE = ROOT / "docs" / "guide"
ALL_PAGES = [ROOT / "README.md", *sorted(GUIDE.glob("*.md"))]
# The first two want a whole clone, the third a machine with systemd, the fourth the installed C++
# library, and the last a machine without anything: other tests run them.
ELSEWHERE = {ROOT / "README.md", GUIDE / "quick-start.md", GUIDE / "service.md", GUIDE / "cpp.md",
             GUIDE / "install.md"}
PAGES = [path for path in ALL_PAGES if path not in ELSEWHERE]
KINDS = {"sh", "console", "terminal", "json", "jsonc", "ini", "python"}
KINDS_OF_PROXIES = {"caddyfile", "nginx"}
KINDS_OF_NODE = {"js"}
KINDS_OF_CPP = {"cpp", "cmake", "text"}
CONFIGURATION = {"models", "defaultModel", "workspaces", "limits", "network",
                 "compatibility", "mcpServers", "search", "telemetry"}
STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
SETTINGS = re.compile(r"^\| ((?:`[\w.]+`(?:, )?)+) \|", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
FILES = {"README.md": "# Notes\n\nWhat to do next.\n", "docs/plan.md": "# Plan\n\n- bake bread\n"}
READY = '"event":"ready"'
INSTALLED = "/usr/local/bin/errand"


def all_blocks() -> list[Block]:
    return [block for path in ALL_PAGES for block in blocks_of(path)]


def without_comments(text: str) -> str:
    return STRING_OR_COMMENT.sub(lambda found: found[1] or "", text)


def settings_of(page: str) -> set[str]:
    """The names in the first column of the page's tables of settings."""
    tables = (GUIDE / page).read_text()
    return {name for row in SETTINGS.findall(tables) for name in re.findall(r"`([\w.]+)`", row)}


class GuideCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "bin").mkdir()
        (self.root / "bin" / "errand").symlink_to(binary())

    def make_work(self, name: str) -> tuple[Path, Path]:
        """A folder for the notes of a session and one for the session itself, with a few files."""
        folder = self.root / name
        work = folder / "work"
        for path, text in FILES.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text)
        subprocess.run(["git", "init", "-q", str(work)], check=True)
        return folder, work

    def said_by(self, *words: str, variables: dict[str, str] | None = None) -> str:
        """What a server says until it is ready, or why it ended; and then to its end."""
        environment = {"PATH": os.environ["PATH"], "OLLAMA_HOST": NO_OLLAMA} | (variables or {})
        process = subprocess.Popen([binary(), *words], cwd=self.root, env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   preexec_fn=die_with_parent)
        said = ""
        with process:
            for line in process.stdout:
                said += line
                if READY in line:
                    process.terminate()
            process.wait(START_SECONDS_MAX)
        return said.replace('\\"', '"')

    def serve(self, config: str, **variables: str) -> str:
        path = self.root / "config.json"
        path.write_text(config)
        shutil.rmtree(self.root / "data", ignore_errors=True)
        return self.said_by("serve", "--listen", "127.0.0.1:0", "--data", "data", "--config",
                               str(path), variables=variables)


class SessionTest(GuideCase):
    def test_the_commands_of_each_page_work_from_top_to_bottom(self):
        for path in PAGES:
            with self.subTest(path.name):
                folder, work = self.make_work(path.stem)
                search = f"{self.root / 'bin'}:{os.environ['PATH']}"
                session = Session(folder, work, {"PATH": search})
                self.assertEqual("\n\n".join(session.run(blocks_of(path))), "")


class BlockTest(GuideCase):
    def test_every_block_is_of_a_kind_that_is_run(self):
        unknown = [block.place for block in all_blocks()
                   if block.language not in KINDS | KINDS_OF_PROXIES | KINDS_OF_CPP | KINDS_OF_NODE]
        self.assertEqual(unknown, [])

    def test_every_block_that_is_a_file_has_a_name(self):
        unnamed = [block.place for block in all_blocks()
                   if block.language in {"python", "ini"} | KINDS_OF_PROXIES
                   and not block.file_name]
        self.assertEqual(unnamed, [])


class JsonTest(GuideCase):
    def check(self, block: Block) -> None:
        value = json.loads(without_comments(block.text))
        if "turns" in value:
            (self.root / "turns.json").write_text(block.text)
            said = self.said_by("fake-model", "--script", "turns.json")
        elif value.keys() <= CONFIGURATION:
            said = self.check_configuration(block.text)
        else:
            return
        self.assertIn(READY, said)

    def check_configuration(self, text: str) -> str:
        """Every variable is set, and every file is there."""
        variables = {name: "a-key" for name in re.findall(r'"env:(\w+)"', text)}
        for path in re.findall(r'"file:([^"]+)"', text):
            (self.root / "a-key").write_text("a-key\n")
            text = text.replace(path, str(self.root / "a-key"))
        return self.serve(text, **variables)

    def test_every_json_is_what_it_is_meant_to_be(self):
        (self.root / "turns.json").write_text('{"turns": [{"text": ["Hi."]}]}')
        for block in all_blocks():
            if block.language in ("json", "jsonc"):
                with self.subTest(block.place):
                    self.check(block)


class SettingsTest(GuideCase):
    def known(self, config: dict, place: str) -> set[str]:
        """The settings that a place has, as the reader of the file lists them."""
        said = self.serve(json.dumps(config))
        found = re.search(r"is not a setting here; there are: ([\w$, ]+) \(at " + place, said)
        self.assertTrue(found, said)
        return set(found[1].split(", "))

    def test_the_configuration_page_has_every_setting(self):
        wrong = {"none": 1}
        top = self.known(wrong, "/none")
        limits = self.known({"limits": wrong}, "/limits/none")
        network = self.known({"network": wrong}, "/network/none")
        compatibility = self.known({"compatibility": wrong}, "/compatibility/none")
        search = self.known({"search": wrong}, "/search/none")
        telemetry = self.known({"telemetry": wrong}, "/telemetry/none")
        rooms = self.known({"rooms": wrong}, "/rooms/none")
        workspace = self.known({"workspaces": [wrong]}, "/workspaces/0/none")
        parts = {"limits", "network", "compatibility", "search", "telemetry", "rooms",
                 "workspaces", "$schema"}
        expected = ((top - parts)
                    | {f"limits.{name}" for name in limits}
                    | {f"network.{name}" for name in network}
                    | {f"compatibility.{name}" for name in compatibility}
                    | {f"search.{name}" for name in search}
                    | {f"telemetry.{name}" for name in telemetry}
                    | {f"rooms.{name}" for name in rooms}
                    | {f"workspaces.{name}" for name in workspace})
        self.assertEqual(settings_of("configuration.md"), expected)

    def test_the_models_page_has_every_setting_of_a_model(self):
        scripted = {"id": "a", "provider": "scripted", "script": "turns.json", "none": 1}
        vendors = {"id": "a", "provider": "openai", "none": 1}
        expected = (self.known({"models": [scripted]}, "/models/0/none")
                    | self.known({"models": [vendors]}, "/models/0/none"))
        self.assertEqual(settings_of("models.md"), expected)


class UnitTest(GuideCase):
    def test_units_of_systemd_are_valid(self):
        units = [block for block in all_blocks() if block.language == "ini"]
        self.assertTrue(units)
        for unit in units:
            text = unit.text.replace(INSTALLED, binary())
            (self.root / Path(unit.file_name).name).write_text(text)
        names = [Path(unit.file_name).name for unit in units]
        for unit in units:
            for line in unit.text.strip().split("\n"):
                self.assertRegex(line, r"^$|^#|^\[[A-Z]\w+\]$|^[A-Z]\w+=", unit.place)
        if not shutil.which("systemd-analyze"):
            return
        done = subprocess.run(["systemd-analyze", "verify", *(f"./{name}" for name in names)],
                              cwd=self.root, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


class LinkTest(unittest.TestCase):
    def test_links_lead_to_files(self):
        broken = [f"{path.relative_to(ROOT)}: {link}" for path in ALL_PAGES
                  for link in LINK.findall(CODE.sub("", path.read_text()))
                  if not (path.parent / link).exists()]
        self.assertEqual(broken, [])

    def test_the_index_has_every_page(self):
        listed = set(LINK.findall((GUIDE / "README.md").read_text()))
        pages = {path.name for path in GUIDE.glob("*.md")} - {"README.md"}
        self.assertEqual(pages - listed, set())


if __name__ == "__main__":
    unittest.main()
