"""The restrictions of a unit, put upon the calling process before it becomes the service.

What this machine or this user cannot do is left out: a test of a unit must not need root.
"""

import ctypes
import errno
import functools
import os
import platform
import re
import resource
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
PR_SET_MDWE = 65
SECCOMP_MODE_FILTER = 2
CAPABILITIES_MAX = 64
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Instructions of the filter: load a word, compare it, return.
LOAD, COMPARE, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER_OFFSET, ARCHITECTURE_OFFSET = 0, 4
HEADER = re.compile(r"^#define __NR_(\w+) (\d+)$", re.MULTILINE)


def prctl(*words: int) -> bool:
    padded = [*words, *[0] * (5 - len(words))]
    return ctypes.CDLL(None).prctl(padded[0], *(ctypes.c_ulong(word) for word in padded[1:])) == 0


@functools.cache
def call_numbers() -> dict[str, int]:
    """The system calls of this machine by name; empty if nothing here knows them."""
    found = sorted(Path("/usr/include").glob("*/asm/unistd_64.h"))
    found += [Path("/usr/include/asm-generic/unistd.h")]
    for path in found:
        if path.exists():
            return {name: int(number) for name, number in HEADER.findall(path.read_text())}
    return {}


@functools.cache
def calls_of(group: str) -> frozenset[str]:
    """The names in a group such as @system-service, and in the groups that it names."""
    listed = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True,
                            text=True, check=True)
    names: set[str] = set()
    for word in re.findall(r"^    (@?[\w-]+)", listed.stdout, re.MULTILINE):
        names |= calls_of(word) if word.startswith("@") else {word}
    return frozenset(names)


def allowed_calls(filters: list[str]) -> set[int]:
    """The numbers that the lines of SystemCallFilter= leave; empty if that cannot be known."""
    numbers = call_numbers()
    if not numbers or not filters or not shutil.which("systemd-analyze"):
        return set()
    names: set[str] = set()
    for line in filters:
        groups = line.removeprefix("~").split()
        named = set().union(*(calls_of(group) if group.startswith("@") else {group}
                              for group in groups))
        names = names - named if line.startswith("~") else names | named
    return {numbers[name] for name in names if name in numbers}


def filter_program(allowed: set[int]) -> bytes:
    """Every other call of this architecture fails with EPERM."""
    def instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    refuse = instruction(RETURN, REFUSE | errno.EPERM)
    out = instruction(LOAD, ARCHITECTURE_OFFSET)
    out += instruction(COMPARE, ARCHITECTURES[platform.machine()], yes=1) + refuse
    out += instruction(LOAD, NUMBER_OFFSET)
    for number in sorted(allowed):
        out += instruction(COMPARE, number, no=1) + instruction(RETURN, ALLOW)
    return out + refuse


def install_filter(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    given = ctypes.create_string_buffer(header, len(header))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(given))


def confinement(settings: Callable[[str], list[str]]) -> Callable[[], None]:
    """What the child has to call. `settings` gives the values of a setting of the unit."""
    umask = int((settings("UMask") or ["0022"])[-1], 8)
    files = int((settings("LimitNOFILE") or ["0"])[-1])
    keeps_no_capability = settings("CapabilityBoundingSet") == [""]
    allowed = allowed_calls(settings("SystemCallFilter"))
    program = filter_program(allowed) if allowed and platform.machine() in ARCHITECTURES else b""

    def confine() -> None:
        os.umask(umask)
        if files:
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            most = files if hard == resource.RLIM_INFINITY else min(files, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        if keeps_no_capability and os.geteuid() == 0:
            for number in range(CAPABILITIES_MAX):
                prctl(PR_CAPBSET_DROP, number)
        if settings("NoNewPrivileges") == ["yes"]:
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            if settings("MemoryDenyWriteExecute") == ["yes"]:
                prctl(PR_SET_MDWE, 1)
            if program:
                install_filter(program)

    return confine
