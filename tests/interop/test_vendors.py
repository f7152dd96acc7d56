"""Runs with models behind HTTP, in the wire format of each vendor."""

import subprocess

from support.fake_vendor import Answer, FakeVendor
from support.http import Frame
from support.script import local_tool, turn
from support.server import Server, ServerCase, binary

TOOLS = [local_tool("look", path="string")]
LEAVE_SECONDS_MAX = 30


def chat(delta: dict, finish: str | None = None) -> dict:
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def chat_call(identifier: str, arguments: str) -> dict:
    return chat({"tool_calls": [{"index": 0, "id": identifier, "type": "function",
                                 "function": {"name": "look", "arguments": arguments}}]})


CHAT = (
    Answer([chat({"role": "assistant", "content": "Let me look."}),
            chat_call("call_1", '{"path":"a.txt"}'), chat({}, "tool_calls"), "[DONE]"]),
    Answer([chat({"content": "It says "}), chat({"content": "hi."}), chat({}, "stop"), "[DONE]"]),
)

ANTHROPIC = (
    Answer([
        {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": [],
                                              "usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "text_delta", "text": "Let me look."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1,
         "content_block": {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}},
        {"type": "content_block_delta", "index": 1,
         "delta": {"type": "input_json_delta", "partial_json": '{"path":"a.txt"}'}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"},
         "usage": {"output_tokens": 9}},
        {"type": "message_stop"}], names=True),
    Answer([
        {"type": "message_start", "message": {"id": "m2", "role": "assistant", "content": [],
                                              "usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "text_delta", "text": "It says hi."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
         "usage": {"output_tokens": 4}},
        {"type": "message_stop"}], names=True),
)


class VendorTest(ServerCase):
    def start(self, vendor: FakeVendor, others: list[dict] = (), **model) -> Server:
        self.addCleanup(vendor.close)
        entry = {"id": "m", "vendorModelId": "vendor-m", "apiKey": "secret", **model}
        config = {"models": [entry, *others], "defaultModel": "m"}
        return self.start_server([turn("unused")], config)

    def play(self, server: Server) -> list[Frame]:
        client = server.client()
        run = client.create(prompt="What is in a.txt?", tools=TOOLS)
        frames = []
        with client.stream(run) as stream:
            for frame in stream:
                frames.append(frame)
                if frame.event == "local_tool_call":
                    answer = client.answer(run, frame.json()["toolUseId"], result="hi")
                    self.assertEqual(answer.status, 204)
        return frames

    def check_story(self, frames: list[Frame]) -> None:
        self.assertEqual(frames[-1].event, "result", frames[-1].data)
        self.assertEqual(frames[-1].json()["text"], "It says hi.")
        calls = [frame.json()["args"] for frame in frames if frame.event == "local_tool_call"]
        self.assertEqual(calls, [{"path": "a.txt"}])

    def test_chat_completions_with_a_call(self):
        vendor = FakeVendor(*CHAT)
        server = self.start(vendor, provider="openai-compatible", baseUrl=f"{vendor.url}/v1")
        self.check_story(self.play(server))
        first, second = vendor.asked
        self.assertEqual(first.path, "/v1/chat/completions")
        self.assertEqual(first.headers["authorization"], "Bearer secret")
        self.assertEqual(first.body["model"], "vendor-m")
        self.assertEqual([message["role"] for message in second.body["messages"]],
                         ["user", "assistant", "tool"])
        self.assertEqual(second.body["messages"][2]["content"], "hi")

    def test_anthropic_messages_with_a_call(self):
        vendor = FakeVendor(*ANTHROPIC)
        server = self.start(vendor, provider="anthropic", baseUrl=vendor.url)
        self.check_story(self.play(server))
        first, second = vendor.asked
        self.assertEqual(first.path, "/v1/messages")
        self.assertEqual(first.headers["x-api-key"], "secret")
        self.assertEqual(second.body["messages"][1]["content"][1]["id"], "toolu_1")

    def test_a_vendor_that_is_overloaded_is_asked_again(self):
        busy = Answer(status=529, error={"type": "error", "error": {
            "type": "overloaded_error", "message": "Overloaded"}},
            headers={"retry-after-ms": "10"})
        vendor = FakeVendor(busy, *ANTHROPIC)
        server = self.start(vendor, provider="anthropic", baseUrl=vendor.url)
        self.check_story(self.play(server))
        self.assertEqual(len(vendor.asked), 3)

    def test_a_wrong_key_ends_the_run_with_the_vendors_words(self):
        refusal = Answer(status=401, error={"error": {
            "message": "Incorrect API key provided", "type": "invalid_request_error",
            "code": "invalid_api_key"}})
        vendor = FakeVendor(refusal)
        server = self.start(vendor, provider="openai-compatible", baseUrl=f"{vendor.url}/v1")
        end = self.play(server)[-1]
        self.assertEqual((end.event, end.json()["code"]), ("error", "auth"))
        self.assertIn("Incorrect API key provided", end.json()["message"])

    def test_a_stream_that_is_cut_before_a_call_is_asked_again(self):
        cut = Answer([chat({"role": "assistant", "content": "Let me"})], cut=True)
        vendor = FakeVendor(cut, *CHAT)
        server = self.start(vendor, provider="openai-compatible", baseUrl=f"{vendor.url}/v1")
        frames = self.play(server)
        self.check_story(frames)
        self.assertIn("turn_restarted", [frame.event for frame in frames])

    def test_a_vendor_without_an_answer_is_asked_once_and_by_its_retries(self):
        busy = Answer(status=529, error={"type": "error", "error": {
            "type": "overloaded_error", "message": "Overloaded"}},
            headers={"retry-after-ms": "1"})
        for retries, asked in ((0, 1), (2, 3)):
            with self.subTest(retries=retries):
                vendor = FakeVendor(*[busy] * 10)
                server = self.start(vendor, provider="anthropic", baseUrl=vendor.url,
                                    retries=retries)
                end = self.play(server)[-1].json()
                self.assertEqual((end["type"], end["code"], end["retryable"]),
                                 ("error", "overloaded", True))
                self.assertEqual(len(vendor.asked), asked)

    def test_a_run_without_an_answer_is_replayed_as_it_was(self):
        vendor = FakeVendor(Answer(status=503, error={"error": {"message": "busy"}}))
        server = self.start(vendor, provider="anthropic", baseUrl=vendor.url, retries=0)
        self.play(server)
        run = server.client().request("GET", "/agent-runs").json()["runs"][0]["runId"]
        file = f"{server.folder.name}/run.json"
        for words in (["export", run, "--output", file, "--data", str(server.data)],
                      ["replay", file]):
            done = subprocess.run([binary(), "runs", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_an_answer_that_breaks_each_time_is_asked_three_times(self):
        cut = Answer([chat({"role": "assistant", "content": "Let me"})], cut=True)
        vendor = FakeVendor(*[cut] * 10)
        server = self.start(vendor, provider="openai-compatible", baseUrl=f"{vendor.url}/v1")
        self.assertEqual(self.play(server)[-1].event, "error")
        self.assertEqual(len(vendor.asked), 3)

    def test_a_turn_that_is_cut_after_a_call_is_never_asked_again(self):
        cut = Answer(ANTHROPIC[0].events[:7], names=True, cut=True)
        vendor = FakeVendor(cut, ANTHROPIC[1])
        server = self.start(vendor, provider="anthropic", baseUrl=vendor.url)
        self.check_story(self.play(server))
        self.assertEqual([len(asked.body["messages"]) for asked in vendor.asked], [1, 3])

    def test_without_early_starts_a_turn_that_is_cut_after_a_call_is_asked_again(self):
        cut = Answer(ANTHROPIC[0].events[:7], names=True, cut=True)
        vendor = FakeVendor(cut, *ANTHROPIC)
        server = self.start(vendor, provider="anthropic", baseUrl=vendor.url, earlyStart=False)
        self.check_story(self.play(server))
        self.assertEqual([len(asked.body["messages"]) for asked in vendor.asked], [1, 1, 3])

    def test_another_model_answers_in_the_same_turn_and_gets_no_strangers_blocks(self):
        busy = Answer(status=503, error={"error": {"message": "busy"}})
        vendor, spare = FakeVendor(ANTHROPIC[0], busy), FakeVendor(CHAT[1])
        self.addCleanup(spare.close)
        other = {"id": "spare", "provider": "openai-compatible", "baseUrl": f"{spare.url}/v1"}
        server = self.start(vendor, provider="anthropic", baseUrl=vendor.url, retries=0,
                            fallback=["spare"], others=[other])
        frames = self.play(server)
        self.check_story(frames)
        self.assertNotIn("turn_restarted", [frame.event for frame in frames])
        self.assertEqual(frames[-1].json()["model"], {
            "id": "spare", "provider": "openai-compatible", "vendorModelId": "spare"})
        _, assistant, result = spare.asked[0].body["messages"]
        self.assertEqual(assistant["content"], "Let me look.")
        self.assertEqual(assistant["tool_calls"][0]["function"],
                         {"name": "look", "arguments": '{"path":"a.txt"}'})
        self.assertEqual(result["content"], "hi")
        self.assertIn("a model gave no answer; asking the next fallback model", server.errors())

    def test_a_cancel_closes_the_connection_to_the_vendor(self):
        vendor = FakeVendor(Answer([chat({"role": "assistant", "content": "Well"})], stall=True))
        server = self.start(vendor, provider="openai-compatible", baseUrl=f"{vendor.url}/v1")
        client = server.client()
        run = client.create(prompt="Think.")
        with client.stream(run) as stream:
            stream.until("assistant_delta")
            self.assertEqual(client.cancel(run).json()["status"], "cancelled")
            self.assertTrue(vendor.left.wait(LEAVE_SECONDS_MAX))
            self.assertEqual([frame.event for frame in stream], ["cancelled"])


if __name__ == "__main__":
    import unittest

    unittest.main()
