"""Azure OpenAI: its own SDK judges the fake of it, and runs are served by that fake."""

import unittest

from support.fake_vendor import (
    Answer, AzureChat, AzureResponses, Failure, FakeVendor, call, say, think, turn)
from support.server import Server
from support.vendor_case import PROMPT, History, VendorCase
from support.vendor_sdks import VendorSdkCase

VERSION = "2024-10-21"
LOOK = {"name": "look", "description": "Reads a file.",
        "schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
FIRST = turn(say("I look."), call("look", path="a"), call("look", path="b"))
LAST = turn(say("Both ", "say hi."))
# Each format with the version that it is asked with; without one it is v1.
WAYS = (("chat", ""), ("chat", VERSION), ("responses", ""), ("responses", "2025-04-01-preview"))


def make_wire(name: str, version: str):
    return (AzureChat if name == "chat" else AzureResponses)(version)


class AzureSdkTest(VendorSdkCase):
    def ask(self, vendor: FakeVendor, name: str, version: str, **job) -> dict:
        self.addCleanup(vendor.close)
        job = {"format": name, "url": vendor.url, "azure": version, "prompt": "Well?"} | job
        return self.sdks.ask([job])[0]

    def test_the_sdk_takes_the_fake_and_the_fake_takes_the_sdk(self):
        for name, version in WAYS:
            vendor = FakeVendor(FIRST, LAST, wire=make_wire(name, version))
            result = self.ask(vendor, name, version, tools=[LOOK], result="hi")
            self.assertEqual((vendor.refusals, result["error"]), ([], None), (name, version))
            self.assertEqual([one["text"] for one in result["turns"]],
                             ["I look.", "Both say hi."])
            self.assertEqual([one["blocks"] for one in result["turns"]], vendor.wire.issued)

    def test_the_sdk_knows_the_errors_of_the_fake(self):
        expected = {"auth": ("AuthenticationError", 401), "rate_limit": ("RateLimitError", 429),
                    "content_filter": ("BadRequestError", 400)}
        for name, version in WAYS:
            for kind, error in expected.items():
                vendor = FakeVendor(Failure(kind), wire=make_wire(name, version))
                found = self.ask(vendor, name, version)["error"]
                self.assertEqual((found["name"], found["status"]), error)

    def test_another_version_or_deployment_is_not_there(self):
        for wire in (AzureChat("2023-05-15"), AzureChat(VERSION, deployment="other"), AzureChat()):
            found = self.ask(FakeVendor(LAST, wire=wire), "chat", VERSION)["error"]
            self.assertEqual((found["name"], found["status"]), ("NotFoundError", 404))


class AzureRunTest(VendorCase):
    def start(self, name: str, version: str, *answers, **settings) -> tuple[Server, FakeVendor]:
        vendor = FakeVendor(*answers, wire=make_wire(name, version))
        self.addCleanup(vendor.close)
        entry = {"id": "m", "provider": "azure-openai", "api": name, "vendorModelId": "vendor-m",
                 "apiKey": "secret", "baseUrl": vendor.url, "retries": 0}
        if version:
            entry["apiVersion"] = version
        return self.start_server([], {"models": [entry | settings], "defaultModel": "m"}), vendor

    def test_a_run_with_calls(self):
        for name, version in WAYS:
            server, vendor = self.start(name, version, FIRST, LAST, maxOutputTokens=500)
            self.assertEqual(self.play(server, "m").end, ("result", "success", "Both say hi."))
            blocks = vendor.wire.issued[0]
            self.check_asked(vendor, name, History(name).user(PROMPT),
                             History(name).user(PROMPT).turn(blocks)
                             .results(blocks, "in a", "in b"))
            limit = "max_completion_tokens" if name == "chat" else "max_output_tokens"
            self.assertEqual(vendor.bodies[0][limit], 500)

    def test_an_address_that_was_copied_with_more_than_the_resource(self):
        for path in ("/", "/openai", "/openai/v1/"):
            vendor = FakeVendor(LAST, wire=AzureChat())
            self.addCleanup(vendor.close)
            entry = {"id": "m", "provider": "azure-openai", "vendorModelId": "vendor-m",
                     "apiKey": "secret", "baseUrl": vendor.url + path}
            server = self.start_server([], {"models": [entry], "defaultModel": "m"})
            self.assertEqual(self.play(server, "m").end, ("result", "success", "Both say hi."))

    def test_the_class_of_each_error(self):
        missing = Answer(status=404, error={"error": {
            "code": "DeploymentNotFound", "message": "The API deployment does not exist."}})
        gateway = Answer(status=401, error={"statusCode": 401, "message": "Access denied"})
        expected = {"auth": Failure("auth"), "content_filter": Failure("content_filter"),
                    "rate_limit": Failure("rate_limit"), "invalid_request": missing}
        for name, version in WAYS:
            for kind, answer in expected.items():
                server, _ = self.start(name, version, answer)
                self.assertEqual(self.play(server, "m").end[:2], ("error", kind))
        server, _ = self.start("chat", "", gateway)
        self.assertEqual(self.play(server, "m").end, ("error", "auth", "Access denied"))

    def test_an_answer_that_is_filtered_and_a_filter_that_is_down(self):
        server, _ = self.start("chat", "", turn(say("Half"), stop="filter"))
        self.assertEqual(self.play(server, "m").end[:2], ("error", "content_filter"))
        down = {"error": {"code": "content_filter_error", "message": "The filter is down."}}
        text = {"index": 0, "delta": {"content": "Hi."}, "finish_reason": None,
                "content_filter_results": down}
        late = {"index": 0, "finish_reason": None, "content_filter_offsets": {"check_offset": 1},
                "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
        end = {"index": 0, "delta": {}, "finish_reason": "stop", "content_filter_results": {}}
        chunks = [{"choices": [], "prompt_filter_results": []}, {"choices": [text]},
                  {"choices": [late]}, {"choices": [end]}]
        server, _ = self.start("chat", VERSION, Answer(events=[*chunks, "[DONE]"]))
        self.assertEqual(self.play(server, "m").end, ("result", "success", "Hi."))

    def test_no_redirect_gets_the_key(self):
        for status in (301, 302, 307, 308):
            elsewhere = FakeVendor(LAST)
            self.addCleanup(elsewhere.close)
            away = Answer(status=status, body=b"", headers={"location": elsewhere.url})
            server, vendor = self.start("chat", VERSION, away)
            self.assertEqual(self.play(server, "m").end[0], "error")
            self.assertEqual((len(vendor.asked), elsewhere.asked), (1, []))

    def test_thoughts_that_azure_encrypted_are_not_sent_to_openai(self):
        vendor = FakeVendor(turn(think("Hm."), call("look", path="a")), Failure("overloaded"),
                            wire=AzureResponses())
        self.addCleanup(vendor.close)
        server, others = self.start_vendors(
            LAST, formats=("responses",), others=[{
                "id": "m", "provider": "azure-openai", "api": "responses", "retries": 0,
                "vendorModelId": "vendor-m", "apiKey": "secret", "baseUrl": vendor.url,
                "fallback": ["responses"]}])
        self.assertEqual(self.play(server, "m").end, ("result", "success", "Both say hi."))
        asked = others["responses"].bodies[0]["input"]
        self.assertEqual(others["responses"].refusals, [])
        self.assertEqual([item.get("type", item.get("role")) for item in asked],
                         ["user", "function_call", "function_call_output"])


if __name__ == "__main__":
    unittest.main()
