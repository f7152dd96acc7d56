"""What `./dev package` makes, and a newcomer with it in a bare Debian root."""

import filecmp
import functools
import json
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support.system.bare_root import VARIABLES, BareRoot, end
from support.documents import ROOT, Session, blocks_of, free_port
from support.http import Client
from support.server import STOP_SECONDS_MAX, die_with_parent

PAGE = ROOT / "docs" / "guide" / "install.md"
SERVICE = ROOT / "docs" / "guide" / "service.md"
UNIT = ROOT / "packaging" / "errand.service"
NEWCOMER_SECONDS_MAX = 300  # what the guide promises
PAGE_SECONDS_MAX = 1800
BUILD_SECONDS_MAX = 3 * 3600
GLIBC = re.compile(r"linux-vdso|/ld-linux|lib(?:c|m|dl|pthread|rt|resolv)\.so")
PROGRAM_FILES = {
    "etc/errand/errand.json", "usr/bin/errand", "usr/lib/systemd/system/errand.service",
    "usr/share/bash-completion/completions/errand", "usr/share/doc/errand/copyright",
    "usr/share/fish/vendor_completions.d/errand.fish", "usr/share/man/man1/errand.1.gz",
    "usr/share/zsh/vendor-completions/_errand"}
SDK_FILES = {"usr/include/errand/errand.hpp", "usr/lib/liberrand.a",
             "usr/lib/cmake/errand/errandConfig.cmake", "usr/lib/pkgconfig/errand.pc",
             "usr/share/doc/errand-dev/copyright"}


def output_of(*words) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


@functools.cache
def packed() -> Path:
    """A folder with the packages, which lasts as long as the process."""
    folder = tempfile.TemporaryDirectory(prefix="errand-test-")
    unittest.addModuleCleanup(folder.cleanup)
    output_of("./dev", "package", "--output", Path(folder.name) / "packages")
    return Path(folder.name) / "packages"


class PackedCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.packages = packed()
        self.program, = self.packages.glob("errand_*.deb")
        self.sdk, = self.packages.glob("errand-dev_*.deb")
        self.tarball, = self.packages.glob("errand-*.tar.gz")


class PackageTest(PackedCase):
    def files_of(self, package: Path) -> dict[str, str]:
        """The files with their modes and owners."""
        lines = output_of("dpkg-deb", "--contents", package).splitlines()
        return {words[5].removeprefix("./"): " ".join(words[:2])
                for words in (line.split(None, 5) for line in lines) if words[0][0] != "d"}

    def test_the_packages_hold_what_they_promise(self):
        files = self.files_of(self.program)
        licenses = {name for name in files if "/third-party/" in name}
        self.assertEqual(files.keys() - licenses, PROGRAM_FILES)
        self.assertIn("usr/share/doc/errand/third-party/libssl-dev.gz", licenses)
        self.assertEqual(files["usr/bin/errand"], "-rwxr-xr-x root/root")
        self.assertEqual({files[name] for name in files if name != "usr/bin/errand"},
                         {"-rw-r--r-- root/root"})
        self.assertEqual(SDK_FILES - self.files_of(self.sdk).keys(), set())

    def test_the_tarball_has_the_same_files_below_one_folder(self):
        names = output_of("tar", "tzf", self.tarball).splitlines()
        top = self.tarball.name.removesuffix(".tar.gz")
        self.assertEqual([name for name in names if name.split("/")[0] != top], [])
        # Debian has its own names for a license, and its own places for settings and units.
        wanted = {name.removeprefix("usr/") for name in PROGRAM_FILES | SDK_FILES
                  if not name.startswith(("etc/", "usr/lib/systemd/"))
                  and not name.endswith("copyright")}
        wanted |= {"share/doc/errand/LICENSE", "share/doc/errand/errand.service"}
        self.assertEqual({f"{top}/{name}" for name in wanted} - set(names), set())

    def test_the_program_needs_only_glibc(self):
        output_of("tar", "xzf", self.tarball, "-C", self.folder)
        program, = self.folder.glob("errand-*/bin/errand")
        others = [line for line in output_of("ldd", program).splitlines()
                  if not GLIBC.search(line)]
        self.assertEqual(others, [])

    def test_the_same_commit_gives_the_same_bytes(self):
        again = self.folder / "again"
        output_of("tools/package", "--output", again)
        names = [path.name for path in self.packages.iterdir()]
        _, different, missing = filecmp.cmpfiles(self.packages, again, names, shallow=False)
        self.assertEqual((different, missing), ([], []))

    def test_the_unit_is_that_of_the_guide(self):
        guide, = (block.text for block in blocks_of(SERVICE)
                  if block.file_name.endswith("/errand.service"))
        expected = guide.partition("\n")[2].replace("/usr/local/bin/", "/usr/bin/")
        expected = expected.replace(" --public-url https://errand.example.com", "")
        shown = UNIT.read_text().replace("Documentation=man:errand(1)\n", "")
        self.assertEqual(shown, expected)


