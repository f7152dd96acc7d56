"""The client commands as a user runs them, against the real server."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from support.script import local_tool, turn
from support.server import SANITIZER_WORDS, Server, ServerCase, binary, die_with_parent

SECONDS_MAX = 60
WORDS = [f"word{n} " for n in range(60)]
SUMMARY = re.compile(r"^(?:cancelled: )?\w+, \d+ turns?, "
                     r"(?:\d+ tokens in.*, \d+ out|tokens unknown), .*\n"
                     r"run_\w+ (?:on http|in this process).*\n", re.MULTILINE)
READ = ("read_file", {"path": "a.txt"})
SCRIPTS = {
    "files": [
        turn("Let me ", "look.", calls=[READ, ("read_file", {"path": "../secret.txt"})]),
        turn("It says ", "one."),
    ],
    "hello": [turn("Hello ", "you.")],
    "talk": [turn("One."), turn("Two.")],
    "words": [turn(*WORDS, deltaDelayMs=20)],
    "slow": [turn(*WORDS, deltaDelayMs=500)],
    "steady": [turn("Look. ", calls=[READ]), turn(*WORDS, deltaDelayMs=20)],
    "pause": [turn("Wait ", "a ", "moment.", calls=[READ], deltaDelayMs=700), turn("Thanks.")],
    "large": [turn(*["x" * 10_000] * 50)],
    "broken": [turn(error={"status": 401, "code": "authentication_error"})],
    "evil": [turn("\x1b]0;title\x07\x9b2J")],
}


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return kept | more


class Command:
    """A running command of the binary."""

    def __init__(self, server: Server, *words: str, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [binary(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=server.folder.name, env=environment(), preexec_fn=die_with_parent, **options)

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    def read_until(self, text: str) -> str:
        """What comes on stdout, up to and with this text."""
        return self.read(self.process.stdout, text)

    def read_errors_until(self, text: str) -> str:
        return self.read(self.process.stderr, text)

    def read(self, pipe, text: str) -> str:
        seen = b""
        while text.encode() not in seen:
            piece = os.read(pipe.fileno(), 1)
            if not piece:
                raise AssertionError(f"ended without {text!r}: {seen!r}")
            seen += piece
        return seen.decode()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def finish(self, stdin: bytes | None = None) -> tuple[int, str, str]:
        """The exit code, and the rest of stdout and stderr without the line that sums up."""
        out, errors = self.process.communicate(stdin, SECONDS_MAX)
        shown = SUMMARY.sub("", errors.decode())
        found = [word for word in SANITIZER_WORDS if word in shown]
        if found:
            raise AssertionError(shown)
        return self.process.returncode, out.decode(), shown


class CliCase(ServerCase):
    def setUp(self):
        self.server = self.start_server(SCRIPTS)
        self.shared = Path(self.server.folder.name) / "shared"
        self.shared.mkdir()
        (self.shared / "a.txt").write_text("one\ntwo\n")
        (self.shared.parent / "secret.txt").write_text("secret\n")

    def start(self, *words: str, **options) -> Command:
        return Command(self.server, *words, "--data", str(self.server.data), **options)

    def command(self, *words: str) -> tuple[int, str, str]:
        with self.start(*words) as command:
            return command.finish()

    def latest(self) -> dict:
        code, out, errors = self.command("runs", "list", "--limit", "1", "--json")
        self.assertEqual((code, errors), (0, ""))
        return json.loads(out)["runs"][0]

    def logged_lines(self, run: str) -> list[dict]:
        events = [frame.json() for frame in self.server.client().log(run)]
        return [{key: value for key, value in event.items() if key != "data"} | {"runId": run}
                for event in events]


class RunTest(CliCase):
    def test_text_goes_to_stdout_and_tool_calls_to_stderr(self):
        code, out, errors = self.command("run", "Look.", "--files", str(self.shared))
        self.assertEqual((code, out), (0, "Let me look.\nIt says one.\n"))
        lines = re.sub(r"\d+ ms", "N ms", errors).splitlines()
        self.assertEqual(lines[:2], ['-> read_file {"path":"a.txt"}',
                                     '-> read_file {"path":"../secret.txt"}'])
        self.assertEqual(sorted(lines[2:]), [
            "<- read_file 2 lines, N ms",
            '<- read_file failed: "../secret.txt" is outside the shared directory: '
            "use paths relative to it"])

    def test_the_model_gets_what_the_tools_say(self):
        self.command("run", "Look.", "--files", str(self.shared))
        answers = [(event.get("result"), event.get("error"))
                   for event in self.logged_lines(self.latest()["runId"])
                   if event["type"] == "local_tool_result_in"]
        refused = '"../secret.txt" is outside the shared directory: use paths relative to it'
        self.assertCountEqual(answers, [("one\ntwo\n", None), (None, refused)])

    def test_json_prints_the_log_and_nothing_else(self):
        code, out, errors = self.command("run", "Look.", "--files", str(self.shared), "--json")
        self.assertEqual((code, errors), (0, ""))
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(lines, self.logged_lines(self.latest()["runId"]))

    def test_the_prompt_may_come_from_stdin(self):
        with self.start("run", "-", "--model", "hello", stdin=subprocess.PIPE) as command:
            self.assertEqual(command.finish(b"From a pipe.\n"), (0, "Hello you.\n", ""))
        run = self.server.client().snapshot(self.latest()["runId"])
        self.assertEqual(run["spec"]["prompt"], "From a pipe.")

    def test_a_failed_run_says_why(self):
        code, out, errors = self.command("run", "Go.", "--model", "broken")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(errors, r"^errand: the run failed: .*\(auth\)\n$")

    def test_no_model_reaches_the_terminal(self):
        code, out, _ = self.command("run", "Go.", "--model", "evil")
        self.assertEqual((code, out), (0, "\\x1b]0;title\\x07\\x9b2J\n"))

    def test_a_reader_that_leaves_ends_the_command_but_not_the_run(self):
        with self.start("run", "Go.", "--model", "words") as command:
            command.read_until("word1 ")
            command.process.stdout.close()
            command.process.stdout = None
            self.assertEqual(command.process.wait(SECONDS_MAX), 0)
            self.assertEqual(command.process.stderr.read(), b"")
        with self.server.client().stream(self.latest()["runId"]) as stream:
            self.assertEqual(stream.until("result")[-1].json()["subtype"], "success")


class FirstRunTest(CliCase):
    """A server that was told nothing, as a newcomer starts it."""

    SELF = "I am Errand's demo model: I follow simple rules and need neither key nor network.\n"

    def setUp(self):
        self.server = self.start_server(None)
        self.shared = Path(self.server.folder.name) / "shared"
        (self.shared / "docs").mkdir(parents=True)
        (self.shared / "README.md").write_text("# Hello\n\nA NOTE is here.\n")

    def ask(self, prompt: str) -> tuple[str, str]:
        code, out, errors = self.command("run", prompt, "--files", str(self.shared))
        self.assertEqual(code, 0)
        return out, re.sub(r"\d+ ms", "N ms", errors)

    def test_the_demo_model_is_the_only_one(self):
        listed = json.loads(self.command("models", "--json")[1])
        self.assertEqual(listed["defaultModelId"], "demo")
        self.assertEqual([(model["id"], model["provider"], model["label"])
                          for model in listed["models"]], [("demo", "demo", "Demo")])

    def test_it_reads_a_file(self):
        out, errors = self.ask("What is in README.md?")
        self.assertEqual(out, "Let me ask read_file.\n"
                              "This is what read_file gave for README.md:\n\n"
                              "> # Hello\n>\n> A NOTE is here.\n\n" + self.SELF)
        self.assertEqual(errors, '-> read_file {"path":"README.md"}\n<- read_file 3 lines, N ms\n')

    def test_it_picks_the_tool_for_the_question(self):
        for prompt, call in (
            ("Which files are here?", "list_files {}"),
            ("What is in docs?", 'list_files {"path":"docs"}'),
            ("Find NOTE in the sources", 'search_files {"query":"NOTE"}'),
        ):
            with self.subTest(prompt=prompt):
                self.assertTrue(self.ask(prompt)[1].startswith(f"-> {call}\n"))

    def test_only_a_scripted_model_has_a_script(self):
        models = [{"id": "demo", "provider": "demo", "script": "files.json"}]
        refusal = r"only a model of the provider scripted has a script \(at /models/0/script\)"
        with self.assertRaisesRegex(AssertionError, refusal):
            self.start_server(SCRIPTS, {"models": models, "defaultModel": "demo"})

    def test_it_says_what_failed(self):
        out, _ = self.ask("Compare README.md and missing.md")
        self.assertIn("> # Hello\n", out)
        self.assertIn("read_file failed for missing.md: there is no \"missing.md\"\n", out)


class InterruptTest(CliCase):
    def test_ctrl_c_cancels_the_run_on_the_server(self):
        with self.start("run", "Go.", "--model", "slow") as command:
            command.read_until("word1 ")
            command.signal(signal.SIGINT)
            code, _, errors = command.finish()
        self.assertEqual(code, 130)
        self.assertIn("cancelling the run", errors)
        self.assertEqual(self.latest()["status"], "cancelled")

    def test_a_second_ctrl_c_does_not_wait(self):
        with self.start("run", "Go.", "--model", "slow") as command:
            command.read_until("word1 ")
            os.kill(self.server.pid, signal.SIGSTOP)
            self.addCleanup(os.kill, self.server.pid, signal.SIGCONT)
            command.signal(signal.SIGINT)
            command.read_errors_until("cancelling the run")
            command.signal(signal.SIGINT)
            self.assertEqual(command.process.wait(2), 130)

    def test_ctrl_c_gives_up_on_a_server_that_does_not_answer(self):
        with self.start("run", "Go.", "--model", "slow") as command:
            command.read_until("word1 ")
            os.kill(self.server.pid, signal.SIGSTOP)
            self.addCleanup(os.kill, self.server.pid, signal.SIGCONT)
            command.signal(signal.SIGINT)
            self.assertEqual(command.process.wait(SECONDS_MAX), 130)

    def test_ctrl_c_works_while_nobody_reads_the_output(self):
        with self.start("run", "Go.", "--model", "large") as command:
            command.read_until("xx")
            with self.server.client().stream(self.latest()["runId"]) as stream:
                stream.until("result")
            command.signal(signal.SIGINT)
            self.assertEqual(command.process.wait(SECONDS_MAX), 130)

    def test_ctrl_c_while_watching_leaves_the_run_alone(self):
        run = self.server.client().create(prompt="Go.", modelId="slow")
        with self.start("runs", "tail", run) as command:
            command.read_until("word1 ")
            command.signal(signal.SIGINT)
            self.assertEqual(command.process.wait(SECONDS_MAX), -signal.SIGINT)
        self.assertEqual(self.server.client().snapshot(run)["status"], "running")
        self.server.client().cancel(run)


class RestartTest(CliCase):
    def test_a_restart_in_the_middle_loses_and_repeats_nothing(self):
        with self.start("run", "Go.", "--model", "steady", "--files", str(self.shared),
                        "--json") as command:
            start = command.read_until("word9 ")
            self.server.kill()
            notes = command.read_errors_until("trying again for 30 s\n")
            self.server.restart()
            code, rest, errors = command.finish()
        self.assertEqual(code, 0)
        self.assertRegex(notes, "^errand: .*; trying again for 30 s\n$")
        self.assertEqual(errors, "errand: connected again\n")
        lines = [json.loads(line) for line in (start + rest).splitlines()]
        self.assertEqual(lines, self.logged_lines(self.latest()["runId"]))
        self.assertEqual(sum(line["type"] == "local_tool_result_in" for line in lines), 1)

    def test_an_answer_reaches_a_server_that_was_away(self):
        with self.start("run", "Go.", "--model", "pause", "--files", str(self.shared)) as command:
            command.read_until("Wait ")
            command.signal(signal.SIGSTOP)
            with self.server.client().stream(self.latest_running()) as stream:
                stream.until("local_tool_call")
            self.server.kill()
            command.signal(signal.SIGCONT)
            command.read_errors_until("trying again")
            self.server.restart()
            code, out, errors = command.finish()
        self.assertEqual((code, out), (0, "a moment.\nThanks.\n"))
        self.assertRegex(errors, r"<- read_file 2 lines, \d+ ms\n")

    def latest_running(self) -> str:
        run = self.latest()
        self.assertEqual(run["status"], "running")
        return run["runId"]


class UnreachableTest(CliCase):
    def test_a_wrong_key_is_exit_code_3(self):
        code, out, errors = self.command("run", "Go.", "--key", "wrong")
        self.assertEqual((code, out), (3, ""))
        self.assertEqual(errors, f"errand: {self.server.url} refuses the key of --key: "
                                 "the key is unknown, has expired, or was revoked\n"
                                 "hint: give another with --key KEY; where 'errand serve' keeps "
                                 "its data, 'errand keys create' makes one\n")

    def test_no_server_is_exit_code_3(self):
        self.server.kill()
        for words in (["run", "Go."], ["runs", "fork", "run_1"], ["calls", "list"]):
            with self.subTest(words=words):
                code, out, errors = self.command(*words)
                self.assertEqual((code, out), (3, ""))
                self.assertRegex(errors, "^errand: cannot connect to 127.0.0.1:.*\nhint: ")


class RunsTest(CliCase):
    def test_runs_are_listed_by_status(self):
        client = self.server.client()
        for model in ("hello", "broken", "hello"):
            self.command("run", "Go.", "--model", model)
        code, out, _ = self.command("runs", "list", "--status", "succeeded")
        self.assertEqual(code, 0)
        rows = [line.split() for line in out.splitlines()]
        self.assertEqual(rows[0], ["RUN", "STATUS", "AGE", "MODEL", "ABOUT"])
        self.assertEqual([(row[1], row[4], row[5]) for row in rows[1:]],
                         [("succeeded", "hello", "Go.")] * 2)
        self.assertEqual(client.snapshot(rows[1][0])["status"], "succeeded")
        code, out, errors = self.command("runs", "list", "--status", "odd")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("{queued,running,waiting,succeeded,failed,cancelled}", errors)

    def test_more_runs_than_one_page_are_listed(self):
        client = self.server.client()
        made = [client.create(prompt="Go.", modelId="hello") for _ in range(205)]
        _, out, _ = self.command("runs", "list", "--limit", "203", "--json")
        listed = [run["runId"] for run in json.loads(out)["runs"]]
        self.assertEqual(listed, made[:1:-1])
        _, out, _ = self.command("runs", "list", "--limit", "205")
        self.assertEqual({line.split()[-1] for line in out.splitlines()[1:]}, {"Go."})

    def test_runs_are_listed_by_what_they_belong_to(self):
        client = self.server.client()
        client.request("POST", "/agents", {"name": "helper", "modelId": "hello",
                                           "systemPrompt": "Help."})
        session = client.request("POST", "/agent-sessions", {"modelId": "hello"}).json()
        said = client.request("POST", f"/agent-sessions/{session['sessionId']}/messages",
                              {"prompt": "Go."}).json()["runId"]
        labelled = client.create(prompt="Go.", modelId="hello", metadata={"team": "red"})
        helped = client.create(prompt="Go.", agentId="helper")
        for flags, expected in ((("--session", session["sessionId"]), [said]),
                                (("--metadata", "team:red"), [labelled]),
                                (("--metadata", "team:blue"), []),
                                (("--agent", "helper"), [helped]),
                                (("--since", "1h"), [helped, labelled, said])):
            with self.subTest(flags=flags):
                _, out, _ = self.command("runs", "list", *flags)
                self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], expected)

    def test_more_sessions_than_one_page_are_listed(self):
        client = self.server.client()
        for _ in range(201):
            client.request("POST", "/agent-sessions", {"modelId": "hello"})
        _, out, errors = self.command("sessions", "list", "--limit", "500")
        self.assertEqual((len(out.splitlines()), errors), (202, ""))
        _, out, errors = self.command("sessions", "list", "--limit", "200")
        self.assertEqual((len(out.splitlines()), errors),
                         (201, "There are more: --limit N shows more sessions.\n"))

    def test_a_run_is_shown(self):
        self.command("run", "Say hello.", "--model", "hello")
        run = self.latest()["runId"]
        code, out, _ = self.command("runs", "show", run)
        self.assertEqual(code, 0)
        for line in (f"run      {run}", "status   succeeded", "prompt   Say hello."):
            self.assertIn(line, out.splitlines())
        self.assertTrue(out.endswith("\n\nHello you.\n"))
        shown = json.loads(self.command("runs", "show", run, "--json")[1])
        self.assertEqual(shown, self.server.client().snapshot(run))
        self.assertEqual(self.command("runs", "show", "run_none")[0], 1)

    def test_a_run_is_watched_from_any_event_on(self):
        self.command("run", "Go.", "--model", "hello")
        run = self.latest()["runId"]
        self.assertEqual(self.command("runs", "tail", run), (0, "Hello you.\n", ""))
        _, out, _ = self.command("runs", "tail", run, "--after", "1", "--json")
        self.assertEqual([json.loads(line) for line in out.splitlines()],
                         self.logged_lines(run)[1:])

    def test_nothing_follows_the_last_event_of_an_ended_run(self):
        self.command("run", "Go.", "--model", "hello")
        last = str(self.latest()["lastSeq"])
        self.assertEqual(self.command("runs", "tail", "latest", "--after", last), (0, "", ""))

    def test_a_run_goes_by_the_beginning_of_its_id(self):
        self.command("run", "Go.", "--model", "hello")
        run = self.latest()["runId"]
        for word in ("latest", run[:-1], run.removeprefix("run_")[:-2]):
            code, out, _ = self.command("runs", "show", word)
            self.assertEqual((code, out.splitlines()[0]), (0, f"run      {run}"))
        self.command("run", "Go.", "--model", "hello")
        code, _, errors = self.command("runs", "show", run[:8])
        self.assertEqual(code, 1)
        self.assertRegex(errors, r'^errand: "run_\w+" is the beginning of 2 runs\nhint: ')
        self.assertEqual(self.command("runs", "show", "nothing")[0], 1)

    def test_a_run_has_the_name_that_it_was_given(self):
        for more in ((), ("--detach",)):
            self.assertEqual(self.command("run", "Go.", "--name", "nightly", *more)[0], 0)
            shown = self.command("runs", "show", "latest")[1]
            self.assertEqual(shown.splitlines()[1], "name     nightly")

    def test_a_fork_shows_its_own_prompt(self):
        self.command("run", "First.", "--model", "talk")
        fork = self.command("runs", "fork", "latest", "--prompt", "Second.")[1].strip()
        self.command("runs", "tail", fork)
        shown = self.command("runs", "show", fork)[1]
        self.assertIn("\nprompt   Second.\n", shown)

    def test_a_run_that_waits_says_for_what(self):
        client = self.server.client()
        run = client.create(prompt="Look.", modelId="files",
                            tools=[local_tool("read_file", path="string")])
        with client.stream(run) as stream:
            stream.until("assistant_message")
        _, out, _ = self.command("runs", "list")
        self.assertRegex(out, rf"\n{run}  waiting  \d+ s +files  "
                              r"read_file and 1 more, \d min left\n")
        client.create(prompt="Go.", modelId="hello")
        _, out, _ = self.command("runs", "list", "--status", "waiting")
        self.assertEqual([line.split()[:2] for line in out.splitlines()[1:]], [[run, "waiting"]])
        _, out, _ = self.command("calls", "list")
        rows = [line.split() for line in out.splitlines()]
        self.assertEqual([row[1:3] for row in rows[1:]], [[run, "read_file"]] * 2)
        for row in rows[1:]:
            self.assertEqual(self.command("calls", "answer", row[0], "--result", "one"),
                             (0, f"answered {row[0]}\n", ""))
        with client.stream(run) as stream:
            self.assertEqual(stream.until("result")[-1].json()["subtype"], "success")
        code, _, errors = self.command("calls", "answer", "latest", "--result", "one")
        self.assertEqual(code, 1)
        self.assertIn('no call "latest" waits', errors)

    def test_a_call_that_a_program_makes_is_not_answered_beside_it(self):
        client = self.server.client()
        run = client.create(prompt="Look.", modelId="files",
                            tools=[local_tool("read_file", path="string")])
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
        self.assertEqual(client.request("POST", f"/tool-calls/{call}/claim", {}).status, 200)
        code, out, errors = self.command("calls", "answer", call, "--result", "one")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("is claimed by another", errors)
        self.assertIn("'errand calls list --json' tells until when", errors)
        self.assertNotIn("claimId", errors)

    def test_a_list_that_is_cut_says_how_it_goes_on(self):
        client = self.server.client()
        made = [client.create(prompt="Go.", modelId="hello") for _ in range(3)]
        _, out, errors = self.command("runs", "list", "--limit", "2")
        self.assertEqual(len(out.splitlines()), 3)
        self.assertEqual(errors, f"There are more: --before {made[1]} goes on, "
                                 "--limit N shows more.\n")
        _, out, errors = self.command("runs", "list", "--before", made[1])
        self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], [made[0]])
        self.assertEqual(errors, "")

    def test_a_run_is_cancelled(self):
        run = self.server.client().create(prompt="Go.", modelId="slow")
        self.assertEqual(self.command("runs", "cancel", run), (0, "cancelled\n", ""))
        self.assertEqual(self.server.client().snapshot(run)["status"], "cancelled")
        code, _, errors = self.command("runs", "tail", run)
        self.assertEqual((code, errors), (1, "errand: the run was cancelled\n"))


class WorkspaceTest(CliCase):
    def test_a_key_is_made_used_and_revoked(self):
        code, out, errors = self.command("keys", "create", "--name", "mine")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^mantyx_[0-9a-f]{64}\n$")
        key = out.strip()
        self.assertEqual(self.command("models", "--key", key)[0], 0)
        _, listed, _ = self.command("keys", "list")
        row = next(line for line in listed.splitlines() if line.endswith("mine"))
        self.assertNotIn(key, listed)
        name = row.split()[0]
        self.assertIn(name, errors)
        self.assertEqual(self.command("keys", "revoke", name), (0, f"revoked {name}\n", ""))
        self.assertEqual(self.command("models", "--key", key)[0], 3)

    def test_models_are_listed(self):
        code, out, _ = self.command("models")
        self.assertEqual(code, 0)
        rows = [line.split() for line in out.splitlines()]
        self.assertEqual([row[0] for row in rows], ["MODEL", *SCRIPTS])
        self.assertEqual([row[0] for row in rows if "yes" in row], ["files"])
        listed = json.loads(self.command("models", "--json")[1])
        self.assertEqual(listed["defaultModelId"], "files")
