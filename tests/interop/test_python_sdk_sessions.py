"""Sessions with the official Python SDK: in one process, resumed in another, and after a kill."""

import base64
import json

from support.python_sdk import SdkCall, SdkCase
from support.script import turn

SCRIPT = [turn("First."), turn("Second."), turn("Third.")]


def steps_of(done: SdkCall, verb: str) -> list:
    return [step[verb] for step in done.all("step") if verb in step]


class Sessions:
    """What users do with sessions; for each of the SDK's two clients."""

    def steps(self, server, *steps, tools=()) -> SdkCall:
        return self.call(server, "session", tools, steps=list(steps))

    def test_a_session_remembers_what_was_said(self):
        server = self.start_server(SCRIPT)
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": "One?"}), ("send", {"text": "Two?"}), ("history", {}),
                          ("info", {}))
        self.assertEqual([sent["text"] for sent in steps_of(done, "send")], ["First.", "Second."])
        history = [(one["role"], one["content"]) for one in steps_of(done, "history")[0]]
        self.assertEqual(history, [("user", "One?"), ("assistant", "First."), ("user", "Two?"),
                                   ("assistant", "Second.")])
        self.assertEqual(steps_of(done, "info")[0]["status"], "active")
        self.check_data(server)

    def test_another_process_goes_on_with_it_although_the_server_was_killed(self):
        server = self.start_server(SCRIPT)
        first = self.steps(server, ("create", {"system_prompt": "Be brief.",
                                               "metadata": {"team": "a"}}),
                           ("send", {"text": "One?"}))
        session = steps_of(first, "create")[0]
        server.kill()
        server.restart()
        second = self.steps(server, ("resume", {"id": session}), ("send", {"text": "Two?"}),
                            ("history", {}), ("list_sessions", {"metadata": {"team": "a"}}),
                            ("list_sessions", {"metadata": {"team": "b"}}))
        self.assertEqual(steps_of(second, "send")[0]["text"], "Second.")
        self.assertEqual(len(steps_of(second, "history")[0]), 4)
        found, other = steps_of(second, "list_sessions")
        self.assertEqual([(one["session_id"], one["summary"]) for one in found["sessions"]],
                         [(session, "One? First. Two? Second.")])
        self.assertEqual((found["total"], other["total"]), (1, 0))

    def test_local_tools_are_called_in_every_message(self):
        call = [("read_file", {"path": "x"})]
        server = self.start_server([turn(calls=call), turn("First."), turn("?"), turn("?")])
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": "One?"}), tools=["read_file"])
        self.assertEqual(steps_of(done, "send")[0]["text"], "First.")
        self.assertEqual(done.all("tool"), [{"read_file": "x"}])

    def test_events_come_in_pages(self):
        server = self.start_server(SCRIPT)
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": "One?"}), ("send", {"text": "Two?"}),
                          ("events", {}), ("events_page", {"last_messages": 3}),
                          ("events_page", {"last_messages": 3, "before_seq": 2}))
        self.assertEqual([event["type"] for event in steps_of(done, "events")[0]],
                         ["user_message", "assistant_message"] * 2)
        last, first = steps_of(done, "events_page")
        self.assertEqual([event["seq"] for event in last["events"]], [2, 3, 4])
        self.assertEqual([event["seq"] for event in first["events"]], [1])
        self.assertEqual((last["next_before_seq"], first["next_before_seq"]), (2, None))

    def session_of(self, server, *messages: str) -> str:
        """A session in which this was said."""
        steps = [("send", {"text": text}) for text in messages]
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}), *steps)
        return steps_of(done, "create")[0]

    def test_a_message_may_be_several(self):
        server = self.start_server([turn("First."), turn("Second."), turn("Third.")])
        said = [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "Two?"}]
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": said}), ("history", {}))
        # The model counts the answers that it was told of: one is in the message.
        self.assertEqual(steps_of(done, "send")[0]["text"], "Second.")
        history = [(one["role"], one["content"]) for one in steps_of(done, "history")[0]]
        self.assertEqual(history, [(one["role"], one["content"]) for one in said] +
                         [("assistant", "Second.")])
        self.check_data(server)

    def test_what_a_message_says_of_its_own_does_not_stick(self):
        server = self.start_server([turn('{"n":1}'), turn("Second.")])
        schema = {"name": "number", "schema": {"type": "object", "required": ["n"],
                                               "properties": {"n": {"type": "integer"}}}}
        own = {"metadata": {"n": "1"}, "reasoning_level": "low", "output_schema": schema,
               "loop_detection": False, "tool_budgets": {"look": {"maxCalls": 3}}}
        done = self.steps(server, ("create", {"system_prompt": "Be brief.",
                                              "metadata": {"team": "a"}}),
                          ("send", {"text": "One?"} | own), ("send", {"text": "Two?"}))
        client = server.client()
        session = steps_of(done, "create")[0]
        listed = client.request("GET", f"/agent-runs?sessionId={session}").json()["runs"]
        second, first = (client.snapshot(run["runId"])["spec"] for run in listed)
        self.assertEqual(first["metadata"], {"team": "a", "n": "1"})
        self.assertEqual(second["metadata"], {"team": "a"})
        of_message = ("reasoningLevel", "outputSchema", "loopDetection", "toolBudgets")
        self.assertEqual([name for name in of_message if name not in first], [])
        self.assertEqual([name for name in of_message if name in second], [])
        self.check_data(server)

    def test_a_plan_without_a_run_is_refused_and_leaves_no_trace(self):
        server = self.start_server(SCRIPT)
        session = self.session_of(server, "One?")
        before = self.state_of(server, session)
        for plan in ({}, {"steps": ["Read", "Write"], "brief": "Two files."}):
            done = self.steps(server, ("resume", {"id": session}),
                              ("run_plan", {"text": "Two?"} | plan))
            raised = tuple(done.raised[key]
                           for key in ("error", "code", "status", "message", "hint"))
            self.assertEqual(raised, ("MantyxError", "invalid_request", 400, "invalid_request",
                                      'leave "planOnly" out to run the agent'))
        self.assertEqual(self.state_of(server, session), before)
        done = self.steps(server, ("resume", {"id": session}), ("send", {"text": "Two?"}))
        self.assertEqual(steps_of(done, "send")[0]["text"], "Second.")
        self.check_data(server)

    def state_of(self, server, session: str) -> list[dict]:
        """The session as it is told, and its runs."""
        paths = (f"/agent-sessions/{session}", f"/agent-sessions/{session}/events",
                 f"/agent-runs?sessionId={session}")
        return [server.client().request("GET", path).json() for path in paths]

    def test_a_message_with_a_supervisor_and_a_plan_is_answered(self):
        server = self.start_server(SCRIPT)
        asked = {"supervisor": {"interval": 5}, "plan": "auto"}
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": "One?"} | asked), ("stream", {"text": "Two?"} | asked),
                          ("history", {}))
        self.assertEqual(steps_of(done, "send")[0]["text"], "First.")
        self.assertEqual(steps_of(done, "stream"),
                         [["assistant_delta", "assistant_message", "result"]])
        self.assertEqual([one["content"] for one in steps_of(done, "history")[0]],
                         ["One?", "First.", "Two?", "Second."])
        self.check_data(server)

    def test_a_session_is_resumed_with_tools_of_the_new_process(self):
        call = [("read_file", {"path": "x"})]
        server = self.start_server([turn("First."), turn(calls=call), turn("Third."), turn("?")])
        session = self.session_of(server, "One?")
        done = self.steps(server, ("resume", {"id": session}), ("send", {"text": "Two?"}),
                          tools=["read_file"])
        self.assertEqual(done.all("tool"), [{"read_file": "x"}])
        self.assertEqual(steps_of(done, "send")[0]["text"], "Third.")

    def test_sessions_are_listed_by_several_pairs_of_metadata(self):
        server = self.start_server(SCRIPT)
        made = [steps_of(self.steps(server, ("create", {"system_prompt": "Be brief.",
                                                        "metadata": metadata})), "create")[0]
                for metadata in ({"team": "a", "tier": "gold"}, {"team": "a"}, {"tier": "gold"})]
        done = self.steps(server, ("list_sessions", {"metadata": {"team": "a", "tier": "gold"}}),
                          ("list_sessions", {"metadata": {"team": "a"}}))
        both, one = ([listed["session_id"] for listed in page["sessions"]]
                     for page in steps_of(done, "list_sessions"))
        self.assertEqual((both, one), ([made[0]], [made[1], made[0]]))

    def test_a_message_is_streamed(self):
        server = self.start_server(SCRIPT)
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("stream", {"text": "One?"}))
        self.assertEqual(steps_of(done, "stream"),
                         [["assistant_delta", "assistant_message", "result"]])

    def test_the_client_reads_and_ends_sessions_by_their_id(self):
        server = self.start_server(SCRIPT)
        session = self.session_of(server, "One?", "Two?")
        by_id = {"session_id": session}
        done = self.steps(server, ("get_session_events", by_id | {"full": True}),
                          ("get_session_events", by_id | {"last_messages": 1}),
                          ("get_session_events_page", by_id | {"last_messages": 1,
                                                               "before_seq": 3}),
                          ("end_session", by_id), ("end_session", by_id),
                          ("list_sessions", {"status": "ended"}),
                          ("list_sessions", {"status": "active"}))
        whole, last = steps_of(done, "get_session_events")
        self.assertEqual([event["seq"] for event in whole], [1, 2, 3, 4])
        self.assertEqual([event["seq"] for event in last], [4])
        [page] = steps_of(done, "get_session_events_page")
        self.assertEqual(([event["seq"] for event in page["events"]], page["next_before_seq"]),
                         ([2], 2))
        ended, active = steps_of(done, "list_sessions")
        self.assertEqual([one["session_id"] for one in ended["sessions"]], [session])
        self.assertEqual(active["sessions"], [])
        self.check_data(server)

    def test_sessions_are_listed_in_pages(self):
        server = self.start_server(SCRIPT)
        made = [self.session_of(server) for _ in range(3)]
        done = self.steps(server, ("list_sessions", {"limit": 2}),
                          ("list_sessions", {"limit": 2, "offset": 2}))
        first, rest = steps_of(done, "list_sessions")
        cursor = first["next_cursor"]
        done = self.steps(server, ("list_sessions", {"limit": 2, "cursor": cursor}))
        [after] = steps_of(done, "list_sessions")
        self.assertEqual([len(first["sessions"]), first["total"]], [2, 3])
        self.assertEqual(rest["sessions"], after["sessions"])
        listed = [one["session_id"] for one in first["sessions"] + after["sessions"]]
        self.assertEqual(sorted(listed), sorted(made))

    def test_a_message_with_a_file_is_told_with_the_file_and_without_its_bytes(self):
        server = self.start_server(SCRIPT)
        file = {"type": "input_file", "filename": "a.txt", "mimeType": "text/plain",
                "data": base64.b64encode(b"canary").decode()}
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": "One?", "attachments": [file]}), ("events", {}))
        said = steps_of(done, "events")[0][0]
        shown = json.dumps(said)
        self.assertIn("a.txt", shown)
        self.assertNotIn(file["data"], shown)
        self.check_data(server)

    def test_feedback_is_given_and_given_again(self):
        server = self.start_server(SCRIPT)
        client = server.client()
        run = client.create(prompt="Hi")
        client.log(run)
        done = self.steps(server,
                          ("submit_run_feedback", {"run_id": run, "verdict": "UP"}),
                          ("submit_run_feedback", {"run_id": run, "verdict": "DOWN",
                                                   "explanation": "Too short."}))
        self.assertEqual([one["verdict"] for one in steps_of(done, "submit_run_feedback")],
                         ["UP", "DOWN"])
        kept = client.request("GET", f"/agent-runs/{run}/feedback").json()
        self.assertEqual((kept["verdict"], kept["explanation"], kept["contentSnapshot"]),
                         ("DOWN", "Too short.", "First."))
        self.check_data(server)

    def test_two_senders_at_once_are_answered_one_after_the_other(self):
        server = self.start_server([turn("First.", delayMs=300), turn("Second.")])
        session = self.session_of(server)
        senders = [self.start_call(server, "session", [], steps=[
            ("resume", {"id": session}), ("send", {"text": text})]) for text in ("A?", "B?")]
        for sender in senders:
            sender.finish()
        texts = sorted(steps_of(sender, "send")[0]["text"] for sender in senders)
        self.assertEqual(texts, ["First.", "Second."])
        said = server.client().request("GET", f"/agent-sessions/{session}").json()["messages"]
        self.assertEqual([one["role"] for one in said], ["user", "assistant"] * 2)
        self.assertEqual([said[1]["content"], said[3]["content"]], ["First.", "Second."])
        self.check_data(server)

    def test_a_kill_during_a_send_loses_and_doubles_nothing(self):
        call = [("wait", {})]
        server = self.start_server([turn(calls=call), turn("First."), turn("?")])
        sender = self.start_call(server, "session", ["wait"], steps=[
            ("create", {"system_prompt": "Be brief."}), ("send", {"text": "One?"})])
        sender.until("tool", "wait")
        server.kill()
        server.restart()
        sender.tell("waited")
        sender.finish()
        self.assertEqual(steps_of(sender, "send")[0]["text"], "First.")
        session = steps_of(sender, "create")[0]
        said = server.client().request("GET", f"/agent-sessions/{session}").json()["messages"]
        self.assertEqual([one["content"] for one in said], ["One?", "First."])
        self.check_data(server)

    def test_an_ended_session_takes_no_more(self):
        server = self.start_server(SCRIPT)
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": "One?"}), ("end", {}), ("send", {"text": "Two?"}))
        self.assertEqual(done.raised["code"], "session_ended")


class SyncSessionsTest(Sessions, SdkCase):
    client = "sync"


class AsyncSessionsTest(Sessions, SdkCase):
    client = "async"
