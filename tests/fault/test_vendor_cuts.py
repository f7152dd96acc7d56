"""Turns that break, in the wire format of each vendor: cut streams, errors in them, kill -9.

What the vendor is asked afterwards is compared as a whole, signatures included; the vendor itself
refuses a turn that comes back in any other way than it allows.
"""

import random
import unittest

from support.fake_vendor import Answer, At, Failure, FakeVendor, Turn, call, say, think, turn
from support.http import Client, Frame
from support.server import Server
from support.vendor_case import (
    FORMATS, PROMPT, History, Story, VendorCase, messages_of, upto_call)

FIRST = turn(think("Two ", "files."), say("I ", "look."), call("look", path="a"),
             call("look", path="b"))
AGAIN = turn(think("Now b."), call("look", path="b"))
LAST = turn(think("Good."), say("Both ", "say hi."))
EARLY = ("responses", "anthropic", "gemini")  # those that tell when a call is complete
WAIT_SECONDS_MAX = 60

TEXT = ("assistant_delta", "I look.")
CALL_A = ("local_tool_call", {"path": "a"})
CALL_B = ("local_tool_call", {"path": "b"})
RESULT_A = ("local_tool_result_in", "in a")
RESULT_B = ("local_tool_result_in", "in b")
BOTH_CALLED = ("assistant_message", "I look.", [{"path": "a"}, {"path": "b"}], "tool_use")
ONLY_A = ("assistant_message", "I look.", [{"path": "a"}], "interrupted")
B_CALLED = ("assistant_message", "", [{"path": "b"}], "tool_use")
ANSWER = [("assistant_delta", "Both say hi."),
          ("assistant_message", "Both say hi.", [], "end_turn"),
          ("result", "success", "Both say hi.")]


def begin(name: str) -> History:
    return History(name).user(PROMPT)


def frozen(vendor: FakeVendor, name: str, calls: int) -> list[dict]:
    """The blocks of the first answer up to a call."""
    return upto_call(name, vendor.wire.issued[0], calls)


