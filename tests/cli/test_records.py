"""Agents, secrets and OAuth clients as a user keeps them with the commands."""

import json
import os
import pty
import stat
import subprocess
from pathlib import Path

from support.script import turn
from support.server import SANITIZER_WORDS, ServerCase, binary, die_with_parent

SECONDS_MAX = 60
CANARY = "canary-7d1e4f-value"


class RecordsCase(ServerCase):
    def setUp(self):
        self.server = self.start_server([turn("Hello.")] * 4)

    def command(self, *words: str, stdin: str = "", code: int = 0, **variables: str) -> str:
        """What a command says on stdout, or on stderr if it is to fail."""
        done = subprocess.run([binary(), *words], input=stdin, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False, preexec_fn=die_with_parent,
                              cwd=self.server.folder.name, env=os.environ | variables)
        found = [word for word in SANITIZER_WORDS if word in done.stderr]
        self.assertEqual(found, [], done.stderr)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def ask(self, *words: str, **others) -> str:
        return self.command(*words, "--data", str(self.server.data), **others)

    @property
    def key_file(self) -> Path:
        return self.server.data / "secret.key"


class OfferedToolsTest(RecordsCase):
    def setUp(self):
        servers = {"own": {"command": binary(), "args": ["mcp", "--embedded"]},
                   "away": {"url": "http://127.0.0.1:1/mcp"}}
        self.server = self.start_server([turn("Hello.")], {"mcpServers": servers})

    def test_tools_are_listed_with_where_they_come_from_and_whether_that_answers(self):
        client = self.server.client()
        client.request("PUT", "/tools/find_order", {"http": {"url": "https://shop.example.com/7"}})
        rows = {line.split()[0]: line for line in self.ask("tools", "list").splitlines()}
        self.assertRegex(rows["calculator"], r"^calculator +built in +yes +- +-$")
        self.assertRegex(rows["find_order"],
                         r"^find_order +GET https://shop.example.com/7 +- +1 +tool_\w+$")
        self.assertRegex(rows["own_calculator"], r"^own_calculator +MCP server own +yes +- +-$")
        self.assertRegex(rows["-"], r"^- +MCP server away +no: .+ +- +-$")
        listed = json.loads(self.ask("tools", "list", "--json"))
        self.assertEqual([(one["source"], one["server"]) for one in listed["unreachable"]],
                         [("mcp", "away")])
        [own] = [one for one in listed["tools"] if one["name"] == "own_calculator"]
        self.assertEqual((own["source"], own["server"]), ("mcp", "own"))


class CalledAgentsTest(RecordsCase):
    def setUp(self):
        call = turn(calls=[("helper", {"message": "Help me."})])
        self.server = self.start_server({"caller": [call, turn("Done.")],
                                         "helping": [turn("Helped.")]})

    def test_a_run_is_shown_with_those_that_it_has_called(self):
        client = self.server.client()
        client.request("PUT", "/agents/helper", {"modelId": "helping"})
        client.request("PUT", "/agents/middle", {
            "modelId": "caller", "tools": [{"kind": "agent", "agentId": "helper"}]})
        tool = {"kind": "agent", "agentId": "middle", "name": "helper"}
        run = client.create(prompt="Go.", tools=[tool])
        client.log(run)
        [middle] = client.request("GET", f"/agent-runs?parentRunId={run}").json()["runs"]
        [helper] = client.request("GET",
                                  f"/agent-runs?parentRunId={middle['runId']}").json()["runs"]
        shown = self.ask("runs", "show", run)
        self.assertTrue(shown.endswith(
            f"\ncalled agents\n  {middle['runId']}  succeeded  middle\n"
            f"    {helper['runId']}  succeeded  helper\n"), shown)
        self.assertIn(f"parent   {middle['runId']}\n", self.ask("runs", "show", helper["runId"]))


