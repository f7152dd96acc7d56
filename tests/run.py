#!/usr/bin/env python3
"""Runs Python test files and reports how many cases passed.

Usage: tests/run.py [--report FILE] [-k PATTERN]... [-v] [--update] PATH...

A path is a test file or a folder of them. Prints what failed, and last `N passed, N failed`.
ERRAND_BINARY names the server to test. -k chooses cases as unittest does. --update rewrites what
transcripts expect.
"""

import argparse
import importlib.util
import json
import os
import signal
import sys
import time
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent


class Results(unittest.TextTestResult):
    """Counts each subtest of a failing case once, and shows how long each case took."""

    def __init__(self, stream, descriptions, verbosity):
        super().__init__(stream, False, 0)
        self.names = verbosity > 1
        self.started = 0.0

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        if self.names:
            seconds = time.monotonic() - self.started
            self.stream.writeln(f"{seconds:8.2f} s  {test.id()}")
            self.stream.flush()

    def counts(self) -> dict[str, int]:
        failed_cases = {id(getattr(test, "test_case", test))
                        for test, _ in self.failures + self.errors}
        failed = len(failed_cases) + len(self.unexpectedSuccesses)
        skipped = len(self.skipped)
        # An error in setUpClass has no case of its own.
        passed = max(0, self.testsRun - skipped - failed)
        return {"passed": passed, "failed": failed, "skipped": skipped}


def load(path: Path) -> unittest.TestSuite:
    """The tests of one file. What they import is spelled from tests/, or lies beside the file."""
    if TESTS not in path.parents:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def files_of(paths: list[str]) -> list[Path]:
    found = []
    for name in paths:
        path = Path(name).resolve()
        found += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return found


def interrupt(*_) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--report", type=Path)
    parser.add_argument("-k", action="append", dest="patterns", default=[])
    parser.add_argument("-v", action="store_true", dest="verbose")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()

    if options.update:
        os.environ["ERRAND_UPDATE"] = "1"
    # A test that is told to end must still end the servers it started.
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(TESTS))
    if options.patterns:
        unittest.defaultTestLoader.testNamePatterns = [
            pattern if "*" in pattern else f"*{pattern}*" for pattern in options.patterns
        ]
    suite = unittest.TestSuite(load(path) for path in files_of(options.paths))
    runner = unittest.TextTestRunner(stream=sys.stdout, resultclass=Results,
                                     verbosity=2 if options.verbose else 1, warnings="error")
    results = runner.run(suite)
    counts = results.counts()
    if options.report:
        options.report.write_text(json.dumps(counts))
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
