"""Runs in the wire format of each vendor, against fakes that the vendors' SDKs have judged."""

import json
import random
import tempfile
import unittest
from pathlib import Path

from support.fake_vendor import (
    DIALECTS, Answer, Chat, Gemini, Usage, call, make_certificate, say, think, turn)
from support.script import local_tool
from support.vendor_case import FORMATS, PROMPT, History, Story, VendorCase, messages_of

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

    def test_a_call_without_arguments_as_servers_of_chat_have_it(self):
        for dialect, way in DIALECTS.items():
            with self.subTest(dialect):
                server, vendors = self.start_vendors(turn(call("now", "")), LAST,
                                                     formats=("chat",), wires={"chat": Chat(way)})
                story = self.play(server, "chat", tools=[local_tool("now")])
                self.assertEqual(story.events[0], ("local_tool_call", {}))
                self.check_answer(story, "Both say hi.")
                made = vendors["chat"].bodies[1]["messages"][1]["tool_calls"]
                self.assertEqual([one["function"] for one in made],
                                 [{"name": "now", "arguments": "{}"}])

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


class HistoryTest(VendorCase):
    """Turns and results of every shape go back in a way that the vendor takes."""

    def answered(self, first, **outcome) -> dict[str, list[dict]]:
        """The messages of the second request, after the one call of `first` got this outcome."""
        server, vendors = self.start_vendors(first, LAST)
        client = server.client()
        found = {}
        for name, vendor in vendors.items():
            run = self.create(client, name)
            with client.stream(run) as stream:
                made = stream.until("local_tool_call")[-1].json()
                client.answer(run, made["toolUseId"], **outcome)
                self.assertEqual(Story(list(stream)).end, ("result", "success", "Both say hi."))
            self.assertEqual(vendor.refusals, [], name)
            found[name] = messages_of(name, vendor.bodies[1])
        return found

    def test_a_result_that_is_empty(self):
        found = self.answered(turn(call("look", path="a")), result="")
        self.assertEqual({name: messages[-1] for name, messages in found.items()}, {
            "chat": {"role": "tool", "tool_call_id": "call_0002", "content": ""},
            "responses": {"type": "function_call_output", "call_id": "call_0002", "output": ""},
            "anthropic": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_0001"}]},
            "gemini": {"role": "user", "parts": [{"functionResponse": {
                "id": "fc-0002", "name": "look", "response": {"output": ""}}}]}})

    def test_a_tool_that_failed(self):
        found = self.answered(turn(call("look", path="a")), error="no such file")
        self.assertEqual({name: messages[-1] for name, messages in found.items()}, {
            "chat": {"role": "tool", "tool_call_id": "call_0002", "content": "Error: no such file"},
            "responses": {"type": "function_call_output", "call_id": "call_0002",
                          "output": "Error: no such file"},
            "anthropic": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_0001", "content": "no such file",
                 "is_error": True}]},
            "gemini": {"role": "user", "parts": [{"functionResponse": {
                "id": "fc-0002", "name": "look", "response": {"error": "no such file"}}}]}})

    def check_replay(self, first, formats=FORMATS, **wires) -> None:
        """The turn goes back block by block as it was said."""
        server, vendors = self.start_vendors(first, LAST, formats=formats, wires=wires)
        for name, vendor in vendors.items():
            story = self.play(server, name)
            self.assertEqual(story.end, ("result", "success", "Both say hi."), name)
            blocks = vendor.wire.issued[0]
            results = ["in a", "in b"][: len(first.calls)]
            self.check_asked(vendor, name, History(name).user(PROMPT),
                             History(name).user(PROMPT).turn(blocks).results(blocks, *results))

    def test_text_after_calls_and_between_them(self):
        self.check_replay(turn(call("look", path="a"), say("And b: "), call("look", path="b"),
                               say("That is it.")))

    def test_thoughts_between_calls(self):
        self.check_replay(turn(think("First a."), call("look", path="a"), think("Then b."),
                               call("look", path="b")))

    def test_a_run_that_reasons_with_turns_that_do_not(self):
        server, vendors = self.start_vendors(turn(call("look", path="a")),
                                             turn(think("Hm."), call("look", path="b")), LAST)
        for name, vendor in vendors.items():
            story = self.play(server, name, reasoningLevel="high")
            self.assertEqual(story.end, ("result", "success", "Both say hi."), name)
            self.assertEqual(vendor.refusals, [], name)

    def test_text_that_is_blank(self):
        self.check_replay(turn(say("\n\n"), call("look", path="a")),
                          formats=("chat", "responses", "gemini"))
        server, vendors = self.start_vendors(turn(say("\n\n"), call("look", path="a")), LAST,
                                             formats=("anthropic",))
        self.assertEqual(self.play(server, "anthropic").end, ("result", "success", "Both say hi."))
        self.assertEqual(vendors["anthropic"].refusals, [], "the vendor takes no blank text")

    def test_an_id_that_the_vendor_gives_again(self):
        class Again(Chat):
            def mint(self, prefix: str) -> str:
                return "call_0" if prefix == "call_" else super().mint(prefix)

        server, vendors = self.start_vendors(turn(call("look", path="a")),
                                             turn(call("look", path="b")), LAST,
                                             formats=("chat",), wires={"chat": Again()})
        self.assertEqual(self.play(server, "chat").end, ("result", "success", "Both say hi."))
        self.assertEqual(vendors["chat"].refusals, [])


if __name__ == "__main__":
    unittest.main()
