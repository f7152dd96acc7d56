"""The vendors' own SDKs judge the fake of tests/support: they read what it says, and it takes what
they send."""

import json
import unittest
from dataclasses import dataclass

from support.fake_vendor import (
    WIRES, Answer, Asked, At, Failure, FakeVendor, Gemini, Refused, Responses, Usage, Wire, call,
    refuse, say, think, turn)
from support.vendor_sdks import VendorSdkCase

LOOK = {"name": "look", "description": "Reads a file.",
        "schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
NOW = {"name": "now", "description": "Tells the time.", "schema": {"type": "object"}}
POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
         "required": ["x", "y"], "additionalProperties": False}
FORMATS = tuple(WIRES)
STOPS = {
    "chat": {"end": "stop", "calls": "tool_calls", "length": "length", "filter": "content_filter"},
    "responses": {"end": "completed", "calls": "completed", "length": "max_output_tokens",
                  "filter": "content_filter"},
    "anthropic": {"end": "end_turn", "calls": "tool_use", "length": "max_tokens",
                  "filter": "refusal"},
    "gemini": {"end": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"},
}
USAGE = {"input": 20, "cached": 0, "output": 10, "thinking": 0}


@dataclass
class Played:
    """What an SDK made of the answers of one vendor."""

    format: str
    turns: list[dict]
    error: dict | None
    vendor: FakeVendor

    @property
    def shown(self) -> list[dict]:
        return [{"text": one["text"], "thinking": one["thinking"], "stop": one["stop"],
                 "calls": [(made["name"], made["args"]) for made in one["calls"]],
                 "usage": one["usage"]} for one in self.turns]

    def said(self, text: str = "", thinking: str = "", stop: str = "end", calls=(), usage=USAGE):
        """A turn as this format shows it; chat completions keep thoughts to themselves."""
        return {"text": text, "thinking": "" if self.format == "chat" else thinking,
                "stop": STOPS[self.format][stop], "calls": list(calls), "usage": usage}


class SdkCase(VendorSdkCase):
    def play(self, *answers, formats=FORMATS, wires: dict[str, Wire] | None = None,
             **job) -> list[Played]:
        """Has each vendor's SDK ask its fake, all at once."""
        vendors, jobs = [], []
        for name in formats:
            wire = wires[name] if wires else WIRES[name]()
            vendors.append(FakeVendor(*answers, wire=wire))
            self.addCleanup(vendors[-1].close)
            jobs.append({"format": name, "url": vendors[-1].url, "prompt": "Well?"} | job)
        results = self.sdks.ask(jobs)
        return [Played(name, result["turns"], result["error"], vendor)
                for name, result, vendor in zip(formats, results, vendors)]

    def check_turns(self, played: Played, *turns: dict) -> None:
        """The SDK saw these turns, put the blocks together as they were meant, and asked well."""
        self.assertEqual((played.format, played.vendor.refusals, played.error),
                         (played.format, [], None))
        self.assertEqual(played.shown, list(turns), played.format)
        self.assertEqual([one["blocks"] for one in played.turns], played.vendor.wire.issued)
        self.assertEqual(played.vendor.answers, [])


class SdkReadsTest(SdkCase):
    def test_text(self):
        for played in self.play(turn(say("Hello, ", "wörld 😀."))):
            self.check_turns(played, played.said("Hello, wörld 😀."))

    def test_thoughts_and_the_tokens_they_cost(self):
        usage = Usage(input=30, cached=8, output=20, thinking=12)
        for played in self.play(turn(think("Let me ", "see."), say("Done."), usage=usage)):
            counts = {"input": 30, "cached": 8, "output": 20, "thinking": 12}
            self.check_turns(played, played.said("Done.", "Let me see.", usage=counts))

    def test_two_parallel_calls_whose_results_are_sent_back(self):
        first = turn(think("Two files."), say("I look."), call("look", path="a"),
                     call("look", path="ä/\u2028"))
        for played in self.play(first, turn(think("Good."), say("Both.")), tools=[LOOK],
                                result="hi"):
            calls = [("look", {"path": "a"}), ("look", {"path": "ä/\u2028"})]
            self.check_turns(played, played.said("I look.", "Two files.", "calls", calls),
                             played.said("Both.", "Good."))

    def test_calls_whose_fragments_are_interleaved(self):
        first = turn(call("look", path="a"), call("look", path="b"), interleaved=True)
        for played in self.play(first, turn(say("Both.")), tools=[LOOK], result="hi",
                                formats=("chat", "responses")):
            calls = [("look", {"path": "a"}), ("look", {"path": "b"})]
            self.check_turns(played, played.said(stop="calls", calls=calls), played.said("Both."))

    def test_three_steps_of_calls_each_with_thoughts_of_its_own(self):
        steps = [turn(think(f"Step {n}."), call("look", path=str(n))) for n in range(3)]
        for played in self.play(*steps, turn(say("All.")), tools=[LOOK], result="hi"):
            said = [played.said("", f"Step {n}.", "calls", [("look", {"path": str(n)})])
                    for n in range(3)]
            self.check_turns(played, *said, played.said("All."))

    def test_a_call_without_arguments(self):
        for raw in ("", "{}"):
            for played in self.play(turn(call("now", raw)), turn(say("Late.")), tools=[NOW],
                                    result="23:59"):
                self.check_turns(played, played.said(stop="calls", calls=[("now", {})]),
                                 played.said("Late."))

    def test_thoughts_that_are_redacted_or_omitted(self):
        for kind in ("redacted", "omitted"):
            first = turn(think("secret", kind=kind), call("look", path="a"))
            for played in self.play(first, turn(say("Read.")), tools=[LOOK], result="hi",
                                    formats=("anthropic", "responses")):
                self.check_turns(played,
                                 played.said(stop="calls", calls=[("look", {"path": "a"})]),
                                 played.said("Read."))

    def test_gemini_without_ids_and_with_all_calls_in_one_event(self):
        wires = {"gemini": Gemini(ids=False, together=True)}
        first = turn(call("look", path="a"), call("look", path="b"))
        for played in self.play(first, turn(say("Both.")), tools=[LOOK], result="hi",
                                formats=("gemini",), wires=wires):
            calls = [("look", {"path": "a"}), ("look", {"path": "b"})]
            self.check_turns(played, played.said(stop="calls", calls=calls), played.said("Both."))

    def test_refusals(self):
        for played in self.play(turn(say("Well, "), refuse("I will ", "not."))):
            self.assertEqual(played.error, None, played.format)
            words = "" if played.format == "gemini" else "I will not."
            self.assertEqual(played.turns[0]["refusal"], words)
        for played in self.play(turn(refuse("No."))):
            self.assertEqual((played.error, played.turns[0]["text"]), (None, ""), played.format)

    def test_an_answer_that_the_limit_or_a_filter_cuts(self):
        for stop in ("length", "filter"):
            for played in self.play(turn(say("Half an"), stop=stop)):
                self.check_turns(played, played.said("Half an", stop=stop))

    def test_an_empty_answer(self):
        for played in self.play(turn()):
            self.assertEqual((played.error, played.shown), (None, [played.said()]), played.format)

    def test_an_answer_without_usage(self):
        for played in self.play(turn(say("Hi."), usage=None)):
            shown = [one | {"usage": None} for one in played.shown]
            self.assertEqual((played.error, shown), (None, [played.said("Hi.", usage=None)]))
            self.assertIn(played.turns[0].get("usage"), (None,), played.format)

    def test_structured_output(self):
        for played in self.play(turn(say('{"x":', '1,"y":2}')), schema=POINT):
            self.check_turns(played, played.said('{"x":1,"y":2}'))

    def test_events_and_fields_of_the_future(self):
        for played in self.play(turn(say("Hi ", "you."), newer=True),
                                formats=("chat", "anthropic", "gemini")):
            self.check_turns(played, played.said("Hi you."))

    def test_the_bytes_in_any_pieces(self):
        said = turn(think("Hm."), say("Grüße, ", "😀."), call("look", path="ä"))
        ways = (dict(sizes=(1,)), dict(sizes=(7, 1, 30)), dict(newline="\r\n"),
                dict(comments=True), dict(coding="gzip"), dict(coding="gzip", sizes=(3,)),
                dict(coding="length"), dict(coding="close"))
        for way in ways:
            for played in self.play(Answer(turn=said, **way), tools=[LOOK]):
                self.check_turns(played, played.said("Grüße, 😀.", "Hm.", "calls",
                                                     [("look", {"path": "ä"})]))

    def test_an_event_of_a_megabyte(self):
        text = "0123456789abcdef" * 65536
        for played in self.play(turn(say(text))):
            self.check_turns(played, played.said(text))


class SdkErrorsTest(SdkCase):
    def errors(self, failure: Failure) -> dict[str, tuple]:
        """The class and the status that each SDK makes of a failure."""
        return {played.format: (played.error["name"], played.error["status"])
                for played in self.play(failure)}

    def test_each_class_of_errors(self):
        def all_of(openai, anthropic, gemini):
            return {"chat": openai, "responses": openai, "anthropic": anthropic,
                    "gemini": ("ApiError", gemini)}

        bad = ("BadRequestError", 400)
        limit = ("RateLimitError", 429)
        key = ("AuthenticationError", 401)
        expected = {
            "auth": all_of(key, key, 400),
            "quota": all_of(limit, ("APIError", 402), 403),
            "rate_limit": all_of(limit, limit, 429),
            "overloaded": all_of(("InternalServerError", 503), ("OverloadedError", 529), 503),
            "server": all_of(("InternalServerError", 500), ("InternalServerError", 500), 500),
            "timeout": all_of(("InternalServerError", 504), ("GatewayTimeoutError", 504), 504),
            "context_window": all_of(bad, bad, 400),
            "content_filter": all_of(bad, bad, 400),
            "invalid_request": all_of(bad, bad, 400),
        }
        self.assertEqual({kind: self.errors(Failure(kind)) for kind in expected}, expected)

    def test_an_error_in_the_stream(self):
        answer = Answer(turn=turn(say("Half")), late_failure=Failure("overloaded"))
        words = {"chat": "The server is overloaded", "anthropic": "Overloaded",
                 "gemini": "The model is overloaded."}
        for played in self.play(answer, formats=tuple(words)):
            self.assertIn(words[played.format], played.error["message"])

    def test_a_response_that_failed_in_its_stream(self):
        answer = Answer(turn=turn(say("Half")), late_failure=Failure("context_window"))
        played = self.play(answer, formats=("responses",))[0]
        self.assertEqual((played.error, played.turns[0]["stop"]), (None, "failed"))
        wires = {"responses": Responses(flat_errors=True)}
        played = self.play(answer, formats=("responses",), wires=wires)[0]
        self.assertIn("context window", played.error["message"])

    def test_an_error_in_the_stream_that_is_no_event(self):
        # The SDK finds it if it comes by itself, and else misses the end of the stream.
        alone = Answer(body=json.dumps(Gemini().error(Failure("overloaded")).body).encode())
        after_text = Answer(turn=turn(say("Half")), late_failure=Failure("overloaded"))
        wires = {"gemini": Gemini(bare_errors=True)}
        played = self.play(alone, formats=("gemini",), wires=wires)[0]
        self.assertEqual((played.error["name"], played.error["status"]), ("ApiError", 503))
        played = self.play(after_text, formats=("gemini",), wires=wires)[0]
        self.assertNotEqual(played.error, None)

    def test_a_stream_that_is_cut(self):
        for place in (At("start"), At("text"), At("text", more=20)):
            for played in self.play(Answer(turn=turn(say("Half ", "a ", "loaf")), cut=place)):
                self.assertNotEqual(played.error, None, (played.format, place))

    def test_a_busy_vendor_is_asked_again(self):
        for headers in ({"retry-after-ms": "5"}, {"retry-after": "0.005"}, {}):
            busy = Answer(failure=Failure("rate_limit"), headers=headers)
            for played in self.play(busy, turn(say("Hi.")), retries=1):
                self.check_turns(played, played.said("Hi."))


class FakeRefusesTest(SdkCase):
    """What a vendor would refuse is refused; what its SDK sends is not."""

    def check_refused(self, name: str, **edits) -> None:
        """What the SDK sends after a turn with calls is taken, and none of its edited copies is."""
        first = turn(think("Hm."), call("look", path="a"), call("look", path="b"))
        vendor = self.play(first, turn(say("Both.")), tools=[LOOK], result="hi",
                           formats=(name,))[0].vendor
        self.assertEqual(vendor.refusals, [])
        last = vendor.asked[-1]
        taken = []
        for what, edit in edits.items():
            copy = Asked(last.path, last.headers, edit(json.loads(json.dumps(last.body))))
            try:
                vendor.wire.check(copy)
                taken.append(what)
            except Refused as refused:
                self.assertEqual(refused.status, 400)
        self.assertEqual(taken, [])

    def test_anthropic(self):
        def at(message, block, **changes):
            def edit(body):
                body["messages"][message]["content"][block] |= changes
                return body
            return edit

        def without(message, block):
            def edit(body):
                del body["messages"][message]["content"][block]
                return body
            return edit

        def swapped(body):
            blocks = body["messages"][1]["content"]
            blocks[0], blocks[1] = blocks[1], blocks[0]
            return body

        self.check_refused(
            "anthropic", edited_thought=at(1, 0, thinking="Edited."),
            edited_signature=at(1, 0, signature="AAAA"), no_thought=without(1, 0),
            no_result=without(2, 0), no_call=without(1, 1),
            wrong_result=at(2, 0, tool_use_id="toolu_9"),
            swapped=swapped, prefill=lambda body: body | {"messages": body["messages"][:2]},
            strange_field=lambda body: body | {"strange": 1},
            no_limit=lambda body: {k: v for k, v in body.items() if k != "max_tokens"})

    def test_responses(self):
        def at(item, **changes):
            def edit(body):
                body["input"][item] |= changes
                return body
            return edit

        def without(item):
            def edit(body):
                del body["input"][item]
                return body
            return edit

        self.check_refused(
            "responses", edited=at(1, encrypted_content="AAAA"), no_reasoning=without(1),
            no_call=without(2), no_output=without(4), wrong_output=at(4, call_id="call_9"),
            wrong_part=at(0, content=[{"type": "output_text", "text": "a"}]),
            strange_field=lambda body: body | {"strange": 1})

    def test_chat(self):
        def without(message):
            def edit(body):
                del body["messages"][message]
                return body
            return edit

        def with_user_between(body):
            body["messages"].insert(2, {"role": "user", "content": "Well?"})
            return body

        self.check_refused(
            "chat", no_call=without(1), no_result=without(2), between=with_user_between,
            strange_field=lambda body: body | {"strange": 1},
            no_messages=lambda body: body | {"messages": []})

    def test_gemini(self):
        def parts(content, change):
            def edit(body):
                change(body["contents"][content]["parts"])
                return body
            return edit

        def copy_signature(made):
            made[2]["thoughtSignature"] = made[1]["thoughtSignature"]

        self.check_refused(
            "gemini", no_signature=parts(1, lambda made: made[1].pop("thoughtSignature")),
            edited=parts(1, lambda made: made[1]["functionCall"]["args"].update(path="c")),
            copied=parts(1, copy_signature), no_response=parts(2, lambda made: made.pop()),
            swapped=parts(2, lambda made: made.reverse()),
            model_last=lambda body: body | {"contents": body["contents"][:2]},
            strange_field=lambda body: body | {"strange": 1})

    def test_a_wrong_key(self):
        for name in FORMATS:
            vendor = FakeVendor(turn(say("Hi.")), wire=WIRES[name](api_key="another"))
            self.addCleanup(vendor.close)
            job = {"format": name, "url": vendor.url, "prompt": "Well?"}
            result = self.sdks.ask([job])[0]
            self.assertIn(result["error"]["status"], (400, 401), name)
            self.assertEqual(len(vendor.refusals), 1)


if __name__ == "__main__":
    unittest.main()
