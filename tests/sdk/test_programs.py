"""Programs with the SDK that go on with the run of another: they answer its calls, or replay it."""

import os
import unittest

from sdk.installed import ROOT, InstalledCase
from support.server import Server, binary

HERE = ROOT / "tests" / "sdk"
CALLS = 3
SECONDS_MAX = 60


class ProgramTest(InstalledCase):
    def setUp(self):
        turns = [{"text": ["Hm."],
                  "toolCalls": [{"name": "double", "args": {"number": number}}
                                for number in range(CALLS)]},
                 {"text": ["Done."]}]
        self.server = Server(turns).start()
        self.addCleanup(self.server.close)
        self.environment = os.environ | {"ERRAND_SERVER": self.server.url,
                                         "ERRAND_API_KEY": self.server.key}
        self.pool = self.compile("clang++-19", HERE / "pool.cpp", "-O1")
        self.calls = self.work / f"{self._testMethodName}.calls"

    def say(self, *command, **options) -> str:
        return self.must(*command, env=self.environment, timeout=SECONDS_MAX, **options)

    def run_to_its_end(self) -> str:
        """One process starts the run and ends, another answers its calls."""
        run = self.say(self.pool, "start").strip()
        self.assertEqual(self.say(self.pool, "join", run, self.calls), "Done.\n")
        return run

    def test_a_run_is_joined_by_another_process(self):
        self.run_to_its_end()
        self.assertEqual(len(set(self.calls.read_text().split())), CALLS)

    def test_an_exported_run_is_a_regression_test(self):
        exported = self.say(binary(), "runs", "export", self.run_to_its_end())
        replay = self.compile("clang++-19", HERE / "replay.cpp", "-O1")
        self.assertEqual(self.say(replay, input=exported), "Done.\n0 2 4\n")


if __name__ == "__main__":
    unittest.main()
