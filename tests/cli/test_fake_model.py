"""`errand fake-model` as a program of its users meets it."""

import json
import signal
import subprocess
import tempfile
from pathlib import Path

from support.fake_model import FakeModel, FakeModelCase
from support.http import SECONDS_MAX, EventStream, request_bytes
from support.script import local_tool, turn
from support.server import ServerCase, binary

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
MESSAGES = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
RESPONSES = {"model": "m", "input": "Hi"}
BODIES = {"/v1/chat/completions": CHAT, "/v1/responses": RESPONSES, "/v1/messages": MESSAGES,
          "/v1beta/models/m:generateContent": CONTENTS}
HOUR = 3_600_000


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([binary(), "fake-model", *arguments], capture_output=True, text=True,
                          timeout=SECONDS_MAX)


class StartTest(FakeModelCase):
    def check_refused(self, done: subprocess.CompletedProcess, code: int, *words: str) -> None:
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_script_is_needed(self):
        self.check_refused(run(), 2, "--script FILE is missing", "hint: a file such as")

    def test_a_wrong_script_is_named_with_file_pointer_and_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "turns.json"
            self.check_refused(run("--script", str(script)), 2, f"cannot read the file {script}")
            script.write_text('{"turns":[{"text":["a"]},{"text":"b"}]}')
            self.check_refused(run("--script", str(script)), 2, str(script), "/turns/1/text",
                               "expected an array, got a string")

    def test_a_port_that_is_taken(self):
        fake = self.start([turn("Hello")])
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "turns.json"
            script.write_text('{"turns":[{}]}')
            done = run("--script", str(script), "--listen", f"127.0.0.1:{fake.address[1]}")
        self.check_refused(done, 1, "address already in use", "--listen")

    def test_logs_as_json(self):
        fake = self.start([turn("Hello")], "--log-format", "json")
        fake.send("POST", "/v1/chat/completions", CHAT)
        lines = [json.loads(line) for line in fake.errors().splitlines()]
        self.assertEqual([line.get("path") for line in lines], [None, "/v1/chat/completions"])


class RefusalsTest(FakeModelCase):
    """Each in the shape of the vendor that is asked."""

    def setUp(self):
        self.fake = self.start([turn("Hello")])

    def refusals(self, body: bytes | dict) -> dict[str, dict]:
        answers = {path: self.fake.send("POST", path, body) for path in BODIES}
        self.assertEqual([answer.status for answer in answers.values()], [400] * len(BODIES))
        return {path: answer.json() for path, answer in answers.items()}

    def test_a_name_of_another_machine(self):
        for host in ("evil.example", f"evil.example:{self.fake.address[1]}", "localhost.evil"):
            answer = self.fake.send("POST", "/v1/messages", MESSAGES, {"Host": host})
            self.assertEqual(answer.status, 403, host)
        for host in ("LOCALHOST", "127.0.0.1:80", "[::1]:80"):
            answer = self.fake.send("POST", "/v1/messages", MESSAGES, {"Host": host})
            self.assertEqual(answer.status, 200, host)

    def test_a_body_that_is_no_json(self):
        openai = {"error": {"message": "The body is not valid JSON: incomplete JSON at byte 1.",
                            "type": "invalid_request_error", "param": None, "code": None}}
        found = self.refusals(b"{")
        anthropic = found["/v1/messages"]
        self.assertRegex(anthropic.pop("request_id"), "^req_[0-9a-f]{16}$")
        self.assertEqual(found, {
            "/v1/chat/completions": openai, "/v1/responses": openai,
            "/v1/messages": {"type": "error", "error": {
                "type": "invalid_request_error", "message": openai["error"]["message"]}},
            "/v1beta/models/m:generateContent": {"error": {
                "code": 400, "message": openai["error"]["message"],
                "status": "INVALID_ARGUMENT"}}})

    def test_a_body_without_what_is_needed(self):
        answer = self.fake.send("POST", "/v1/messages", {})
        self.assertEqual(answer.headers["request-id"], answer.json()["request_id"])
        for path, body in self.refusals({}).items():
            self.assertIn("Missing required parameter", body["error"]["message"], path)
        for path, body in self.refusals(b"[]").items():
            self.assertIn("not a JSON object", body["error"]["message"], path)

    def test_an_unknown_path_is_answered_with_those_there_are(self):
        for method, path in (("POST", "/v1/completions"), ("GET", "/"),
                             ("POST", "/v1beta/models/m:countTokens"),
                             ("POST", "/v1beta/models/:generateContent")):
            answer = self.fake.send(method, path, {})
            self.assertEqual(answer.status, 404, path)
            error = answer.json()["error"]
            self.assertEqual((error["type"], error["status"]), ("not_found_error", "NOT_FOUND"))
            self.assertIn("POST /v1/chat/completions", error["message"])

    def test_a_wrong_method(self):
        answer = self.fake.send("GET", "/v1/messages")
        self.assertEqual((answer.status, answer.headers["allow"]), (405, "POST"))

    def test_a_body_that_is_too_large(self):
        with self.fake.connect() as connection:
            connection.send(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n"
                            b"Content-Length: 999999999\r\n\r\n")
            answer = connection.receive_response()
        self.assertEqual((answer.status, answer.json()["error"]["type"]),
                         (413, "request_too_large"))


