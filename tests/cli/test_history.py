"""Forks, exports, replays and checks as a user runs them, against the real server."""

import json
import sqlite3
import subprocess
from pathlib import Path

from support.script import turn
from support.server import SANITIZER_WORDS, ServerCase, binary, die_with_parent

SECONDS_MAX = 60
TURNS = [turn("Hello ", "you."), turn("Salut.")]


class HistoryCase(ServerCase):
    def setUp(self):
        self.server = self.start_server(TURNS)

    def errand(self, *words: str) -> tuple[int, str, str]:
        """The exit code, stdout and stderr of a command in the server's folder."""
        done = subprocess.run(
            [binary(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS_MAX, cwd=self.server.folder.name, preexec_fn=die_with_parent)
        self.assertFalse([word for word in SANITIZER_WORDS if word in done.stderr], done.stderr)
        return done.returncode, done.stdout, done.stderr

    def on_server(self, *words: str) -> str:
        code, out, errors = self.errand(*words, "--data", str(self.server.data))
        self.assertEqual(code, 0, errors)
        return out

    def run_prompt(self) -> str:
        """The id of a run that has ended."""
        self.on_server("run", "Hi")
        return json.loads(self.on_server("runs", "list", "--json"))["runs"][0]["runId"]

    def test_fork_prints_the_id_of_a_run_that_goes_on(self):
        original = self.run_prompt()
        fork = self.on_server("runs", "fork", original, "--prompt", "In French?").strip()
        self.assertIn("Salut.", self.on_server("runs", "tail", fork))
        shown = json.loads(self.on_server("runs", "show", fork, "--json"))
        self.assertEqual(shown["forkedFrom"], {"runId": original, "seq": 3})

    def test_export_is_one_file_that_replays_identically(self):
        run = self.run_prompt()
        file = Path(self.server.folder.name) / "run.json"
        self.on_server("runs", "export", run, "--output", str(file))
        exported = json.loads(file.read_text())
        self.assertEqual(exported["errandExport"], 1)
        self.assertEqual([entry["entry"] for entry in exported["journal"]],
                         ["created", "turn", "turn_end", "terminal"])
        self.assertEqual(self.errand("runs", "replay", str(file)), (0, "identical: 4 events\n", ""))
        printed = json.loads(self.on_server("runs", "export", run))
        self.assertEqual(printed["events"], exported["events"])

    def test_replay_says_where_an_edited_file_differs(self):
        run = self.run_prompt()
        file = Path(self.server.folder.name) / "run.json"
        text = self.on_server("runs", "export", run)
        file.write_text(text.replace('"type":"assistant_message","text":"Hello you."',
                                     '"type":"assistant_message","text":"Hello me."'))
        code, out, _ = self.errand("runs", "replay", str(file))
        self.assertEqual(code, 1)
        self.assertEqual(out.splitlines()[0],
                         "different at event 3, after 2 events that are the same")
        self.assertIn("Hello me.", out.splitlines()[1])
        self.assertIn("Hello you.", out.splitlines()[2])

    def test_replay_of_a_damaged_file_is_an_error(self):
        file = Path(self.server.folder.name) / "run.json"
        file.write_text('{"errandExport":1')
        code, out, errors = self.errand("runs", "replay", str(file))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("run.json", errors)
        self.assertEqual(self.errand("runs", "replay", "nowhere.json")[0], 2)

    def test_check_data_refuses_while_a_server_runs_and_finds_nothing_afterwards(self):
        self.run_prompt()
        check = ("check-data", "--data", str(self.server.data))
        code, _, errors = self.errand(*check)
        self.assertEqual(code, 2)
        self.assertIn(str(self.server.process.pid), errors)
        self.assertIn("errand backup", errors)
        self.server.stop()
        self.assertEqual(self.errand(*check)[:2],
                         (0, "checked 1 run, 4 events: no problems found\n"))
        code, _, errors = self.errand("check-data", "--data", "nowhere")
        self.assertEqual(code, 2)
        self.assertIn("there is no database", errors)

    def test_check_data_names_the_rules_that_do_not_hold(self):
        run = self.run_prompt()
        self.server.stop()
        database = sqlite3.connect(self.server.data / "errand.db")
        with database:
            database.execute("UPDATE runs SET status = 4, name = 'other'")
        database.close()
        code, out, _ = self.errand("check-data", "--data", str(self.server.data))
        self.assertEqual((code, out.splitlines()), (1, [
            f"{run} row_name: the row says name = other, but the log says ",
            f"{run} row_status: the row says status = failed, but the log says succeeded",
            "checked 1 run, 4 events: 2 problems found"]))

    def test_check_data_compares_histories_of_sessions_with_logs(self):
        client = self.server.client()
        session = client.request("POST", "/agent-sessions", {}).json()["sessionId"]
        run = client.request("POST", f"/agent-sessions/{session}/messages",
                             {"prompt": "Hi"}).json()["runId"]
        with client.stream(run) as events:
            events.until("result")
        self.server.stop()
        for change, said in (
                ("UPDATE session_history SET body = CAST(replace(body, 'Hi', 'Ho') AS BLOB) "
                 "WHERE n = 1",
                 f"entry 1 of the history of session {session} is not what the log says"),
                ("UPDATE session_history SET run = 'run_other' WHERE n = 1",
                 f"entry 1 of the history of session {session} is another run's"),
                ("DELETE FROM session_history WHERE n = 2",
                 f"entry 2 of the history of session {session} is missing")):
            with self.subTest(change=change):
                database = sqlite3.connect(self.server.data / "errand.db")
                kept = database.execute("SELECT * FROM session_history").fetchall()
                with database:
                    database.execute(change)
                code, out, _ = self.errand("check-data", "--data", str(self.server.data))
                self.assertEqual(code, 1)
                self.assertIn(f"{run} session_history: {said}", out.splitlines())
                with database:
                    database.execute("DELETE FROM session_history")
                    database.executemany("INSERT INTO session_history VALUES (?, ?, ?, ?, ?)", kept)
                database.close()

    def test_check_data_looks_into_a_damaged_file(self):
        self.run_prompt()
        self.server.stop()
        file = self.server.data / "errand.db"
        with file.open("r+b") as damaged:
            damaged.seek(4096)
            damaged.write(b"x" * 4096)
        code, out, _ = self.errand("check-data", "--data", str(self.server.data))
        self.assertEqual((code, out.split(":")[0]), (1, "database"))
