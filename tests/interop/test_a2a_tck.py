"""The requests that the official compatibility kit of A2A marks as mandatory, in both versions,
against the agent that the kit asks for (`tests/support/a2a_tck`). The kit itself is not part of
this repository; tests/interop/README.md says how to run it."""

import http.client
import json
import subprocess
import threading
import unittest
import urllib.parse
from pathlib import Path

from support.server import binary, die_with_parent

SECONDS_MAX = 60
TERMINAL = {"TASK_STATE_COMPLETED", "TASK_STATE_REJECTED", "TASK_STATE_CANCELED"}


class Fixture:
    """The agent, until it is closed."""

    def __init__(self):
        program = Path(binary()).parent / "tests" / "a2a_tck"
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=die_with_parent)
        self.url = self.process.stdout.readline().strip()
        self.address = urllib.parse.urlsplit(self.url).netloc

    def post(self, body: bytes, version: str = "1.0", query: str = ""):
        connection = http.client.HTTPConnection(self.address, timeout=SECONDS_MAX)
        headers = {"Content-Type": "application/json"} | (
            {"A2A-Version": version} if version else {})
        connection.request("POST", "/" + query, body, headers)
        return connection, connection.getresponse()

    def ask(self, method: str, params: dict, version: str = "1.0", query: str = "") -> dict:
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        connection, answer = self.post(json.dumps(body).encode(), version, query)
        try:
            return json.load(answer)
        finally:
            connection.close()

    def stream(self, method: str, params: dict, version: str = "1.0"):
        """The results of the events, as they come."""
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        connection, answer = self.post(json.dumps(body).encode(), version)
        try:
            assert answer.getheader("Content-Type").startswith("text/event-stream")
            for line in iter(answer.readline, b""):
                if line.startswith(b"data:"):
                    event = json.loads(line[5:])
                    assert (event["jsonrpc"], event["id"]) == ("2.0", 7), event
                    yield event["result"]
        finally:
            connection.close()

    def close(self) -> int:
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(SECONDS_MAX)


def message(name: str, text: str = "Hello", **more) -> dict:
    return {"message": {"role": "ROLE_USER", "messageId": f"tck-{name}-5f0a", **more,
                        "parts": more.get("parts", [{"text": text}])}}


def old_message(number: int, **more) -> dict:
    return {"message": {"kind": "message", "role": "user", "messageId": f"text-{number}",
                        "parts": [{"kind": "text", "text": "Hello from TCK!"}], **more}}


class TckCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.agent = Fixture()
        self.addCleanup(lambda: self.assertEqual(self.agent.close(), 0))

    def send(self, name: str, **more) -> dict:
        answer = self.agent.ask("SendMessage", message(name, **more))
        self.assertIn("result", answer)
        return answer["result"]["task"]

    def refused(self, method: str, params: dict, code: int, reason: str = "", **more) -> str:
        """What the error says."""
        error = self.agent.ask(method, params, **more)["error"]
        self.assertEqual(error["code"], code, error)
        self.assertTrue(error["message"])
        if reason:
            self.assertEqual(error["data"], [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                                              "reason": reason, "domain": "a2a-protocol.org"}])
        return error["message"]

    def assert_words(self, text: str, *words: str) -> None:
        """The kit looks for these words in a message, in any order."""
        self.assertEqual([word for word in words if word not in text.lower()], [], text)


