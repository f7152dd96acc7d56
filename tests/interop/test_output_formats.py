"""Answers that have to follow a schema, in the wire format of each vendor."""

import json
import unittest

from support.fake_vendor import Answer, call, say, think, turn
from support.script import local_tool
from support.server import Server
from support.vendor_case import FORMATS, PROMPT, History, Story, VendorCase, messages_of

CLOSED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
          "additionalProperties": False}
# Outside of what "strict" takes, and of what Anthropic's own way would.
OPEN = {"type": "object", "properties": {"city": {"type": "string", "minLength": 1}},
        "required": ["city"], "minProperties": 1}
OSLO = '{"city":"Oslo"}'
WRONG = '{"city":7}'
REPAIR = ("Your answer does not fit the schema that it has to follow:\n"
          "/city: expected a string, got 7\n\n"
          "Give the whole answer again with this put right, and nothing besides it.")
NATIVE = ("chat", "responses", "gemini")  # Gemini without tools
BY_TOOL = ("anthropic", "gemini")  # Gemini with tools
TOOL = "final_report"


def structured(mechanism: str, enforced: bool = True) -> dict:
    return {"schemaRequested": True, "schemaEnforced": enforced,
            "enforcementMechanism": mechanism, "unconstrainedFallbackOccurred": False}


def report(raw: str):
    return call(TOOL, raw)


def told_output(name: str, body: dict) -> dict | None:
    """What the request says about the shape of the answer, in the vendor's own way."""
    if name == "gemini":
        return body.get("generationConfig")
    return body.get({"chat": "response_format", "responses": "text"}.get(name, "output_config"))


def tools_of(name: str, body: dict) -> dict[str, dict]:
    """The schemas of the tools of a request, by name."""
    tools = body.get("tools", [])
    if name == "gemini":
        tools = [one for tool in tools for one in tool["functionDeclarations"]]
        return {tool["name"]: tool.get("parametersJsonSchema") for tool in tools}
    if name == "anthropic":
        return {tool["name"]: tool["input_schema"] for tool in tools}
    tools = [tool.get("function", tool) for tool in tools]
    return {tool["name"]: tool["parameters"] for tool in tools}


class OutputCase(VendorCase):
    def ask(self, server: Server, name: str, schema: dict = CLOSED, **spec) -> Story:
        client = server.client()
        self.run_id = self.create(client, name, outputSchema={"name": "place", "schema": schema},
                                  **spec)
        return self.follow(client, self.run_id)

    def check_end(self, story: Story, mechanism: str) -> None:
        end = story.frames[-1].json()
        self.assertEqual((story.end, end["structuredOutput"]),
                         (("result", "success", OSLO), structured(mechanism)))

    def everything_shown(self, server: Server, story: Story) -> str:
        """All that a client can read of the run."""
        client = server.client()
        shown = [frame.json() for frame in story.frames] + [client.snapshot(self.run_id)]
        run = f"/agent-runs/{self.run_id}"
        shown += [client.request("GET", path).json() for path in (
            "/agent-runs", f"{run}/events", f"{run}/journal", "/tool-calls?status=pending")]
        return json.dumps(shown)


