"""A machine with systemd, in a folder: units are read and done as they say.

Beneath the folder are /etc, /usr/local and /var/lib as a reader of the guide has them. `programs`
stand in for those that want root (see stand_in.py) and come first in the PATH. The services are
children of the test, and end with it.
"""

import json
import os
import re
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from support.system.confine import confinement
from support.server import die_with_parent

STAND_IN = Path(__file__).resolve().parent / "stand_in.py"
STAND_INS = ("sudo", "useradd", "install", "systemctl", "journalctl")
UNITS = "etc/systemd/system"
FOLDERS = (UNITS, "etc/errand", "usr/local/bin", "var/lib", "var/log", "run")
SECTION = re.compile(r"^\[(\w+)\]$")
SETTING = re.compile(r"^(\w+)=(.*)$")
DEFAULT_STOP_SECONDS = "90"
# The program under test is built with sanitizers; that of leaks needs what the unit refuses.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "LANG": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"}


@dataclass(frozen=True)
class Unit:
    name: str
    settings: dict[str, list[str]]  # "Service/ExecStart" and its values, in order

    @staticmethod
    def read(path: Path) -> "Unit":
        settings: dict[str, list[str]] = {}
        section = ""
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if found := SECTION.match(line):
                section = found[1]
            elif found := SETTING.match(line):
                settings.setdefault(f"{section}/{found[1]}", []).append(found[2])
            elif line and not line.startswith("#"):
                raise ValueError(f"{path.name}:{number}: no setting: {line}")
        return Unit(path.name, settings)

    def all(self, name: str) -> list[str]:
        return self.settings.get(f"Service/{name}", [])

    def one(self, name: str, default: str = "") -> str:
        return (self.all(name) or [default])[-1]

    def words(self) -> list[str]:
        return [word.replace("%%", "%") for word in shlex.split(self.one("ExecStart"))]


@dataclass
class Service:
    unit: Unit
    process: subprocess.Popen | None = None
    restart_at: float | None = None
    starts: int = 0
    exit_codes: list[int] = field(default_factory=list)


