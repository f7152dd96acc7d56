"""Runs in the wire format of each vendor, against fakes that the vendors' SDKs have judged."""

import json
import random
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path

from support.fake_vendor import (
    DIALECTS, Answer, At, Chat, Failure, Gemini, Responses, Usage, call, make_certificate, refuse,
    say, think, turn)
from support.script import local_tool
from support.vendor_case import FORMATS, PROMPT, History, Story, VendorCase

FIRST = turn(think("Two ", "files."), say("I ", "look."), call("look", path="a"),
             call("look", path="b"))
LAST = turn(think("Good."), say("Both ", "say hi."))
THOUGHTFUL = ("responses", "anthropic", "gemini")
CALLS_AND_RESULTS = [
    ("local_tool_call", {"path": "a"}),
    ("local_tool_call", {"path": "b"}),
    ("assistant_message", "I look.", [{"path": "a"}, {"path": "b"}], "tool_use"),
    ("local_tool_result_in", "in a"),
    ("local_tool_result_in", "in b"),
]
ANSWER = [
    ("assistant_delta", "Both say hi."),
    ("assistant_message", "Both say hi.", [], "end_turn"),
    ("result", "success", "Both say hi."),
]


class FormatTest(VendorCase):
    def check_answer(self, story: Story, text: str) -> None:
        self.assertEqual(story.end, ("result", "success", text))

    def test_the_first_request_says_what_the_run_says(self):
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        tool = {"name": "look", "description": "The tool look."}
        expected = {
            "chat": {
                "model": "vendor-m",
                "messages": [{"role": "system", "content": "Be brief."},
                             {"role": "user", "content": PROMPT}],
                "tools": [{"type": "function", "function": tool | {"parameters": schema}}],
                "max_completion_tokens": 500, "stream": True,
                "stream_options": {"include_usage": True}},
            "responses": {
                "model": "vendor-m", "instructions": "Be brief.",
                "input": [{"role": "user", "content": PROMPT}],
                "tools": [tool | {"type": "function", "parameters": schema, "strict": False}],
                "max_output_tokens": 500, "store": False,
                "include": ["reasoning.encrypted_content"], "stream": True},
            "anthropic": {
                "model": "vendor-m", "max_tokens": 500, "system": "Be brief.",
                "messages": [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}],
                "tools": [tool | {"input_schema": schema}], "stream": True},
            "gemini": {
                "contents": [{"role": "user", "parts": [{"text": PROMPT}]}],
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "tools": [{"functionDeclarations": [tool | {"parametersJsonSchema": schema}]}],
                "generationConfig": {"maxOutputTokens": 500}},
        }
        server, vendors = self.start_vendors(LAST, maxOutputTokens=500)
        for name, vendor in vendors.items():
            self.check_answer(self.play(server, name, systemPrompt="Be brief."), "Both say hi.")
            self.assertEqual((vendor.bodies, vendor.refusals), ([expected[name]], []))

    def test_thoughts_two_calls_and_their_results(self):
        server, vendors = self.start_vendors(FIRST, LAST)
        for name, vendor in vendors.items():
            story = self.play(server, name, reasoningLevel="low")
            thinks = name in THOUGHTFUL
            first = [("thinking_delta", "Two files.")] if thinks else []
            second = [("thinking_delta", "Good.")] if thinks else []
            self.assertEqual(story.joined, [*first, ("assistant_delta", "I look."),
                                            *CALLS_AND_RESULTS, *second, *ANSWER], name)
            blocks = vendor.wire.issued[0]
            self.check_asked(vendor, name, History(name).user(PROMPT),
                             History(name).user(PROMPT).turn(blocks)
                             .results(blocks, "in a", "in b"))

    def test_four_steps_replay_every_thought_in_its_place(self):
        steps = [turn(think(f"Step {n}."), call("look", path=str(n))) for n in range(3)]
        server, vendors = self.start_vendors(*steps, LAST)
        for name, vendor in vendors.items():
            self.check_answer(self.play(server, name), "Both say hi.")
            histories = [History(name).user(PROMPT) for _ in range(4)]
            for number, blocks in enumerate(vendor.wire.issued[:3]):
                for history in histories[number + 1 :]:
                    history.turn(blocks).results(blocks, f"in {number}")
            self.check_asked(vendor, name, *histories)

    def test_thoughts_that_are_redacted_or_omitted_go_back_as_they_came(self):
        for kind in ("redacted", "omitted"):
            first = turn(think("secret", kind=kind), call("look", path="a"))
            server, vendors = self.start_vendors(first, LAST, formats=("anthropic", "responses"))
            for name, vendor in vendors.items():
                self.check_answer(self.play(server, name), "Both say hi.")
                blocks = vendor.wire.issued[0]
                self.check_asked(vendor, name, History(name).user(PROMPT),
                                 History(name).user(PROMPT).turn(blocks).results(blocks, "in a"))

    def test_calls_of_gemini_without_ids_and_all_in_one_event(self):
        for wire in (Gemini(ids=False), Gemini(together=True), Gemini(ids=False, together=True)):
            server, vendors = self.start_vendors(FIRST, LAST, formats=("gemini",),
                                                 wires={"gemini": wire})
            self.check_answer(self.play(server, "gemini"), "Both say hi.")
            history = History("gemini").user(PROMPT)
            self.check_asked(vendors["gemini"], "gemini", history,
                             History("gemini").user(PROMPT).turn(wire.issued[0])
                             .results(wire.issued[0], "in a", "in b"))

    def test_calls_whose_fragments_are_interleaved(self):
        first = turn(say("I look."), call("look", path="a"), call("look", path="b"),
                     interleaved=True)
        server, vendors = self.start_vendors(first, LAST, formats=("chat", "responses"))
        for name, vendor in vendors.items():
            story = self.play(server, name)
            self.assertEqual(story.joined, [("assistant_delta", "I look."), *CALLS_AND_RESULTS,
                                            *ANSWER])
            self.assertEqual(vendor.refusals, [])

    def test_servers_that_speak_chat_in_their_own_way(self):
        first = turn(think("Hm ", "so."), say("I look."), call("look", path="a"),
                     call("look", path="b"))
        for dialect, way in DIALECTS.items():
            with self.subTest(dialect):
                server, vendors = self.start_vendors(first, LAST, formats=("chat",),
                                                     wires={"chat": Chat(way)})
                story = self.play(server, "chat", reasoningLevel="low")
                thoughts = [("thinking_delta", "Hm so.")] if way.thinking else []
                shown = [event for event in story.joined if event != ("thinking_delta", "Good.")]
                self.assertEqual(shown, [*thoughts, ("assistant_delta", "I look."),
                                         *CALLS_AND_RESULTS, *ANSWER])
                vendor = vendors["chat"]
                calls = vendor.bodies[1]["messages"][1]["tool_calls"]
                self.assertEqual([json.loads(made["function"]["arguments"]) for made in calls],
                                 [{"path": "a"}, {"path": "b"}])
                self.assertEqual(vendor.refusals, [])

    def test_tokens_are_counted(self):
        said = turn(think("Hm."), say("Hi."), usage=Usage(input=30, cached=8, output=20,
                                                          thinking=12))
        server, _ = self.start_vendors(said)
        for name in FORMATS:
            end = self.play(server, name).frames[-1].json()
            self.assertEqual(end["tokens"], {"inputTokens": 30, "cachedTokens": 8,
                                             "reasoningTokens": 12, "outputTokens": 20}, name)

    def test_an_answer_without_usage(self):
        server, _ = self.start_vendors(turn(say("Hi."), usage=None))
        for name in FORMATS:
            self.check_answer(self.play(server, name), "Hi.")

    def test_a_call_without_arguments(self):
        tools = [local_tool("now")]
        for raw in ("", "{}"):
            server, vendors = self.start_vendors(turn(call("now", raw)), LAST)
            for name, vendor in vendors.items():
                story = self.play(server, name, tools=tools)
                self.assertEqual(story.events[0], ("local_tool_call", {}), name)
                self.check_answer(story, "Both say hi.")
                self.assertEqual(vendor.refusals, [])

    def test_arguments_that_are_no_object_are_told_to_the_model(self):
        for raw in ('{"path": ', "[1]", "7"):
            server, vendors = self.start_vendors(turn(call("look", raw)), LAST,
                                                 formats=("chat", "responses", "anthropic"))
            for name, vendor in vendors.items():
                story = self.play(server, name)
                names = [event[0] for event in story.joined]
                self.assertEqual(names, ["assistant_message", "tool_result", "assistant_delta",
                                         "assistant_message", "result"], (name, raw))
                self.assertEqual((len(vendor.bodies), vendor.refusals), (2, []))
                self.assertIn("tool_input_invalid", json.dumps(vendor.bodies[1]))

    def test_the_bytes_in_any_pieces_give_the_same_events(self):
        first = turn(think("Zwei ", "Dateien."), say("Grüße, ", "😀."), call("look", path="ä"),
                     call("look", path="\u2028"))
        chosen = random.Random(7)
        ways = [dict(), dict(sizes=(1,)), dict(newline="\r\n", sizes=(1,)), dict(comments=True),
                dict(coding="gzip", sizes=(5,)), dict(coding="length"), dict(coding="close")]
        ways += [dict(sizes=tuple(chosen.randint(1, 60) for _ in range(40))) for _ in range(4)]
        answers = [part for way in ways
                   for part in (Answer(turn=first, **way), Answer(turn=LAST, **way))]
        server, vendors = self.start_vendors(*answers)
        for name, vendor in vendors.items():
            stories = [self.play(server, name, reasoningLevel="low").events for _ in ways]
            for way, story in zip(ways, stories):
                self.assertEqual(story, stories[0], (name, way))
            self.assertEqual(vendor.refusals, [])

    def test_an_event_of_a_megabyte(self):
        text = "0123456789abcdef" * 65536
        server, _ = self.start_vendors(turn(say(text)))
        for name in FORMATS:
            self.check_answer(self.play(server, name), text)

    def test_events_and_fields_of_the_future(self):
        server, _ = self.start_vendors(turn(think("Hm."), say("Hi ", "you."), newer=True))
        for name in FORMATS:
            self.check_answer(self.play(server, name), "Hi you.")

    def test_over_https_with_a_certificate_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate = make_certificate(Path(folder))
            server, vendors = self.start_vendors(FIRST, LAST, certificate=certificate)
            for name, vendor in vendors.items():
                self.assertTrue(vendor.url.startswith("https://"))
                self.check_answer(self.play(server, name), "Both say hi.")
                self.assertEqual(vendor.refusals, [])


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
            found = self.ends(*[answer] * 9, formats=("chat",), retries=0)
            self.assertEqual(found, {"chat": expected}, what)

    def test_a_body_that_is_no_stream_is_asked_again(self):
        error = {"error": {"message": "overloaded", "code": 503}}
        for answer in (Answer(error=error), Answer(body=b"")):
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