class RootSession(Session):
    """The commands of a page inside the root, whose user is root already."""

    def __init__(self, root: BareRoot, folder: Path, work: Path):
        serve = f"errand serve --listen 127.0.0.1:{free_port()} "
        super().__init__(folder, work, VARIABLES, {"sudo ": "", "errand serve ": serve},
                         PAGE_SECONDS_MAX)
        self.root = root

    def execute(self, command: list[str]) -> int:
        inside = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(self.work), *command]
        return super().execute(self.root.command(*inside, shared=self.folder))


class RootCase(PackedCase):
    def setUp(self):
        self.root = BareRoot()  # first: without one, nothing has to be packed
        self.addCleanup(self.root.close)
        super().setUp()

    def must(self, *words: str) -> str:
        done = self.root.run(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class NewcomerTest(RootCase):
    def install(self) -> None:
        self.root.put(self.program, "/packages")
        self.must("dpkg", "--install", f"/packages/{self.program.name}")

    def test_a_newcomer_gets_from_the_package_to_a_tool_in_cpp(self):
        work = self.folder / "work"
        shutil.copytree(self.packages, work)
        session = RootSession(self.root, self.folder, work)
        started = time.monotonic()
        self.assertEqual("\n\n".join(session.run(blocks_of(PAGE))), "")
        seconds = time.monotonic() - started
        print(f"newcomer: {seconds:.0f} s from the .deb to an answered tool in C++")
        first, answered, unpacked = (session.output(n) for n in (0, 2, 3))
        self.assertIn("Errand's demo model", first)
        self.assertIn("Lagos: 31 degrees, rain", answered)
        self.assertIn("Errand's demo model", unpacked)
        self.assertLess(seconds, NEWCOMER_SECONDS_MAX)

    def test_the_package_installs_without_a_network_and_starts_nothing(self):
        self.install()
        self.assertEqual(self.must("stat", "-c", "%a %U %G", "/etc/errand"), "750 root errand\n")
        account = self.must("getent", "passwd", "errand")
        self.assertIn(":/var/lib/errand:/usr/sbin/nologin\n", account)
        self.assertIn("is right", self.must("errand", "config", "check", "/etc/errand/errand.json"))
        self.assertEqual(self.must("dpkg", "--verify", "errand"), "")

    def test_data_and_settings_survive_a_removal_and_data_a_purge(self):
        self.install()
        self.must("install", "-d", "-o", "errand", "/var/lib/errand")
        self.must("errand", "run", "--data", "/var/lib/errand", "--model", "demo", "Hello")
        settings = self.root.path / "etc/errand/errand.json"
        settings.write_text("{}\n")
        self.must("dpkg", "--remove", "errand")
        self.assertEqual(settings.read_text(), "{}\n")
        self.install()
        self.assertEqual(settings.read_text(), "{}\n")
        self.must("dpkg", "--purge", "errand")
        self.assertFalse(settings.parent.exists())
        self.assertTrue((self.root.path / "var/lib/errand/errand.db").exists())


class TarballTest(RootCase):
    def test_the_tarball_runs_where_nothing_is_installed(self):
        self.root.put(self.tarball, "/packages")
        self.must("tar", "xzf", f"/packages/{self.tarball.name}", "-C", "/opt")
        program = f"/opt/{self.tarball.name.removesuffix('.tar.gz')}/bin/errand"
        self.assertIn("Errand's demo model",
                      self.must(program, "run", "--model", "demo", "Hello"))
        self.assertNotEqual(self.root.run("dpkg", "--status", "errand").returncode, 0)


def steps_of_stages() -> list[list[tuple[str, str]]]:
    """The steps of the Dockerfile's stages; each stage begins with its FROM."""
    lines = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text()).splitlines()
    stages: list[list[tuple[str, str]]] = []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        word, text = line.split(" ", 1)
        if word == "FROM":
            stages.append([])
        stages[-1].append((word, text))
    return stages


