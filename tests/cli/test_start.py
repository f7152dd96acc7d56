"""A start that fails ends: an exit code, one sentence, nothing listening, nothing half made."""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import time
from pathlib import Path

from support.http import Client
from support.script import turn
from support.server import NO_OLLAMA, Server, ServerCase, die_with_parent

SECONDS_MAX = 60
CHOSEN = "mantyx_" + "ab" * 32
OTHER = "mantyx_" + "cd" * 32


class StartCase(ServerCase):
    def make_server(self, extra_config: dict | None = None) -> Server:
        server = Server([turn("Hi.")], extra_config)
        self.addCleanup(self.close_server, server)
        return server

    def failed_start(self, server: Server) -> tuple[int, list[str]]:
        """The exit code and the lines on stderr of a start that must fail by itself."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.endswith("_API_KEY")} | {"OLLAMA_HOST": NO_OLLAMA}
        done = subprocess.run(server.command(), capture_output=True, text=True, env=environment,
                              timeout=SECONDS_MAX, stdin=subprocess.DEVNULL,
                              cwd=server.folder.name, preexec_fn=die_with_parent)
        self.assertEqual(done.stdout, "")
        return done.returncode, [line for line in done.stderr.splitlines() if line]

    def write_workspaces(self, server: Server, workspaces: list) -> None:
        config = json.loads(server.config.read_text())
        config["workspaces"] = workspaces
        server.config.write_text(json.dumps(config))

    def assert_starts_afresh(self, server: Server) -> None:
        """The next start makes the first key, shows it, and the key works."""
        server.start()
        self.assertTrue(server.key)
        self.assertEqual(server.client().request("GET", "/agent-runs").status, 200)


def wait_until_a_thread_computes(pid: int) -> None:
    """Until a thread beside the first has used a second of CPU."""
    deadline = time.monotonic() + SECONDS_MAX
    ticks = os.sysconf("SC_CLK_TCK")
    while time.monotonic() < deadline:
        for task in Path(f"/proc/{pid}/task").iterdir():
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            if task.name != str(pid) and int(fields[11]) >= ticks:
                return
    raise AssertionError("no thread of the server computes")


class DataDirectoryTest(StartCase):
    def test_nobody_else_may_look_into_it(self):
        server = self.make_server()
        server.start()
        self.assertEqual(stat.S_IMODE(server.data.stat().st_mode), 0o700)

    def test_what_a_failed_first_start_left_is_closed_too(self):
        server = self.make_server()
        server.data.mkdir(mode=0o755)
        server.data.chmod(0o755)
        (server.data / "credentials").write_text("{}")
        (server.data / "credentials.1.new").write_text("")
        server.start()
        self.assertEqual(stat.S_IMODE(server.data.stat().st_mode), 0o700)

    def test_a_directory_with_files_of_others_stays_open_to_them(self):
        server = self.make_server()
        server.data.mkdir(mode=0o755)
        server.data.chmod(0o755)
        (server.data / "notes.txt").write_text("Hi")
        server.start()
        self.assertEqual(stat.S_IMODE(server.data.stat().st_mode), 0o755)

    def test_a_directory_that_others_could_look_into_is_closed(self):
        server = self.make_server()
        server.data.mkdir(mode=0o755)
        server.data.chmod(0o755)
        server.start()
        self.assertEqual(stat.S_IMODE(server.data.stat().st_mode), 0o700)


class FailedStartTest(StartCase):
    def test_a_busy_port_leaves_no_key_behind(self):
        server = self.make_server()
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            server.port = other.getsockname()[1]
            code, lines = self.failed_start(server)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("cannot listen on", lines[0])
        self.assertFalse(server.data.exists())
        server.port = 0
        self.assert_starts_afresh(server)

    def test_credentials_that_cannot_be_written_end_the_start(self):
        server = self.make_server()
        credentials = server.data / "credentials"
        (credentials / "full").mkdir(parents=True)
        code, lines = self.failed_start(server)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("credentials", lines[0])
        (credentials / "full").rmdir()
        credentials.rmdir()
        self.assertEqual([path.name for path in server.data.iterdir()
                          if path.name.endswith(".new")], [])
        self.assert_starts_afresh(server)

    def test_a_folder_that_cannot_be_a_data_directory_ends_the_start(self):
        server = self.make_server()
        server.data.write_text("a file")
        code, lines = self.failed_start(server)
        self.assertEqual(code, 2)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("data directory", lines[0])

    def test_a_file_that_is_no_database_ends_the_start(self):
        server = self.make_server()
        server.data.mkdir()
        (server.data / "errand.db").write_text("not a database, but long enough to look at" * 50)
        code, lines = self.failed_start(server)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertFalse((server.data / "credentials").exists())

    def test_a_data_directory_in_use_ends_the_start(self):
        first = self.make_server().start()
        second = self.make_server()
        second.data = first.data
        code, lines = self.failed_start(second)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(str(first.pid), lines[0])

    def spoil(self, server: Server, *statements: str) -> None:
        """Has the next start fail at a step of its own, in a store that others have used."""
        server.start()
        server.stop()
        self.change(server, *statements)

    def change(self, server: Server, *statements: str) -> None:
        with contextlib.closing(sqlite3.connect(server.data / "errand.db")) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()

    def test_keys_that_cannot_be_read_end_the_start(self):
        server = self.make_server()
        self.spoil(server, "INSERT OR REPLACE INTO records "
                           "SELECT workspace, 'api-key', id, 1, 0, 0, x'7b' FROM api_keys")
        code, lines = self.failed_start(server)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("the record of a key cannot be read", lines[0])

    def test_rooms_that_cannot_be_made_end_the_start(self):
        server = self.make_server()
        self.spoil(server, "CREATE TRIGGER none BEFORE INSERT ON records BEGIN "
                           "SELECT raise(ABORT, 'no more records'); END")
        self.write_workspaces(server, [{"slug": "default", "rooms": ["lobby"]}])
        code, lines = self.failed_start(server)
        self.assertEqual(code, 1)
        self.assertEqual([line.partition(" ")[2] for line in lines],
                         ["error cannot make the room lobby: the database failed: no more records"])

    def test_clients_that_cannot_be_read_end_the_start(self):
        server = self.make_server()
        self.spoil(server, "INSERT INTO records VALUES "
                           "('default', 'oauth-client', 'key_none', 1, 0, 0, x'7b')")
        code, lines = self.failed_start(server)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("the record of oauth-client cannot be read", lines[0])

    def spoil_first_key(self, server: Server) -> None:
        """The next start finds no key, and cannot store one."""
        self.spoil(server, "DELETE FROM api_keys",
                   "CREATE TRIGGER none BEFORE INSERT ON api_keys BEGIN "
                   "SELECT raise(ABORT, 'no more keys'); END")

    def test_a_first_key_that_cannot_be_stored_ends_the_start_and_is_told_nobody(self):
        server = self.make_server()
        self.spoil_first_key(server)
        credentials = server.data / "credentials"
        credentials.unlink()
        code, lines = self.failed_start(server)
        self.assertEqual(code, 1)
        self.assertEqual([line.partition(" ")[2] for line in lines],
                         ["error the database failed: no more keys"])
        self.assertFalse(credentials.exists())
        self.change(server, "DROP TRIGGER none")
        self.assert_starts_afresh(server)

    def test_a_first_key_that_cannot_be_stored_leaves_the_credentials_of_before(self):
        server = self.make_server()
        self.spoil_first_key(server)
        credentials = server.data / "credentials"
        before = credentials.read_text()
        code, lines = self.failed_start(server)
        self.assertEqual((code, len(lines)), (1, 1), lines)
        self.assertEqual(credentials.read_text(), before)

    def test_a_signal_ends_a_start_whose_store_does_not_answer(self):
        server = self.make_server()
        self.spoil(server, "CREATE TRIGGER endless BEFORE INSERT ON records BEGIN "
                           "SELECT count(*) FROM (WITH RECURSIVE n(i) AS "
                           "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END")
        self.write_workspaces(server, [{"slug": "default", "rooms": ["lobby"]}])
        with server.errors_path.open("ab") as errors:
            process = subprocess.Popen(server.command(), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=errors,
                                       cwd=server.folder.name, preexec_fn=die_with_parent)
        self.addCleanup(process.kill)
        wait_until_a_thread_computes(process.pid)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(SECONDS_MAX), -signal.SIGTERM)
        self.change(server, "DROP TRIGGER endless")
        server.start()
        self.assertEqual(server.client().request("GET", "/agent-runs").status, 200)

    def test_one_key_of_two_workspaces_ends_the_start(self):
        server = self.make_server({"workspaces": [{"slug": "a", "apiKeys": [CHOSEN]},
                                                  {"slug": "b", "apiKeys": [CHOSEN]}]})
        code, lines = self.failed_start(server)
        self.assertEqual(code, 2)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("two workspaces: a and b", lines[0])


class KeysOfTheFileTest(StartCase):
    def status_in(self, server: Server, workspace: str, key: str) -> int:
        return Client(server.url, key, workspace).request("GET", "/agent-runs").status

    def test_http_does_not_revoke_them_and_says_where_they_are_from(self):
        server = self.make_server({"workspaces": [{"slug": "acme", "apiKeys": [CHOSEN]}]}).start()
        client = Client(server.url, CHOSEN, "acme")
        keys = client.request("GET", "/api-keys").json()["apiKeys"]
        self.assertEqual([key["name"] for key in keys], ["configuration file"])
        answer = client.request("DELETE", f"/api-keys/{keys[0]['id']}")
        self.assertEqual(answer.status, 409)
        self.assertEqual(answer.json()["code"], "key_of_configuration")
        self.assertIn("configuration file", answer.json()["message"])
        server.stop()
        server.start()
        again = client.request("GET", "/api-keys").json()["apiKeys"]
        self.assertEqual([key["id"] for key in again], [keys[0]["id"]])

    def test_the_file_wins_at_every_start(self):
        server = self.make_server({"workspaces": [{"slug": "acme", "apiKeys": [CHOSEN]}]}).start()
        self.assertEqual(self.status_in(server, "acme", CHOSEN), 200)
        server.stop()
        self.write_workspaces(server, [{"slug": "other", "apiKeys": [CHOSEN, OTHER]}])
        server.start()
        self.assertEqual(self.status_in(server, "other", CHOSEN), 200)
        self.assertEqual(self.status_in(server, "acme", CHOSEN), 404)
        server.stop()
        self.write_workspaces(server, [])
        server.start()
        self.assertEqual(self.status_in(server, "other", OTHER), 401)
