"""What a newcomer tries in the first hour, off the path of the guide."""

import json
import os
import socket
import stat
import subprocess
from pathlib import Path

from support.embedded import EmbeddedCase
from support.script import turn
from support.server import NO_OLLAMA, SANITIZER_WORDS, binary, die_with_parent
from support.terminal import CTRL_C, CTRL_D, Terminal, plain_environment

SECONDS_MAX = 60
NOBODY = 65534


class FirstHourCase(EmbeddedCase):
    scripts = {
        "hello": [turn("Hello.", usage={"inputTokens": 1000, "outputTokens": 100})],
        "a-model-whose-name-is-long": [turn("Hello.")],
        "schema": [turn("Let me look.", calls=[("read_file", {"path": "a.txt"})]),
                   turn('{"path": 7}'), turn('{"path": "a.txt"}')],
        "broken": [turn(error={"status": 401, "code": "authentication_error"})],
        "slow": [turn("One. ", "Two. ", deltaDelayMs=3_600_000)],
    }

    def environment(self, **more: str) -> dict[str, str]:
        folders = {"HOME": str(self.root), "XDG_CONFIG_HOME": str(self.root / "config")}
        return plain_environment(OLLAMA_HOST=NO_OLLAMA) | folders | more

    def errand(self, *words: str, cwd: Path | None = None, variables: dict | None = None,
               **options) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([binary(), *words], cwd=cwd or self.cwd, capture_output=True,
                              timeout=SECONDS_MAX, preexec_fn=die_with_parent,
                              env=self.environment(**(variables or {})), **options)
        errors = done.stderr.decode()
        self.assertFalse([word for word in SANITIZER_WORDS if word in errors], errors)
        return done.returncode, done.stdout.decode(), errors.replace(str(self.root), "ROOT")

    def prompt_of_latest(self) -> str:
        code, out, errors = self.errand("runs", "show", "latest", "--json", "--data",
                                        str(self.data))
        self.assertEqual((code, errors), (0, ""))
        return json.loads(out)["spec"]["prompt"]

    def run_kept(self, *words: str, **options) -> tuple[int, str, str]:
        return self.errand("run", *words, "--config", str(self.config), "--data", str(self.data),
                           **options)


class PromptTest(FirstHourCase):
    def test_a_pipe_goes_with_the_prompt(self):
        code, out, _ = self.run_kept("Summarise this.", input=b"one\ntwo\n")
        self.assertEqual((code, out), (0, "Hello.\n"))
        self.assertEqual(self.prompt_of_latest(), "Summarise this.\n\none\ntwo")

    def test_a_file_goes_with_the_prompt(self):
        with (self.shared / "b.txt").open("rb") as text:
            self.run_kept("Summarise this.", stdin=text)
        self.assertEqual(self.prompt_of_latest(), "Summarise this.\n\nthree")

    def test_stdin_is_left_alone_if_that_is_asked_for(self):
        self.run_kept("Go.", "--no-stdin", input=b"one\n")
        self.assertEqual(self.prompt_of_latest(), "Go.")

    def test_a_pipe_that_nobody_writes_to_is_named(self):
        reader, writer = os.pipe()
        words = ["run", "Go.", "--config", str(self.config)]
        with subprocess.Popen([binary(), *words], stdin=reader, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.cwd, env=self.environment(),
                              preexec_fn=die_with_parent) as command:
            os.close(reader)
            said = command.stderr.readline()
            os.close(writer)
            self.assertEqual(command.communicate(timeout=SECONDS_MAX)[0], b"Hello.\n")
        self.assertEqual(said, b"errand: waiting for stdin, which is added to the prompt "
                               b"(--no-stdin ignores it)\n")

    def test_bytes_that_are_no_text_are_refused(self):
        for sent in (b"a\0b", b"\xff\xfe"):
            code, out, errors = self.run_kept("Look.", input=sent)
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(errors, r"^errand: what stdin holds is not UTF-8 text: see byte \d\n"
                                     r"hint: --attach FILE ")

    def test_files_are_attached(self):
        picture = self.root / "dot.png"
        picture.write_bytes(b"\x89PNG\r\n\x1a\n")
        code, out, errors = self.run_kept("Look.", "--attach", str(picture),
                                          "--attach", str(self.shared / "a.txt"))
        self.assertEqual((code, out), (0, "Hello.\n"), errors)
        shown = json.loads(self.errand("runs", "show", "latest", "--json", "--data",
                                       str(self.data))[1])
        sent = [(file["filename"], file["mimeType"])
                for file in shown["spec"]["messages"][0]["attachments"]]
        self.assertEqual(sent, [("dot.png", "image/png"), ("a.txt", "text/plain")])
        text = self.errand("runs", "show", "latest", "--data", str(self.data))[1]
        self.assertIn("\ntokens   1000 in, 100 out\nprompt   Look.\n", text)
        code, _, errors = self.run_kept("Look.", "--attach", str(self.root / "nothing"))
        self.assertEqual((code, errors), (2, "errand: --attach: cannot read the file "
                                             "ROOT/nothing: No such file or directory\n"))


