"""`errand doctor`: what it finds, and that it changes nothing."""

import json
import os
import re
import socket
import subprocess
import tempfile
from pathlib import Path

from support.script import turn
from support.server import NO_OLLAMA, SANITIZER_WORDS, ServerCase, binary
from support.terminal import plain_environment

SECONDS_MAX = 60
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """All files with their sizes and modes."""
    return {path.name: (path.stat().st_size, path.stat().st_mode) for path in folder.iterdir()}


class DoctorCase(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def doctor(self, *words: str, **variables: str) -> tuple[int, str]:
        done = subprocess.run(
            [binary(), "doctor", *words], cwd=self.folder, capture_output=True, text=True,
            timeout=SECONDS_MAX, env=plain_environment(OLLAMA_HOST=NO_OLLAMA, **variables))
        self.assertFalse([word for word in SANITIZER_WORDS if word in done.stderr], done.stderr)
        return done.returncode, TIME.sub("TIME", done.stdout)

    def found(self, subject: str, *words: str, **variables: str) -> list[tuple[str, str, str]]:
        """Status, message and next step of what was found on a subject."""
        report = json.loads(self.doctor(*words, "--json", **variables)[1])
        self.assertEqual(report["ok"],
                         all(check["status"] != "error" for check in report["checks"]))
        return [(check["status"], check["message"], check["next"])
                for check in report["checks"] if check["subject"] == subject]

    def url(self) -> str:
        """Where nobody listens."""
        return f"http://127.0.0.1:{free_port()}"


class WellTest(DoctorCase):
    def test_a_server_that_is_well(self):
        server = self.start_server([turn("Hi.")])
        before = sorted(listing(server.data))
        code, shown = self.doctor("--data", str(server.data))
        shown = re.sub(r"[\d.]+ [KMGT]?B\b", "SIZE", shown.replace(str(server.data), "DATA"))
        lines = [line for line in shown.splitlines() if "descriptors" not in line]
        place = server.url.removeprefix("http://")
        version = subprocess.run([binary(), "version"], capture_output=True,
                                 text=True).stdout.split()[1]
        self.assertEqual(lines, [
            "✓ data directory: DATA, SIZE free",
            "✓ store: DATA/errand.db, SIZE, version 11, 0 runs, no damage, "
            f"in use by process {server.pid}",
            f"✓ credentials: DATA/credentials is for {server.url}",
            f"✓ port: {place} is the server's",
            f"✓ server: {server.url} answers, version {version}",
            "✓ clock: TIME",
            "✓ key: accepted for the workspace default",
            "✓ model scripted: reachable",
            "✓ certificates: CA certificates are found",
            "All is well.",
        ])
        self.assertEqual(code, 0)
        self.assertEqual(sorted(listing(server.data)), before)

    def test_a_newcomer_is_told_how_to_begin(self):
        self.assertEqual(self.found("data directory"), [
            ("warning", "there is no ./.errand yet",
             "'errand serve' makes it; --data DIR names another.")])
        self.assertEqual(self.found("store"), [
            ("ok", "there is no ./.errand/errand.db yet; the first start creates it", None)])
        self.assertEqual(self.found("model demo"), [("ok", "reachable", None)])
        self.assertEqual(list(self.folder.iterdir()), [])


class WrongTest(DoctorCase):
    def test_a_server_that_is_down(self):
        server = self.start_server([turn("Hi.")])
        server.stop()
        before = listing(server.data)
        place = server.url.removeprefix("http://")
        data = str(server.data)
        self.assertEqual(self.found("port", "--data", data), [("ok", f"{place} is free", None)])
        [(status, message, following)] = self.found("server", "--data", data)
        self.assertEqual((status, following), (
            "warning", f"Start one with 'errand serve --data {data}', "
                       "or name another with --server URL."))
        self.assertIn(f"cannot connect to {place}", message)
        self.assertEqual(self.doctor("--data", data)[0], 0)
        self.assertEqual(listing(server.data), before)

    def test_a_server_that_is_named_has_to_answer(self):
        url = self.url()
        [(status, message, _)] = self.found("server", "--server", url, "--key", "k")
        self.assertEqual(status, "error")
        self.assertIn("cannot connect to", message)
        self.assertEqual(self.doctor("--server", url, "--key", "k")[0], 1)

    def test_a_port_that_another_program_has(self):
        name = Path("/proc/self/comm").read_text().strip()
        with socket.create_server(("127.0.0.1", 0)) as other:
            place = f"127.0.0.1:{other.getsockname()[1]}"
            found = self.found("port", "--server", f"http://{place}", "--key", "k")
        self.assertEqual(found, [
            ("error", f"process {os.getpid()} ({name}) listens on {place} "
                      "and is not an Errand server",
             "End it, or serve elsewhere: errand serve --listen 127.0.0.1:0")])

    def test_a_key_that_is_wrong_or_open_to_others(self):
        server = self.start_server([turn("Hi.")])
        credentials = server.data / "credentials"
        os.chmod(credentials, 0o644)
        self.assertEqual(self.found("credentials", "--data", str(server.data)), [
            ("warning", f"{credentials} holds a key, and other users may read it",
             f"Make it private: chmod 600 {credentials}")])
        self.assertEqual(self.found("key", "--data", str(server.data), ERRAND_API_KEY="wrong"), [
            ("error", f"{server.url} refuses the key of the variable ERRAND_API_KEY: "
                      "the key is unknown, has expired, or was revoked",
             "give another with --key KEY; where 'errand serve' keeps its data, "
             "'errand keys create' makes one")])

    def test_a_store_that_is_damaged(self):
        server = self.start_server([turn("Hi.")])
        server.stop()
        database = server.data / "errand.db"
        database.write_bytes(b"x" * 10_000)
        [(status, message, following)] = self.found("store", "--data", str(server.data))
        self.assertEqual((status, following),
                         ("error", "Restore a backup with 'errand restore FILE'."))
        self.assertIn("file is not a database", message)

    def test_a_data_directory_that_is_a_file(self):
        (self.folder / "data").write_text("")
        self.assertEqual(self.found("data directory", "--data", "data"), [
            ("error", f"{self.folder}/data is not a directory",
             "Choose another one with --data DIR.")])

    def test_models_that_cannot_be_reached(self):
        config = self.folder / "config.json"
        config.write_text(json.dumps({"models": [
            {"id": "far", "provider": "openai-compatible", "baseUrl": self.url() + "/v1",
             "retries": 0}]}))
        [(status, message, following)] = self.found("model far", "--config", str(config))
        self.assertEqual((status, following), (
            "error", "Check its baseUrl, and whether the network lets you through."))
        self.assertRegex(message, "^unreachable: ")

    def test_a_configuration_that_is_wrong(self):
        config = self.folder / "config.json"
        config.write_text('{"modles": []}')
        self.assertEqual(self.found("models", "--config", str(config)), [
            ("error", f'{config}:1:2: "modles" is not a setting here; did you mean models? '
                      "(at /modles)", None)])


if __name__ == "__main__":
    import unittest

    unittest.main()
