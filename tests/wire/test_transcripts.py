"""Plays every transcript of this folder against a server of its own."""

import difflib
import os
import unittest
from pathlib import Path

from support.fake_model import FakeModel
from support.script import DEFAULT_MODEL
from support.server import ServerCase
from support.transcript import Player, Transcript, parse
from support.vendor_case import model_entry

FOLDER = Path(__file__).resolve().parent
DEFAULT_TURNS = [{"text": ["Hello ", "there."], "usage": {"inputTokens": 9, "outputTokens": 3}}]


class TranscriptTest(ServerCase):
    def start_vendor(self, transcript: Transcript) -> FakeModel | None:
        """A fake that plays the turns as every vendor, and is in the configuration as each."""
        if not transcript.vendors:
            return None
        vendor = FakeModel(transcript.scripts.get(DEFAULT_MODEL, DEFAULT_TURNS))
        self.addCleanup(vendor.stop)
        transcript.config |= {
            "models": [model_entry(wire, vendor.url, id=name, vendorModelId=name)
                       for wire, name in transcript.vendors],
            "defaultModel": transcript.vendors[0][1]}
        return vendor

    def play(self, path: Path) -> None:
        before = path.read_text()
        transcript = parse(before)
        vendor = self.start_vendor(transcript)
        server = self.start_server(transcript.scripts or DEFAULT_TURNS, transcript.config,
                                   transcript.arguments)
        player = Player(server.client(), server.port, vendor)
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
