"""The guide's page about the service, on a machine that is a folder; and what its unit promises."""

import os
import shutil
import signal
import stat
import tempfile
import unittest
from pathlib import Path

from support.documents import ROOT, Block, Session, blocks_of
from support.http import Client
from support.system.machine import Machine
from support.server import SANITIZER_WORDS, START_SECONDS_MAX, binary

PAGE = ROOT / "docs" / "guide" / "service.md"
FOLDERS = ("/usr/local/bin", "/etc/errand", "/etc/systemd/system", "/var/lib/errand")
UNIT = "errand.service"
START = """./dev build
sudo install -m 0755 build/bin/errand /usr/local/bin/errand
sudo useradd --system --home-dir /var/lib/errand --shell /usr/sbin/nologin errand
echo sk-... | sudo install -m 0640 -o root -g errand /dev/stdin /etc/errand/openai.key
sudo systemctl daemon-reload
sudo systemctl enable --now errand
"""
AWAIT = ("curl -s --fail --retry 30 --retry-delay 1 --retry-connrefused "
         "http://127.0.0.1:7300/readyz\n")
KEY = "sudo errand keys create --name test --data /var/lib/errand 2>/dev/null\n"


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


class ServiceCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.machine = Machine(self.folder)
        self.addCleanup(self.machine.close)
        work = self.folder / "work"
        (work / "build" / "bin").mkdir(parents=True)
        # The clone has been built: that is another test's concern.
        (work / "build" / "bin" / "errand").symlink_to(binary())
        (work / "dev").write_text('#!/bin/sh\ntest "$*" = build && test -x build/bin/errand\n')
        (work / "dev").chmod(0o755)
        self.session = Session(self.folder, work, {"PATH": self.machine.search_path()},
                               {name: f"{self.machine.root}{name}" for name in FOLDERS})

    def run_blocks(self, blocks: list[Block]) -> None:
        self.assertEqual("\n\n".join(self.session.run(blocks)), "")
        said = "".join(path.read_text() for path in (self.machine.root / "var" / "log").iterdir())
        self.assertFalse([word for word in SANITIZER_WORDS if word in said], said)


class PageTest(ServiceCase):
    def test_the_page_works_from_top_to_bottom(self):
        self.run_blocks(blocks_of(PAGE))
        data = self.machine.root / "var" / "lib" / "errand"
        self.assertEqual(stat.S_IMODE(data.stat().st_mode), 0o700)
        self.assertEqual({stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}, {0o600})
        self.assertEqual(len(list((data.parent / "errand-backups").iterdir())), 1)
        # It was stopped for the restore and for the upgrade.
        self.assertEqual(self.machine.services[UNIT].exit_codes, [0, 0])


class UnitTest(ServiceCase):
    """The units of the page alone, with the fewest commands."""

    def start(self) -> Client:
        files = [block for block in blocks_of(PAGE) if block.language in ("ini", "jsonc")]
        self.run_blocks([*files, Block("start", 1, "sh", START), Block("await", 1, "sh", AWAIT),
                         Block("key", 1, "sh", KEY)])
        address = self.session.literal("http://127.0.0.1:7300")
        return Client(address, self.session.output(2).strip(), "default")

    def keys_of(self, client: Client) -> list[dict]:
        keys = client.request("GET", "/api-keys").json()["apiKeys"]
        return [{name: key[name] for name in key if name != "lastUsedAt"} for key in keys]

    def test_after_a_kill_it_is_started_again_with_its_data(self):
        client = self.start()
        before = self.keys_of(client)
        os.kill(self.machine.services[UNIT].process.pid, signal.SIGKILL)
        self.machine.wait_for_start(UNIT, 2, START_SECONDS_MAX)
        self.run_blocks([Block("await", 1, "sh", AWAIT)])
        self.assertEqual(self.keys_of(client), before)
        self.assertEqual(self.machine.services[UNIT].exit_codes, [-signal.SIGKILL])

    def test_a_stop_is_a_success_and_no_reason_to_start_again(self):
        self.start()
        self.run_blocks([Block("stop", 1, "sh", "sudo systemctl stop errand\n")])
        service = self.machine.services[UNIT]
        self.assertEqual((service.exit_codes, service.starts), ([0], 1))

    def test_it_works_under_the_restrictions_of_its_unit(self):
        self.start()
        status = status_of(self.machine.services[UNIT].process.pid)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Umask"], "0077")
        if os.geteuid() == 0:
            self.assertEqual(int(status["CapBnd"], 16), 0)
        if shutil.which("systemd-analyze"):
            self.assertEqual(status["Seccomp"], "2")


if __name__ == "__main__":
    unittest.main()
