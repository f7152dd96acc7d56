"""`errand run` without a server: the engine is in the command itself."""

import json
import os
import signal
import subprocess

from support.embedded import EmbeddedCase
from support.http import Client
from support.script import turn
from support.server import SANITIZER_WORDS, binary, die_with_parent
from support.terminal import SECONDS_MAX, plain_environment

READ = ("read_file", {"path": "a.txt"})
WORDS = [f"word{n} " for n in range(60)]
SUMMARY = (r"\d+ turns?, \d+ tokens in.*, \d+ out, .*(ms|s)\n"
           r"run_\w+ in this process, .*\n$")


class EmbeddedRunCase(EmbeddedCase):
    scripts = {
        "files": [turn("Let me look.", calls=[READ]), turn("It says one.")],
        "hello": [turn("Hello ", "you.")],
        "slow": [turn(*WORDS, deltaDelayMs=300)],
        "words": [turn(*WORDS, deltaDelayMs=20)],
        "broken": [turn(error={"status": 401, "code": "authentication_error"})],
    }

    def start(self, *words: str, **options) -> subprocess.Popen:
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "preexec_fn": die_with_parent} | options
        process = subprocess.Popen([binary(), *words], cwd=self.cwd, env=plain_environment(),
                                   **options)
        self.addCleanup(self.end, process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()

    def finish(self, process: subprocess.Popen, stdin: bytes | None = None) -> tuple[int, str, str]:
        out, errors = process.communicate(stdin, SECONDS_MAX)
        shown = (errors or b"").decode()
        self.assertFalse([word for word in SANITIZER_WORDS if word in shown], shown)
        return process.returncode, (out or b"").decode(), shown

    def command(self, *words: str, **options) -> tuple[int, str, str]:
        return self.finish(self.start(*words, **options))

    def read_until(self, process: subprocess.Popen, text: bytes) -> None:
        seen = b""
        while text not in seen:
            piece = os.read(process.stdout.fileno(), 1)
            self.assertTrue(piece, f"ended without {text!r}: {seen!r}")
            seen += piece


class WithoutServerTest(EmbeddedRunCase):
    def test_a_newcomer_needs_nothing(self):
        code, out, errors = self.command("run", "What is in a.txt?", "--files", str(self.shared))
        self.assertEqual(code, 0, errors)
        self.assertIn("> one\n> two\n", out)
        self.assertRegex(errors, r'^-> read_file {"path":"a.txt"}\n<- read_file 2 lines, \d+ ms\n'
                                 r"demo, 2 turns, " + SUMMARY[SUMMARY.index(r"\d+ tokens"):])
        self.assertEqual(os.listdir(self.cwd), [])

    def test_the_events_are_those_of_a_server(self):
        code, out, errors = self.command(*self.run_words("--json"))
        self.assertEqual((code, errors), (0, ""))
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([event["seq"] for event in events], list(range(1, len(events) + 1)))
        self.assertEqual([event["type"] for event in events], [
            "assistant_delta", "tool_call", "assistant_message", "tool_result",
            "assistant_delta", "assistant_message", "result"])

    def test_prices_give_the_cost(self):
        models = json.loads(self.config.read_text())
        script = [turn("Hi.", usage={"inputTokens": 2000, "cachedTokens": 1000,
                                     "outputTokens": 100})]
        (self.root / "priced.json").write_text(json.dumps({"turns": script}))
        models["models"].append({
            "id": "priced", "provider": "scripted", "script": "priced.json",
            "pricing": {"inputPer1MUsd": 10, "outputPer1MUsd": 100, "cacheReadPer1MUsd": 1}})
        self.config.write_text(json.dumps(models))
        code, _, errors = self.command(*self.run_words("--model", "priced"))
        self.assertEqual(code, 0)
        self.assertRegex(
            errors, r"^priced, 1 turn, 2000 tokens in \(1000 cached\), 100 out, \$0\.0210, ")

    def test_the_prompt_may_come_from_stdin(self):
        words = ["run", "-", "--config", str(self.config), "--model", "hello"]
        process = self.start(*words, stdin=subprocess.PIPE)
        code, out, _ = self.finish(process, b"From a pipe.\n")
        self.assertEqual((code, out), (0, "Hello you.\n"))

    def test_a_failed_run_says_why(self):
        code, out, errors = self.command(*self.run_words("--model", "broken"))
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(errors, r"\nerrand: the run failed: .*\(auth\)\n$")

    def test_an_unknown_model_is_refused_with_those_that_are_there(self):
        code, out, errors = self.command(*self.run_words("--model", "nope"))
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(errors, r"^errand: .*nope.*\nhint: .*files, hello, ")

    def test_a_wrong_configuration_is_a_usage_error(self):
        self.config.write_text('{"modles": []}')
        code, out, errors = self.command(*self.run_words())
        self.assertEqual((code, out), (2, ""))
        self.assertIn('"modles" is not a setting here', errors)


class ServerKnownTest(EmbeddedRunCase):
    def setUp(self):
        super().setUp()
        known = {"url": "http://127.0.0.1:1", "workspace": "default", "key": "k"}
        (self.cwd / ".errand").mkdir()
        credentials = self.cwd / ".errand" / "credentials"
        credentials.write_text(json.dumps(known))
        credentials.chmod(0o600)

    def test_a_server_that_is_down_is_named_with_the_way_around_it(self):
        code, out, errors = self.command("run", "Hello")
        self.assertEqual((code, out), (3, ""))
        self.assertRegex(errors, r"^errand: cannot connect to 127\.0\.0\.1:1: .*\n"
                                 r"hint: .*'errand serve' starts one.*"
                                 r"--embedded runs without one\n$")

    def test_embedded_runs_without_it(self):
        code, out, _ = self.command("run", "Hello", "--embedded")
        self.assertEqual(code, 0)
        self.assertIn("demo model", out)
        self.assertEqual(os.listdir(self.cwd / ".errand"), ["credentials"])


class DataTest(EmbeddedRunCase):
    def on_data(self, *words: str) -> list[str]:
        return self.run_words("--data", str(self.data), *words)

    def runs(self, client: Client) -> list[dict]:
        return client.request("GET", "/agent-runs").json()["runs"]

    def test_a_server_finds_the_runs_of_a_directory(self):
        code, _, errors = self.command(*self.on_data())
        self.assertEqual(code, 0, errors)
        self.check_data()
        runs = self.runs(self.serve_data().client())
        self.assertEqual([(run["status"], run["modelId"]) for run in runs],
                         [("succeeded", "files")])

    def test_a_directory_belongs_to_one_process(self):
        first = self.start(*self.on_data("--model", "slow"))
        self.read_until(first, b"word1 ")
        code, out, errors = self.command(*self.on_data("--model", "hello"))
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(errors, rf"^errand: in use by process {first.pid}, .*\nhint: ")

    def test_a_run_that_was_killed_goes_on(self):
        killed = self.start(*self.on_data("--model", "words"))
        self.read_until(killed, b"word1 ")
        killed.kill()
        killed.wait()
        self.assertEqual(self.command(*self.on_data("--model", "hello"))[0], 0)
        client = self.serve_data().client()
        run = self.runs(client)[-1]
        with client.stream(run["runId"]) as stream:
            end = stream.until("result")[-1].json()
        self.assertEqual((end["subtype"], end["text"]), ("success", "".join(WORDS)))

    def test_ctrl_c_cancels_the_run(self):
        process = self.start(*self.on_data("--model", "slow"))
        self.read_until(process, b"word1 ")
        process.send_signal(signal.SIGINT)
        code, _, errors = self.finish(process)
        self.assertEqual(code, 130)
        self.assertIn("errand: cancelling the run; Ctrl-C again leaves at once\n", errors)
        runs = self.runs(self.serve_data().client())
        self.assertEqual([run["status"] for run in runs], ["cancelled"])


class StreamsTest(EmbeddedRunCase):
    def test_a_reader_that_leaves_ends_the_command(self):
        process = self.start(*self.run_words("--model", "slow"))
        self.read_until(process, b"word1 ")
        process.stdout.close()
        process.stdout = None
        self.assertEqual(process.wait(SECONDS_MAX), 0)
        self.assertEqual(process.stderr.read(), b"")

    def test_closed_streams_are_nobodys_database(self):
        def close_all() -> None:
            die_with_parent()
            for stream in (0, 1, 2):
                os.close(stream)

        process = self.start(*self.run_words("--data", str(self.data)), stdin=None, stdout=None,
                             stderr=None, preexec_fn=close_all)
        self.assertEqual(process.wait(SECONDS_MAX), 0)
        self.assertEqual((self.data / "errand.db.lock").read_text(), str(process.pid))
        self.check_data()

    def test_a_prompt_from_a_closed_stdin_is_empty(self):
        process = self.start("run", "-", stdin=None, preexec_fn=lambda: os.close(0))
        self.assertEqual(self.finish(process), (2, "", "errand: the prompt is empty\n"))
