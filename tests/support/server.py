"""The real server as a process of a test."""

import ctypes
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support.http import Client
from support.script import DEFAULT_MODEL, write_config

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30
CHECK_SECONDS_MAX = 120
DRAIN = "1s"
NO_OLLAMA = "127.0.0.1:1"  # nobody listens there
PR_SET_PDEATHSIG = 1
SANITIZER_WORDS = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:",
                   "WARNING: ThreadSanitizer")


def binary() -> str:
    path = os.environ.get("ERRAND_BINARY", "")
    if not path:
        raise RuntimeError("ERRAND_BINARY does not name the server's binary")
    return str(Path(path).resolve())


def die_with_parent() -> None:
    """Runs in the child: nothing that a test starts outlives it, even if the test is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def raise_file_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Server:
    """A server on a temporary folder. Restarts keep the data and the port.

    `scripts` is the turns of the one scripted model, or a script for each model by name; None
    starts the server without a configuration file. No keys of vendors and no Ollama of this machine
    are seen, save by `variables` of the environment.
    """

    def __init__(self, scripts, extra_config: dict | None = None, arguments: tuple = (),
                 variables: dict[str, str] | None = None):
        self.folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        root = Path(self.folder.name)
        self.data = root / "data"
        if isinstance(scripts, list):
            scripts = {DEFAULT_MODEL: scripts}
        self.config = write_config(root, scripts, extra_config) if scripts else None
        self.arguments = arguments
        self.variables = {"OLLAMA_HOST": NO_OLLAMA} | (variables or {})
        self.errors_path = root / "stderr.log"
        self.port = 0
        self.url = ""
        self.key = ""
        self.workspace = ""
        self.process: subprocess.Popen | None = None

    def command(self) -> list[str]:
        config = ["--config", str(self.config)] if self.config else []
        return [binary(), "serve", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data),
                *config, "--drain", DRAIN, *self.arguments]

    def start(self) -> "Server":
        """Returns when the server says that it accepts requests."""
        raise_file_limit()
        environment = {name: value for name, value in os.environ.items()
                       if not name.endswith(("_API_KEY", "_BASE_URL"))} | self.variables
        with self.errors_path.open("ab") as errors:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                cwd=self.folder.name, env=environment, preexec_fn=die_with_parent)
        try:
            ready = json.loads(self.read_ready_line())
        except BaseException:
            self.kill()
            raise
        self.url = ready["url"]
        self.port = int(self.url.rsplit(":", 1)[1])
        self.workspace = ready["workspace"]
        self.key = ready.get("apiKey", self.key)
        return self

    def read_ready_line(self) -> bytes:
        line = b""
        deadline = time.monotonic() + START_SECONDS_MAX
        output = self.process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise AssertionError(f"the server is not ready after {START_SECONDS_MAX} s")
                piece = os.read(output, 4096)
                if not piece:
                    code = self.process.wait()
                    raise AssertionError(
                        f"the server ended with {code} before it was ready:\n{self.errors()}")
                line += piece
        return line

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def client(self) -> Client:
        return Client(self.url, self.key, self.workspace)

    def errors(self) -> str:
        """What the server wrote to stderr since the first start."""
        return self.errors_path.read_text(errors="replace") if self.errors_path.exists() else ""

    def kill(self) -> None:
        """kill -9."""
        if self.process:
            self.process.kill()
            self.finish()

    def terminate(self, seconds_max: float = STOP_SECONDS_MAX) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish(seconds_max)

    def finish(self, seconds_max: float = STOP_SECONDS_MAX) -> int:
        process = self.process
        code = process.wait(seconds_max)
        rest = process.stdout.read()
        process.stdout.close()
        self.process = None
        if rest:
            raise AssertionError(f"more than the ready line on stdout: {rest!r}")
        return code

    def restart(self) -> "Server":
        return self.start()

    def stop(self) -> None:
        """Ends the server in the ordinary way, which must succeed."""
        code = self.terminate()
        if code != 0:
            raise AssertionError(f"the server ended with exit code {code}")
        found = [word for word in SANITIZER_WORDS if word in self.errors()]
        if found:
            raise AssertionError(f"{found[0]}, see the server's stderr")

    def close(self) -> None:
        """Removes everything, whatever state it is in."""
        self.kill()
        self.folder.cleanup()


class ServerCase(unittest.TestCase):
    """A test with servers of its own. If it fails, it shows what they wrote to stderr."""

    maxDiff = None

    def run(self, result=None):
        self.server_errors: list[str] = []
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            for text in self.server_errors:
                print(f"--- stderr of the server in {self.id()}\n{text[-8000:]}", file=sys.stderr)

    def start_server(self, scripts, extra_config: dict | None = None,
                     arguments: tuple = (), variables: dict[str, str] | None = None) -> Server:
        server = Server(scripts, extra_config, arguments, variables)
        self.addCleanup(self.close_server, server)
        return server.start()

    def check_data(self, server: Server) -> None:
        """Stops the server and has everything that it stored checked."""
        server.stop()
        done = subprocess.run([binary(), "check-data", "--data", str(server.data)],
                              capture_output=True, text=True, timeout=CHECK_SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def close_server(self, server: Server) -> None:
        try:
            if server.running:
                server.stop()
        finally:
            self.server_errors.append(server.errors())
            server.close()
