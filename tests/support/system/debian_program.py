"""Programs of Debian packages for a test, without installing them: an installed proxy would begin
to serve on the machine."""

import fcntl
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "debian"
SECONDS_MAX = 120


def debian_program(package: str, path: str) -> str:
    """Where the program is: on this machine, or unpacked from its package. The test is skipped if
    it can be had in neither way."""
    here = shutil.which(Path(path).name)
    if here:
        return here
    unpacked = FOLDER / package / path
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{package}.lock").open("w") as lock:
        # Tests run side by side; one of them unpacks, and the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not unpacked.exists():
            unpack(package)
    return str(unpacked)


def unpack(package: str) -> None:
    if not shutil.which("apt-get"):
        raise unittest.SkipTest(f"there is no {package} here")
    loaded = subprocess.run(["apt-get", "download", "-q", package], cwd=FOLDER,
                            capture_output=True, text=True, timeout=SECONDS_MAX)
    if loaded.returncode != 0:
        raise unittest.SkipTest(f"{package} is not here and cannot be loaded: {loaded.stderr}")
    archive = next(FOLDER.glob(f"{package}_*.deb"))
    partial = FOLDER / f"{package}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", str(archive), str(partial)], check=True)
    partial.rename(FOLDER / package)
    archive.unlink()