def container_tool() -> str:
    """A tool that can build images here; the test is skipped, by name, where there is none."""
    for tool in ("podman", "docker"):
        info = [shutil.which(tool) or "false", "info"]
        if subprocess.run(info, capture_output=True, check=False).returncode == 0:
            return tool
    raise unittest.SkipTest("no container tool works here; a bare root runs the steps instead")


class ContainerTest(unittest.TestCase):
    def test_the_image_serves(self):
        tool = container_tool()
        output_of(tool, "build", "--tag", "errand-test", ".")
        self.addCleanup(output_of, tool, "image", "rm", "errand-test")
        port = free_port()
        name = output_of(tool, "run", "--detach", "--publish", f"127.0.0.1:{port}:7300",
                         "errand-test").strip()
        self.addCleanup(output_of, tool, "rm", "--force", "--volumes", name)
        with subprocess.Popen([tool, "logs", "--follow", name], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as logs:
            ready = json.loads(logs.stdout.readline())
            logs.kill()
        models = Client(f"http://127.0.0.1:{port}", ready["apiKey"], "default").request(
            "GET", "/models").json()["models"]
        self.assertIn("demo", [model["id"] for model in models])


class BuildStageTest(unittest.TestCase):
    """The first stage of the Dockerfile, in a root that has neither compiler nor Git."""

    def test_its_steps_make_the_packages(self):
        root = BareRoot()
        self.addCleanup(root.close)
        (start, copy_files, build), _ = steps_of_stages()
        self.assertEqual((start, copy_files), (("FROM", "debian:12 AS build"), ("COPY", ". /src")))
        ignored = (ROOT / ".dockerignore").read_text().split()
        names = [name.removeprefix("**/") for name in ignored]
        shutil.copytree(ROOT, root.path / "src", symlinks=True,
                        ignore=shutil.ignore_patterns(*names))
        done = subprocess.run(root.command("sh", "-c", build[1]), capture_output=True, text=True,
                              env=VARIABLES, timeout=BUILD_SECONDS_MAX,
                              preexec_fn=die_with_parent)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])
        made = sorted(path.name.split("_")[0] for path in (root.path / "packages").glob("*.deb"))
        self.assertEqual(made, ["errand", "errand-dev"])


class DockerfileTest(RootCase):
    """The last stage of the Dockerfile, step by step, as a container tool would do it."""

    def serve(self, settings: dict[str, str]) -> subprocess.Popen:
        words = [word.replace(":7300", f":{self.port}")
                 for name in ("ENTRYPOINT", "CMD") for word in json.loads(settings[name])]
        inside = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", settings["WORKDIR"], *words]
        return subprocess.Popen(self.root.command(*inside, user=settings["USER"]), env=VARIABLES,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)

    def test_its_steps_make_a_server_that_answers(self):
        self.port = free_port()
        settings = {}
        for word, text in steps_of_stages()[-1][1:]:
            if word == "COPY":
                self.assertEqual(text, "--from=build /packages/errand_*.deb /packages/")
                self.root.put(self.program, "/packages")
            elif word == "RUN":
                self.must("sh", "-c", text)
            else:
                settings[word] = text
        self.assertEqual(settings.keys(), {"USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL",
                                           "ENTRYPOINT", "CMD"})
        with self.serve(settings) as server:
            try:
                ready = json.loads(server.stdout.readline())
                client = Client(f"http://127.0.0.1:{self.port}", ready["apiKey"], "default")
                models = client.request("GET", "/models").json()["models"]
            finally:
                code = end(server, STOP_SECONDS_MAX)
        self.assertEqual(code, 0)
        self.assertIn("demo", [model["id"] for model in models])


if __name__ == "__main__":
    unittest.main()
