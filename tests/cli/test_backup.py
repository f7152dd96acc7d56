"""Backups as a user makes and restores them, beside the real server."""

import os
import subprocess
from pathlib import Path

from support.script import local_tool, turn
from support.server import SANITIZER_WORDS, Server, ServerCase, binary, die_with_parent

SECONDS_MAX = 60
SCRIPT = [turn("Let me ", "look.", calls=[("look", {"path": "a"})]), turn("It says ", "one.")]
LOOK = local_tool("look", path="string")


def command(*words: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command of the binary."""
    done = subprocess.run([binary(), *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=SECONDS_MAX, check=False,
                          preexec_fn=die_with_parent)
    found = [word for word in SANITIZER_WORDS if word in done.stderr]
    if found:
        raise AssertionError(done.stderr)
    return done.returncode, done.stdout, done.stderr


class BackupTest(ServerCase):
    def setUp(self):
        self.server = self.start_server(SCRIPT)
        self.file = Path(self.server.folder.name) / "copy.db"

    def back_up(self, *words: str) -> tuple[int, str, str]:
        return command("backup", str(self.file), "--data", str(self.server.data), *words)

    def restore(self, data: Path, *words: str) -> tuple[int, str, str]:
        return command("restore", str(self.file), "--data", str(data), *words)

    def waiting_run(self) -> tuple[str, str]:
        """A run that waits for its client, and the call that it waits for."""
        client = self.server.client()
        run = client.create(prompt="Look.", tools=[LOOK])
        with client.stream(run) as stream:
            call = stream.until("assistant_message")
        return run, next(frame for frame in call
                         if frame.event == "local_tool_call").json()["toolUseId"]

    def restored_server(self) -> Server:
        """A server that is to be started on another data directory, with the keys of the first."""
        other = Server(SCRIPT)
        other.key = self.server.key
        self.addCleanup(self.close_server, other)
        return other

    def test_a_waiting_run_goes_on_from_a_backup_that_was_made_while_the_server_ran(self):
        run, tool_use = self.waiting_run()
        code, out, errors = self.back_up()
        self.assertEqual((code, errors), (0, ""))
        self.assertRegex(out, rf"^backed up to {self.file} \(1 run, [0-9.]+ KB\)\n$")
        later = self.server.client().create(prompt="Look.", tools=[LOOK])
        answered = self.server.client().answer(run, tool_use, result="lost with the server")
        self.assertEqual(answered.status, 204)
        self.server.kill()

        other = self.restored_server()
        code, out, errors = self.restore(other.data)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn(f"Start it with: errand serve --data {other.data}\n", out)
        client = other.start().client()

        with client.stream(run) as stream:
            self.assertEqual(client.answer(run, tool_use, result="one").status, 204)
            frames = list(stream)
        self.assertEqual(frames[-1].event, "result")
        self.assertTrue(frames[-1].json()["ok"])
        results = [frame.json()["result"] for frame in frames
                   if frame.event == "local_tool_result_in"]
        self.assertEqual(results, ["one"])
        self.assertEqual(client.request("GET", f"/agent-runs/{later}").status, 404)

    def test_a_backup_is_private_and_replaced_only_by_force(self):
        self.assertEqual(self.back_up()[0], 0)
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
        self.assertEqual(self.back_up(), (
            1, "", f"errand: {self.file} exists\nhint: --force replaces it\n"))
        self.assertEqual(self.back_up("--force")[0], 0)

    def test_a_data_directory_in_use_is_not_restored(self):
        self.assertEqual(self.back_up()[0], 0)
        code, out, errors = self.restore(self.server.data, "--force")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(errors, f"errand: in use by process {self.server.pid}, which holds "
                                 f"{self.server.data}/errand.db.lock\n")

    def test_a_database_is_replaced_only_by_force_and_kept(self):
        run, _ = self.waiting_run()
        self.assertEqual(self.back_up()[0], 0)
        self.server.stop()
        database = self.server.data / "errand.db"
        self.assertEqual(self.restore(self.server.data), (
            1, "", f"errand: there is a database at {database}\nhint: --force replaces it\n"))

        code, out, errors = self.restore(self.server.data, "--force")

        self.assertEqual((code, errors), (0, ""))
        kept = [path.name for path in self.server.data.iterdir()
                if path.name.startswith("errand.db.before-restore-")]
        self.assertEqual(len(kept), 1)
        self.assertIn(kept[0], out)
        self.server.restart()
        self.assertEqual(self.server.client().snapshot(run)["status"], "running")

    def test_what_is_no_backup_is_refused(self):
        self.server.stop()
        self.file.write_text("a letter\n" * 1000)
        code, out, errors = self.restore(self.server.data, "--force")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("file is not a database", errors)
        self.file.unlink()
        code, _, errors = self.restore(self.server.data, "--force")
        self.assertEqual((code, errors), (1, f"errand: there is no database at {self.file}\n"))
        self.server.restart()