class NativeTest(OutputCase):
    def expected(self, name: str, schema: dict) -> dict:
        strict = schema is CLOSED
        named = {"name": "place", "schema": schema, "strict": strict}
        return {"chat": {"type": "json_schema", "json_schema": named},
                "responses": {"format": {"type": "json_schema"} | named},
                "gemini": {"responseMimeType": "application/json",
                           "responseJsonSchema": schema}}[name]

    def test_the_vendor_is_given_the_schema_and_told_if_it_is_not_strict(self):
        for schema in (CLOSED, OPEN):
            server, vendors = self.start_vendors(turn(think("Hm."), say('{"city":', '"Oslo"}')),
                                                 formats=NATIVE)
            for name, vendor in vendors.items():
                story = self.ask(server, name, schema, tools=[])
                self.check_end(story, "native_schema")
                self.assertEqual(told_output(name, vendor.bodies[0]), self.expected(name, schema))
                self.assertEqual(("tools" in vendor.bodies[0], vendor.refusals), (False, []))

    def test_beside_tools(self):
        formats = ("chat", "responses")
        server, vendors = self.start_vendors(turn(call("look", path="a")), turn(say(OSLO)),
                                             formats=formats)
        for name, vendor in vendors.items():
            self.check_end(self.ask(server, name), "native_schema")
            for body in vendor.bodies:
                self.assertEqual(told_output(name, body), self.expected(name, CLOSED))
                self.assertEqual(list(tools_of(name, body)), ["look"])
            blocks = vendor.wire.issued[0]
            self.check_asked(vendor, name, History(name).user(PROMPT),
                             History(name).user(PROMPT).turn(blocks).results(blocks, "in a"))

    def test_an_answer_that_does_not_fit_is_asked_for_once_more(self):
        server, vendors = self.start_vendors(turn(think("Hm."), say(WRONG)), turn(say(OSLO)),
                                             formats=NATIVE)
        for name, vendor in vendors.items():
            story = self.ask(server, name, tools=[])
            self.assertEqual(story.joined[-5:], [
                ("assistant_delta", WRONG), ("assistant_message", WRONG, [], "end_turn"),
                ("assistant_delta", OSLO), ("assistant_message", OSLO, [], "end_turn"),
                ("result", "success", OSLO)])
            first = History(name).user(PROMPT)
            again = History(name).user(PROMPT).turn(vendor.wire.issued[0]).user(REPAIR)
            self.check_asked(vendor, name, first, again)
            self.assertEqual(told_output(name, vendor.bodies[1]), self.expected(name, CLOSED))

    def test_nothing_is_called_while_an_answer_is_put_right(self):
        formats = ("chat", "responses")
        server, vendors = self.start_vendors(turn(say(WRONG)), turn(say(OSLO)), formats=formats)
        for name, vendor in vendors.items():
            self.check_end(self.ask(server, name), "native_schema")
            self.assertEqual([body.get("tool_choice") for body in vendor.bodies], [None, "none"])