class CutTest(VendorCase):
    def test_a_cut_before_any_call_asks_the_same_again(self):
        for place in (At("start"), At("text"), At("text", number=2, more=7)):
            server, vendors = self.start_vendors(Answer(turn=FIRST, cut=place), FIRST, LAST)
            for name, vendor in vendors.items():
                story = self.play(server, name)
                self.assertEqual(story.joined[-9:], [TEXT, CALL_A, CALL_B, BOTH_CALLED, RESULT_A,
                                                     RESULT_B, *ANSWER], (name, place))
                blocks = vendor.wire.issued[1]
                self.check_asked(vendor, name, begin(name), begin(name),
                                 begin(name).turn(blocks).results(blocks, "in a", "in b"))

    def test_a_call_that_lacks_its_last_byte_is_not_made(self):
        cut = Answer(turn=FIRST, cut=At("call", more=-1))
        server, vendors = self.start_vendors(cut, LAST)
        for name, vendor in vendors.items():
            story = self.play(server, name)
            self.assertEqual(story.joined, [TEXT, ("turn_restarted", 0, 2), *ANSWER], name)
            self.check_asked(vendor, name, begin(name), begin(name))

    def test_a_cut_after_a_closed_call_keeps_the_turn_as_it_is(self):
        for place in (At("call"), At("call", more=25)):
            server, vendors = self.start_vendors(Answer(turn=FIRST, cut=place), AGAIN, LAST,
                                                 formats=EARLY)
            for name, vendor in vendors.items():
                story = self.play(server, name)
                self.assertEqual(story.joined, [TEXT, CALL_A, ONLY_A, RESULT_A, CALL_B, B_CALLED,
                                                RESULT_B, *ANSWER], (name, place))
                kept, again = frozen(vendor, name, 1), vendor.wire.issued[1]
                second = begin(name).turn(kept).results(kept, "in a")
                third = begin(name).turn(kept).results(kept, "in a")
                self.check_asked(vendor, name, begin(name), second,
                                 third.turn(again).results(again, "in b"))

    def test_a_cut_after_a_call_and_another_thought_drops_the_thought(self):
        said = turn(think("First a."), say("I look."), call("look", path="a"), think("Then b."),
                    call("look", path="b"))
        cut = Answer(turn=said, cut=At("block", number=3))
        server, vendors = self.start_vendors(cut, LAST, formats=("anthropic", "responses"))
        for name, vendor in vendors.items():
            self.assertEqual(self.play(server, name).joined,
                             [TEXT, CALL_A, ONLY_A, RESULT_A, *ANSWER], name)
            kept = frozen(vendor, name, 1)
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(kept).results(kept, "in a"))

    def test_a_turn_is_kept_with_its_redacted_thoughts(self):
        said = turn(think("secret", kind="redacted"), say("I look."), call("look", path="a"),
                    call("look", path="b"))
        cut = Answer(turn=said, cut=At("call"))
        server, vendors = self.start_vendors(cut, LAST, formats=("anthropic", "responses"))
        for name, vendor in vendors.items():
            self.assertEqual(self.play(server, name).joined,
                             [TEXT, CALL_A, ONLY_A, RESULT_A, *ANSWER], name)
            kept = frozen(vendor, name, 1)
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(kept).results(kept, "in a"))

    def test_the_first_of_interleaved_calls_to_close_is_kept(self):
        said = turn(think("Two."), say("I look."), call("look", path="a"), call("look", path="b"),
                    interleaved=True)
        server, vendors = self.start_vendors(Answer(turn=said, cut=At("call")), LAST,
                                             formats=("responses",))
        self.assertEqual(self.play(server, "responses").joined,
                         [TEXT, CALL_A, ONLY_A, RESULT_A, *ANSWER])
        kept = frozen(vendors["responses"], "responses", 1)
        self.check_asked(vendors["responses"], "responses", begin("responses"),
                         begin("responses").turn(kept).results(kept, "in a"))

    def test_a_cut_at_any_byte_loses_no_call_and_makes_none_twice(self):
        chosen = random.Random(3)
        places = [At(more=-chosen.randint(1, 4500)) for _ in range(25)]
        answers = [one for place in places for one in (Answer(turn=FIRST, cut=place), LAST)]
        server, vendors = self.start_vendors(*answers)
        for name, vendor in vendors.items():
            for number, place in enumerate(places):
                story = self.play(server, name)
                self.assertEqual(story.joined[-3:], ANSWER, (name, place))
                calls = [event for event in story.events if event[0] == "local_tool_call"]
                self.assertIn(calls, ([], [CALL_A], [CALL_A, CALL_B]), (name, place))
                after = begin(name)
                if calls:
                    kept = upto_call(name, vendor.wire.issued[number * 2], len(calls))
                    after.turn(kept).results(kept, *["in a", "in b"][: len(calls)])
                asked = messages_of(name, vendor.bodies[number * 2 + 1])
                self.assertEqual(asked, after.steps, (name, place))
            self.assertEqual(vendor.refusals, [], name)

    def test_chat_makes_no_call_of_a_stream_that_is_cut(self):
        # No fragment says that it is the last one.
        cut = Answer(turn=FIRST, cut=At("call", number=2))
        server, vendors = self.start_vendors(cut, LAST, formats=("chat",))
        story = self.play(server, "chat")
        self.assertEqual(story.joined, [TEXT, ("turn_restarted", 0, 2), *ANSWER])
        self.check_asked(vendors["chat"], "chat", begin("chat"), begin("chat"))

    def test_an_error_after_closed_calls_keeps_the_turn(self):
        busy = Answer(turn=FIRST, late_failure=Failure("overloaded"))
        server, vendors = self.start_vendors(busy, LAST, formats=EARLY)
        for name, vendor in vendors.items():
            both = (*BOTH_CALLED[:3], "interrupted")
            self.assertEqual(self.play(server, name).joined,
                             [TEXT, CALL_A, CALL_B, both, RESULT_A, RESULT_B, *ANSWER], name)
            blocks = frozen(vendor, name, 2)
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(blocks).results(blocks, "in a", "in b"))

    def test_a_final_error_after_a_closed_call_ends_the_run_when_the_call_is_done(self):
        late = Answer(turn=turn(say("I look."), call("look", path="a")),
                      late_failure=Failure("context_window"))
        server, vendors = self.start_vendors(late, formats=EARLY)
        for name, vendor in vendors.items():
            events = self.play(server, name).joined
            self.assertEqual(events[:-1], [TEXT, CALL_A, ONLY_A, RESULT_A], name)
            self.assertEqual(events[-1][:2], ("error", "context_window"), name)
            self.check_asked(vendor, name, begin(name))

    def test_a_kept_turn_that_the_vendor_refuses_is_told_as_text(self):
        server, vendors = self.start_vendors(Answer(turn=FIRST, cut=At("call")),
                                             Failure("invalid_request"), LAST, formats=EARLY)
        for name, vendor in vendors.items():
            self.assertEqual(self.play(server, name).joined,
                             [TEXT, CALL_A, ONLY_A, RESULT_A, *ANSWER], name)
            kept = frozen(vendor, name, 1)
            told = ("These tool calls were already made, with these results:\n\n"
                    f"look {self.arguments(name)}\nresult: in a")
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(kept).results(kept, "in a"),
                             begin(name).told("I look.").user(told))

    @staticmethod
    def arguments(name: str) -> str:
        """As the model wrote them; Gemini sends a value, whose text is ours."""
        return '{"path":"a"}' if name == "gemini" else '{"path": "a"}'


