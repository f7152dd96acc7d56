"""The official Python SDK in a virtual environment of its own, and programs that use it."""

import json
import subprocess
import threading
from pathlib import Path

from support.python_packages import python_with
from support.server import Server, ServerCase, die_with_parent

INTEROP = Path(__file__).resolve().parent.parent / "interop"
LOCK_FILE = INTEROP / "requirements.txt"
ENVIRONMENTS = INTEROP.parent.parent / "build" / "python-sdk"
CALL_SECONDS_MAX = 120


def python_with_sdk(lock_file: Path = LOCK_FILE) -> Path:
    return python_with(lock_file, ENVIRONMENTS)


class SdkCall:
    """One call of the SDK in a process of its own (tests/interop/drive_sdk.py), and what it
    reported. A call that does not end is killed, and fails."""

    def __init__(self, python: Path, task: dict):
        self.reports: list[dict] = []
        self.process = subprocess.Popen([python, INTEROP / "drive_sdk.py"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=die_with_parent)
        self.watchdog = threading.Timer(CALL_SECONDS_MAX, self.process.kill)
        self.watchdog.start()
        self.tell(json.dumps(task))

    def tell(self, line: str) -> None:
        """The answer of the tool `wait`, whether it is called already or not."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, what: str, name: str = "") -> dict:
        """Reads up to the first report of this kind: of an event by its type, of a tool by its
        name."""
        for line in self.process.stdout:
            report = json.loads(line)
            self.reports.append(report)
            value = report.get(what)
            if value is not None and (not name or name in (value.get("type"), *value)):
                return value
        raise AssertionError(f"the SDK ended without {what} {name}: {self.reports[-5:]}")

    def finish(self) -> "SdkCall":
        """Reads the rest."""
        for line in self.process.stdout:
            self.reports.append(json.loads(line))
        code = self.process.wait()
        self.close()
        if code != 0:
            raise AssertionError(f"the SDK's program ended with {code}: {self.reports[-5:]}")
        return self

    def close(self) -> None:
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def all(self, what: str) -> list:
        return [report[what] for report in self.reports if what in report]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.all("event")]

    def fields(self, kind: str) -> list[dict]:
        """What the events of a type say."""
        return [event["data"] for event in self.all("event") if event["type"] == kind]

    @property
    def returned(self) -> dict | None:
        """What the call returned; what it raised is a failure."""
        last = self.reports[-1]
        if "returned" not in last:
            raise AssertionError(f"the SDK did not return: {last}")
        return last["returned"]

    @property
    def raised(self) -> dict:
        last = self.reports[-1]
        if "raised" not in last:
            raise AssertionError(f"the SDK did not raise: {last}")
        return last["raised"]


class SdkCase(ServerCase):
    """A test that calls the SDK."""

    python: Path
    client = "sync"

    @classmethod
    def setUpClass(cls):
        cls.python = python_with_sdk()

    def start_call(self, server: Server, call: str, tools=(), url: str = "", key: str = "",
                   workspace: str = "", oauth: dict | None = None, **arguments) -> SdkCall:
        task = {"client": self.client, "call": call, "url": url or server.url,
                "key": key or server.key, "workspace": workspace or server.workspace,
                "oauth": oauth, "tools": list(tools), "arguments": arguments}
        started = SdkCall(self.python, task)
        self.addCleanup(started.close)
        return started

    def call(self, server: Server, call: str, tools=(), **others) -> SdkCall:
        return self.start_call(server, call, tools, **others).finish()

    def run_of(self, server: Server) -> str:
        """The id of the only run."""
        runs = server.client().request("GET", "/agent-runs").json()["runs"]
        self.assertEqual(len(runs), 1)
        return runs[0]["runId"]

    def check_saw_all(self, server: Server, done: SdkCall, run: str = "") -> None:
        """The SDK handed on every event once and in order, with all that it says."""
        log = [frame.json() for frame in server.client().log(run or self.run_of(server))]
        self.assertEqual([(event["seq"], event["type"], event["data"])
                          for event in done.all("event")],
                         [(line["seq"], line["type"], line["data"]) for line in log])
