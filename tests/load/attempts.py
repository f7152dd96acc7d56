"""Measurements that another build of the server may be unable to give."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from load.scenarios import LoadFailed

# Set while the build that is compared with ours is measured.
OTHER_BUILD = "ERRAND_BENCH_OTHER_BUILD"
FAILURES = (LoadFailed, AssertionError, OSError, subprocess.SubprocessError)

# What builds were unable to do, so that no later round tries it again.
impossible: set[tuple[str, str]] = set()


@contextmanager
def other_build() -> Iterator[None]:
    os.environ[OTHER_BUILD] = "1"
    try:
        yield
    finally:
        del os.environ[OTHER_BUILD]


def attempt(what: str, measure: Callable[[], list]) -> list:
    """What `measure` gives. The other build may be older: if it fails, it gives nothing, and the
    rows say so. A failure of our own build ends everything."""
    if OTHER_BUILD not in os.environ:
        return measure()
    key = (os.environ["ERRAND_BINARY"], what)
    if key in impossible:
        return []
    try:
        return measure()
    except FAILURES as failure:
        impossible.add(key)
        reason = str(failure).strip().splitlines() or [type(failure).__name__]
        print(f"bench: {Path(key[0])} gives no figures for {what}: {reason[-1]}", file=sys.stderr)
        return []