class OutputTest(FirstHourCase):
    def test_a_schema_leaves_the_final_json_alone_on_stdout(self):
        schema = self.root / "output-schema.json"
        schema.write_text(json.dumps({"type": "object",
                                      "properties": {"path": {"type": "string"}}}))
        code, out, errors = self.errand(
            "run", "Which file?", "--config", str(self.config), "--model", "schema",
            "--files", str(self.shared), "--output-schema", str(schema))
        self.assertEqual((code, out), (0, '{"path": "a.txt"}\n'), errors)

    def test_json_tells_of_every_failure_on_stdout(self):
        for code, words in ((2, ("--config", str(self.root / "nothing.json"))),
                            (2, ("--config", str(self.config), "--files", "/nonexistent")),
                            (1, ("--config", str(self.config), "--model", "nothing")),
                            (3, ("--server", "http://127.0.0.1:1", "--key", "k"))):
            with self.subTest(words=words):
                found, out, errors = self.errand("run", "Go.", "--json", *words)
                self.assertEqual((found, errors), (code, ""))
                last = json.loads(out.splitlines()[-1])
                self.assertEqual(last["type"], "error")
                self.assertEqual(last["error"], last["message"])
                self.assertNotIn("seq", last)

    def test_json_does_not_tell_of_a_failed_run_twice(self):
        code, out, errors = self.errand("run", "Go.", "--json", "--config", str(self.config),
                                        "--model", "broken")
        self.assertEqual((code, errors), (1, ""))
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["type"] for line in lines].count("error"), 1)
        self.assertEqual({line["runId"][:4] for line in lines}, {"run_"})

    def test_the_command_says_where_it_ran(self):
        _, _, errors = self.errand("run", "Go.", "--config", str(self.config))
        self.assertRegex(errors, r"\nrun_\w+ in this process, not kept\n$")
        _, _, errors = self.run_kept("Go.")
        self.assertRegex(errors, r"\nrun_\w+ in this process, kept in ROOT/data\n$")


