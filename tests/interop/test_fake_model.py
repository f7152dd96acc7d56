"""The vendors' own SDKs use `errand fake-model` as if it were their vendor."""

from support.fake_model import FakeModel, FakeModelCase
from support.node import VENDOR_SDKS, NodePeer, ensure_modules
from support.script import turn

FORMATS = ("chat", "responses", "anthropic", "gemini")
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages",
         "gemini": "/v1beta/models/vendor-m:streamGenerateContent"}
STOPS = {
    "chat": {"end": "stop", "calls": "tool_calls", "length": "length"},
    "responses": {"end": "completed", "calls": "completed", "length": "max_output_tokens"},
    "anthropic": {"end": "end_turn", "calls": "tool_use", "length": "max_tokens"},
    "gemini": {"end": "STOP", "calls": "STOP", "length": "MAX_TOKENS"},
}
LOOK = {"name": "look", "description": "Reads a file.",
        "schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
CALLS = [("look", {"path": "a"}), ("look", {"path": "ä/\u2028" + "x" * 3000})]
USAGE = {"inputTokens": 30, "cachedTokens": 8, "outputTokens": 20, "reasoningTokens": 12}
COUNTED = {"input": 30, "cached": 8, "output": 20, "thinking": 12}


class SdkCase(FakeModelCase):
    @classmethod
    def setUpClass(cls):
        ensure_modules(VENDOR_SDKS)
        cls.streaming = NodePeer("vendor-sdks/ask.mjs")
        cls.addClassCleanup(cls.streaming.close)
        cls.whole = NodePeer("vendor-sdks/ask_whole.mjs")
        cls.addClassCleanup(cls.whole.close)

    def ask_all(self, peer: NodePeer, fake: FakeModel, **job) -> list[tuple[str, dict]]:
        """What the SDK of each format makes of the fake's answers, all at once."""
        jobs = [{"format": name, "url": fake.url, "prompt": "Well?"} | job for name in FORMATS]
        return list(zip(FORMATS, peer.ask(jobs)))

    def stream_all(self, fake: FakeModel, **job) -> list[tuple[str, dict]]:
        return self.ask_all(self.streaming, fake, **job)


def shown(one: dict) -> dict:
    """A turn without the vendor's own blocks and the ids of calls."""
    calls = [(call["name"], call["args"]) for call in one["calls"]]
    return {key: one[key] for key in ("text", "thinking", "stop", "usage")} | {"calls": calls}


class StreamedTest(SdkCase):
    def test_text(self):
        fake = self.start([turn("Hello, ", "wörld 😀.\n", usage=USAGE)])
        for name, played in self.stream_all(fake):
            self.assertEqual((name, played["error"]), (name, None))
            self.assertEqual([shown(one) for one in played["turns"]], [
                {"text": "Hello, wörld 😀.\n", "thinking": "", "stop": STOPS[name]["end"],
                 "usage": COUNTED, "calls": []}])

    def test_two_parallel_calls_whose_results_are_sent_back(self):
        fake = self.start([
            turn("I ", "look.", thinking=["Two ", "files."], calls=CALLS, usage=USAGE),
            turn("Both.", usage=USAGE)])
        for name, played in self.stream_all(fake, tools=[LOOK], result="hi"):
            thinking = "" if name == "chat" else "Two files."
            self.assertEqual((name, played["error"]), (name, None))
            self.assertEqual([shown(one) for one in played["turns"]], [
                {"text": "I look.", "thinking": thinking, "stop": STOPS[name]["calls"],
                 "usage": COUNTED, "calls": CALLS},
                {"text": "Both.", "thinking": "", "stop": STOPS[name]["end"], "usage": COUNTED,
                 "calls": []}])
        asked = [(one["path"], one["turn"], one["status"]) for one in fake.requests()]
        self.assertEqual(sorted(asked), sorted((path, number, 200) for path in PATHS.values()
                                               for number in (0, 1)))

    def test_an_answer_that_the_limit_cuts(self):
        fake = self.start([turn("Once upon", finishReason="max_tokens")])
        for name, played in self.stream_all(fake):
            said, = played["turns"]
            self.assertEqual((name, said["text"], said["stop"]),
                             (name, "Once upon", STOPS[name]["length"]))

    def test_a_stream_that_breaks_off(self):
        fake = self.start([turn("Half ", "of it.", cutAfter=1)])
        names = {"chat": "OpenAIError", "responses": "OpenAIError", "anthropic": "AnthropicError",
                 "gemini": "TypeError"}
        for name, played in self.stream_all(fake):
            self.assertEqual((name, played["turns"], played["error"]["name"]),
                             (name, [], names[name]))


class ErrorsTest(SdkCase):
    def check(self, fake: FakeModel, status: int, names: dict[str, str], words: str) -> None:
        for peer in (self.streaming, self.whole):
            for name, played in self.ask_all(peer, fake):
                error = played["error"]
                if peer is self.whole:
                    error = {"name": error} | played
                self.assertEqual((name, error["name"], error["status"]),
                                 (name, names[name], status))
                self.assertIn(words, error["message"])

    def test_rate_limits(self):
        fake = self.start([turn(error={"status": 429, "message": "Slow down, please."})])
        self.check(fake, 429, {"chat": "RateLimitError", "responses": "RateLimitError",
                               "anthropic": "RateLimitError", "gemini": "ApiError"},
                   "Slow down, please.")

    def test_overload(self):
        fake = self.start([turn(error={"status": 529, "code": "overloaded_error"})])
        self.check(fake, 529, {"chat": "InternalServerError", "responses": "InternalServerError",
                               "anthropic": "OverloadedError", "gemini": "ApiError"},
                   "the model answered 529")

    def test_a_wrong_key(self):
        fake = self.start([turn("Hello")], "--key", "another")
        self.check(fake, 401, {"chat": "AuthenticationError", "responses": "AuthenticationError",
                               "anthropic": "AuthenticationError", "gemini": "ApiError"},
                   "Incorrect API key provided")

    def test_a_script_that_is_over(self):
        fake = self.start([turn(calls=[("look", {"path": "a"})])])
        for name, played in self.stream_all(fake, tools=[LOOK], result="hi"):
            self.assertEqual((name, len(played["turns"]), played["error"]["status"]),
                             (name, 1, 400))
            self.assertIn("The script has 1 turns, but turn 2 was asked for.",
                          played["error"]["message"])


class WholeTest(SdkCase):
    def test_text_and_calls(self):
        usage = {"inputTokens": 30, "outputTokens": 20}
        fake = self.start([turn("I ", "look.", calls=CALLS, usage=usage)], "--key", "secret")
        for name, answer in self.ask_all(self.whole, fake):
            answer.pop("id", None)
            self.assertEqual((name, answer), (name, {
                "text": "I look.", "calls": [args for _, args in CALLS],
                "stop": STOPS[name]["calls"], "usage": [30, 20]}))

    def test_a_response_that_goes_on_from_another(self):
        fake = self.start([turn("One."), turn("Two.")])
        job = {"format": "responses", "url": fake.url, "prompt": "Well?"}
        first, = self.whole.ask([job])
        second, = self.whole.ask([job | {"previous": first["id"]}])
        self.assertEqual((first["text"], second["text"]), ("One.", "Two."))

    def test_an_answer_that_is_cut_off(self):
        fake = self.start([turn("Half.", cutAfter=0)])
        # Google's SDK has no error of its own for this.
        names = {"gemini": "TypeError"}
        for name, answer in self.ask_all(self.whole, fake):
            self.assertEqual((name, answer["error"]),
                             (name, names.get(name, "APIConnectionError")))

    def test_the_list_of_models(self):
        fake = self.start([turn("Hello")])
        self.assertEqual(self.whole.ask([{"format": "models", "url": fake.url}]),
                         [{"ids": ["fake"]}])


if __name__ == "__main__":
    import unittest

    unittest.main()