class MessagesTest(TckCase):
    def test_a_message_gives_a_task_or_a_message(self):
        task = self.send("complete-task")
        self.assertEqual(task["status"]["state"], "TASK_STATE_COMPLETED")
        self.assertTrue(task["contextId"])
        self.assertRegex(task["status"]["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
        direct = self.agent.ask("SendMessage", message("message-response"))["result"]["message"]
        self.assertEqual((direct["role"], direct["parts"]),
                         ("ROLE_AGENT", [{"text": "Direct message response"}]))

    def test_artifacts_have_every_kind_of_part(self):
        file = {"filename": "output.txt", "mediaType": "text/plain"}
        for name, parts in (("text", [{"text": "Generated text content"}]),
                            ("file", [file | {"raw": "dGNr"}]),
                            ("file-url", [file | {"url": "https://example.com/output.txt"}]),
                            ("data", [{"data": {"key": "value", "count": 42}}])):
            with self.subTest(name):
                [artifact] = self.send(f"artifact-{name}")["artifacts"]
                self.assertEqual(artifact["parts"], parts)

    def test_a_blocking_message_waits_for_rest(self):
        asked = self.send("input-required")
        self.assertEqual(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED")
        done = self.send("complete-task", taskId=asked["id"])
        self.assertEqual((done["id"], done["contextId"]), (asked["id"], asked["contextId"]))
        self.assertEqual(done["status"]["state"], "TASK_STATE_COMPLETED")
        self.assertEqual(self.send("reject-task")["status"]["state"], "TASK_STATE_REJECTED")
        self.assertEqual(self.send("auth-required")["status"]["state"], "TASK_STATE_AUTH_REQUIRED")
        now = self.agent.ask("SendMessage", {
            "message": message("x")["message"] | {"messageId": "test-resubscribe-message-id-1"},
            "configuration": {"returnImmediately": True}})["result"]["task"]
        self.assertEqual(now["status"]["state"], "TASK_STATE_WORKING")

    def test_only_a_blocking_message_waits_for_the_work(self):
        now = self.agent.ask("SendMessage", message("delayed-complete") | {
            "configuration": {"returnImmediately": True}})["result"]["task"]
        self.assertEqual(now["status"]["state"], "TASK_STATE_WORKING")
        later = self.agent.ask("SendMessage", message("delayed-complete") | {
            "configuration": {"returnImmediately": False}})["result"]["task"]
        self.assertEqual((later["status"]["state"], later["status"]["message"]["parts"]),
                         ("TASK_STATE_COMPLETED", [{"text": "Done after delay"}]))

    def test_messages_that_cannot_be_taken_are_refused(self):
        done = self.send("complete-task")
        self.refused("SendMessage", message("terminal", taskId=done["id"]), -32004,
                     "UNSUPPORTED_OPERATION")
        self.refused("SendMessage", message("mismatch", taskId=self.send("input-required")["id"],
                                            contextId="tck-wrong-context"), -32602)
        self.refused("SendMessage", message("multi-004", taskId="tck-nonexistent"), -32001,
                     "TASK_NOT_FOUND")
        unsupported = [{"raw": "dGNr", "mediaType": "application/x-unsupported-tck-type"}]
        self.refused("SendMessage", message("send-003", parts=unsupported), -32005,
                     "CONTENT_TYPE_NOT_SUPPORTED")
        self.refused("SendMessage", {}, -32602)
        self.refused("SendMessage", {"message": {"parts": "invalid"}}, -32602)

    def test_fields_that_are_not_known_are_ignored(self):
        params = message("dm-serial-005")
        params["message"]["tckUnknownField"] = "should-be-ignored"
        self.assertIn("result", self.agent.ask("SendMessage", params | {"tckExtraParam": 42}))


class TasksTest(TckCase):
    def test_a_task_is_shown(self):
        task = self.send("complete-task")
        self.assertEqual(self.agent.ask("GetTask", {"id": task["id"]})["result"]["id"], task["id"])
        for method in ("GetTask", "CancelTask", "SubscribeToTask"):
            self.refused(method, {"id": "tck-nonexistent"}, -32001, "TASK_NOT_FOUND")

    def test_an_open_task_is_cancelled_once(self):
        task = self.send("input-required")
        done = self.agent.ask("CancelTask", {"id": task["id"]})["result"]
        self.assertEqual((done["id"], done["status"]["state"]),
                         (task["id"], "TASK_STATE_CANCELED"))
        self.refused("CancelTask", {"id": task["id"]}, -32002, "TASK_NOT_CANCELABLE")

    def test_history_is_as_long_as_it_is_wanted(self):
        task = self.send("input-required")["id"]
        self.send("complete-task", taskId=task, text="The second.")
        history = self.agent.ask("GetTask", {"id": task})["result"]["history"]
        self.assertEqual([one["parts"][0]["text"] for one in history], ["Hello", "The second."])
        last = self.agent.ask("GetTask", {"id": task, "historyLength": 1})["result"]["history"]
        self.assertEqual(last, history[1:])
        self.assertNotIn("history", self.agent.ask(
            "GetTask", {"id": task, "historyLength": 0})["result"])
        sent = self.agent.ask("SendMessage", message("complete-task") | {
            "configuration": {"historyLength": 0}})["result"]["task"]
        self.assertNotIn("history", sent)
        self.refused("GetTask", {"id": task, "historyLength": -1}, -32602)

    def test_lists_are_sorted_filtered_and_paged(self):
        context = self.send("input-required")["contextId"]
        first = self.send("input-required", contextId=context)
        second = self.send("complete-task", contextId=context)
        self.send("artifact-text", taskId=first["id"])  # the one that changed last

        def listed(**params) -> dict:
            return self.agent.ask("ListTasks", params)["result"]
        tasks = listed(contextId=context)["tasks"]
        times = [one["status"]["timestamp"] for one in tasks]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual({one["id"] for one in tasks} >= {first["id"], second["id"]}, True)
        self.assertEqual([one for one in tasks if "artifacts" in one or "history" in one], [])
        whole = listed(contextId=context, includeArtifacts=True, historyLength=1)["tasks"]
        self.assertIn("artifacts", next(one for one in whole if one["id"] == first["id"]))
        self.assertEqual({len(one["history"]) for one in whole}, {1})
        pages, token = [], ""
        while True:
            page = listed(contextId=context, pageSize=2, pageToken=token)
            self.assertEqual((page["pageSize"], page["totalSize"]), (2, 3))
            pages += [one["id"] for one in page["tasks"]]
            token = page["nextPageToken"]
            if not token:
                break
        self.assertEqual(pages, [one["id"] for one in tasks])
        open_ones = listed(contextId=context, status="TASK_STATE_INPUT_REQUIRED")
        self.assertEqual([one["status"]["state"] for one in open_ones["tasks"]],
                         ["TASK_STATE_INPUT_REQUIRED"])
        self.assertEqual(listed(statusTimestampAfter="2999-01-01T00:00:00Z")["tasks"], [])
        self.assertEqual(listed(contextId="tck-test-context"),
                         {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0})
        for wrong in ({"pageSize": 0}, {"pageSize": -1}, {"pageSize": 101}, {"pageToken": "x"},
                      {"historyLength": -1}, {"statusTimestampAfter": "x"}, {"status": "x"}):
            self.refused("ListTasks", wrong, -32602)


class StreamsTest(TckCase):
    def states(self, events: list) -> list:
        return [one["statusUpdate"]["status"]["state"] for one in events if "statusUpdate" in one]

    def test_a_stream_begins_with_the_task_and_ends_with_it(self):
        for name, text in (("001", "Stream hello from TCK"), ("003", "Stream task lifecycle"),
                           ("ordering-001", "Ordered output"),
                           ("artifact-text", "Streamed text content")):
            with self.subTest(name):
                events = list(self.agent.stream("SendStreamingMessage", message(f"stream-{name}")))
                self.assertEqual([next(iter(one)) for one in events],
                                 ["task", "statusUpdate", "artifactUpdate", "statusUpdate"])
                self.assertEqual(self.states(events),
                                 ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"])
                part = events[2]["artifactUpdate"]["artifact"]["parts"][0]
                self.assertEqual(part, {"text": text})

    def test_an_artifact_comes_in_pieces(self):
        events = list(self.agent.stream("SendStreamingMessage", message("stream-artifact-chunked")))
        pieces = [one["artifactUpdate"] for one in events if "artifactUpdate" in one]
        self.assertEqual([(one.get("append"), one.get("lastChunk")) for one in pieces],
                         [(None, None), (True, True)])

    def test_a_direct_message_is_the_whole_stream(self):
        [event] = self.agent.stream("SendStreamingMessage", message("message-response"))
        self.assertEqual(list(event), ["message"])

    def test_a_stream_ends_when_input_is_required(self):
        events = list(self.agent.stream("SendStreamingMessage", message("input-required")))
        self.assertEqual(self.states(events), ["TASK_STATE_INPUT_REQUIRED"])

    def test_a_subscription_lasts_until_the_task_is_over(self):
        task = self.send("input-required")["id"]
        events = self.agent.stream("SubscribeToTask", {"id": task})
        self.assertEqual(next(events)["task"]["id"], task)
        threading.Thread(target=self.send, args=["complete-task"], kwargs={"taskId": task}).start()
        self.assertEqual(self.states(list(events))[-1], "TASK_STATE_COMPLETED")
        self.refused("SubscribeToTask", {"id": task}, -32004, "UNSUPPORTED_OPERATION")

    def test_streams_of_a_task_tell_the_same_while_others_are_left(self):
        task = self.agent.ask("SendMessage", {
            "message": message("x")["message"] | {"messageId": "test-resubscribe-message-id-2"},
            "configuration": {"returnImmediately": True}})["result"]["task"]["id"]
        left, *streams = [self.agent.stream("SubscribeToTask", {"id": task}) for _ in range(3)]
        first = next(left)
        told = [[next(one)] for one in streams]
        left.close()
        self.assertEqual(told, [[first]] * 2)
        self.agent.ask("CancelTask", {"id": task})
        for events, rest in zip(told, streams):
            events += rest
        self.assertEqual(told[0], told[1])
        self.assertEqual(self.states(told[0])[-1], "TASK_STATE_CANCELED")


class ProtocolTest(TckCase):
    def test_the_card_names_what_there_is(self):
        connection = http.client.HTTPConnection(self.agent.address, timeout=SECONDS_MAX)
        self.addCleanup(connection.close)
        connection.request("GET", "/.well-known/agent-card.json")
        answer = connection.getresponse()
        self.assertTrue(answer.getheader("Cache-Control"))
        card = json.load(answer)
        self.assertEqual([one["protocolVersion"] for one in card["supportedInterfaces"]],
                         ["1.0", "0.3"])
        self.assertEqual(card["url"], self.agent.url)

    def test_what_is_not_there_is_refused(self):
        for method in ("CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig",
                       "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"):
            self.refused(method, {"taskId": "t"}, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED")
        config = {"taskId": "t", "pushNotificationConfig": {"url": "https://example.com/webhook"}}
        for verb in ("set", "get", "list", "delete"):
            said = self.refused(f"tasks/pushNotificationConfig/{verb}", config, -32003, version="")
            self.assert_words(said, "push", "notification", "not", "supported")
        self.refused("GetExtendedAgentCard", {}, -32004, "UNSUPPORTED_OPERATION")
        self.refused("agent/getAuthenticatedExtendedCard", {}, -32007, version="")
        self.refused("NonExistentMethod", {}, -32601)

    def test_the_version_is_read_from_the_header_or_the_query(self):
        self.refused("SendMessage", message("complete-task"), -32009, "VERSION_NOT_SUPPORTED",
                     version="9.9")
        self.refused("SendMessage", message("complete-task"), -32009, version="",
                     query="?A2A-Version=9.9")
        for version in ("", "0.3", "1.0", "1.0.3"):
            answer = self.agent.ask("SendMessage", message("complete-task"), version)
            self.assertIn("result", answer, version)

    def test_requests_that_are_none_are_refused(self):
        for body, code in ((b'{"jsonrpc":"2.0","method":"message/send","params":{"a":"b"}', -32700),
                           (b'{"jsonrpc":"aaa","method":"SendMessage","params":{}}', -32600),
                           (b'{"jsonrpc":"2.0","params":{}}', -32600),
                           (b'{"jsonrpc":"2.0","method":"SendMessage","params":{},"id":{"a":1}}',
                            -32600)):
            with self.subTest(body):
                connection, answer = self.agent.post(body)
                self.addCleanup(connection.close)
                self.assertEqual(answer.status, 200)
                self.assertEqual(json.load(answer)["error"]["code"], code)


class OlderVersionTest(TckCase):
    def ask(self, method: str, params: dict) -> dict:
        return self.agent.ask(method, params, version="")

    def test_a_task_stays_open_is_continued_and_cancelled(self):
        task = self.ask("message/send", old_message(1))["result"]
        self.assertEqual((task["kind"], task["status"]["state"]), ("task", "input-required"))
        again = self.ask("message/send", old_message(2, taskId=task["id"]))["result"]
        self.assertEqual(again["id"], task["id"])
        self.assertEqual([one["messageId"] for one in again["history"]], ["text-1", "text-2"])
        got = self.ask("tasks/get", {"id": task["id"], "historyLength": 1})["result"]
        self.assertEqual(len(got["history"]), 1)
        done = self.ask("tasks/cancel", {"id": task["id"]})["result"]
        self.assertEqual(done["status"]["state"], "canceled")
        self.assertEqual(self.ask("tasks/cancel", {"id": task["id"]})["error"]["code"], -32002)
        self.assertEqual(self.ask("tasks/get", {"id": "none"})["error"]["code"], -32001)

    def test_a_stream_says_which_event_is_the_last(self):
        events = list(self.agent.stream("message/stream", old_message(3), version=""))
        self.assertEqual([one["kind"] for one in events], ["task", "status-update"])
        self.assertTrue(events[-1]["final"])
        task = events[0]["id"]
        again = list(self.agent.stream("tasks/resubscribe", {"id": task}, version=""))
        self.assertEqual(again, events)

    def test_a_file_of_a_type_that_is_not_taken_is_refused(self):
        file = {"name": "test.xyz", "mimeType": "application/x-unsupported-format",
                "bytes": "dGVzdA=="}
        said = self.refused("message/send", old_message(5, parts=[{"kind": "file", "file": file}]),
                            -32005, version="")
        self.assert_words(said, "incompatible", "content", "type", "not", "supported")

    def test_every_kind_of_part_is_taken(self):
        for part in ({"kind": "data", "data": {"key": "value"}},
                     {"kind": "file", "file": {"name": "a.txt", "mimeType": "text/plain",
                                               "uri": "https://example.com/a.txt"}},
                     {"kind": "file", "file": {"name": "a.txt", "mimeType": "text/plain",
                                               "bytes": "aGk="}}):
            with self.subTest(part):
                answer = self.ask("message/send", old_message(4, parts=[part]))["result"]
                self.assertEqual(answer["history"][0]["parts"], [part])


if __name__ == "__main__":
    unittest.main()