class WithoutServerTest(FirstHourCase):
    def test_models_are_listed(self):
        code, out, errors = self.errand("models")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["MODEL", "demo"])
        code, out, _ = self.errand("models", "--config", str(self.config), "--json")
        self.assertEqual([model["id"] for model in json.loads(out)["models"]], list(self.scripts))
        self.assertEqual(list(self.cwd.iterdir()), [])

    def test_runs_are_listed_shown_and_exported(self):
        self.run_kept("Say hello.", "--name", "greeting")
        data = ("--data", str(self.data))
        code, out, errors = self.errand("runs", "list", *data)
        self.assertEqual((code, errors), (0, ""))
        self.assertTrue(out.endswith("  greeting: Say hello.\n"), out)
        self.assertIn("\nprompt   Say hello.\n", self.errand("runs", "show", "latest", *data)[1])
        file = self.root / "run.json"
        export = ("runs", "export", "latest", "--output", str(file), *data)
        self.assertEqual(self.errand(*export), (0, "", ""))
        before = file.read_bytes()
        code, out, errors = self.errand(*export)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(errors, "errand: there is a file ROOT/run.json already\n"
                                 "hint: --force replaces it\n")
        self.assertEqual(file.read_bytes(), before)
        self.assertEqual(self.errand(*export, "--force")[0], 0)
        self.check_data()

    def test_an_export_replaces_nothing_unasked_and_needs_no_file(self):
        self.run_kept("Say hello.")
        link = self.root / "link.json"
        link.symlink_to(self.root / "nothing")
        export = ("runs", "export", "latest", "--data", str(self.data))
        code, _, errors = self.errand(*export, "--output", str(link))
        self.assertEqual((code, errors), (2, "errand: there is a file ROOT/link.json already\n"
                                             "hint: --force replaces it\n"))
        code, out, errors = self.errand(*export)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(json.loads(out)["run"]["finalText"], "Hello.")

    def test_a_run_that_has_ended_is_followed_to_its_end(self):
        self.run_kept("Say hello.")
        words = ("runs", "tail", "latest", "--data", str(self.data))
        self.assertEqual(self.errand(*words), (0, "Hello.\n", ""))
        _, out, _ = self.errand(*words, "--json", "--after", "1")
        self.assertEqual(json.loads(out.splitlines()[0])["seq"], 2)

    def test_a_run_that_was_cut_off_is_shown_and_cancelled(self):
        words = ["run", "Go.", "--model", "slow", "--config", str(self.config), "--data",
                 str(self.data)]
        with subprocess.Popen([binary(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              cwd=self.cwd, env=self.environment(),
                              preexec_fn=die_with_parent) as command:
            self.assertEqual(command.stdout.read(5), b"One. ")
            command.kill()
        data = ("--data", str(self.data))
        self.assertEqual(self.errand("runs", "tail", "latest", *data),
                         (0, "One. \n", "errand: the run goes on once 'errand serve' or 'errand "
                                        "run --data' opens its data\n"))
        self.assertEqual(self.errand("runs", "cancel", "latest", *data), (0, "cancelled\n", ""))
        self.assertIn("\nstatus   cancelled\n", self.errand("runs", "show", "latest", *data)[1])
        self.check_data()

    def test_no_data_is_still_no_server(self):
        code, out, errors = self.errand("runs", "list")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("hint: start one with 'errand serve'", errors)


class CredentialsTest(FirstHourCase):
    def test_lost_credentials_are_made_anew_without_the_server(self):
        server = self.serve_data()
        server.stop()
        (self.data / "credentials").unlink()
        server.start()
        self.assertIn("cannot use the server", server.errors())
        code, _, errors = self.errand("keys", "create", "--data", str(self.data))
        self.assertEqual(code, 3, errors)
        server.stop()
        code, out, errors = self.errand("keys", "create", "--data", str(self.data))
        self.assertEqual(code, 0, errors)
        kept = json.loads((self.data / "credentials").read_text())
        self.assertEqual(kept["apiKey"], out.strip())
        server.start()
        self.assertEqual(self.errand("runs", "list", "--data", str(self.data))[0], 0)

    def test_lost_credentials_are_made_anew_by_a_program_too(self):
        server = self.serve_data()
        server.stop()
        (self.data / "credentials").unlink()
        elsewhere = {"ERRAND_SERVER": "http://127.0.0.1:1", "ERRAND_API_KEY": "k"}
        code, out, errors = self.errand("keys", "create", "--json", "--data", str(self.data),
                                        variables=elsewhere)
        self.assertEqual(code, 0, errors)
        kept = json.loads((self.data / "credentials").read_text())
        self.assertEqual(kept["apiKey"], json.loads(out)["apiKey"])

    def test_a_file_of_an_earlier_version_is_read(self):
        server = self.serve_data()
        (self.data / "credentials").write_text(json.dumps(
            {"url": server.url, "workspace": "default", "key": server.key}))
        self.assertEqual(self.errand("keys", "list", "--data", str(self.data))[0], 0)

    def test_a_file_that_cannot_be_read_is_an_error(self):
        (self.cwd / ".errand" / "credentials").mkdir(parents=True)
        code, out, errors = self.errand("run", "Go.")
        self.assertEqual(out, "")
        self.assertNotEqual(code, 0)
        self.assertIn(".errand/credentials", errors)

    def test_a_login_is_kept_for_all_commands_of_the_user(self):
        server = self.serve_data()
        code, out, errors = self.errand("login", server.url, input=b"wrong\n")
        self.assertEqual((code, out), (3, ""))
        file = self.root / "config" / "errand" / "credentials"
        self.assertFalse(file.exists())
        code, out, errors = self.errand("login", server.url + "/", input=server.key.encode())
        self.assertEqual((code, out.replace(str(self.root), "ROOT"), errors),
                         (0, f"logged in to {server.url}, kept in ROOT/config/errand/credentials\n",
                          ""))
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        code, out, errors = self.errand("run", "Go.")
        self.assertEqual((code, out), (0, "Hello.\n"), errors)
        self.assertRegex(errors, rf"\nrun_\w+ on {server.url}\n$")
        code, out, errors = self.errand("run", "Go.", "--detach")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(self.errand("runs", "tail", out.strip())[:2], (0, "Hello.\n"))
        # Runs of this folder that an embedded command has kept are not meant.
        self.errand("run", "Go.", "--config", str(self.config), "--data", ".errand")
        self.assertEqual(self.errand("runs", "show", out.strip())[0], 0)
        self.assertEqual(self.errand("logout")[0], 0)
        self.assertEqual(self.errand("runs", "list")[0], 0)
        self.assertEqual(self.errand("runs", "tail", "latest")[0], 0)
        self.assertEqual(self.errand("runs", "fork", "latest")[0], 3)

    def test_detaching_needs_a_server_and_no_tools(self):
        code, _, errors = self.errand("run", "Go.", "--detach", "--config", str(self.config))
        self.assertEqual(code, 2)
        self.assertIn("--detach leaves the run to a server", errors)
        server = self.serve_data()
        code, _, errors = self.errand("run", "Go.", "--detach", "--files", ".", "--server",
                                      server.url, "--key", server.key)
        self.assertEqual(code, 2)
        self.assertIn("with --detach, this command cannot answer calls of read_file", errors)


class HintTest(FirstHourCase):
    def test_a_public_url_that_is_none_is_refused(self):
        code, out, errors = self.errand("serve", "--listen", "127.0.0.1:0", "--data",
                                        str(self.data), "--public-url", "foo")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--public-url foo: ", errors)

    def test_a_weak_first_key_is_refused(self):
        code, out, errors = self.errand("serve", "--listen", "127.0.0.1:0", "--data",
                                        str(self.data), variables={"ERRAND_API_KEY": "secret"})
        self.assertEqual((code, out), (2, ""))
        self.assertIn("is too weak", errors)
        self.assertNotIn("secret", errors)

    def test_a_folder_that_may_not_be_written_to_is_named(self):
        self.data.mkdir()
        self.root.chmod(0o755)
        self.data.chmod(0o555)
        somebody = {"user": NOBODY} if os.getuid() == 0 else {}
        code, out, errors = self.errand("run", "Go.", "--config", str(self.config), "--data",
                                        str(self.data), **somebody)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(errors, "errand: cannot write to the data directory ROOT/data: permission "
                                 "denied; choose another one with --data DIR\n")

    def test_a_file_that_is_no_database_is_named(self):
        self.data.mkdir()
        (self.data / "errand.db").write_text("some notes of mine, which are long enough" * 50)
        for words in (("runs", "list"), ("run", "Go.", "--config", str(self.config))):
            code, out, errors = self.errand(*words, "--data", str(self.data))
            self.assertEqual((code, out), (1, ""))
            self.assertRegex(errors, r"^errand: .*ROOT/data/errand\.db.*\nhint: ")

    def test_a_dead_proxy_is_named_with_its_variables(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            proxy = f"http://127.0.0.1:{closed.getsockname()[1]}"
        code, _, errors = self.errand("runs", "list", "--server", "http://errand.example.com",
                                      "--key", "k", variables={"HTTP_PROXY": proxy,
                                                               "http_proxy": proxy})
        self.assertEqual(code, 3)
        self.assertRegex(errors, r"^errand: cannot connect to the proxy 127\.0\.0\.1:\d+ for "
                                 r"errand\.example\.com.*\nhint: HTTP_PROXY, ")

    def test_a_mistake_in_a_file_has_its_line_and_column(self):
        wrong = self.root / "wrong.json"
        for text, place in (('{\n  "models": [\n    { "id": }\n  ]\n}\n', "3:13: not valid JSON: "),
                            ('{\n  "limits": {\n    "maxToolTurns": "many" }\n}\n',
                             "3:5: expected an integer"),
                            ('{\n  "limit": {}\n}\n', '2:3: "limit" is not a setting here')):
            wrong.write_text(text)
            code, out, errors = self.errand("config", "check", str(wrong))
            self.assertEqual((code, out), (2, ""))
            self.assertTrue(errors.startswith(f"errand: ROOT/wrong.json:{place}"), errors)

    def test_a_mistake_in_a_script_has_its_line_and_column(self):
        script = self.root / "turns.json"
        for text, place in (('{ "turns": [\n  { "text": [7] } ] }\n', "2:5: "),
                            ('{ "turns": [\n  { "text": } ] }\n', "2:13: not valid JSON: ")):
            script.write_text(text)
            code, out, errors = self.errand("fake-model", "--script", str(script))
            self.assertEqual((code, out), (2, ""))
            self.assertTrue(errors.startswith(f"errand: ROOT/turns.json:{place}"), errors)

    def test_a_first_configuration_is_written_and_right(self):
        self.assertEqual(self.errand("config", "init")[0], 0)
        self.assertEqual(self.errand("config", "check", "errand.json"),
                         (0, "errand.json is right: 1 model (demo)\n", ""))
        code, out, errors = self.errand("config", "init")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--force replaces it", errors)
        self.assertEqual(self.errand("run", "Hello", "--config", "errand.json")[0], 0)


class RecordsWithoutServerTest(FirstHourCase):
    def test_a_chat_leaves_a_session_that_is_shown_and_removed(self):
        words = ["--config", str(self.config), "--data", str(self.data)]
        self.assertEqual(self.errand("chat", "--model", "hello", *words, input=b"Hi.\n")[0], 0)
        data = ("--data", str(self.data))
        code, out, errors = self.errand("sessions", "list", *data)
        self.assertEqual((code, errors), (0, ""))
        [row] = out.splitlines()[1:]
        session = row.split()[0]
        code, out, errors = self.errand("sessions", "show", session, *data)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("\nuser: Hi.\n", out)
        self.errand("sessions", "end", session, *data)
        self.assertEqual(self.errand("sessions", "rm", session, *data),
                         (0, f"removed {session}\n", ""))

    def test_a_run_is_removed(self):
        self.run_kept("Go.")
        code, out, errors = self.errand("runs", "rm", "latest", "--data", str(self.data))
        self.assertEqual((code, errors), (0, ""))
        self.assertRegex(out, r"^removed run_\w+\n$")
        self.assertEqual(self.errand("runs", "show", "latest", "--data", str(self.data))[0], 1)

    def test_keys_are_listed_and_revoked(self):
        self.run_kept("Go.")
        data = ("--data", str(self.data))
        self.assertEqual(self.errand("keys", "create", "--name", "mine", *data)[0], 0)
        _, out, _ = self.errand("keys", "list", *data)
        [row] = [line for line in out.splitlines() if line.endswith("mine")]
        key = row.split()[0]
        self.assertEqual(self.errand("keys", "revoke", key, *data), (0, f"revoked {key}\n", ""))


class CostTest(FirstHourCase):
    def setUp(self):
        super().setUp()
        config = json.loads(self.config.read_text())
        for model in config["models"]:
            if model["id"] == "hello":
                model["pricing"] = {"inputPer1MUsd": 10, "outputPer1MUsd": 50}
            if model["id"] == "broken":
                model["fallback"] = ["hello"]
                model["pricing"] = {"inputPer1MUsd": 1000, "outputPer1MUsd": 1000}
        self.config.write_text(json.dumps(config))

    def cost_shown(self, *words: str) -> str:
        self.run_kept("Go.", *words)
        return self.errand("runs", "show", "latest", "--data", str(self.data))[1]

    def test_a_run_shows_what_it_has_cost(self):
        self.assertIn("\ncost     $0.0150\n", self.cost_shown("--model", "hello"))

    def test_a_fallback_model_has_its_own_price(self):
        self.assertIn("\ncost     $0.0150\n", self.cost_shown("--model", "broken"))

    def test_a_key_shows_what_its_runs_have_cost(self):
        server = self.serve_data()
        for model in ("hello", "broken", "a-model-whose-name-is-long"):
            self.errand("run", "Go.", "--model", model, "--server", server.url, "--key", server.key)
        server.stop()
        server.start()
        _, out, errors = self.errand("keys", "list", "--server", server.url, "--key", server.key)
        self.assertEqual(errors, "")
        self.assertRegex(out.splitlines()[-1], r" 3 +\$0\.0300 and 1 unpriced  first key$")

    def test_an_unknown_price_leaves_the_cost_out(self):
        shown = self.cost_shown("--model", "a-model-whose-name-is-long")
        self.assertNotIn("\ncost ", shown)
        self.assertIn("\ntokens   unknown\n", shown)


class TerminalTest(FirstHourCase):
    def test_a_person_who_starts_a_server_reads_words(self):
        words = ("serve", "--listen", "127.0.0.1:0", "--data", str(self.data))
        with Terminal(*words, cwd=str(self.cwd), env=self.environment()) as terminal:
            terminal.read_until('errand run "Hello"')
            shown = terminal.screen.text()
            terminal.type(CTRL_C)
            self.assertEqual(terminal.finish(), 0)
        self.assertRegex(shown.replace("\n", ""),
                         r"^Errand \S+ serves http://127\.0\.0\.1:\d+ until Ctrl-C\."
                         r"The first API key, shown this once: mantyx_[0-9a-f]{64}"
                         r'In another terminal, in this folder: errand run "Hello"$')

    def test_a_prompt_may_be_typed(self):
        words = ("run", "-", "--config", str(self.config), "--data", str(self.data))
        with Terminal(*words, cwd=str(self.cwd), env=self.environment()) as terminal:
            terminal.read_until("errand: type the prompt; Ctrl-D on a line of its own ends it")
            terminal.type("Say hello.\n" + CTRL_D)
            self.assertEqual(terminal.finish(), 0)
        self.assertEqual(self.prompt_of_latest(), "Say hello.")

    def test_a_log_level_leaves_out_what_is_below_it(self):
        for level, has_info in (("info", True), ("warning", False)):
            words = ("serve", "--listen", "127.0.0.1:0", "--data", str(self.data), "--log-level",
                     level)
            with Terminal(*words, cwd=str(self.cwd), env=self.environment()) as terminal:
                terminal.read_until('errand run "Hello"')
                terminal.type(CTRL_C)
                self.assertEqual(terminal.finish(), 0)
                self.assertEqual("draining" in terminal.screen.text(), has_info)

    def test_a_table_fits_the_terminal(self):
        self.run_kept("A prompt that is longer than what is left of a line of 80 columns.")
        with Terminal("runs", "list", "--data", str(self.data), cwd=str(self.cwd),
                      env=self.environment()) as terminal:
            self.assertEqual(terminal.finish(), 0)
            lines = terminal.screen.text().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertTrue(lines[1].endswith("…"), lines)
        self.assertLessEqual(max(len(line) for line in lines), 80)

    def test_a_table_with_long_names_fits_a_narrow_terminal(self):
        self.run_kept("Say hello.", "--model", "a-model-whose-name-is-long")
        words = ("runs", "list", "--data", str(self.data))
        shown = {}
        for columns in (80, 40):
            with Terminal(*words, cwd=str(self.cwd), env=self.environment(),
                          columns=columns) as terminal:
                self.assertEqual(terminal.finish(), 0)
                shown[columns] = terminal.screen.text().splitlines()
        self.assertRegex(shown[80][1], r"^run_\w{26}  succeeded  \d s  Say hello\.$")
        self.assertEqual([line.split()[0] for line in shown[40]],
                         ["RUN", "STATUS", "AGE", "ABOUT"])
        self.assertRegex(shown[40][0], r"^RUN     run_\w{26}$")
