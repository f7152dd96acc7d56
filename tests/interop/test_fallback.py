"""Runs that another vendor answers when their own gives no answer."""

import subprocess
import unittest

from support.fake_vendor import Answer, At, Chat, Failure, FakeVendor, Gemini, call, say, turn
from support.server import Server, binary
from support.vendor_case import VendorCase, model_entry

BUSY = Failure("overloaded")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
          "additionalProperties": False}
OSLO = '{"city": "Oslo"}'
FIRST = {"id": "anthropic", "provider": "anthropic", "vendorModelId": "vendor-m"}
SPARE = {"id": "chat", "provider": "openai", "vendorModelId": "vendor-m"}


def structured(mechanism: str, fell_back: bool = False, enforced: bool = True) -> dict:
    return {"schemaRequested": True, "schemaEnforced": enforced,
            "enforcementMechanism": mechanism, "unconstrainedFallbackOccurred": fell_back}


class FallbackCase(VendorCase):
    def start(self, first: list, spare: list,
              provider: str = "openai") -> tuple[Server, FakeVendor, FakeVendor]:
        """A model of Anthropic with one of this provider behind it."""
        behind = FakeVendor(*spare, wire=Chat())
        self.addCleanup(behind.close)
        entry = model_entry("chat", behind.url, retries=0, provider=provider)
        server, vendors = self.start_vendors(*first, formats=("anthropic",), others=[entry],
                                             retries=0, fallback=["chat"])
        return server, vendors["anthropic"], behind

    def end_of(self, server: Server, **spec) -> dict:
        """The last event; the snapshot says the same of the model."""
        client = server.client()
        self.run_id = self.create(client, "anthropic", **spec)
        end = self.follow(client, self.run_id).frames[-1].json()
        snapshot = client.snapshot(self.run_id)
        self.assertEqual((snapshot["model"], snapshot.get("structuredOutput")),
                         (end["model"], end.get("structuredOutput")))
        return end

    def check_replay(self, server: Server) -> None:
        file = f"{server.folder.name}/run.json"
        for words in (["export", self.run_id, "--output", file, "--data", str(server.data)],
                      ["replay", file]):
            done = subprocess.run([binary(), "runs", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith("identical"), done.stdout)


class WhoAnsweredTest(FallbackCase):
    def test_without_a_failure_the_model_is_the_runs_own(self):
        server, _, _ = self.start([turn(say("Hi."))], [])
        self.assertEqual(self.end_of(server)["model"], FIRST)

    def test_the_model_of_the_result_is_the_one_that_answered(self):
        server, _, _ = self.start([BUSY], [turn(say("Hi."))])
        end = self.end_of(server, reasoningLevel="low")
        self.assertEqual((end["text"], end["model"]),
                         ("Hi.", SPARE | {"reasoningEffort": "low"}))
        self.check_replay(server)
        self.check_data(server)

    def test_it_is_the_one_that_gave_the_last_answer(self):
        look = turn(call("look", path="a"))
        server, _, _ = self.start([BUSY, turn(say("Hi."))], [look])
        self.assertEqual(self.end_of(server)["model"], FIRST)
        self.check_replay(server)
        server, _, _ = self.start([look, BUSY], [turn(say("Hi."))])
        self.assertEqual(self.end_of(server)["model"], SPARE)

    def test_with_no_answer_at_all_it_is_the_runs_own(self):
        server, _, _ = self.start([BUSY], [Failure("server")])
        end = self.end_of(server)
        self.assertEqual((end["errorClass"], end["model"]), ("overloaded", FIRST))
        self.check_replay(server)

    def test_an_answer_that_another_began_and_that_is_cut_off_is_that_ones(self):
        server, _, _ = self.start([BUSY], [turn(say("Half"), stop="length")])
        end = self.end_of(server)
        self.assertEqual((end["errorClass"], end["model"]), ("truncation", SPARE))

    def test_it_is_known_after_a_restart(self):
        server, _, _ = self.start([BUSY], [turn(say("Hi."))])
        end = self.end_of(server)
        server.kill()
        self.assertEqual(server.restart().client().snapshot(self.run_id)["model"], end["model"])

    def test_a_call_of_another_is_answered_after_a_restart(self):
        server, first, spare = self.start([BUSY, turn(say("Hi."))], [turn(call("look", path="a"))])
        client = server.client()
        run = self.create(client, "anthropic")
        with client.stream(run) as stream:
            stream.until("assistant_message")
        server.kill()
        client = server.restart().client()
        self.assertEqual(self.follow(client, run).end, ("result", "success", "Hi."))
        self.assertEqual(client.snapshot(run)["model"], FIRST)
        self.assertEqual((first.refusals, spare.refusals), ([], []))

    def test_a_fork_begins_with_its_own_model(self):
        server, first, _ = self.start([BUSY], [turn(call("look", path="a"))])
        client = server.client()
        run = self.create(client, "anthropic")
        with client.stream(run) as stream:
            self.answer(client, run, stream.until("local_tool_call")[-1])
            stream.until("local_tool_result_in")
        first.answers.append(Answer(turn=turn(say("Hi."))))
        forked = client.request("POST", f"/agent-runs/{run}/fork", {}).json()["runId"]
        self.follow(client, forked)
        self.assertEqual(client.snapshot(forked)["model"], FIRST)


    def test_gemini_takes_the_calls_of_another_without_their_signatures(self):
        look = turn(call("look", path="a"), call("look", path="b"))
        spare = FakeVendor(turn(say("Hi.")), wire=Gemini())
        self.addCleanup(spare.close)
        server, _ = self.start_vendors(look, BUSY, formats=("anthropic",), retries=0,
                                       fallback=["gemini"],
                                       others=[model_entry("gemini", spare.url, retries=0)])
        self.assertEqual(self.end_of(server)["model"]["id"], "gemini")
        self.assertEqual(spare.refusals, [])


class SchemaTest(FallbackCase):
    """Each vendor follows a schema in its own way, whoever was to answer at first."""

    def test_from_a_tool_to_a_schema_of_the_vendors_own(self):
        for provider in ("openai", "openai-compatible"):
            server, first, spare = self.start([BUSY], [turn(say(OSLO))], provider)
            end = self.end_of(server, outputSchema={"schema": SCHEMA})
            self.assertEqual((end["text"], end["structuredOutput"]),
                             (OSLO, structured("native_schema")))
            self.assertEqual([tool["name"] for tool in first.bodies[0]["tools"]],
                             ["look", "final_report"])
            self.assertEqual([tool["function"]["name"] for tool in spare.bodies[0]["tools"]],
                             ["look"])
            self.assertEqual(spare.bodies[0]["response_format"]["json_schema"]["schema"], SCHEMA)
            self.assertEqual(spare.refusals, [])
            self.check_replay(server)

    def test_the_first_answers_again_when_it_can_and_in_its_own_way(self):
        server, first, spare = self.start(
            [BUSY, turn(call("final_report", city="Oslo"))], [turn(say('{"city": 7}'))])
        end = self.end_of(server, outputSchema={"schema": SCHEMA})
        self.assertEqual((end["text"], end["model"], end["structuredOutput"]),
                         (OSLO, FIRST, structured("synthetic_tool")))
        self.assertEqual((first.refusals, spare.refusals), ([], []))
        self.check_replay(server)

    def refused(self) -> Answer:
        return Answer(status=400, error={"error": {
            "message": "Invalid schema for response_format", "type": "invalid_request_error",
            "code": "invalid_json_schema"}})

    def test_a_schema_that_only_the_other_refuses_is_told_in_words(self):
        for provider in ("openai", "openai-compatible"):
            server, first, spare = self.start([BUSY, BUSY], [self.refused(), turn(say(OSLO))],
                                              provider)
            end = self.end_of(server, outputSchema={"schema": SCHEMA})
            self.assertEqual((end["text"], end["model"]["id"], end["structuredOutput"]),
                             (OSLO, "chat", structured("none", fell_back=True)))
            self.assertNotIn("response_format", spare.bodies[1])
            self.assertIn('"city"', spare.bodies[1]["messages"][0]["content"])
            self.assertEqual((first.refusals, spare.refusals), ([], []))
            self.check_replay(server)

    def test_a_strict_run_ends_with_the_first_failure(self):
        server, first, spare = self.start([BUSY], [self.refused()])
        end = self.end_of(server, outputSchema={"schema": SCHEMA, "enforcement": "strict"})
        self.assertEqual((end["errorClass"], end["retryable"], end["structuredOutput"]),
                         ("overloaded", True, structured("synthetic_tool", enforced=False)))
        self.assertEqual((len(first.asked), len(spare.asked)), (1, 1))

    def test_an_answer_of_another_that_breaks_off_is_asked_for_again(self):
        cut = Answer(turn=turn(say('{"city": ')), cut=At("text"))
        server, _, spare = self.start([BUSY, BUSY], [cut, turn(say(OSLO))])
        end = self.end_of(server, outputSchema={"schema": SCHEMA})
        self.assertEqual((end["text"], end["model"]), (OSLO, SPARE))
        self.assertEqual(len(spare.asked), 2)


if __name__ == "__main__":
    unittest.main()
