"""kill -9 while the engine itself calls tools: no effect happens twice.

A shell command cannot be repeated, so it happens once or not at all, and the model is told if
nobody knows. A page can be fetched again, so its run always comes to its answer. ERRAND_TORTURE
multiplies the number of kills; ERRAND_SEED chooses the moments.
"""

import http.server
import os
import random
import signal
import subprocess
import threading
import time
import unittest

from support.agent import Agent, Availability, join_all
from support.embedded import EmbeddedCase
from support.http import Client, Frame
from support.script import local_tool, turn, write_config
from support.server import Server, ServerCase, binary, die_with_parent

TORTURE = int(os.environ.get("ERRAND_TORTURE", "1"))
SEED = int(os.environ.get("ERRAND_SEED", "1"))
END_SECONDS_MAX = 60
CUT_TIMEOUT_MS = 1000  # for the answer of a client that is gone


class KillShellTest(EmbeddedCase):
    """Runs without a server, whose shell commands append to a file."""

    KILLS = 15 * TORTURE
    STEPS = ("a", "b", "c")
    LINES_MAX = 10  # the events of such a run
    PAUSE_SECONDS_MAX = 0.02
    TURN_MS = 15  # of the model, so that kills come between the commands, too

    FINISHER_MS = 500  # a process with a shell has so long to go on with the runs of others

    def command(self, *words: str) -> list[str]:
        return [binary(), "run", "Go.", "--config", str(self.config), "--data", str(self.data),
                "--shell", "--yes", "--json", *words]

    def run_and_kill(self, number: int) -> None:
        """Kills a run after some of its events."""
        effects = self.root / f"effects-{number}"
        calls = [turn(calls=[("shell", {"command": f"echo {step} >> {effects}"})],
                      delayMs=self.TURN_MS) for step in self.STEPS]
        self.config = write_config(self.root, {
            "cut": [*calls, turn("Done.")],
            "finisher": [turn("Nothing to do.", delayMs=self.FINISHER_MS)]})
        process = subprocess.Popen(self.command("--model", "cut"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   cwd=str(self.cwd), preexec_fn=die_with_parent)
        with process.stdout:
            for _ in range(self.random.randint(0, self.LINES_MAX)):
                if not process.stdout.readline():
                    break
            pause = self.random.random() * self.PAUSE_SECONDS_MAX
            time.sleep(pause)  # paced: kills between the events that a reader can see
            process.kill()
        process.wait()

    def effects_of(self, number: int) -> list[str]:
        path = self.root / f"effects-{number}"
        return path.read_text().split() if path.exists() else []

    def finish_runs(self) -> None:
        """Lets a process that has a shell go on, then a server end what is left."""
        done = subprocess.run(self.command("--model", "finisher"), stdin=subprocess.DEVNULL,
                              capture_output=True, cwd=str(self.cwd), timeout=END_SECONDS_MAX,
                              preexec_fn=die_with_parent)
        self.assertEqual(done.returncode, 0, done.stderr)
        if not self.server:
            self.server = self.serve_data()
        else:
            self.server.restart()
        client = self.server.client()
        for run in client.request("GET", "/agent-runs?status=running").json()["runs"]:
            client.log(run["runId"])  # comes to its end with the run
        self.server.stop()

    def test_command_happens_once_or_not_at_all(self):
        self.random = random.Random(SEED)
        self.server = None
        cut_short = 0
        gone_on = 0
        for number in range(self.KILLS):
            self.run_and_kill(number)
            before = self.effects_of(number)
            self.finish_runs()
            effects = self.effects_of(number)
            # A call whose outcome nobody knows may leave a hole, but nothing comes twice.
            self.assertEqual(effects, [step for step in self.STEPS if step in effects],
                             f"seed {SEED}, kill {number}")
            cut_short += len(effects) < len(self.STEPS)
            gone_on += len(effects) > len(before)
        self.check_data()
        self.assertGreater(gone_on, 0, "no process with a shell went on with a run")
        print(f"kill_tools: {self.KILLS} kills of runs with a shell, {cut_short} left out a call, "
              f"{gone_on} went on with others")


class CutOffCommandTest(EmbeddedCase):
    """A shell command that runs when `errand run` is killed."""

    UNKNOWN = "It may or may not have taken effect. Check before calling it again."

    def setUp(self):
        super().setUp()
        self.effects = self.root / "effects"
        self.begun = self.root / "begun"
        os.mkfifo(self.begun)
        command = f"echo $$ >> {self.effects}; echo > {self.begun}; exec sleep 1000"
        self.scripts = {"cut": [turn(calls=[("shell", {"command": command})]), turn("I see.")],
                        "again": [turn("Nothing to do.")]}
        self.config = write_config(self.root, self.scripts)

    def start(self, *words: str) -> subprocess.Popen:
        command = [binary(), "run", "Go.", "--shell", "--yes", "--json", *words]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, cwd=str(self.cwd),
                                preexec_fn=die_with_parent)

    def kill_while_it_runs(self, process: subprocess.Popen) -> None:
        self.begun.read_text()  # comes to an end once the command has begun
        process.kill()
        process.wait()
        pid = int(self.effects.read_text())
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it went with its parent

    def assert_refused_as_claimed(self, call: str, *place: str) -> None:
        done = subprocess.run([binary(), "calls", "answer", call, "--result", "Done.", *place],
                              capture_output=True, text=True, timeout=END_SECONDS_MAX,
                              cwd=str(self.cwd), preexec_fn=die_with_parent)
        self.assertEqual((done.returncode, done.stdout, done.stderr.splitlines()[:1]),
                         (1, "", [f'errand: the call "{call}" is claimed by another']))

    def assert_told_once(self, client: Client, run: str) -> None:
        with client.stream(run) as stream:
            frames = [frame.json() for frame in stream]
        self.assertEqual([(one["ok"], self.UNKNOWN in one["result"]) for one in frames
                          if one["type"] == "tool_result"], [(False, True)])
        self.assertEqual((frames[-1]["type"], frames[-1]["text"]), ("result", "I see."))
        self.assertEqual(len(self.effects.read_text().split()), 1, "the command ran again")

    def test_embedded(self):
        data = ["--config", str(self.config), "--data", str(self.data)]
        self.kill_while_it_runs(self.start(*data, "--model", "cut"))
        # Another process that has a shell takes the run over, and then a server does.
        self.assertEqual(self.start(*data, "--model", "again").wait(END_SECONDS_MAX), 0)
        client = self.serve_data().client()
        runs = client.request("GET", "/agent-runs").json()["runs"]
        cut = next(run["runId"] for run in runs if run["modelId"] == "cut")
        self.assert_told_once(client, cut)

    def test_client_of_a_server(self):
        server = Server(self.scripts)
        self.addCleanup(server.close)
        client = server.start().client()
        self.addCleanup(server.kill)
        words = ["--server", server.url, "--key", server.key, "--model", "cut"]
        self.kill_while_it_runs(self.start(*words))
        run = client.request("GET", "/agent-runs").json()["runs"][0]["runId"]
        call = client.snapshot(run)["pendingCalls"][0]["toolUseId"]
        for _ in range(2):  # a restart changes nothing: the call is still claimed
            claim = client.request("POST", f"/tool-calls/{call}/claim", {})
            self.assertEqual((claim.status, claim.json()["code"]), (409, "claimed"))
            self.assert_refused_as_claimed(call, "--server", server.url, "--key", server.key)
            server.kill()
            client = server.start().client()
        client.cancel(run)
        client.log(run)  # comes to its end with the run
        self.assertEqual(len(self.effects.read_text().split()), 1, "the command ran again")

    def end_after_a_claim(self, policy: str) -> dict:
        """The end of a run whose call was claimed and never answered."""
        server = Server({"cut": [turn(calls=[("act", {})]), turn("I see.")]})
        self.addCleanup(server.close)
        client = server.start().client()
        self.addCleanup(server.kill)
        run = client.create(prompt="Go.", modelId="cut", tools=[local_tool("act")],
                            budgets={"localToolTimeoutMs": CUT_TIMEOUT_MS,
                                     "onLocalToolTimeout": policy})
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
            claim = client.request("POST", f"/tool-calls/{call}/claim", {"ttlMs": 600_000})
            self.assertEqual(claim.status, 200)
            frames = [frame.json() for frame in stream]
        told = [one["result"] for one in frames if one["type"] == "tool_result"]
        self.assertEqual([self.UNKNOWN in one for one in told], [True])
        return frames[-1]

    def test_the_model_is_told_of_a_call_that_a_client_had_claimed(self):
        end = self.end_after_a_claim("continue")
        self.assertEqual((end["type"], end["subtype"], end["text"]),
                         ("result", "success", "I see."))

    def test_a_run_that_may_not_go_on_says_first_that_the_call_may_have_taken_effect(self):
        end = self.end_after_a_claim("fail")
        self.assertEqual((end["type"], end["subtype"]), ("result", "error_local_tool_timeout"))


