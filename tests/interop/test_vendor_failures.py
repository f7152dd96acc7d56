"""What becomes of a run when its vendor fails, in the wire format of each one."""

import unittest
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

from support.fake_vendor import (
    Answer, At, Failure, Gemini, Responses, call, refuse, say, think, turn)
from support.vendor_case import FORMATS, PROMPT, History, VendorCase

LAST = turn(think("Good."), say("Both ", "say hi."))
ANSWER = [
    ("assistant_delta", "Both say hi."),
    ("assistant_message", "Both say hi.", [], "end_turn"),
    ("result", "success", "Both say hi."),
]


class FailureTest(VendorCase):
    def ends(self, *answers, formats=FORMATS, **others) -> dict[str, str]:
        """The class of the error with which a run in each format ends."""
        server, _ = self.start_vendors(*answers, formats=formats, **others)
        found = {}
        for name in formats:
            end = self.play(server, name).end
            found[name] = end[1] if end[0] == "error" else end[0]
        return found

    def test_the_class_of_each_error(self):
        everywhere = {"auth": "auth", "context_window": "context_window",
                      "invalid_request": "invalid_request"}
        for kind, expected in everywhere.items():
            self.assertEqual(self.ends(Failure(kind)), dict.fromkeys(FORMATS, expected))
        self.assertEqual(self.ends(Failure("quota"), formats=("chat", "responses", "anthropic")),
                         {"chat": "quota", "responses": "quota", "anthropic": "quota"})
        self.assertEqual(self.ends(Failure("content_filter"), formats=("chat", "responses")),
                         {"chat": "content_filter", "responses": "content_filter"})

    def test_an_error_has_the_vendors_words(self):
        server, _ = self.start_vendors(Failure("invalid_request", "The moon is not full."))
        for name in FORMATS:
            self.assertIn("The moon is not full.", self.play(server, name).end[2])

    def test_a_busy_vendor_is_asked_again_whatever_pause_it_names(self):
        soon = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=1), usegmt=True)
        pauses = ({"retry-after-ms": "10"}, {"retry-after": "0.01"}, {"retry-after": soon},
                  {"retry-after": "99999999"}, {"retry-after": "soon"}, {})
        kinds = ("rate_limit", "overloaded", "server", "timeout")
        for number, headers in enumerate(pauses):
            busy = Answer(failure=Failure(kinds[number % len(kinds)]), headers=headers)
            server, vendors = self.start_vendors(busy, LAST)
            for name, vendor in vendors.items():
                self.assertEqual(self.play(server, name).joined, ANSWER, (name, headers))
                self.assertEqual(vendor.bodies[0], vendor.bodies[1])
                self.assertEqual((len(vendor.bodies), vendor.refusals), (2, []))

    def test_a_vendor_that_stays_busy_ends_the_run(self):
        busy = [Answer(failure=Failure("overloaded"), headers={"retry-after-ms": "1"})] * 9
        server, _ = self.start_vendors(*busy, retries=0)
        for name in FORMATS:
            self.assertEqual(self.play(server, name).end[:2], ("error", "overloaded"), name)

    def test_refusals_and_filters(self):
        self.assertEqual(self.ends(turn(refuse("I will ", "not."))),
                         {"chat": "refusal", "responses": "refusal", "anthropic": "refusal",
                          "gemini": "content_filter"})
        self.assertEqual(self.ends(turn(say("Well, "), refuse("no."))),
                         {"chat": "refusal", "responses": "refusal", "anthropic": "refusal",
                          "gemini": "content_filter"})
        self.assertEqual(self.ends(turn(say("Half"), stop="filter")),
                         {"chat": "content_filter", "responses": "content_filter",
                          "anthropic": "refusal", "gemini": "content_filter"})
        self.assertEqual(self.ends(turn(stop="block"), formats=("gemini",)),
                         {"gemini": "content_filter"})

    def test_an_answer_that_the_limit_cuts(self):
        self.assertEqual(self.ends(turn(say("Half"), stop="length")),
                         dict.fromkeys(FORMATS, "truncation"))
        self.assertEqual(self.ends(turn(think("Thoughts alone"), stop="length")),
                         dict.fromkeys(FORMATS, "truncation"))

    def test_a_call_that_the_limit_cuts_is_not_made(self):
        cut = turn(say("I look."), call("look", '{"path": "a'), stop="length")
        formats = ("chat", "responses", "anthropic")
        self.assertEqual(self.ends(cut, formats=formats), dict.fromkeys(formats, "truncation"))

    def test_an_error_in_the_stream_asks_again_if_that_may_help(self):
        busy = Answer(turn=turn(say("Half an answer")), late_failure=Failure("overloaded"))
        server, vendors = self.start_vendors(busy, LAST)
        for name, vendor in vendors.items():
            story = self.play(server, name)
            self.assertEqual(story.joined, [("assistant_delta", "Half an answer"),
                                            ("turn_restarted", 0, 2), *ANSWER], name)
            self.check_asked(vendor, name, History(name).user(PROMPT), History(name).user(PROMPT))

    def test_an_error_in_the_stream_that_is_final(self):
        late = Answer(turn=turn(say("Half")), late_failure=Failure("context_window"))
        self.assertEqual(self.ends(late), dict.fromkeys(FORMATS, "context_window"))
        wires = {"responses": Responses(flat_errors=True)}
        self.assertEqual(self.ends(late, formats=("responses",), wires=wires),
                         {"responses": "context_window"})

    def test_errors_that_are_no_errors_of_the_vendor(self):
        odd = {
            "a page": (Answer(status=502, body=b"<html><h1>Bad gateway</h1></html>",
                              content_type="text/html"), "server"),
            "a number": (Answer(status=400, error={"error": {
                "code": 400, "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error"}}), "context_window"),
            "a text": (Answer(status=400, error={"error": "no such model"}), "invalid_request"),
            "a detail": (Answer(status=422, error={"detail": "max_tokens"}), "invalid_request"),
            "nothing": (Answer(status=500, body=b""), "server"),
        }
        for what, (answer, expected) in odd.items():
            # Every vendor may stand behind a proxy that shows pages or nothing.
            formats = FORMATS if what in ("a page", "nothing") else ("chat",)
            found = self.ends(answer, formats=formats, retries=0)
            self.assertEqual(found, dict.fromkeys(formats, expected), what)

    def test_a_body_that_is_no_stream_is_asked_again(self):
        error = {"error": {"message": "overloaded", "code": 503}}
        comments = Answer(body=b": keep-alive\n\n" * 3, content_type="text/event-stream")
        pings = Answer(body=b'event: ping\ndata: {"type": "ping"}\n\n' * 3,
                       content_type="text/event-stream")
        for answer in (Answer(error=error), Answer(body=b""), comments, pings):
            server, vendors = self.start_vendors(answer, LAST)
            for name, vendor in vendors.items():
                self.assertEqual(self.play(server, name).joined, ANSWER, name)
                self.assertEqual(len(vendor.bodies), 2)

    def test_a_stream_that_ends_without_its_marker_is_asked_again(self):
        for place in (At("start"), At("text"), At("text", more=9)):
            short = Answer(turn=turn(say("Half ", "an ", "answer")), cut=place, coding="close")
            server, vendors = self.start_vendors(short, LAST)
            for name, vendor in vendors.items():
                self.assertEqual(self.play(server, name).joined[-3:], ANSWER, name)
                self.check_asked(vendor, name, History(name).user(PROMPT),
                                 History(name).user(PROMPT))

    def test_gemini_that_breaks_off_or_says_nothing_is_asked_again(self):
        for stop in ("CONTINUATION", "MALFORMED_FUNCTION_CALL", "OTHER"):
            server, _ = self.start_vendors(turn(stop=stop), LAST, formats=("gemini",))
            self.assertEqual(self.play(server, "gemini").joined, ANSWER, stop)
        server, _ = self.start_vendors(turn(), LAST, formats=("gemini",))
        self.assertEqual(self.play(server, "gemini").joined, ANSWER)

    def test_an_answer_of_the_others_may_be_empty(self):
        formats = ("chat", "responses", "anthropic")
        server, _ = self.start_vendors(turn(), formats=formats)
        for name in formats:
            self.assertEqual(self.play(server, name).end, ("result", "success", ""))

    def test_an_error_of_gemini_that_is_no_event_is_a_stream_without_its_marker(self):
        late = Answer(turn=turn(say("Half")), late_failure=Failure("overloaded"))
        server, _ = self.start_vendors(late, LAST, formats=("gemini",),
                                       wires={"gemini": Gemini(bare_errors=True)})
        self.assertEqual(self.play(server, "gemini").joined,
                         [("assistant_delta", "Half"), ("turn_restarted", 0, 2), *ANSWER])


if __name__ == "__main__":
    unittest.main()