class StallTest(VendorCase):
    def test_a_stream_that_stalls_is_left_when_the_time_of_a_turn_is_over(self):
        def stalled():
            return Answer(turn=LAST, stall=At("text"))

        server, vendors = self.start_vendors(stalled, LAST, timeoutMs=1000)
        for name, vendor in vendors.items():
            story = self.play(server, name)
            self.assertEqual(story.joined, [("assistant_delta", "Both "),
                                            ("turn_restarted", 0, 2), *ANSWER], name)
            self.assertTrue(vendor.given[0].gate.left.wait(WAIT_SECONDS_MAX))
            self.check_asked(vendor, name, begin(name), begin(name))


class EarlyStartTest(VendorCase):
    def test_a_call_starts_and_ends_while_the_stream_goes_on(self):
        def stalled():
            return Answer(turn=FIRST, stall=At("call"))

        server, vendors = self.start_vendors(stalled, LAST, formats=EARLY)
        client = server.client()
        for name, vendor in vendors.items():
            run = self.create(client, name)
            with client.stream(run) as stream:
                before = stream.until("local_tool_call")
                gate = vendor.given[0].gate
                # The stream has more to say, and cannot have ended.
                self.assertFalse(gate.left.is_set())
                self.answer(client, run, before[-1])
                self.assertEqual(self.journal(client, run), ["created", "turn", "call"], name)
                gate.open()
                after = []
                for frame in stream:
                    after.append(frame)
                    if frame.event == "local_tool_call":
                        self.answer(client, run, frame)
            self.assertEqual(Story(before).joined, [TEXT, CALL_A], name)
            self.assertEqual(Story(after).joined,
                             [CALL_B, BOTH_CALLED, RESULT_A, RESULT_B, *ANSWER], name)
            blocks = vendor.wire.issued[0]
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(blocks).results(blocks, "in a", "in b"))

    def journal(self, client: Client, run: str) -> list[str]:
        """What was recorded of the run so far, but for how calls ended."""
        response = client.request("GET", f"/agent-runs/{run}/journal")
        self.assertEqual(response.status, 200, response.body)
        kinds = [entry["entry"] for entry in response.json()["entries"]]
        return [kind for kind in kinds if kind != "outcome"]


