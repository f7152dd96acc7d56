"""A second opinion: runs with models that a stranger's fake plays, in each vendor's format."""

import unittest

from support.node import VENDOR_SDKS, NodePeer, ensure_modules
from support.vendor_case import FORMATS, VendorCase, model_entry

CALLS = [{"name": "look", "arguments": {"path": "a"}}, {"name": "look", "arguments": {"path": "b"}}]
TEXT = "It says hi, at some length, so that there are several pieces of it."


def fixture(prompt: str, response: dict, **others) -> dict:
    match = {"userMessage": prompt} | others.pop("match", {})
    return {"match": match, "response": response} | others


def fixtures(name: str) -> list[dict]:
    """Those of one format; they are told apart by what is asked."""
    return [
        fixture(f"text {name}", {"content": TEXT}),
        fixture(f"calls {name}", {"content": TEXT}, match={"hasToolResult": True}),
        fixture(f"calls {name}", {"content": "I look.", "toolCalls": CALLS}),
        fixture(f"busy {name}", {"error": {"message": "Busy", "type": "rate_limit_error"},
                                 "status": 429, "retryAfter": 0}, match={"sequenceIndex": 0}),
        fixture(f"busy {name}", {"content": TEXT}, match={"sequenceIndex": 1}),
        fixture(f"bad {name}", {"error": {"message": "No such thing",
                                          "type": "invalid_request_error"}, "status": 400}),
        # It drops what it has not sent when it cuts, so that the pieces must have time to leave.
        fixture(f"cut {name}", {"content": TEXT}, match={"sequenceIndex": 0}, chunkSize=5,
                truncateAfterChunks=6, latency=5),
        fixture(f"cut {name}", {"content": TEXT}, match={"sequenceIndex": 1}),
    ]


class AimockTest(VendorCase):
    @classmethod
    def setUpClass(cls):
        ensure_modules(VENDOR_SDKS)

    def setUp(self):
        peer = NodePeer("vendor-sdks/serve_aimock.mjs")
        self.addCleanup(peer.close)
        url = peer.ask([one for name in FORMATS for one in fixtures(name)])
        config = {"models": [model_entry(name, url) for name in FORMATS],
                  "defaultModel": FORMATS[0]}
        self.server = self.start_server([], config)

    def test_text(self):
        for name in FORMATS:
            story = self.play(self.server, name, prompt=f"text {name}")
            self.assertEqual(story.joined, [("assistant_delta", TEXT),
                                            ("assistant_message", TEXT, [], "end_turn"),
                                            ("result", "success", TEXT)], name)

    def test_two_parallel_calls(self):
        for name in FORMATS:
            story = self.play(self.server, name, prompt=f"calls {name}")
            paths = [{"path": "a"}, {"path": "b"}]
            self.assertEqual(story.joined, [
                ("assistant_delta", "I look."), ("local_tool_call", paths[0]),
                ("local_tool_call", paths[1]),
                ("assistant_message", "I look.", paths, "tool_use"),
                ("local_tool_result_in", "in a"), ("local_tool_result_in", "in b"),
                ("assistant_delta", TEXT), ("assistant_message", TEXT, [], "end_turn"),
                ("result", "success", TEXT)], name)

    def test_errors(self):
        for name in FORMATS:
            story = self.play(self.server, name, prompt=f"busy {name}")
            self.assertEqual(story.end, ("result", "success", TEXT), name)
            story = self.play(self.server, name, prompt=f"bad {name}")
            self.assertEqual(story.joined, [("error", "invalid_request", "No such thing")], name)

    def test_a_stream_that_is_cut_is_asked_again(self):
        for name in FORMATS:
            # Only the second question gets the whole text.
            story = self.play(self.server, name, prompt=f"cut {name}")
            self.assertEqual(story.end, ("result", "success", TEXT), name)


if __name__ == "__main__":
    unittest.main()
