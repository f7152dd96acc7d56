"""Sessions with the official Python SDK: in one process, resumed in another, and after a kill."""

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

    def test_an_ended_session_takes_no_more(self):
        server = self.start_server(SCRIPT)
        done = self.steps(server, ("create", {"system_prompt": "Be brief."}),
                          ("send", {"text": "One?"}), ("end", {}), ("send", {"text": "Two?"}))
        self.assertEqual(done.raised["code"], "session_ended")


class SyncSessionsTest(Sessions, SdkCase):
    client = "sync"


class AsyncSessionsTest(Sessions, SdkCase):
    client = "async"
