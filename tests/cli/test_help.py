"""What the commands say about themselves: help, the guide's list of them, and completion."""

import functools
import json
import platform
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.system.debian_program import debian_program
from support.server import NO_OLLAMA, Server, binary
from support.terminal import plain_environment

SECONDS_MAX = 60
MACHINE = platform.machine()
EXAMPLE_ID = re.compile(r"(?:run|key|sess|tu|mantyx_oa)_0123abcd")
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"


def run(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([binary(), *words], capture_output=True, text=True, timeout=SECONDS_MAX,
                          env=plain_environment(), **options)


@functools.cache
def commands(*words: str) -> list[str]:
    """All commands below this one that do something themselves, as their help lists them."""
    text = run(*words, "--help").stdout
    listed = re.search(r"\nCommands:\n((?:  .*\n)+)", text)
    if not listed:
        return [" ".join(("errand", *words))]
    names = [line.split()[0] for line in listed[1].splitlines()]
    names += re.findall(r"[\w-]+", text.partition("\nAlso: ")[2].partition("\nExample:")[0])
    return [found for name in names for found in commands(*words, name)]


def line_with(example: str) -> re.Pattern:
    """A line of a session that has the example; ids are variables there."""
    words = EXAMPLE_ID.sub(r"\\$[A-Z]+", re.escape(example))
    return re.compile(rf"^(?:\$ )?(?:{words}|[A-Z]+=\$\({words}\))(?: +# until Ctrl-C)?$",
                      re.MULTILINE)


class CommandsPageTest(unittest.TestCase):
    maxDiff = None

    def test_the_guide_lists_every_command_with_an_example(self):
        page = (GUIDE / "commands.md").read_text()
        sections = re.findall(r"^## `([^`]+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        self.assertEqual(sorted(name for name, _ in sections), sorted(commands()))
        for name, text in sections:
            example = run(*name.split()[1:], "--help").stdout.partition("\nExample:\n")[2].strip()
            with self.subTest(name=name):
                self.assertRegex(text, line_with(example))


class EveryFlagTest(unittest.TestCase):
    def test_help_lists_every_flag_that_completion_knows(self):
        script = run("completion", "bash").stdout
        for name in commands():
            known = re.search(rf"^    '{name}'\) words='([^']*)'", script, re.MULTILINE)[1].split()
            shown = run(*name.split()[1:], "--help").stdout
            missing = [word for word in known if word.startswith("--") and word not in shown]
            self.assertEqual(missing, [], name)

    def test_help_is_a_command_too(self):
        self.assertEqual(run("help", "runs", "list").stdout, run("runs", "list", "--help").stdout)
        done = run("help", "runs", "lst")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("did you mean list?", done.stderr)

    def test_the_manual_page_is_one_that_groff_takes(self):
        done = subprocess.run([debian_program("groff-base", "usr/bin/groff"), "-man", "-ww", "-z",
                               "-Tutf8"], input=run("man").stdout, capture_output=True, text=True,
                              timeout=SECONDS_MAX)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_manual_has_every_command_and_flag(self):
        page = run("man").stdout.replace("\\-", "-")
        script = run("completion", "bash").stdout
        for name in commands():
            known = re.search(rf"^    '{name}'\) words='([^']*)'", script, re.MULTILINE)[1].split()
            section = re.search(rf'^\.SS "{name}[ "].*?(?=^\.S[SH])', page,
                                re.MULTILINE | re.DOTALL)
            missing = [word for word in known
                       if word.startswith("--") and word != "--help" and word not in section[0]]
            self.assertEqual(missing, [], name)


class SchemaTest(unittest.TestCase):
    def test_it_is_printed_as_json(self):
        done = run("config", "schema")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        schema = json.loads(done.stdout)
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertIn("vendorModelId", schema["$defs"]["model"]["properties"])


class CompletionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "a file.json").write_text("{}")
        (self.folder / "a folder").mkdir()

    def script(self, shell: str) -> Path:
        path = self.folder / f"errand.{shell}"
        path.write_text(run("completion", shell).stdout)
        return path

    def proposed(self, *words: str) -> list[str]:
        """What bash proposes for the last of these words."""
        asked = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _errand; '
                 'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(
            ["bash", "--norc", "-c", asked, "bash", str(self.script("bash")), binary(), *words],
            cwd=self.folder, capture_output=True, text=True, timeout=SECONDS_MAX,
            env=plain_environment(OLLAMA_HOST=NO_OLLAMA))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1]

    def test_bash_completes_commands(self):
        self.assertEqual(self.proposed("ru"), ["run", "runs"])
        self.assertEqual(self.proposed("runs", "ex"), ["export"])
        self.assertEqual(self.proposed("completion", ""), [
            "bash", "zsh", "fish", "--help", "--values", "--server", "--key", "--workspace",
            "--data"])

    def test_bash_completes_flags_of_the_command_on_the_line(self):
        self.assertEqual(self.proposed("serve", "--l"), ["--listen", "--log-format", "--log-level"])
        self.assertEqual(self.proposed("run", "--data", "serve", "--l"), [""])
        self.assertEqual(self.proposed("run", "--y"), ["--yes"])

    def test_bash_completes_values(self):
        self.assertEqual(self.proposed("serve", "--log-format", ""), ["text", "json"])
        self.assertEqual(self.proposed("serve", "--data", "a "), ["a folder"])
        self.assertCountEqual(self.proposed("serve", "--config", "a "),
                              ["a file.json", "a folder"])
        self.assertCountEqual(self.proposed("runs", "replay", "a "), ["a file.json", "a folder"])
        self.assertEqual(self.proposed("serve", "--listen", ""), [""])

    def test_bash_completes_ids_and_names_that_the_server_knows(self):
        server = Server(None).start()
        self.addCleanup(server.close)
        client = server.client()
        runs = [client.create(prompt="Hello", modelId="demo") for _ in range(2)]
        for run in runs:
            with client.stream(run) as stream:
                list(stream)
        session = client.request("POST", "/agent-sessions", {}).json()["sessionId"]
        client.request("POST", "/agents", {"name": "helper", "modelId": "demo"})
        place = ("--server", server.url, "--key", server.key)
        self.assertEqual(self.proposed("runs", "show", *place, ""), runs[::-1])
        self.assertEqual(self.proposed("runs", "tail", *place, runs[0]), [runs[0]])
        self.assertEqual(self.proposed("runs", "show", *place, "--js"), ["--json"])
        self.assertEqual(self.proposed("run", *place, "--model", "d"), ["demo"])
        self.assertEqual(self.proposed("run", *place, "--agent", ""), ["helper"])
        self.assertEqual(self.proposed("sessions", "end", *place, ""), [session])
        self.assertEqual(self.proposed("chat", *place, "--resume", ""), [session])
        self.assertEqual(self.proposed("calls", "answer", *place, ""), [""])

    def test_a_server_that_is_not_there_has_nothing_to_complete(self):
        place = ("--server", "http://127.0.0.1:1", "--key", "x" * 20)
        self.assertEqual(self.proposed("runs", "show", *place, ""), [""])
        self.assertEqual(self.proposed("run", "--model", ""), ["demo"])

    def test_values_and_a_script_are_not_asked_for_together(self):
        self.assertEqual(run("completion").returncode, 2)
        self.assertEqual(run("completion", "bash", "--values", "RUN").returncode, 2)
        self.assertIn("RUN", run("completion", "--values", "NONE").stderr)

    def test_every_script_names_every_command(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.script(shell).read_text()
            missing = [name for name in commands() if f"'{name}'" not in script]
            self.assertEqual(missing, [], shell)

    def test_zsh_can_read_its_script(self):
        self.check_script("zsh", debian_program("zsh", "bin/zsh"))

    def test_fish_can_read_its_script(self):
        library = debian_program("libpcre2-32-0", f"usr/lib/{MACHINE}-linux-gnu/libpcre2-32.so.0")
        self.check_script("fish", debian_program("fish", "usr/bin/fish"),
                          LD_LIBRARY_PATH=str(Path(library).parent))

    def check_script(self, shell: str, program: str, **variables: str) -> None:
        done = subprocess.run([program, "-n", str(self.script(shell))], capture_output=True,
                              text=True, timeout=SECONDS_MAX, env=plain_environment(**variables))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
