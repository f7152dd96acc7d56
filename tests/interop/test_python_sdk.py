"""The official Python SDK drives the server unmodified."""

import json

from support.peers.a2a_peer import A2aPeer
from support.peers.proxy import CuttingProxy
from support.python_sdk import SdkCall, SdkCase
from support.script import DEFAULT_MODEL, turn, write_config
from support.server import Server
from support.peers.unruly_proxy import UnrulyProxy

USAGE = {"inputTokens": 10, "cachedTokens": 4, "reasoningTokens": 1, "outputTokens": 5}
MODEL = {"id": "scripted", "provider": "scripted", "vendor_model_id": "scripted",
         "reasoning_effort": None}
UNRULY_RUNS = 4
SEED = 7  # its first connection outlives the creation and is cut in the stream
NO_TOKENS = {"input_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0, "output_tokens": 0}


def results_in(done: SdkCall) -> list[tuple]:
    """What the model was told about each call, in the order of the calls."""
    listed = [call["id"] for message in done.fields("assistant_message")
              for call in message.get("toolCalls", [])]
    told = {fields["toolUseId"]: (fields["name"], fields.get("result"), fields.get("error"))
            for fields in done.fields("local_tool_result_in")}
    return [told[call] for call in listed if call in told]


class Conversations:
    """What every user of the SDK does; for each of its two clients."""

    def test_a_run_returns_its_text_and_what_it_cost(self):
        server = self.start_server([turn("Hello ", "there.", usage=USAGE)])
        done = self.call(server, "run_agent")
        self.assertEqual(done.all("delta"), ["Hello ", "there."])
        answer = done.returned
        del answer["events"]
        self.assertEqual(answer, {
            "run_id": self.run_of(server), "text": "Hello there.", "turns": 1, "model": MODEL,
            "tokens": {"input_tokens": 10, "cached_tokens": 4, "reasoning_tokens": 1,
                       "output_tokens": 5},
            "structured_output": None, "plan": None})
        self.check_saw_all(server, done)

    def test_a_stream_hands_on_every_event(self):
        server = self.start_server([turn("a", calls=[("read_file", {"path": "x"})]), turn("b")])
        done = self.call(server, "stream_agent", ["read_file"])
        self.assertEqual(done.types, [
            "assistant_delta", "local_tool_call", "assistant_message", "local_tool_result_in",
            "assistant_delta", "assistant_message", "result"])
        self.check_saw_all(server, done)

    def test_messages_are_taken_with_their_roles(self):
        server = self.start_server([turn("unused"), turn("Still 4.")])
        messages = [{"role": "system", "content": "Count."},
                    {"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"},
                    {"role": "user", "content": "Sure?"}]
        done = self.call(server, "run_agent", prompt=None, system_prompt=None, messages=messages,
                         metadata={"customer": "acme"}, name="sums")
        self.assertEqual(done.returned["text"], "Still 4.")
        shown = server.client().snapshot(self.run_of(server))
        self.assertEqual((shown["name"], shown["metadata"], shown["spec"]["messages"]),
                         ("sums", {"customer": "acme"}, messages))

    def test_tools_are_called_and_their_results_told(self):
        server = self.start_server([
            turn(calls=[("read_file", {"path": "ä.txt"}),
                        ("forecast", {"place": {"city": "Lagos"}}),
                        ("say_nothing", {})]),
            turn("Done.")])
        done = self.call(server, "run_agent", ["read_file", "forecast", "say_nothing"])
        self.assertEqual(done.returned["text"], "Done.")
        self.assertEqual(results_in(done), [
            ("read_file", "text of ä.txt", None),
            ("forecast", '{"city": "Lagos", "degrees": 21, "unit": "C"}', None),
            ("say_nothing", "", None)])

    def test_a_tool_that_raises_is_told_to_the_model(self):
        server = self.start_server([turn(calls=[("fail", {}), ("read_file", {"path": "a"})]),
                                    turn("No paper.")])
        done = self.call(server, "run_agent", ["fail", "read_file"])
        self.assertEqual(done.returned["text"], "No paper.")
        self.assertEqual(results_in(done), [
            ("fail", None, "Local tool 'fail' failed: out of paper"),
            ("read_file", "text of a", None)])

    def test_bad_arguments_do_not_reach_the_handler(self):
        server = self.start_server([
            turn(calls=[("forecast", {"place": {"country": "NG"}, "unit": "K"})]),
            turn(calls=[("halve", {"number": 3})]), turn("I give up.")])
        done = self.call(server, "run_agent", ["forecast", "halve"])
        self.assertEqual(done.returned["text"], "I give up.")
        self.assertEqual(done.all("tool"), [])
        refused, = done.fields("tool_result")
        self.assertFalse(refused["ok"])
        self.assertEqual([error["pointer"] for error in json.loads(refused["result"])["errors"]],
                         ["/place", "/unit"])
        (name, _, error), = results_in(done)
        self.assertEqual(name, "halve")
        self.assertIn("not an even number", error)

    def test_calls_of_a_turn_run_side_by_side(self):
        server = self.start_server([
            turn(calls=[("meet", {"who": "a"}), ("meet", {"who": "b"}), ("meet", {"who": "c"})]),
            turn("All met.")])
        done = self.call(server, "run_agent", ["meet"])
        self.assertEqual(done.returned["text"], "All met.")
        self.assertEqual(results_in(done), [("meet", "met a", None), ("meet", "met b", None),
                                            ("meet", "met c", None)])

    def test_a_slow_tool_holds_up_nothing_else(self):
        server = self.start_server([turn(calls=[("wait", {}), ("read_file", {"path": "a"})]),
                                    turn("Done.")])
        call = self.start_call(server, "run_agent", ["wait", "read_file"])
        quick = call.until("event", "local_tool_result_in")
        self.assertEqual(quick["data"]["name"], "read_file")
        call.tell("at last")
        done = call.finish()
        self.assertEqual(done.returned["text"], "Done.")
        self.assertEqual(results_in(done), [("wait", "at last", None),
                                            ("read_file", "text of a", None)])

    def test_a_cancelled_run_raises(self):
        server = self.start_server([turn(calls=[("wait", {})]), turn("never said")])
        call = self.start_call(server, "run_agent", ["wait"])
        call.until("tool", "wait")
        self.call(server, "cancel_run", run_id=self.run_of(server))
        call.tell("too late")
        raised = call.finish().raised
        self.assertEqual((raised["error"], raised["code"], raised["run_id"]),
                         ("MantyxRunError", "cancelled", self.run_of(server)))

    def test_a_connection_that_is_cut_again_and_again_loses_nothing(self):
        words = [f"a{n} " for n in range(60)]
        server = self.start_server([turn(*words, calls=[("read_file", {"path": "a"})]),
                                    turn(*words)])
        # The first carries the creation, too; the third and fourth end in or before the head.
        proxy = CuttingProxy(server.client().address, [3000, 4001, 90, 0, 2500])
        self.addCleanup(proxy.close)
        done = self.call(server, "run_agent", ["read_file"], url=f"http://127.0.0.1:{proxy.port}")
        self.assertEqual(done.returned["text"], "".join(words))
        self.check_saw_all(server, done)
        self.assertGreater(proxy.connections, 5)

    def test_an_unruly_network_loses_nothing_of_what_was_created(self):
        words = [f"a{n} " for n in range(40)]
        server = self.start_server([turn(*words, calls=[("read_file", {"path": "a"})] * 3),
                                    turn(*words)])
        proxy = UnrulyProxy(server.client().address, SEED, cut_share=0.7)
        self.addCleanup(proxy.close)
        for _ in range(UNRULY_RUNS):
            done = self.call(server, "run_agent", ["read_file"],
                             url=f"http://127.0.0.1:{proxy.port}")
            if "raised" in done.reports[-1]:  # only a creation is not tried again
                self.assertEqual((done.raised["code"], done.types), ("network", []))
            else:
                self.assertEqual(done.returned["text"], "".join(words))
                self.assertEqual(results_in(done), [("read_file", "text of a", None)] * 3)
                self.check_saw_all(server, done, done.returned["run_id"])
        self.assertGreater(proxy.cuts, 0)

    def kill_while_a_tool_works(self, server: Server, name: str) -> SdkCall:
        call = self.start_call(server, "run_agent", [name])
        call.until("tool", name)
        server.kill()
        return call

    def test_a_server_killed_while_a_tool_works_goes_on_after_a_restart(self):
        server = self.start_server([turn("Let me ", calls=[("wait", {})]), turn("Done.")])
        call = self.kill_while_a_tool_works(server, "wait")
        server.restart()
        call.tell("worked through it")
        done = call.finish()
        self.assertEqual(done.returned["text"], "Done.")
        self.assertEqual(results_in(done), [("wait", "worked through it", None)])
        self.assertEqual(done.all("tool"), [{"wait": {}}])
        self.check_saw_all(server, done)
        self.check_data(server)

    def test_a_result_that_finds_no_server_is_sent_again(self):
        server = self.start_server([turn(calls=[("wait", {})]), turn("Done.")])
        call = self.kill_while_a_tool_works(server, "wait")
        call.tell("sent into the dark")
        server.restart()
        done = call.finish()
        self.assertEqual(done.returned["text"], "Done.")
        self.assertEqual(results_in(done), [("wait", "sent into the dark", None)])
        self.check_saw_all(server, done)

    def test_a_server_killed_in_the_middle_of_a_turn_asks_again(self):
        said = ("Once ", "upon ", "a time.")
        server = self.start_server([turn(*said, deltaDelayMs=600_000)])
        call = self.start_call(server, "run_agent")
        call.until("event", "assistant_delta")
        server.kill()
        write_config(server.config.parent, {DEFAULT_MODEL: [turn(*said)]})
        server.restart()
        done = call.finish()
        self.assertEqual(done.returned["text"], "Once upon a time.")
        self.assertIn("turn_restarted", done.types)
        self.check_saw_all(server, done)


class SyncConversationsTest(Conversations, SdkCase):
    client = "sync"


class AsyncConversationsTest(Conversations, SdkCase):
    client = "async"


class McpTest(SdkCase):
    client = "async"  # the other one cannot open a server of any kind

    def test_an_mcp_server_of_the_client(self):
        server = self.start_server([turn(calls=[("notes_find", {"word": "milk"}),
                                                ("notes_find", {"word": "gold"})]),
                                    turn("Two litres.")])
        done = self.call(server, "run_agent", ["notes"])
        self.assertEqual(done.returned["text"], "Two litres.")
        called = done.fields("local_tool_call")[0]
        del called["toolUseId"]
        self.assertEqual(called, {
            "name": "notes_find", "args": {"word": "milk"}, "kind": "mcp_local",
            "mcpServer": "notes", "mcpToolName": "notes_find",
            "mcpServerInfo": {"name": "notes-server", "version": "1.2.3"},
            "annotations": {"readOnlyHint": True}})
        found, missing = results_in(done)
        self.assertEqual(found, ("notes_find", "Buy two litres.", None))
        self.assertEqual(missing, ("notes_find", None, "Local tool 'notes/notes_find' failed: "
                                   "Error executing tool find: no note says gold"))


class ToolKindsTest(SdkCase):
    def test_an_agent_of_the_client(self):
        peer = A2aPeer("Acme HR")
        self.addCleanup(peer.close)
        server = self.start_server([turn(calls=[("hr", {"message": "How many days?"})]),
                                    turn("Twelve.")])
        done = self.call(server, "run_agent", [f"hr:{peer.card_url}"])
        self.assertEqual(done.returned["text"], "Twelve.")
        called, = done.fields("local_tool_call")
        self.assertEqual((called["kind"], called["agentCard"]), ("a2a_local", peer.card))
        self.assertEqual(results_in(done), [("hr", "You asked: How many days?", None)])
        self.assertEqual(peer.asked, ["How many days?"])

    def test_tools_that_the_server_would_run_are_taken(self):
        server = self.start_server([turn(calls=[("remote_mcp_unavailable", {})]), turn("Alas.")])
        server.client().request("PUT", "/tools/tool_cm6",
                                {"http": {"url": "https://shop.example.com"}})
        done = self.call(server, "run_agent", [
            "remote_mcp:http://127.0.0.1:9/v1", "remote_agent:https://a.example.com/card",
            "stored", "plugin"])
        self.assertEqual(done.returned["text"], "Alas.")
        self.assertEqual([fields["ok"] for fields in done.fields("tool_result")], [False])

    def test_a_read_only_call_is_offered_again_after_a_restart_and_counts_once(self):
        server = self.start_server([turn(calls=[("look_again", {})]), turn("Done.")])
        call = self.start_call(server, "run_agent", ["look_again"])
        call.until("tool", "wait")
        server.kill()
        server.restart()
        call.until("tool", "wait")
        call.tell("one")
        call.tell("two")
        done = call.finish()
        self.assertEqual(done.returned["text"], "Done.")
        self.assertEqual(len(results_in(done)), 1)
        self.check_saw_all(server, done)


class GuardsTest(SdkCase):
    def loop(self, **guards) -> SdkCall:
        again = turn(calls=[("read_file", {"path": "a"})])
        server = self.start_server([again, again, again, turn("Enough.")])
        return self.call(server, "run_agent", ["read_file"], **guards)

    def test_a_loop_is_nudged_and_cut_off(self):
        done = self.loop(loop_detection={"consecutive_threshold": 2, "hard_cutoff_threshold": 3})
        self.assertEqual(done.returned["text"], "Enough.")
        self.assertEqual(done.fields("loop_detected"), [
            {"consecutiveCount": 2, "hardCutoff": False, "tools": ["read_file"]},
            {"consecutiveCount": 3, "hardCutoff": True, "tools": ["read_file"]}])
        self.assertEqual(done.all("tool"), [{"read_file": "a"}])

    def test_a_guard_that_is_off_lets_a_loop_go_on(self):
        done = self.loop(loop_detection=False)
        self.assertEqual(done.fields("loop_detected"), [])
        self.assertEqual(done.all("tool"), [{"read_file": "a"}] * 3)

    def test_a_budget_of_a_tool_is_kept(self):
        done = self.loop(loop_detection=False, tool_budgets={"read_file": {"maxCalls": 2}})
        self.assertEqual(done.fields("tool_budget_exceeded"),
                         [{"tool": "read_file", "maxCalls": 2, "callIndex": 3}])
        self.assertEqual(done.all("tool"), [{"read_file": "a"}] * 2)

    def test_too_many_turns_raise(self):
        raised = self.loop(loop_detection=False, budgets={"maxToolTurns": 2}).raised
        self.assertEqual((raised["error"], raised["subtype"], raised["turns"], raised["model"],
                          raised["tokens"]),
                         ("MantyxRunError", "error_max_tool_turns", 3, MODEL, NO_TOKENS))


class ErrorsTest(SdkCase):
    def refused(self, call: str, **others) -> tuple:
        """Type, code, status, message and hint of what the SDK raised."""
        server = self.start_server([turn("Hi.")])
        raised = self.call(server, call, **others).raised
        return tuple(raised[key] for key in ("error", "code", "status", "message", "hint"))

    def test_a_wrong_key(self):
        self.assertEqual(self.refused("run_agent", key="mantyx_wrong"),
                         ("MantyxAuthError", "unauthorized", 401,
                          "Invalid API key or OAuth access token", None))

    def test_a_wrong_workspace(self):
        self.assertEqual(self.refused("run_agent", workspace="other team"),
                         ("MantyxError", "not_found", 404,
                          "Workspace path does not match this credential",
                          'this key belongs to the workspace "default"'))

    def test_an_unknown_model(self):
        self.assertEqual(self.refused("run_agent", model_id="none"),
                         ("MantyxError", "invalid_model", 400, "invalid_model",
                          "use one of the candidates, or leave modelId out for the default"))

    def test_an_unknown_run(self):
        self.assertEqual(self.refused("cancel_run", run_id="run_none"),
                         ("MantyxError", "not_found", 404, "not_found", None))

    def test_a_plan_without_a_run(self):
        self.assertEqual(self.refused("run_plan", steps=["Read", "Write"]),
                         ("MantyxError", "invalid_request", 400, "invalid_request",
                          'leave "planOnly" out to run the agent'))

    def test_nobody_there(self):
        server = self.start_server([turn("Hi.")])
        server.stop()
        raised = self.call(server, "run_agent").raised
        self.assertEqual((raised["error"], raised["code"]), ("MantyxNetworkError", "network"))

    def failed(self, *turns: dict, tools=(), **arguments) -> dict:
        server = self.start_server(list(turns))
        raised = self.call(server, "run_agent", tools, **arguments).raised
        self.assertEqual((raised["error"], raised["run_id"], raised["model"]),
                         ("MantyxRunError", self.run_of(server), MODEL))
        return raised

    def test_a_model_that_fails(self):
        raised = self.failed(turn("a", calls=[("read_file", {"path": "a"})], usage=USAGE),
                             {"error": {"status": 400, "code": "invalid_request_error",
                                        "message": "the prompt is empty"}}, tools=["read_file"])
        self.assertEqual((raised["code"], raised["subtype"], raised["error_class"],
                          raised["message"], raised["retryable"], raised["turns"],
                          raised["tokens"]["input_tokens"]),
                         ("invalid_request", "invalid_request", "invalid_request",
                          "the prompt is empty", False, 2, 10))

    def test_an_answer_that_is_cut_off(self):
        raised = self.failed(turn("Once ", "upon", finishReason="max_tokens"))
        self.assertEqual((raised["code"], raised["finish_reason"], raised["partial_text"]),
                         ("truncation", "max_tokens", "Once upon"))

    def test_a_tool_that_does_not_answer_in_time(self):
        server = self.start_server([turn(calls=[("wait", {})]), turn("never said")],
                                   {"limits": {"localToolTimeoutMs": 50}})
        call = self.start_call(server, "run_agent", ["wait"])
        call.until("event", "result")
        call.tell("too late")
        raised = call.finish().raised
        self.assertEqual((raised["subtype"], raised["message"]),
                         ("error_local_tool_timeout", "Timed out waiting for local tool result"))

    def test_a_stream_does_not_raise_for_a_run_that_fails(self):
        server = self.start_server([{"error": {"status": 401, "code": "x", "message": "no"}}])
        done = self.call(server, "stream_agent")
        self.assertEqual(done.types, ["error"])
        self.assertIsNone(done.returned)


class ModelsTest(SdkCase):
    def test_the_models_are_listed(self):
        server = self.start_server({"fast": [turn("Hi.")], "deep": [turn("Hm.")]})
        listed = self.call(server, "list_models").returned
        self.assertEqual(listed["default_model_id"], "fast")
        self.assertEqual(listed["models"][1], {
            "id": "deep", "label": "deep", "provider": "scripted", "vendor_model_id": "deep",
            "source": "workspace_provider", "context_window_tokens": None, "pricing": None})

    def test_a_model_is_chosen_by_its_vendors_name(self):
        server = self.start_server({"fast": [turn("Hi.")], "deep": [turn("Hm.")]})
        answer = self.call(server, "run_agent", model_id="scripted:deep",
                           fallback_model_id="fast").returned
        self.assertEqual((answer["text"], answer["model"]["id"]), ("Hm.", "deep"))


if __name__ == "__main__":
    import unittest

    unittest.main()