class KeyTest(FakeModelCase):
    def test_each_vendor_has_its_own_header(self):
        fake = self.start([turn("Hello")], "--key", "k1")
        bearer = {"Authorization": "Bearer k1"}
        self.assertEqual(fake.send("GET", "/v1/models", headers=bearer).status, 200)
        self.assertEqual(fake.send("GET", "/v1/models").status, 401)
        for path, headers, status in (
                ("/v1/chat/completions", bearer, 200),
                ("/v1/chat/completions", {"x-api-key": "k1"}, 401),
                ("/v1/responses", {"Authorization": "Bearer k2"}, 401),
                ("/v1/messages", bearer, 200),
                ("/v1/messages", {"x-api-key": "k1"}, 200),
                ("/v1/messages", {}, 401),
                ("/v1beta/models/m:generateContent", {"x-goog-api-key": "k1"}, 200),
                ("/v1beta/models/m:generateContent", {"x-goog-api-key": "k2"}, 401)):
            answer = fake.send("POST", path, BODIES[path], headers)
            self.assertEqual((path, headers, answer.status), (path, headers, status))
        path = "/v1beta/models/m:generateContent"
        self.assertEqual(fake.send("POST", f"{path}?key=k1", CONTENTS).status, 200)
        self.assertNotIn("k1", json.dumps(fake.requests()))


