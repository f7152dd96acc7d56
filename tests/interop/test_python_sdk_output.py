"""What the official Python SDK asks about answers: their shape, their effort, their files."""

import base64
import json

from support.python_sdk import SdkCall, SdkCase
from support.script import turn

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"},
                                           "degrees": {"type": "integer"}},
          "required": ["city", "degrees"], "additionalProperties": False}
REPORT = {"name": "weather_report", "schema": SCHEMA}


def file_of(data: bytes, mime: str = "text/plain") -> dict:
    return {"type": "input_file", "mimeType": mime, "filename": "a.txt",
            "data": base64.b64encode(data).decode()}


class OutputSchemaTest(SdkCase):
    def test_an_answer_has_the_shape_that_was_asked_for(self):
        server = self.start_server(None)
        answer = self.call(server, "run_agent", prompt='The weather in "Lagos" is 21 degrees.',
                           output_schema=REPORT).returned
        self.assertEqual({key: type(value) for key, value in json.loads(answer["text"]).items()},
                         {"city": str, "degrees": int})
        self.assertTrue(answer["structured_output"]["schema_requested"])

    def test_the_shape_holds_after_tools(self):
        text = '{"city":"Lagos","degrees":21}'
        server = self.start_server([turn(calls=[("read_file", {"path": "a"})]), turn(text)])
        answer = self.call(server, "run_agent", ["read_file"], output_schema=REPORT).returned
        self.assertEqual(answer["text"], text)
        self.assertTrue(answer["structured_output"]["schema_requested"])


class ReasoningTest(SdkCase):
    def think(self, level) -> SdkCall:
        server = self.start_server([turn("Yes.", thinking=["Hm."])])
        return self.call(server, "run_agent", reasoning_level=level)

    def check(self, level, thinking: list[str], effort: str) -> None:
        done = self.think(level)
        self.assertEqual([fields["text"] for fields in done.fields("thinking_delta")], thinking)
        self.assertEqual(done.returned["model"]["reasoning_effort"], effort)

    def test_a_word(self):
        self.check("high", ["Hm."], "high")

    def test_a_number(self):
        self.check(40, ["Hm."], "medium")

    def test_off(self):
        self.check("off", [], "off")


class FailureTest(SdkCase):
    def test_what_the_vendor_answered_is_told(self):
        server = self.start_server([{"error": {"status": 400, "code": "invalid_request_error",
                                               "message": "no"}}])
        raised = self.call(server, "run_agent").raised
        self.assertEqual((raised["api_status"], raised["api_code"]),
                         (400, "invalid_request_error"))


class FilesTest(SdkCase):
    def test_a_prompt_with_files(self):
        server = self.start_server([turn("Read.")])
        attachments = [file_of(b"dot"), {"type": "input_file_url", "url": "https://example.com/a"}]
        done = self.call(server, "run_agent", attachments=attachments)
        self.assertEqual(done.returned["text"], "Read.")

    def test_files_that_are_no_base64_are_refused(self):
        server = self.start_server([turn("Read.")])
        bad = file_of(b"dot") | {"data": "not base64!"}
        raised = self.call(server, "run_agent", attachments=[bad]).raised
        self.assertEqual((raised["error"], raised["status"], raised["code"]),
                         ("MantyxError", 400, "invalid_request"))

    def test_a_tool_that_returns_files(self):
        server = self.start_server([turn(calls=[("draw", {})]), turn("A dot.")])
        done = self.call(server, "run_agent", ["draw"])
        self.assertEqual(done.returned["text"], "A dot.")
        taken, = done.fields("local_tool_result_in")
        self.assertEqual(taken["result"], "drawn")


if __name__ == "__main__":
    import unittest

    unittest.main()
