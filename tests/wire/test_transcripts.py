"""Plays every transcript of this folder against a server of its own."""

import difflib
import os
import unittest
from pathlib import Path

from support.server import ServerCase
from support.transcript import Player, parse

FOLDER = Path(__file__).resolve().parent
DEFAULT_TURNS = [{"text": ["Hello ", "there."], "usage": {"inputTokens": 9, "outputTokens": 3}}]


class TranscriptTest(ServerCase):
    def play(self, path: Path) -> None:
        before = path.read_text()
        transcript = parse(before)
        server = self.start_server(transcript.scripts or DEFAULT_TURNS, transcript.config,
                                   transcript.arguments)
        player = Player(server.client(), server.port)
        after = transcript.text([player.play(exchange) for exchange in transcript.exchanges()])
        if after == before:
            return
        if os.environ.get("ERRAND_UPDATE"):
            path.write_text(after)
            print(f"rewrote {path.relative_to(FOLDER.parent.parent)}")
            return
        name = str(path.relative_to(FOLDER))
        diff = difflib.unified_diff(before.splitlines(), after.splitlines(), name, "came back",
                                    lineterm="")
        self.fail("\n" + "\n".join(diff))


def add_case(path: Path) -> None:
    name = "_".join(path.relative_to(FOLDER).with_suffix("").parts).replace("-", "_")
    setattr(TranscriptTest, f"test_{name}", lambda self: self.play(path))


for transcript_path in sorted(FOLDER.rglob("*.txt")):
    add_case(transcript_path)


if __name__ == "__main__":
    unittest.main()
