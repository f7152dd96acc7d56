"""Requests as the Go and TypeScript SDKs send them, in plain HTTP."""

from support.script import local_tool, turn
from support.server import ServerCase

SCRIPT = [turn("First."), turn("Second."), turn("Third.")]
CALL = [turn(calls=[("look", {"path": "a"})]), turn("Seen.")]


class OtherSdkCase(ServerCase):
    def start(self, script: list[dict]) -> None:
        self.server = self.start_server(script)
        self.client = self.server.client()

    def create_session(self, **spec) -> str:
        answer = self.client.request("POST", "/agent-sessions", spec)
        self.assertIn(answer.status, range(200, 300))
        return answer.json()["sessionId"]

    def send(self, session: str, **message) -> str:
        answer = self.client.request("POST", f"/agent-sessions/{session}/messages", message)
        self.assertIn(answer.status, range(200, 300), answer.body)
        return answer.json()["runId"]

    def text_of(self, run: str) -> str:
        """Reads the stream to its end, as `send` of the SDKs does."""
        with self.client.stream(run) as events:
            return events.until("result")[-1].json()["text"]

    def tools_of(self, run: str) -> list[str]:
        return [tool["name"] for tool in self.client.snapshot(run)["spec"]["tools"]]


class GoTest(OtherSdkCase):
    def test_a_new_session_never_sends_tools(self):
        self.start(SCRIPT)
        session = self.create_session(systemPrompt="Be brief.", tools=[local_tool("look")])
        run = self.send(session, prompt="One?")
        self.assertEqual(self.text_of(run), "First.")
        self.assertEqual(self.tools_of(run), ["look"])

    def test_resuming_without_tools_sends_an_empty_list_that_does_not_stick(self):
        self.start(SCRIPT)
        session = self.create_session(systemPrompt="Be brief.", tools=[local_tool("look")])
        self.assertEqual(self.client.request("GET", f"/agent-sessions/{session}").status, 200)
        bare = self.send(session, prompt="One?", tools=[])
        self.assertEqual(self.text_of(bare), "First.")
        later = self.send(session, prompt="Two?")
        self.assertEqual(self.text_of(later), "Second.")
        self.assertEqual((self.tools_of(bare), self.tools_of(later)), ([], ["look"]))

    def test_history_and_end(self):
        self.start(SCRIPT)
        session = self.create_session(systemPrompt="Be brief.")
        for prompt in ("One?", "Two?"):
            self.text_of(self.send(session, prompt=prompt))
        self.assertEqual(
            len(self.client.request("GET", f"/agent-sessions/{session}").json()["messages"]), 4)
        for _ in range(2):
            ended = self.client.request("DELETE", f"/agent-sessions/{session}")
            self.assertEqual((ended.status, ended.json()), (200, {"ok": True}))
        late = self.client.request("POST", f"/agent-sessions/{session}/messages", {"prompt": "?"})
        self.assertEqual((late.status, late.json()["code"]), (409, "session_ended"))


class TypeScriptTest(OtherSdkCase):
    def test_tools_come_with_every_message(self):
        self.start(CALL)
        tools = [local_tool("look")]
        session = self.create_session(systemPrompt="Be brief.", tools=tools)
        run = self.send(session, prompt="Look.", tools=tools, metadata={"a": "1"})
        with self.client.stream(run) as events:
            call = events.until("local_tool_call")[-1].json()
            self.assertEqual(self.client.answer(run, call["toolUseId"], result="x").status, 204)
            self.assertEqual(events.until("result")[-1].json()["text"], "Seen.")

    def test_an_answer_that_is_refused_is_followed_by_an_error(self):
        self.start(CALL)
        run = self.client.create(prompt="Look.", tools=[local_tool("look")])
        with self.client.stream(run) as events:
            call = events.until("local_tool_call")[-1].json()["toolUseId"]
            self.assertEqual(self.client.answer(run, call, result=7).status, 400)
            error = 'Local tool "look" failed: not text'
            self.assertEqual(self.client.answer(run, call, error=error).status, 204)
            # Whether the run has ended meanwhile is a matter of luck.
            self.assertIn(self.client.answer(run, call, error=error).status, (404, 409))
            events.until("result")

    def test_a_cancel_has_no_body(self):
        self.start(CALL)
        run = self.client.create(prompt="Look.", tools=[local_tool("look")])
        cancelled = self.client.request("POST", f"/agent-runs/{run}/cancel")
        self.assertEqual((cancelled.status, cancelled.json()["ok"]), (200, True))

    def test_a_reconnect_sends_the_place_in_both_ways(self):
        self.start(SCRIPT)
        session = self.create_session(systemPrompt="Be brief.")
        run = self.send(session, prompt="One?")
        self.text_of(run)
        answer = self.client.request("GET", f"/agent-runs/{run}/stream?lastSeq=2",
                                     headers={"Last-Event-ID": "2"})
        self.assertEqual(answer.body.count(b"event: result"), 1)
        self.assertEqual(answer.body.count(b"event: assistant"), 0)
