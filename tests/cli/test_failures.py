"""Twelve ways to go wrong. Each message says what happened, where, and what to do."""

import json
import re
import shutil
import socket
import sqlite3
import subprocess

from support.embedded import EmbeddedCase
from support.script import turn
from support.server import NO_OLLAMA, SANITIZER_WORDS, Server, binary, die_with_parent
from support.terminal import plain_environment

SECONDS_MAX = 60
TMPFS = "mount -t tmpfs -o size=32m none \"$0\" && exec \"$@\""
# Undoes what versions 5 and 6 of the database have brought.
TO_VERSION_4 = """
DROP TABLE sessions;
DROP TABLE session_settings;
DROP TABLE session_labels;
DROP TABLE session_runs;
DROP TABLE session_history;
DROP TABLE session_label_uses;
DROP INDEX at_work;
DROP INDEX outcomes;
DROP INDEX ended;
ALTER TABLE runs RENAME TO newer;
CREATE TABLE runs (
  workspace TEXT NOT NULL, id TEXT NOT NULL, status INTEGER NOT NULL, finished INTEGER NOT NULL,
  last_seq INTEGER NOT NULL, segments INTEGER NOT NULL, epoch INTEGER NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, name TEXT NOT NULL,
  model_id TEXT NOT NULL, metadata TEXT NOT NULL, ends_by INTEGER NOT NULL DEFAULT 0,
  keyed_at INTEGER NOT NULL DEFAULT 0, log_end INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
INSERT INTO runs
  SELECT workspace, id, status, finished, last_seq, segments, epoch, created_at, updated_at, name,
         model_id, metadata, created_at + 86400000, 0, log_end FROM newer;
DROP TABLE newer;
CREATE INDEX unfinished ON runs (id, epoch) WHERE finished = 0;
DROP INDEX pending_names;
DROP TABLE labels;
DROP TABLE records;
DROP TABLE merging;
DROP TABLE blobs;
DROP TABLE blob_users;
CREATE TABLE blobs (hash TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT;
CREATE TABLE blob_users (
  run TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses ON blob_users (hash);
PRAGMA user_version = 4;
"""
NEWER_MEMBERS = re.compile(rb',"format":\d,"endsBy":\d+|,"requestId":"[^"]*"')


def to_version_4(database: sqlite3.Connection) -> None:
    for place, journal in database.execute("SELECT place, journal FROM segments").fetchall():
        database.execute("UPDATE segments SET journal = ? WHERE place = ?",
                         (NEWER_MEMBERS.sub(b"", journal), place))
    database.commit()
    database.executescript(TO_VERSION_4)


def shell(command: str, **more) -> dict:
    return turn("Look.", calls=[("shell", {"command": command, **more})])


class FailureCase(EmbeddedCase):
    scripts = {
        "fast": [turn("Hi.")],
        "faster": [turn("Hi.")],
        "crashing": [shell("echo one; kill -SEGV $$"), turn("Done.")],
        "endless": [shell("echo one; exec sleep 1000", timeoutSeconds=1), turn("Done.")],
        "huge": [shell("head -c 1000000 /dev/zero | tr '\\0' x"), turn("Done.")],
        "binary": [shell("printf 'a\\000\\377\\033[2Jb'"), turn("Done.")],
        "typo": [turn(calls=[("reed_file", {"path": "a.txt"})]), turn("Done.")],
    }

    def errand(self, *words: str, before: tuple[str, ...] = ()) -> tuple[int, str, str]:
        """Exit code, stdout and stderr, with what differs from run to run masked."""
        done = subprocess.run(
            [*before, binary(), *words], cwd=self.cwd, capture_output=True, text=True,
            timeout=SECONDS_MAX, stdin=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=die_with_parent, env=plain_environment(OLLAMA_HOST=NO_OLLAMA))
        self.assertFalse([word for word in SANITIZER_WORDS if word in done.stderr], done.stderr)
        return done.returncode, done.stdout, self.masked(done.stderr)

    def masked(self, text: str) -> str:
        text = text.replace(str(self.root), "ROOT")
        text = re.sub(r"^\d{4}-\d\d-\d\dT\S+ ", "TIME ", text, flags=re.MULTILINE)
        text = re.sub(r"127\.0\.0\.1:\d+", "HOST:PORT", text)
        text = re.sub(r"\d+ MB are left", "N MB are left", text)
        return re.sub(r"\d+ ms|\d+\.\d+ s", "N ms", text)

    def serve(self, *words: str) -> tuple[int, str, str]:
        """A server that does not start."""
        return self.errand("serve", "--listen", "127.0.0.1:0", *words)

    def start_server(self) -> Server:
        server = Server(None)
        server.data, server.config = self.data, self.config
        self.addCleanup(server.close)
        return server.start()