class KillTest(VendorCase):
    """kill -9 at a place that the test knows, because the vendor holds its stream there."""

    def restart(self, server: Server) -> None:
        server.kill()
        server.restart()

    def read_until(self, client: Client, run: str, event: str, number: int = 1) -> list[Frame]:
        """The frames up to the `number`th of that event."""
        frames = []
        with client.stream(run) as stream:
            for _ in range(number):
                frames += stream.until(event)
        return frames

    def go_on(self, server: Server, run: str, seen: list[Frame]) -> Story:
        return self.follow(server.client(), run, seen[-1].seq)

    def check_log(self, server: Server, run: str, seen: list[Frame], story: Story) -> None:
        """Nothing that was shown before the kill is missing or different after it."""
        log = server.client().log(run)
        self.assertEqual([frame.raw for frame in log],
                         [frame.raw for frame in seen + story.frames])

    def start_stalled(self, said: Turn, place: At, *others, formats=FORMATS):
        return self.start_vendors(lambda: Answer(turn=said, stall=place), *others, formats=formats)

    def test_before_any_call_the_same_is_asked_again(self):
        server, vendors = self.start_stalled(FIRST, At("text", number=2), LAST)
        for name, vendor in vendors.items():
            run = self.create(server.client(), name)
            seen = self.read_until(server.client(), run, "assistant_delta", number=2)
            self.restart(server)
            story = self.go_on(server, run, seen)
            self.assertEqual(story.joined, [("turn_restarted", 0, 2), *ANSWER], name)
            self.check_log(server, run, seen, story)
            self.check_asked(vendor, name, begin(name), begin(name))
        self.check_data(server)

    def test_after_a_closed_call_the_turn_is_kept_and_the_call_made_once(self):
        server, vendors = self.start_stalled(FIRST, At("call"), LAST, formats=EARLY)
        for name, vendor in vendors.items():
            run = self.create(server.client(), name)
            seen = self.read_until(server.client(), run, "local_tool_call")
            self.restart(server)
            self.answer(server.client(), run, seen[-1])
            story = self.go_on(server, run, seen)
            self.assertEqual(story.joined, [ONLY_A, RESULT_A, *ANSWER], name)
            self.check_log(server, run, seen, story)
            kept = frozen(vendor, name, 1)
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(kept).results(kept, "in a"))
        self.check_data(server)

    def test_an_answer_that_came_before_the_kill_is_not_asked_for_again(self):
        server, vendors = self.start_stalled(FIRST, At("call"), LAST, formats=EARLY)
        for name, vendor in vendors.items():
            run = self.create(server.client(), name)
            seen = self.read_until(server.client(), run, "local_tool_call")
            self.answer(server.client(), run, seen[-1])
            self.restart(server)
            story = self.go_on(server, run, seen)
            self.assertEqual(story.joined, [ONLY_A, RESULT_A, *ANSWER], name)
            kept = frozen(vendor, name, 1)
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(kept).results(kept, "in a"))
        self.check_data(server)

    def test_between_two_answers_of_a_whole_turn(self):
        server, vendors = self.start_vendors(FIRST, LAST)
        for name, vendor in vendors.items():
            client = server.client()
            run = self.create(client, name)
            seen = self.read_until(client, run, "assistant_message")
            calls = [frame for frame in seen if frame.event == "local_tool_call"]
            self.answer(client, run, calls[0])
            self.restart(server)
            self.answer(server.client(), run, calls[1])
            story = self.go_on(server, run, seen)
            self.assertEqual(story.joined, [RESULT_A, RESULT_B, *ANSWER], name)
            self.check_log(server, run, seen, story)
            blocks = vendor.wire.issued[0]
            self.check_asked(vendor, name, begin(name),
                             begin(name).turn(blocks).results(blocks, "in a", "in b"))
        self.check_data(server)

    def test_in_a_later_turn_what_was_said_before_goes_back_unedited(self):
        def stalled():
            return Answer(turn=LAST, stall=At("text"))

        server, vendors = self.start_vendors(FIRST, stalled, LAST)
        for name, vendor in vendors.items():
            client = server.client()
            run = self.create(client, name)
            seen = []
            with client.stream(run) as stream:
                for frame in stream:
                    seen.append(frame)
                    if frame.event == "local_tool_call":
                        self.answer(client, run, frame)
                    if Story([frame]).events == [("assistant_delta", "Both ")]:
                        break
            self.restart(server)
            story = self.go_on(server, run, seen)
            self.assertEqual(story.joined, [("turn_restarted", 1, 2), *ANSWER], name)
            self.check_log(server, run, seen, story)
            blocks = vendor.wire.issued[0]
            second = begin(name).turn(blocks).results(blocks, "in a", "in b")
            self.check_asked(vendor, name, begin(name), second, second)
        self.check_data(server)


if __name__ == "__main__":
    unittest.main()
