"""Files and data in messages, histories and artifacts of the A2A server, in both versions."""

import base64
import json
import unittest

from support.a2a_case import A2aServerCase
from support.script import turn


class A2aFilesTest(A2aServerCase):
    def test_files_of_tools_are_artifacts(self):
        encoded = base64.b64encode(b"hello").decode()
        text = {"filename": "a.txt", "mimeType": "text/plain", "data": encoded}
        new = [[{"raw": encoded, "filename": "a.txt", "mediaType": "text/plain"}],
               [{"text": "It is said."}]]
        old = [[{"kind": "file", "file": {"bytes": encoded, "name": "a.txt",
                                          "mimeType": "text/plain"}}],
               [{"kind": "text", "text": "It is said."}]]
        server, task, call = self.start_waiting_task()
        streams = [self.follow(server, method, task)
                   for method in ("SubscribeToTask", "tasks/resubscribe")]
        for stream in streams:
            next(stream)  # so that both have begun
        server.client().answer(task, call, result="Here.", files=[text])
        events = [list(stream) for stream in streams]
        self.assertEqual([one["artifactUpdate"]["artifact"]["parts"] for one in events[0]
                          if "artifactUpdate" in one], new)
        self.assertEqual([one["artifact"]["parts"] for one in events[1] if "artifact" in one], old)
        for method, parts in (("GetTask", new), ("tasks/get", old)):
            with self.subTest(method):
                artifacts = self.ask(server, method, {"id": task})["result"]["artifacts"]
                self.assertEqual([one["parts"] for one in artifacts], parts)
                self.assertEqual(artifacts[1]["artifactId"], "answer")
        self.check_data(server)

    def test_a_page_of_large_files_ends_early(self):
        """Four tasks with a file of 4.5 MB each are more than a page may have."""
        server = self.start_server([turn(calls=[("wait", {})]), turn("It is said.")])
        wait = {"kind": "local", "name": "wait", "parameters": {"type": "object"}}
        server.client().request("PUT", "/agents/teller", {"name": "teller", "tools": [wait]})
        large = base64.b64encode(bytes(4_500_000)).decode()
        for n in range(4):
            task, call = self.begin_waiting_task(server, f"m{n}")
            server.client().answer(task, call, result="Here.", files=[
                {"filename": "a.png", "mimeType": "image/png", "data": large}])
            server.client().log(task)
        first = self.ask(server, "ListTasks", {"includeArtifacts": True})["result"]
        rest = self.ask(server, "ListTasks", {
            "includeArtifacts": True, "pageToken": first["nextPageToken"]})["result"]
        self.assertEqual((len(first["tasks"]), len(rest["tasks"])), (3, 1))
        self.assertEqual(rest["nextPageToken"], "")

    def test_files_and_data_reach_the_run(self):
        server, _ = self.start_agent()
        encoded = base64.b64encode(b"hello").decode()
        for version, parts in (
                ("1.0", [{"text": "Look."}, {"data": {"n": 7}},
                         {"raw": encoded, "filename": "a.txt", "mediaType": "text/plain"}]),
                ("0.3", [{"kind": "text", "text": "Look."}, {"kind": "data", "data": {"n": 7}},
                         {"kind": "file", "file": {"bytes": encoded, "name": "a.txt",
                                                   "mimeType": "text/plain"}}])):
            with self.subTest(version):
                is_new = version == "1.0"
                message = {"messageId": f"m{version}", "parts": parts,
                           "role": "ROLE_USER" if is_new else "user"}
                if not is_new:
                    message["kind"] = "message"
                answer = self.ask(server, "SendMessage" if is_new else "message/send",
                                  {"message": message}, version)["result"]
                task = answer["task"] if is_new else answer
                entries = server.client().request(
                    "GET", f"/agent-runs/{task['id']}/journal").json()["entries"]
                told = json.dumps(entries[0])
                self.assertIn('{\\"n\\":7}', told)
                self.assertIn('"a.txt"', told)
        self.check_data(server)

    def test_history_has_the_message_as_the_client_sent_it(self):
        server, _ = self.start_agent()
        message = {"messageId": "mine", "role": "ROLE_USER", "parts": [
            {"text": "Look."}, {"raw": "aGVsbG8=", "filename": "a.txt", "mediaType": "text/plain"},
            {"url": "https://a.example/b.png", "mediaType": "image/png"}]}
        task = self.ask(server, "SendMessage", {"message": message})["result"]["task"]
        ids = {"taskId": task["id"], "contextId": task["contextId"]}
        self.assertEqual(task["history"], [message | ids])
        self.assertNotIn("history", self.ask(
            server, "GetTask", {"id": task["id"], "historyLength": 0})["result"])

    def test_a_file_that_no_model_can_be_given_is_refused(self):
        server, _ = self.start_agent()
        parts = [{"raw": "aGVsbG8=", "filename": "a.zip", "mediaType": "application/zip"}]
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": parts}
        error = self.ask(server, "SendMessage", {"message": message}, "1.0")["error"]
        self.assertEqual((error["code"], error["data"][0]["reason"]),
                         (-32005, "CONTENT_TYPE_NOT_SUPPORTED"))


if __name__ == "__main__":
    unittest.main()