class AnswerToolTest(OutputCase):
    def test_the_tool_has_the_schema_whatever_it_says(self):
        for schema in (CLOSED, OPEN):
            server, vendors = self.start_vendors(turn(think("Hm."), report(OSLO)), formats=BY_TOOL)
            for name, vendor in vendors.items():
                self.check_end(self.ask(server, name, schema), "synthetic_tool")
                body = vendor.bodies[0]
                self.assertEqual(tools_of(name, body)[TOOL], schema)
                self.assertEqual((list(tools_of(name, body)), vendor.refusals),
                                 (["look", TOOL], []))
                self.assertEqual(told_output(name, body), None)

    def test_no_client_ever_sees_it(self):
        early = turn(think("Hm."), say("I look."), call("look", path="a"), report(WRONG))
        server, vendors = self.start_vendors(early, turn(say("Here."), report(WRONG)),
                                             turn(report(OSLO)), formats=BY_TOOL)
        for name, vendor in vendors.items():
            story = self.ask(server, name)
            self.check_end(story, "synthetic_tool")
            self.assertEqual(
                [event for event in story.joined if event[0] != "thinking_delta"],
                [("assistant_delta", "I look."), ("local_tool_call", {"path": "a"}),
                 ("assistant_message", "I look.", [{"path": "a"}], "tool_use"),
                 ("local_tool_result_in", "in a"),
                 ("assistant_delta", WRONG), ("assistant_message", WRONG, [], "end_turn"),
                 ("assistant_delta", OSLO), ("assistant_message", OSLO, [], "end_turn"),
                 ("result", "success", OSLO)], name)
            self.assertNotIn(TOOL, self.everything_shown(server, story))
            blocks = [block for block in vendor.wire.issued[0] if TOOL not in json.dumps(block)]
            looked = [History(name).user(PROMPT).turn(blocks).results(blocks, "in a")
                      for _ in range(2)]
            self.check_asked(vendor, name, History(name).user(PROMPT), looked[0],
                             looked[1].told(WRONG).user(REPAIR))

    def test_an_answer_in_front_of_calls_comes_too_early(self):
        early = turn(think("Hm."), report(WRONG), call("look", path="a"))
        server, vendors = self.start_vendors(early, turn(report(OSLO)), formats=BY_TOOL)
        for name, vendor in vendors.items():
            self.check_end(self.ask(server, name), "synthetic_tool")
            self.assertEqual(vendor.refusals, [], name)

    def test_two_answers_at_once_count_as_the_first(self):
        server, vendors = self.start_vendors(turn(report(OSLO), report('{"city": "Bergen"}')),
                                             formats=BY_TOOL)
        for name in vendors:
            self.check_end(self.ask(server, name), "synthetic_tool")

    def test_only_the_answer_may_be_given_while_it_is_put_right(self):
        server, vendors = self.start_vendors(turn(report(WRONG)), turn(report(OSLO)),
                                             formats=BY_TOOL)
        for name, vendor in vendors.items():
            self.check_end(self.ask(server, name), "synthetic_tool")
            body = vendor.bodies[1]
            forced = {"anthropic": body.get("tool_choice"),
                      "gemini": body.get("toolConfig")}[name]
            self.assertEqual(forced, {
                "anthropic": {"type": "tool", "name": TOOL},
                "gemini": {"functionCallingConfig": {
                    "mode": "ANY", "allowedFunctionNames": [TOOL]}}}[name])

    def test_text_in_place_of_the_tool_is_an_answer_too(self):
        server, vendors = self.start_vendors(turn(say(OSLO)), formats=BY_TOOL)
        for name in vendors:
            self.check_end(self.ask(server, name), "synthetic_tool")

    def test_a_tool_of_the_client_with_that_name_is_the_clients(self):
        first = turn(call(TOOL, path="a"))
        server, vendors = self.start_vendors(first, turn(call(TOOL + "_", OSLO)), formats=BY_TOOL)
        for name, vendor in vendors.items():
            story = self.ask(server, name, tools=[local_tool(TOOL, path="string")])
            self.assertEqual(story.events[0], ("local_tool_call", {"path": "a"}))
            self.check_end(story, "synthetic_tool")
            self.assertEqual(list(tools_of(name, vendor.bodies[0])), [TOOL, TOOL + "_"])


class CutOffTest(OutputCase):
    def test_an_answer_that_the_limit_cuts_is_not_asked_for_again(self):
        server, vendors = self.start_vendors(turn(say('{"city": "Os'), stop="length"))
        for name, vendor in vendors.items():
            story = self.ask(server, name)
            end = story.frames[-1].json()
            self.assertEqual((end["errorClass"], end["finishReason"], end["partialText"],
                              end["structuredOutput"]["schemaEnforced"]),
                             ("truncation", "max_tokens", '{"city": "Os', False), name)
            self.assertEqual((len(vendor.asked), vendor.refusals), (1, []))

    def test_an_answer_that_the_limit_cuts_inside_the_tool_is_none(self):
        cut = turn(think("Hm."), report('{"city": "Os'), stop="length")
        server, vendors = self.start_vendors(cut, formats=("anthropic",))
        story = self.ask(server, "anthropic")
        self.assertEqual(story.end[:2], ("error", "truncation"))
        self.assertNotIn(TOOL, self.everything_shown(server, story))
        self.assertEqual(len(vendors["anthropic"].asked), 1)

    def test_an_answer_that_is_wrong_twice_is_not_asked_for_a_third_time(self):
        answers = {name: report(WRONG) if name in BY_TOOL else say(WRONG) for name in FORMATS}
        for name, part in answers.items():
            server, vendors = self.start_vendors(turn(part), turn(part), formats=(name,))
            story = self.ask(server, name)
            end = story.frames[-1].json()
            self.assertEqual((end["errorClass"], end["partialText"]), ("output_invalid", WRONG))
            self.assertEqual((len(vendors[name].asked), vendors[name].refusals), (2, []))
            self.assertNotIn(TOOL, self.everything_shown(server, story))


if __name__ == "__main__":
    unittest.main()
