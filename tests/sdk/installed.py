"""A copy of the SDK as `cmake --install` makes it, and programs that are compiled against it."""

import os
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COMPILERS = ("g++", "clang++-19")
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)


def in_parallel(function, items) -> list:
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        return list(pool.map(function, items))


class InstalledCase(unittest.TestCase):
    """Tests with an installed copy in `prefix`, and a folder for programs in `work`."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        built = run(ROOT / "dev", "build", "release", "errand_archive", cwd=ROOT)
        if built.returncode != 0:
            raise AssertionError(built.stdout + built.stderr)
        cls.folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = Path(cls.folder.name)
        cls.prefix = cls.work / "prefix"
        installed = run("cmake", "--install", ROOT / "build" / "release", "--component", "sdk",
                        "--prefix", cls.prefix)
        if installed.returncode != 0:
            raise AssertionError(installed.stdout + installed.stderr)

    def must(self, *command, **options) -> str:
        done = run(*command, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def pkg_config(self) -> list[str]:
        environment = os.environ | {"PKG_CONFIG_PATH": str(self.prefix / "lib" / "pkgconfig")}
        return self.must("pkg-config", "--static", "--cflags", "--libs", "errand",
                         env=environment).split()

    def compile(self, compiler: str, source: Path, *more: str) -> Path:
        """A program that is compiled with the flags of pkg-config."""
        program = self.work / f"{source.parent.name}-{source.stem}-{compiler}"
        self.must(compiler, *FLAGS, *more, source, *self.pkg_config(), "-o", program)
        return program

    def build_project(self, compiler: str, project: Path) -> Path:
        """The build folder of a CMake project that finds the package."""
        build = self.work / f"build-{project.name}-{compiler}"
        self.must("cmake", "-S", project, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}",
                  f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_FLAGS={' '.join(FLAGS[1:])}")
        self.must("cmake", "--build", build)
        return build