class ServeFailureTest(FailureCase):
    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            place = f"127.0.0.1:{other.getsockname()[1]}"
            said = self.errand("serve", "--listen", place, "--data", str(self.data))
        self.assertEqual(said, (
            1, "", "TIME error cannot listen on HOST:PORT: address already in use (another process "
                   "listens there); choose another port with --listen\n"))

    def test_a_data_directory_that_cannot_be_written(self):
        said = self.serve("--data", str(self.shared / "a.txt" / "data"))
        self.assertEqual(said, (
            2, "", "TIME error cannot write to the data directory ROOT/shared/a.txt/data: Not a "
                   "directory; choose another one with --data DIR\n"))

    def test_a_configuration_with_a_typo(self):
        self.config.write_text('{"models": [{"id": "m", "provider": "demo", "lable": "M"}]}')
        said = self.serve("--data", str(self.data), "--config", str(self.config))
        self.assertEqual(said, (
            2, "", 'TIME error ROOT/config.json:1:45: \\"lable\\" is not a setting here; '
                   "did you mean label? (at /models/0/lable)\n"))

    def test_data_of_a_newer_program(self):
        self.start_server().stop()
        with sqlite3.connect(self.data / "errand.db") as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        said = self.serve("--data", str(self.data))
        self.assertEqual(said, (
            1, "", "TIME error cannot use ROOT/data/errand.db: the database has schema version 99, "
                   "but this program knows only versions up to 11. Use the program version that "
                   "wrote it, or a newer one.\n"))

    def test_data_of_an_older_program_is_brought_up_to_date(self):
        server = self.start_server()
        run = server.client().create(prompt="Go.", modelId="fast")
        with server.client().stream(run) as stream:
            stream.until("result")
        server.stop()
        with sqlite3.connect(self.data / "errand.db") as database:
            to_version_4(database)
        database.close()
        server.restart()
        self.assertEqual(server.client().snapshot(run)["status"], "succeeded")
        server.stop()
        self.check_data()

    def test_no_space(self):
        if not shutil.which("unshare"):
            self.skipTest("a file system of its own needs unshare")
        place = self.root / "small"
        place.mkdir()
        said = self.errand(
            *self.run_words("--model", "fast", "--data", str(place)),
            before=("unshare", "--mount", "--map-root-user", "sh", "-c", TMPFS, str(place)))
        if "unshare failed" in said[2] or "mount: " in said[2]:
            self.skipTest("this user may not mount a file system of its own")
        self.assertEqual(said, (
            1, "", "errand: the disk is nearly full: N MB are left on the file system of "
                   "ROOT/small/errand.db, and below 64 MB new runs are refused so that running "
                   "ones can finish\nhint: Free some disk space, or wait until old runs are "
                   "removed.\n"))


class ClientFailureTest(FailureCase):
    def test_an_unknown_model(self):
        said = self.errand(*self.run_words("--model", "fsat"))
        self.assertEqual(said, (
            1, "", 'errand: no model is called "fsat" (at /modelId)\n'
                   "hint: did you mean fast? use one of the candidates, or leave modelId out for "
                   "the default: fast, faster, crashing, endless, huge, binary, typo\n"))

    def test_a_wrong_key(self):
        server = self.start_server()
        said = self.errand("run", "Go.", "--server", server.url, "--key", "wrong")
        self.assertEqual(said, (
            3, "", "errand: http://HOST:PORT refuses the key of --key: the key is unknown, has "
                   "expired, or was revoked\nhint: give another with --key KEY; where "
                   "'errand serve' keeps its data, 'errand keys create' makes one\n"))

    def test_a_server_that_is_down(self):
        self.start_server().stop()
        said = self.errand("run", "Go.", "--data", str(self.data))
        self.assertEqual(said, (
            3, "", "errand: cannot connect to HOST:PORT: Connection refused\n"
                   "hint: is the server at http://HOST:PORT running? 'errand serve' starts one, "
                   "--server URL names another, --embedded runs without one\n"))


class ToolFailureTest(FailureCase):
    def shown(self, model: str) -> str:
        """What the user sees of the call's end; the run goes on and succeeds."""
        code, out, errors = self.errand(*self.run_words("--shell", "--yes", "--model", model))
        self.assertEqual((code, out), (0, "Look.\nDone.\n"))
        call, end, summary, _ = errors.splitlines(keepends=True)
        self.assertRegex(call + summary, rf"\A-> shell .*\n{model}, 2 turns, .*\n\Z")
        return end

    def told(self, model: str) -> str:
        """What the model was told of its call."""
        code, out, _ = self.errand(*self.run_words("--shell", "--yes", "--json", "--model", model))
        self.assertEqual(code, 0)
        [event] = [event for event in map(json.loads, out.splitlines())
                   if event["type"] in ("local_tool_result_in", "tool_result")]
        return event.get("error") or event["result"]

    def test_a_tool_that_crashes(self):
        self.assertEqual(self.shown("crashing"),
                         "<- shell failed: The command was ended by SIGSEGV. one \n")
        self.assertEqual(self.told("crashing"), "The command was ended by SIGSEGV.\none\n")

    def test_an_endless_tool(self):
        self.assertEqual(
            self.shown("endless"),
            "<- shell failed: The command took longer than 1 s and was ended. one \n")
        self.assertEqual(self.told("endless"),
                         "The command took longer than 1 s and was ended.\none\n")

    def test_huge_output(self):
        self.assertEqual(self.shown("huge"), "<- shell 4 lines, N ms\n")
        self.assertEqual(self.told("huge"), "Exit code 0.\n" + "x" * 9_999 + "\n[970001 of 1000000 "
                                            "bytes are left out here]\n" + "x" * 20_000)

    def test_binary_output(self):
        self.assertEqual(self.shown("binary"), "<- shell 2 lines, N ms\n")
        self.assertEqual(self.told("binary"), "Exit code 0.\n[binary output, 8 bytes]")

    def test_a_tool_that_is_not_there(self):
        self.assertEqual(self.told("typo"), 'There is no tool called "reed_file". Did you mean '
                         "read_file? Available tools: read_file list_files search_files shell")


if __name__ == "__main__":
    import unittest

    unittest.main()