class SecretsTest(RecordsCase):
    def set_secret(self, name: str = "TOKEN", value: str = CANARY) -> str:
        return self.ask("secrets", "set", name, stdin=value + "\n")

    def test_a_secret_is_set_listed_and_deleted(self):
        self.assertFalse(self.key_file.exists())
        self.assertEqual(self.set_secret(), "set TOKEN, version 1\n")
        self.assertEqual(self.set_secret(), "set TOKEN, version 2\n")
        self.assertEqual(stat.S_IMODE(self.key_file.stat().st_mode), 0o600)
        self.assertRegex(self.ask("secrets", "list"), r"^SECRET +VERSION +UPDATED *\nTOKEN +2 ")
        self.assertEqual(self.ask("secrets", "delete", "TOKEN"), "deleted TOKEN\n")
        self.assertIn('there is no secret "TOKEN"',
                      self.ask("secrets", "delete", "TOKEN", code=1))

    def test_a_value_that_is_typed_is_not_shown(self):
        main, terminal = pty.openpty()
        with subprocess.Popen(
                [binary(), "secrets", "set", "TOKEN", "--data", str(self.server.data)],
                stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                preexec_fn=die_with_parent) as process:
            asked = process.stderr.read(len("Value of TOKEN: "))
            os.write(main, (CANARY + "\n").encode())
            out, errors = process.communicate(timeout=SECONDS_MAX)
        os.close(terminal)
        os.set_blocking(main, False)
        try:
            echoed = os.read(main, 4096)
        except (BlockingIOError, OSError):
            echoed = b""
        os.close(main)
        self.assertEqual((asked, out, errors), ("Value of TOKEN: ", "set TOKEN, version 1\n", "\n"))
        self.assertNotIn(CANARY.encode(), echoed)

    def test_an_empty_or_short_value_is_refused(self):
        self.assertIn("is empty", self.ask("secrets", "set", "TOKEN", stdin="\n", code=2))
        self.assertIn("at least 4 bytes", self.ask("secrets", "set", "TOKEN", stdin="abc", code=1))

    def test_the_value_is_nowhere_in_the_data_nor_in_the_log(self):
        self.set_secret()
        self.server.stop()
        for path in [*self.server.data.rglob("*"), self.server.errors_path]:
            if path.is_file():
                self.assertNotIn(CANARY.encode(), path.read_bytes(), path)

    def test_a_new_key_takes_the_place_of_the_old_one(self):
        self.set_secret()
        before = self.key_file.read_text()
        self.assertIn("stop the server first", self.ask("keys", "rotate-secret", code=1))
        self.server.stop()
        self.assertIn("sealed with a new key", self.ask("keys", "rotate-secret"))
        after = self.key_file.read_text()
        self.assertNotEqual(after, before)
        self.assertEqual(len(after.split()), 1)
        self.key_file.write_text(before)
        self.server.start()
        self.assertIn("is not the one that the secrets are sealed with",
                      self.ask("secrets", "set", "OTHER", stdin="value", code=1))

    def test_a_rotation_that_was_cut_off_is_finished(self):
        self.set_secret()
        self.server.stop()
        first = self.key_file.read_text()
        self.key_file.write_text("ab" * 32 + "\n" + first)
        self.ask("keys", "rotate-secret")
        self.assertEqual(len(self.key_file.read_text().split()), 1)
        self.server.start()
        self.assertEqual(self.set_secret(), "set TOKEN, version 2\n")

    def test_a_lost_key_is_told_and_given_up(self):
        self.set_secret()
        self.server.stop()
        self.key_file.unlink()
        self.server.start()
        said = self.ask("secrets", "set", "OTHER", stdin="value", code=1)
        self.assertIn("the key of the secrets is missing", said)
        self.assertIn("rotate-secret --lost", said)
        self.assertFalse(self.key_file.exists())
        self.server.stop()
        self.assertIn("set again", self.ask("keys", "rotate-secret", "--lost"))
        self.server.start()
        self.assertEqual(self.set_secret(), "set TOKEN, version 2\n")

    def test_a_backup_leaves_the_key_out_and_says_so(self):
        self.set_secret()
        copy = Path(self.server.folder.name) / "copy.db"
        done = subprocess.run([binary(), "backup", str(copy), "--data", str(self.server.data)],
                              capture_output=True, text=True, timeout=SECONDS_MAX, check=True)
        self.assertIn(f"The key of the secrets, {self.key_file}, is not in the backup.",
                      done.stderr)
        key = self.key_file.read_text().strip()
        self.assertNotIn(key.encode(), copy.read_bytes())
        self.assertNotIn(bytes.fromhex(key), copy.read_bytes())
        self.assertNotIn(CANARY.encode(), copy.read_bytes())