class CountingPages(http.server.ThreadingHTTPServer):
    """Counts how often each page is fetched."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.lock = threading.Lock()
        self.counts: dict[str, int] = {}

    def fetched(self, path: str) -> int:
        with self.lock:
            return self.counts.get(path, 0)


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with self.server.lock:
            self.server.counts[self.path] = self.server.counts.get(self.path, 0) + 1
        body = b"The page."
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class KillFetchTest(ServerCase):
    """A server whose runs fetch pages, killed again and again. Each client has pages of its own."""

    KILLS = 5 * TORTURE
    CLIENTS = 3
    STEPS = 2
    FRAMES_MAX = 40  # from one kill to the next

    def setUp(self):
        self.pages = CountingPages()
        self.addCleanup(self.pages.server_close)
        threading.Thread(target=self.pages.serve_forever, daemon=True).start()
        self.addCleanup(self.pages.shutdown)
        origin = f"http://127.0.0.1:{self.pages.server_address[1]}"

        def script(model: int) -> list[dict]:
            steps = [turn("Let me look.", calls=[("web_fetch", {"url": origin + page})])
                     for page in self.pages_of(model)]
            return [*steps, turn("Done.")]

        self.server = self.start_server({f"model-{model}": script(model)
                                         for model in range(self.CLIENTS)},
                                        {"network": {"allow": ["127.0.0.0/8"]}})
        self.random = random.Random(SEED)
        self.availability = Availability()
        self.seen = threading.Semaphore(0)
        self.done = threading.Event()
        self.kills = 0
        self.agents: list[Agent] = []
        self.failures: list[BaseException] = []

    def pages_of(self, model: int) -> list[str]:
        return [f"/{model}/{step}" for step in range(self.STEPS)]

    def work(self, model: int) -> None:
        """One run after the other, so that nobody else fetches the pages of the model."""
        told = [0] * self.STEPS
        try:
            while not self.done.is_set():
                told = self.follow_run(model, told)
        except BaseException as error:
            self.failures.append(error)

    def follow_run(self, model: int, before: list[int]) -> list[int]:
        """Follows one run to its end, and gives how often its pages were fetched by then."""
        pages = self.pages_of(model)
        told: list[int] = []  # how often each page was fetched when its result was read

        def saw(_agent: Agent, frame: Frame) -> None:
            if frame.event == "tool_result":
                told.append(self.pages.fetched(pages[len(told)]))
            self.seen.release()

        spec = {"prompt": "Go.", "modelId": f"model-{model}",
                "tools": [{"kind": "mantyx_plugin", "name": "web_fetch"}]}
        agent = Agent(self.server.client(), spec, self.availability, saw, lambda *_: None)
        self.agents.append(agent)
        kills_before = self.kills
        begun_with = [self.pages.fetched(page) for page in pages]
        if begun_with != before:
            raise AssertionError(f"fetched {before} times, and {begun_with} after the run's end")
        agent.follow()
        fetched = [self.pages.fetched(page) for page in pages]
        if fetched[:len(told)] != told:
            raise AssertionError(f"fetched {told} times when the results were read, then {fetched}")
        if len(told) < self.STEPS and not agent.is_given_up:
            raise AssertionError(f"{len(told)} results, then {agent.frames[-1].json()}")
        # Only a kill makes a call again.
        most = max(now - then for now, then in zip(fetched, before))
        if most > 1 + self.kills - kills_before:
            raise AssertionError(f"fetched {most} times, {self.kills - kills_before} kills")
        return fetched

    def test_every_run_comes_to_its_answer(self):
        workers = [threading.Thread(target=self.work, args=(model,), daemon=True)
                   for model in range(self.CLIENTS)]
        for worker in workers:
            worker.start()
        for _ in range(self.KILLS):
            for _ in range(self.random.randint(1, self.FRAMES_MAX)):
                self.assertTrue(self.seen.acquire(timeout=END_SECONDS_MAX), self.failures)
            self.kills += 1
            self.availability.went_down()
            self.server.kill()
            self.server.restart()
            while self.seen.acquire(blocking=False):
                pass  # frames from before the kill
            self.availability.came_up()
        self.done.set()
        self.assertEqual((join_all(workers, END_SECONDS_MAX), self.failures), (0, []),
                         f"seed {SEED}")
        given_up = [agent for agent in self.agents if agent.is_given_up]
        self.assertLessEqual(3 * len(given_up), self.KILLS)
        for agent in self.agents:
            if agent.is_given_up:
                continue
            results = [frame.json() for frame in agent.frames if frame.event == "tool_result"]
            self.assertEqual(len(results), self.STEPS, agent.run)
            # A call that three kills in a row have cut off is not made again.
            unknown = [one["result"] for one in results if not one["ok"]]
            self.assertEqual([text for text in unknown if "A restart cut" not in text], [])
            self.assertEqual(agent.frames[-1].json()["subtype"], "success", agent.run)
        self.check_data(self.server)
        print(f"kill_fetch: {self.KILLS} kills, {len(self.agents)} runs, "
              f"{len(given_up)} given up after three kills in a row")


if __name__ == "__main__":
    unittest.main()
