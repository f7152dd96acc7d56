"""Programs with the SDK inside that are killed: workers of a pool, and a program that embeds the
engine. ERRAND_TORTURE multiplies the rounds, ERRAND_SEED picks other moments."""

import os
import random
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path

from sdk.installed import ROOT, InstalledCase
from support.server import Server

HERE = ROOT / "tests" / "sdk"
TORTURE = int(os.environ.get("ERRAND_TORTURE") or "1")
WORKERS = 4
RUNS = 20
CALLS = 50  # of each run
WORKER_KILLS = 20 * TORTURE  # that the pool has to live with; more runs are asked for until then
PROGRAM_KILLS = 100 * TORTURE  # of programs with an engine inside
SECONDS_MAX = 240
KILLS_MAX = 40  # of one embedded run; then it is left alone


ANSWERED = f"{RUNS} runs, {RUNS * CALLS} answers to {RUNS * CALLS} calls\n"


class PoolTest(InstalledCase):
    def setUp(self):
        turns = [{"toolCalls": [{"name": "double", "args": {"number": number}}
                                for number in range(CALLS)]},
                 {"text": ["Done."]}]
        self.server = Server(turns).start()
        self.addCleanup(self.server.close)
        self.program = self.compile("clang++-19", HERE / "pool.cpp", "-O1")
        self.environment = os.environ | {"ERRAND_SERVER": self.server.url,
                                         "ERRAND_API_KEY": self.server.key}
        self.random = random.Random(os.environ.get("ERRAND_SEED") or 1)
        self.calls = self.work / f"{self._testMethodName}.calls"

    def start_worker(self) -> subprocess.Popen:
        return subprocess.Popen([self.program, "work", self.calls], env=self.environment,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def test_each_call_is_answered_once_although_workers_are_killed(self):
        workers = [self.start_worker() for _ in range(WORKERS)]
        done = threading.Event()
        kills = 0

        def kill_now_and_then():
            nonlocal kills
            while not done.wait(self.random.uniform(0.1, 0.5)):
                index = self.random.randrange(WORKERS)
                workers[index].kill()
                self.close(workers[index])
                workers[index] = self.start_worker()
                kills += 1

        killer = threading.Thread(target=kill_now_and_then)
        killer.start()
        said = []
        try:
            while not said or kills < WORKER_KILLS:
                said.append(self.must(self.program, "ask", str(RUNS), env=self.environment,
                                      timeout=SECONDS_MAX))
        finally:
            done.set()
            killer.join()
            for worker in workers:
                worker.kill()
                self.close(worker)
        self.assertEqual(set(said), {ANSWERED})
        noted = self.calls.read_text().split()
        self.assertEqual(len(set(noted)), len(said) * RUNS * CALLS)
        print(f"kill: {kills} kills of workers, {len(noted)} calls")

    def test_clients_and_workers_outlive_a_killed_server(self):
        workers = [self.start_worker() for _ in range(2)]
        caller = subprocess.Popen([self.program, "ask", str(RUNS)], env=self.environment,
                                  stdout=subprocess.PIPE, text=True)
        try:
            for _ in range(2):
                time.sleep(self.random.uniform(0.2, 0.6))  # paced: the moment of the kill
                self.server.kill()
                self.server.start()
            said = caller.communicate(timeout=SECONDS_MAX)[0]
        finally:
            for process in [caller, *workers]:
                process.kill()
                process.wait()
            for worker in workers:
                self.close(worker)
            caller.stdout.close()
        self.assertEqual(said, ANSWERED)

    def close(self, worker: subprocess.Popen) -> None:
        worker.wait()
        worker.stdin.close()
        worker.stdout.close()


class EmbeddedTest(InstalledCase):
    def test_a_killed_program_goes_on_and_repeats_no_effect(self):
        program = self.compile("clang++-19", ROOT / "examples" / "embedded_durable" / "main.cpp",
                               "-O1")
        source = random.Random(os.environ.get("ERRAND_SEED") or 1)
        kills = 0
        round_number = 0
        while kills < PROGRAM_KILLS:
            data = self.work / f"data-{round_number}"
            kills += self.run_and_kill(program, data, source)
            with self.subTest(round=round_number):
                effects = (data / "effects").read_text().split()
                self.assertEqual(len(effects), len(set(effects)), effects)
                self.assertEqual(sorted(effects, key=int), effects)
            round_number += 1
            self.assertLess(round_number, PROGRAM_KILLS, "hardly any kill hits a run")
        print(f"kill: {round_number} runs, {kills} kills of embedding programs")

    def test_a_run_waits_for_its_tool_although_its_program_is_killed(self):
        program = self.compile("clang++-19", HERE / "late_tool.cpp", "-O1")
        data = self.work / "data-late"
        self.kill_after(program, data, "ask", "called\n")
        self.kill_after(program, data, "look", "waits for count\n")
        said = self.must(program, data, "answer", timeout=SECONDS_MAX)
        self.assertEqual(said, "counted\n")
        self.assertEqual((data / "effects").read_text(), "begun\nbegun\n")

    def kill_after(self, program: Path, data: Path, what: str, line: str) -> None:
        """Starts the program, and kills it once it has said the line."""
        with subprocess.Popen([program, data, what], stdout=subprocess.PIPE, text=True) as process:
            said = process.stdout.readline()
            process.kill()
        self.assertEqual(said, line)

    def run_and_kill(self, program: Path, data: Path, source: random.Random) -> int:
        """Starts the program again and again until a run ends well; gives the number of kills."""
        for kills in range(KILLS_MAX + 1):
            process = subprocess.Popen([program, data], stdout=subprocess.PIPE, text=True)
            with process:
                if kills < KILLS_MAX:
                    # A run that comes no further in three lives of its program counts as what kills
                    # it, so every other life lasts until the run has come further. How long an
                    # effect takes is the machine's affair: the kill follows the effects.
                    if kills % 2 == 0:
                        self.wait_for_effects(process, data / "effects", source.randint(1, 4))
                        pause = source.uniform(0, 0.005)
                    else:
                        pause = source.uniform(0.005, 0.03)
                    time.sleep(pause)  # paced: the moment of the kill
                    process.kill()
                said = process.communicate(timeout=SECONDS_MAX)[0]
            if said:
                self.assertEqual(said, "I have counted to 20.\n")
                return kills
            self.assertEqual(process.returncode, -signal.SIGKILL)
        self.fail("the run never ended")
        return KILLS_MAX

    def wait_for_effects(self, process: subprocess.Popen, effects: Path, more: int) -> None:
        def seen() -> int:
            return len(effects.read_text().split()) if effects.exists() else 0

        wanted = seen() + more
        while process.poll() is None and seen() < wanted:
            time.sleep(0.0005)  # paced: another process writes the file


if __name__ == "__main__":
    unittest.main()