class SecretKeyVariableTest(RecordsCase):
    def setUp(self):
        self.keys = ["11" * 32, "22" * 32]
        self.server = self.start_server([turn("Hello.")],
                                        variables={"ERRAND_SECRET_KEY": self.keys[0]})

    def test_a_variable_takes_the_place_of_the_file(self):
        self.ask("secrets", "set", "TOKEN", stdin=CANARY)
        self.assertFalse(self.key_file.exists())
        self.server.stop()
        both = ",".join(reversed(self.keys))
        self.assertIn("Take the others out of it",
                      self.ask("keys", "rotate-secret", ERRAND_SECRET_KEY=both))
        self.assertIn("already", self.ask("keys", "rotate-secret", ERRAND_SECRET_KEY=both))
        self.server.variables["ERRAND_SECRET_KEY"] = self.keys[1]
        self.server.start()
        self.assertEqual(self.ask("secrets", "set", "TOKEN", stdin=CANARY),
                         "set TOKEN, version 2\n")


class AgentsTest(RecordsCase):
    def apply(self, code: int = 0, **members) -> str:
        file = Path(self.server.folder.name) / "agent.json"
        file.write_text(json.dumps(members))
        return self.ask("agents", "apply", "-f", str(file), code=code)

    def test_an_agent_is_applied_shown_run_and_deleted(self):
        self.assertEqual(self.apply(name="helper", systemPrompt="Be kind.",
                                    description="Helps people"), "applied helper, version 1\n")
        self.assertEqual(self.apply(name="helper", systemPrompt="Be brief."),
                         "applied helper, version 2\n")
        self.assertRegex(self.ask("agents", "list"), r"\nhelper +2 ")
        self.assertRegex(self.ask("agents", "show", "helper"),
                         r"^helper, version 2, updated .*, agent_\w+\n\nBe brief\.\n$")
        self.assertIn("Be kind.", self.ask("agents", "show", "helper", "--version", "1"))
        self.assertIn("Hello.", self.ask("run", "--agent", "helper", "Hi"))
        run = json.loads(self.ask("runs", "list", "--json"))["runs"][0]
        self.assertEqual(run["name"], "helper")
        self.assertEqual(self.ask("agents", "delete", "helper"), "deleted helper\n")
        self.assertIn('there is no agent "helper"', self.ask("run", "--agent", "helper", "Hi",
                                                             code=1))

    def test_mistakes_in_the_file_are_told(self):
        self.assertIn('"name" is missing', self.apply(code=2, systemPrompt="Be kind."))
        self.assertIn("did you mean systemPrompt", self.apply(code=1, name="a", sytemPrompt="x"))
        wrong = '{\n  "name": "a",\n  "budgets": {"maxToolTurns": "many"}\n}'
        said = self.ask("agents", "apply", "-f", "-", code=1, stdin=wrong)
        self.assertTrue(said.startswith("errand: stdin:3:15: expected an integer"), said)
        self.assertIn("cannot read the file",
                      self.ask("agents", "apply", "-f", "none.json", code=2))

    def test_an_agent_can_come_from_stdin(self):
        said = self.ask("agents", "apply", "-f", "-", stdin='{"name":"piped"}')
        self.assertEqual(said, "applied piped, version 1\n")


class OAuthTest(RecordsCase):
    def test_a_client_is_created_listed_and_deleted(self):
        made = dict(line.split("=") for line in self.ask(
            "oauth", "create", "--name", "portal", "--scope", "runs:read").splitlines())
        self.assertEqual(list(made), ["CLIENT_ID", "CLIENT_SECRET", "REFRESH_TOKEN"])
        listed = self.ask("oauth", "list")
        self.assertRegex(listed, rf"{made['CLIENT_ID']} .* runs:read +portal")
        self.assertNotIn(made["CLIENT_SECRET"], listed)
        self.assertEqual(self.ask("oauth", "delete", made["CLIENT_ID"]),
                         f"deleted {made['CLIENT_ID']}\n")
        self.assertIn("no such OAuth client",
                      self.ask("oauth", "delete", made["CLIENT_ID"], code=1))

    def test_a_client_needs_scopes(self):
        self.assertIn("--scope is required", self.ask("oauth", "create", code=2))