class Machine:
    def __init__(self, folder: Path):
        self.root = folder / "root"
        self.programs = folder / "programs"
        for name in FOLDERS:
            (self.root / name).mkdir(parents=True)
        (self.root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
        self.programs.mkdir()
        for name in STAND_INS:
            program = self.programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {STAND_IN} {name} '
                               f'{shlex.quote(str(self.root))} "$@"\n')
            program.chmod(0o755)
        self.services: dict[str, Service] = {}
        self.changed = threading.Condition()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.root / "run" / "manager"))
        self.listener.listen()
        self.closing, self.close_bell = os.pipe()
        # A child ends with the thread that has started it: this one starts all of them.
        self.thread = threading.Thread(target=self.manage)
        self.thread.start()

    def close(self) -> None:
        os.write(self.close_bell, b"x")
        self.thread.join()
        self.listener.close()
        os.close(self.closing)
        os.close(self.close_bell)

    def search_path(self) -> str:
        return f"{self.programs}:{self.root / 'usr' / 'local' / 'bin'}:{os.environ['PATH']}"

    def journal(self, name: str) -> Path:
        return self.root / "var" / "log" / f"{name}.log"

    def wait_for_start(self, name: str, number: int, seconds_max: float) -> subprocess.Popen:
        """The process, once the service was started so often."""
        with self.changed:
            service = self.services[name]
            if not self.changed.wait_for(lambda: service.starts >= number, seconds_max):
                raise AssertionError(f"{name} was started {service.starts} times")
            return service.process

    # What follows is done by the thread.

    def manage(self) -> None:
        while True:
            pending = [service.restart_at for service in self.services.values()
                       if service.restart_at is not None]
            wait = max(0.0, min(pending) - time.monotonic()) if pending else None
            ready = self.wait_for_something(wait)
            if self.closing in ready:
                break
            with self.changed:
                if self.listener.fileno() in ready:
                    self.answer()
                self.look_after_services()
                self.changed.notify_all()
        for service in self.services.values():
            self.stop(service)

    def wait_for_something(self, seconds: float | None) -> set[int]:
        """A question, the end of a service, or that of the machine."""
        ends = [os.pidfd_open(service.process.pid) for service in self.services.values()
                if service.process]
        with selectors.DefaultSelector() as selector:
            for one in (self.listener.fileno(), self.closing, *ends):
                selector.register(one, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select(seconds)}
        for one in ends:
            os.close(one)
        return ready

    def look_after_services(self) -> None:
        for service in self.services.values():
            if service.process and service.process.poll() is not None:
                service.exit_codes.append(service.process.returncode)
                has_failed = service.process.returncode != 0
                service.process = None
                if has_failed and service.unit.one("Restart") == "on-failure":
                    delay = float(service.unit.one("RestartSec", "0.1"))
                    service.restart_at = time.monotonic() + delay
            if service.restart_at is not None and service.restart_at <= time.monotonic():
                self.start(service)

    def answer(self) -> None:
        connection, _ = self.listener.accept()
        with connection, connection.makefile("rw") as stream:
            try:
                self.obey(json.loads(stream.readline()))
                said = ""
            except (KeyError, OSError, RuntimeError, ValueError) as error:
                said = str(error)
            stream.write(json.dumps(said) + "\n")

    def obey(self, words: list[str]) -> None:
        verb, names = words[0], [word for word in words[1:] if not word.startswith("-")]
        if verb == "daemon-reload":
            self.read_units()
            return
        for name in names:
            service = self.services[name if "." in name else f"{name}.service"]
            if verb == "enable":
                self.enable(service)
            if verb in ("stop", "restart"):
                self.stop(service)
            if verb in ("start", "restart") or (verb == "enable" and "--now" in words):
                self.start(service)

    def read_units(self) -> None:
        for path in (self.root / UNITS).glob("*.*"):
            if path.is_file():
                unit = Unit.read(path)
                self.services.setdefault(path.name, Service(unit)).unit = unit

    def enable(self, service: Service) -> None:
        """The real program makes the links, where there is one."""
        program = shutil.which("systemctl")
        if program:
            done = subprocess.run([program, f"--root={self.root}", "enable", service.unit.name],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)

    def start(self, service: Service) -> None:
        service.restart_at = None
        if service.process or service.unit.name.endswith(".timer"):
            return
        service.process = self.spawn(service.unit)
        service.starts += 1
        if service.unit.one("Type") == "oneshot":
            code = service.process.wait()
            service.process = None
            if code != 0:
                raise RuntimeError(f"{service.unit.name} ended with {code}")

    def spawn(self, unit: Unit) -> subprocess.Popen:
        users = dict(line.split(":", 1) for line in
                     (self.root / "etc" / "passwd").read_text().splitlines())
        if unit.one("User", "root") not in users or unit.one("Group", "root") not in users:
            raise RuntimeError(f"{unit.name}: there is no user {unit.one('User')}")
        for name in unit.one("StateDirectory").split():
            folder = self.root / "var" / "lib" / name
            folder.mkdir(exist_ok=True)
            folder.chmod(int(unit.one("StateDirectoryMode", "0755"), 8))
        variables = dict(line.split("=", 1) for line in unit.all("Environment"))
        confine = confinement(unit.all)

        def prepare() -> None:
            die_with_parent()
            confine()

        with self.journal(unit.name).open("ab") as journal:
            places = {"null": subprocess.DEVNULL, "journal": journal}
            output = places[unit.one("StandardOutput", "journal")]
            # As systemd has it: what is not said of stderr is said of stdout.
            errors = places[unit.one("StandardError")] if unit.all("StandardError") else output
            return subprocess.Popen(unit.words(), cwd=unit.one("WorkingDirectory", "/"),
                                    env=ENVIRONMENT | variables, stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=errors, preexec_fn=prepare)

    def stop(self, service: Service) -> None:
        service.restart_at = None
        if not service.process:
            return
        kind = getattr(signal, service.unit.one("KillSignal", "SIGTERM"))
        service.process.send_signal(kind)
        try:
            code = service.process.wait(float(service.unit.one("TimeoutStopSec",
                                                               DEFAULT_STOP_SECONDS)))
        except subprocess.TimeoutExpired:
            service.process.kill()
            code = service.process.wait()
        service.exit_codes.append(code)
        service.process = None
