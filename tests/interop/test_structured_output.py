"""Answers that follow a schema, each vendor in its own way."""

import json
from collections.abc import Sequence

from support.fake_vendor import Answer, FakeVendor
from support.http import Frame
from support.script import local_tool, turn
from support.server import Server, ServerCase

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
          "additionalProperties": False}
ANSWER = '{"city":"Oslo"}'


def anthropic(*blocks: dict, stop: str = "tool_use") -> Answer:
    """A message of these blocks; one with "input" is a call."""
    events = [{"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [],
                                                    "usage": {"input_tokens": 1,
                                                              "output_tokens": 1}}}]
    for index, block in enumerate(blocks):
        begun = {**block, "input": {}} if "input" in block else {**block, "text": ""}
        delta = ({"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                 if "input" in block else {"type": "text_delta", "text": block["text"]})
        events += [{"type": "content_block_start", "index": index, "content_block": begun},
                   {"type": "content_block_delta", "index": index, "delta": delta},
                   {"type": "content_block_stop", "index": index}]
    events += [{"type": "message_delta", "delta": {"stop_reason": stop},
                "usage": {"output_tokens": 2}}, {"type": "message_stop"}]
    return Answer(events, names=True)


def call(name: str, **arguments) -> dict:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": arguments}


def chat(text: str) -> Answer:
    return Answer([{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]},
                   {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]"])


REFUSAL = Answer(status=400, error={"error": {
    "message": "Invalid schema for response_format", "type": "invalid_request_error",
    "code": "invalid_json_schema"}})


# What llama-cpp-python says of a format that it does not know.
UNKNOWN_FORMAT = Answer(status=500, error={"error": {
    "message": "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
               "'msg': \"Input should be 'text' or 'json_object'\"}]",
    "type": "internal_server_error", "code": None}})


class StructuredOutputTest(ServerCase):
    def start(self, vendor: FakeVendor, provider: str, base_url: str) -> Server:
        self.addCleanup(vendor.close)
        entry = {"id": "m", "vendorModelId": "vendor-m", "apiKey": "secret", "provider": provider,
                 "baseUrl": base_url}
        return self.start_server([turn("unused")], {"models": [entry], "defaultModel": "m"})

    def play(self, server: Server, enforcement: str = "best_effort",
             tools: Sequence[dict] = (local_tool("look", path="string"),),
             ) -> tuple[str, list[Frame]]:
        client = server.client()
        run = client.create(prompt="Where is it?", tools=list(tools),
                            outputSchema={"schema": SCHEMA, "enforcement": enforcement})
        frames = []
        with client.stream(run) as stream:
            for frame in stream:
                frames.append(frame)
                if frame.event == "local_tool_call":
                    client.answer(run, frame.json()["toolUseId"], result="Oslo")
        return run, frames

    def test_the_tool_that_hands_in_an_answer_is_shown_nowhere(self):
        vendor = FakeVendor(
            anthropic({"type": "text", "text": "Let me look."}, call("look", path="a"),
                      call("final_report", city="too early")),
            anthropic({"type": "text", "text": "Here it is."}, call("final_report", city=7)),
            anthropic(call("final_report", city="Oslo")))
        server = self.start(vendor, "anthropic", vendor.url)
        run, frames = self.play(server)
        end = frames[-1].json()
        self.assertEqual((frames[-1].event, end["text"]), ("result", ANSWER.replace(":", ": ")))
        self.assertEqual(end["structuredOutput"], {
            "schemaRequested": True, "schemaEnforced": True,
            "enforcementMechanism": "synthetic_tool", "unconstrainedFallbackOccurred": False})
        self.assertEqual(
            [[called["name"] for called in frame.json().get("toolCalls", [])]
             for frame in frames if frame.event == "assistant_message"], [["look"], [], []])
        shown = [json.dumps(frame.json()) for frame in frames]
        shown.append(json.dumps(server.client().snapshot(run)))
        self.assertEqual([text for text in shown if "final_report" in text], [])
        self.assertEqual(vendor.asked[2].body["tool_choice"],
                         {"type": "tool", "name": "final_report"}, "nothing else is called then")

    def test_a_vendor_that_refuses_the_schema_is_asked_without_it(self):
        vendor = FakeVendor(REFUSAL, chat(ANSWER))
        server = self.start(vendor, "openai-compatible", f"{vendor.url}/v1")
        _, frames = self.play(server)
        end = frames[-1].json()
        self.assertEqual((frames[-1].event, end["text"]), ("result", ANSWER))
        self.assertEqual(end["structuredOutput"], {
            "schemaRequested": True, "schemaEnforced": True, "enforcementMechanism": "none",
            "unconstrainedFallbackOccurred": True})
        first, second = vendor.asked
        self.assertIn("response_format", first.body)
        self.assertNotIn("response_format", second.body)
        self.assertIn('"city"', second.body["messages"][0]["content"])

    def test_a_server_that_knows_no_response_format_is_asked_for_json_and_then_in_words(self):
        vendor = FakeVendor(UNKNOWN_FORMAT, UNKNOWN_FORMAT, chat(ANSWER))
        server = self.start(vendor, "openai-compatible", f"{vendor.url}/v1")
        _, frames = self.play(server, tools=())
        end = frames[-1].json()
        self.assertEqual((frames[-1].event, end["text"]), ("result", ANSWER))
        self.assertEqual([asked.body.get("response_format", {}).get("type")
                          for asked in vendor.asked], ["json_schema", "json_object", None])
        for asked in vendor.asked[1:]:
            self.assertIn('"city"', asked.body["messages"][0]["content"])

    def test_a_strict_run_ends_with_the_vendors_refusal(self):
        vendor = FakeVendor(REFUSAL)
        server = self.start(vendor, "openai-compatible", f"{vendor.url}/v1")
        _, frames = self.play(server, "strict")
        end = frames[-1].json()
        self.assertEqual(
            (frames[-1].event, end["errorClass"], end["apiStatus"], end["apiCode"]),
            ("error", "structured_output_schema_rejected", 400, "invalid_json_schema"))
        self.assertEqual(len(vendor.asked), 1)


if __name__ == "__main__":
    import unittest

    unittest.main()