class AnswersTest(FakeModelCase):
    def test_the_same_request_gets_the_same_turn_again(self):
        fake = self.start([turn("One."), turn("Two.")])
        later = CHAT | {"messages": [*CHAT["messages"], {"role": "assistant", "content": "One."},
                                     {"role": "user", "content": "And?"}]}
        said = [fake.send("POST", "/v1/chat/completions", body).json()["choices"][0]["message"]
                ["content"] for body in (later, CHAT, later, CHAT)]
        self.assertEqual(said, ["Two.", "One.", "Two.", "One."])

    def test_requests_are_kept_for_assertions(self):
        fake = self.start([turn("One.")])
        fake.send("POST", "/v1/messages", MESSAGES, {"X-Api-Key": "secret", "X-Team": "a"})
        fake.send("POST", "/v1/chat/completions", b"oops")
        first, second = fake.requests()
        self.assertEqual(first, {
            "number": 1, "method": "POST", "path": "/v1/messages", "query": "",
            "headers": {"host": "localhost", "x-api-key": "[redacted]", "x-team": "a",
                        "content-length": first["headers"]["content-length"]},
            "body": MESSAGES, "turn": 0, "status": 200})
        self.assertEqual((second["body"], second["turn"], second["status"]), ("oops", None, 400))
        self.assertEqual(fake.send("DELETE", "/requests").status, 204)
        self.assertEqual(fake.requests(), [])

    def test_a_stream_without_server_sent_events_is_an_array(self):
        fake = self.start([turn("One.")])
        answer = fake.send("POST", "/v1beta/models/m:streamGenerateContent", CONTENTS).json()
        self.assertEqual([one["candidates"][0]["content"]["parts"] for one in answer],
                         [[{"text": "One."}]])

    def open_stream(self, fake, connection) -> EventStream:
        body = json.dumps(CHAT | {"stream": True}).encode()
        connection.send(request_bytes("POST", "/v1/chat/completions", {"Host": "localhost"}, body))
        return EventStream(connection, connection.receive_head())

    def test_a_pause_holds_back_what_comes_after_the_first_event(self):
        fake = self.start([turn("One.", delayMs=HOUR)])
        with fake.connect() as connection:
            first = self.open_stream(fake, connection).next().json()
        self.assertEqual(first["choices"][0]["delta"]["role"], "assistant")

    def test_a_client_that_leaves_midway_disturbs_nobody(self):
        fake = self.start([turn("One.", deltaDelayMs=HOUR)])
        for _ in range(3):
            with fake.connect() as connection:
                stream = self.open_stream(fake, connection)
                self.assertEqual(stream.next().json()["object"], "chat.completion.chunk")
        self.assertEqual(len(fake.requests()), 3)

    def test_pieces_come_before_the_cut(self):
        fake = self.start([turn("One ", "two ", "three.", cutAfter=2)])
        said = ""
        with fake.connect() as connection, self.assertRaises(ConnectionError):
            for frame in self.open_stream(fake, connection):
                said += frame.json()["choices"][0]["delta"].get("content", "")
        self.assertEqual(said, "One two ")

    def test_it_ends_while_streams_are_open(self):
        fake = self.start([turn("One.", delayMs=HOUR)])
        with fake.connect() as streaming, fake.connect() as waiting:
            self.open_stream(fake, streaming)
            waiting.send(request_bytes("POST", "/v1/messages", {"Host": "localhost"},
                                       json.dumps(MESSAGES).encode()))
            while len(fake.requests()) < 2:
                pass
            fake.process.send_signal(signal.SIGINT)
            self.assertEqual(fake.process.wait(SECONDS_MAX), 0)
            with self.assertRaises(ConnectionError):
                while streaming.receive():
                    pass


class ErrandTest(ServerCase):
    """Errand itself is a program whose models are asked over HTTP."""

    def test_a_run_with_each_format(self):
        fake = FakeModel([turn("I ", "look.", thinking=["Hm."],
                               calls=[("look", {"path": "a"}), ("look", {"path": "b"})]),
                          turn("It says ", "hi.")])
        self.addCleanup(fake.stop)
        models = [{"id": "chat", "provider": "openai", "api": "chat", "baseUrl": f"{fake.url}/v1"},
                  {"id": "responses", "provider": "openai", "baseUrl": f"{fake.url}/v1"},
                  {"id": "anthropic", "provider": "anthropic", "baseUrl": fake.url},
                  {"id": "gemini", "provider": "google", "baseUrl": fake.url}]
        client = self.start_server([turn("unused")],
                                   {"models": models, "defaultModel": "chat"}).client()
        for model in models:
            run_id = client.create(prompt="Look.", modelId=model["id"],
                                   tools=[local_tool("look", path="string")])
            with client.stream(run_id) as stream:
                frames = []
                for frame in stream:
                    frames.append(frame.json())
                    if frame.event == "local_tool_call":
                        client.answer(run_id, frame.json()["toolUseId"], result="hi")
            calls = [one["args"] for one in frames if one["type"] == "local_tool_call"]
            self.assertEqual((model["id"], calls, frames[-1].get("text")),
                             (model["id"], [{"path": "a"}, {"path": "b"}], "It says hi."))
        self.assertEqual([one["turn"] for one in fake.requests()], [0, 1] * len(models))


if __name__ == "__main__":
    import unittest

    unittest.main()
