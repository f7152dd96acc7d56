"""Stands in for a program that wants root: stand_in.py NAME ROOT WORD...

ROOT is the folder of a Machine. `sudo` runs the words as they are, `useradd` adds a line to the
file of users, `install` gives files to nobody else, and `systemctl` asks the Machine.
"""

import argparse
import json
import os
import re
import socket
import sys
from pathlib import Path

INSTALL = "/usr/bin/install"


def users(root: Path) -> list[str]:
    return [line.split(":")[0] for line in (root / "etc" / "passwd").read_text().splitlines()]


def check_user(root: Path, name: str) -> None:
    if name not in users(root):
        sys.exit(f"there is no user {name}")


def sudo(root: Path, words: list[str]) -> None:
    if words[0] == "-u":
        check_user(root, words[1])
        words = words[2:]
    os.execvp(words[0], words)


def useradd(root: Path, words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", action="store_true", required=True)
    parser.add_argument("--home-dir", required=True)
    parser.add_argument("--shell", required=True)
    parser.add_argument("name")
    asked = parser.parse_args(words)
    if asked.name in users(root):
        sys.exit(f"useradd: user '{asked.name}' already exists")
    with (root / "etc" / "passwd").open("a") as file:
        file.write(f"{asked.name}:x:999:999::{asked.home_dir}:{asked.shell}\n")


def install(root: Path, words: list[str]) -> None:
    rest = []
    while words:
        if words[0] in ("-o", "-g"):
            check_user(root, words[1])
            words = words[2:]
        else:
            rest.append(words.pop(0))
    os.execv(INSTALL, ["install", *rest])


def systemctl(root: Path, words: list[str]) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(root / "run" / "manager"))
        with connection.makefile("rw") as stream:
            stream.write(json.dumps(words) + "\n")
            stream.flush()
            said = json.loads(stream.readline())
    if said:
        sys.exit(said)


def journalctl(root: Path, words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-u", dest="unit", required=True)
    parser.add_argument("-n", dest="lines", type=int, default=0)
    parser.add_argument("-o", dest="output", choices=["cat"], required=True)
    parser.add_argument("--since", choices=["today"])
    parser.add_argument("--grep", default="")
    asked = parser.parse_args(words)
    journal = root / "var" / "log" / f"{asked.unit}.service.log"
    lines = [line for line in journal.read_text().splitlines() if re.search(asked.grep, line)]
    for line in lines[-asked.lines:]:
        print(line)


if __name__ == "__main__":
    {"sudo": sudo, "useradd": useradd, "install": install, "systemctl": systemctl,
     "journalctl": journalctl}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
