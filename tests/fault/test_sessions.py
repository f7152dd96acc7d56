"""Sessions while the server is killed again and again: every message is answered once, in an
order that all senders can see; interrupts and ends lose nothing, and effects happen once or not at
all."""

import os
import threading

from support.peers.counting_peer import CountingPeer
from support.http import Response
from support.script import turn
from support.server import ServerCase

MESSAGES = 6
KILLS = 3 * int(os.environ.get("ERRAND_TORTURE", "1"))
ATTEMPTS_MAX = 200


class TwoSendersTest(ServerCase):
    def sender(self, server, session: str, name: str, failures: list[str]) -> None:
        """Sends each message until the server has taken it; the key makes it count once."""
        for number in range(MESSAGES):
            body = {"prompt": f"{name}{number}"}
            for _ in range(ATTEMPTS_MAX):
                try:
                    answer = server.client().request(
                        "POST", f"/agent-sessions/{session}/messages", body,
                        headers={"Idempotency-Key": f"{name}{number}"})
                except OSError:
                    self.pause.wait(0.05)  # paced: the server is being restarted
                    continue
                if answer.status == 201:
                    break
                self.pause.wait(0.05)  # paced: the server is starting
            else:
                failures.append(f"{name}{number} was never taken")

    def test_every_message_is_answered_once(self):
        self.pause = threading.Event()
        script = [turn(f"answer {n} ", "and more", deltaDelayMs=20) for n in range(2 * MESSAGES)]
        server = self.start_server(script)
        session = server.client().request("POST", "/agent-sessions", {}).json()["sessionId"]
        failures: list[str] = []
        senders = [threading.Thread(target=self.sender, args=(server, session, name, failures))
                   for name in "ab"]
        for one in senders:
            one.start()
        for _ in range(KILLS):
            self.pause.wait(0.3)  # paced: a kill comes at any moment
            server.kill()
            server.restart()
        for one in senders:
            one.join()
        self.assertEqual(failures, [])
        client = server.client()
        runs = client.request("GET", f"/agent-runs?sessionId={session}&limit=200").json()["runs"]
        for run in runs:
            with client.stream(run["runId"]) as events:
                events.until("result")
        messages = client.request("GET", f"/agent-sessions/{session}").json()["messages"]
        said = [one["content"] for one in messages if one["role"] == "user"]
        self.assertEqual(len(said), 2 * MESSAGES)
        for name in "ab":
            self.assertEqual([one for one in said if one[0] == name],
                             [f"{name}{n}" for n in range(MESSAGES)])
        self.assertEqual([one["content"] for one in messages if one["role"] == "assistant"],
                         [f"answer {n} and more" for n in range(2 * MESSAGES)])
        self.check_data(server)
        print(f"sessions: {KILLS} kills, {2 * MESSAGES} messages")


class InterruptsAndEndsTest(ServerCase):
    """One sender queues, one interrupts, and one ends sessions of its own. The agent of all
    sessions calls a tool with effects."""

    SESSIONS = 3  # that are ended

    def setUp(self):
        self.pause = threading.Event()
        self.peer = CountingPeer()
        self.addCleanup(self.peer.close)
        # The model counts the answers that it was told of, so that about every other run calls.
        script = [turn("Let me see.", calls=[("order", {})]) if n % 2 == 0 else
                  turn("It is ", "done.", deltaDelayMs=20) for n in range(4 * MESSAGES)]
        self.server = self.start_server(script, {"network": {"allow": ["127.0.0.0/8"]}})
        client = self.server.client()
        for path, body in (
                ("/tools/order", {"http": {"method": "POST", "url": self.peer.url, "body": {}}}),
                ("/agents/clerk", {"tools": [{"kind": "mantyx", "id": "order"}]})):
            self.assertEqual(client.request("PUT", path, body).status, 201)
        self.failures: list[str] = []
        self.ended: list[str] = []

    def insist(self, method: str, path: str, body: dict | None, key: str) -> Response:
        """Sends a request until the server has taken it; the key makes it count once."""
        headers = {"Idempotency-Key": key} if method == "POST" else {}
        for _ in range(ATTEMPTS_MAX):
            try:
                answer = self.server.client().request(method, path, body, headers=headers)
                if answer.status < 500:
                    return answer
            except OSError:
                pass
            self.pause.wait(0.05)  # paced: the server is being restarted
        raise AssertionError(f"{key} was never taken")

    def begin(self, name: str) -> str:
        made = self.insist("POST", "/agent-sessions", {"agentId": "clerk"}, f"session {name}")
        self.assertEqual(made.status, 201, made.body)
        return made.json()["sessionId"]

    def guarded(self, work) -> None:
        try:
            work()
        except BaseException as error:
            self.failures.append(repr(error))

    def send(self, session: str, name: str, when_busy: str) -> None:
        for number in range(MESSAGES):
            text = f"{name}{number}"
            sent = self.insist("POST", f"/agent-sessions/{session}/messages",
                               {"prompt": text, "whenBusy": when_busy}, text)
            self.assertEqual(sent.status, 201, sent.body)

    def end(self) -> None:
        for number in range(self.SESSIONS):
            session = self.begin(f"c{number}")
            for said in range(2):
                sent = self.insist("POST", f"/agent-sessions/{session}/messages",
                                   {"prompt": "Go."}, f"c{number}.{said}")
                self.assertEqual(sent.status, 201, sent.body)
            done = self.insist("DELETE", f"/agent-sessions/{session}", None, f"end {number}")
            self.assertEqual(done.status, 200, done.body)
            self.ended.append(session)

    def runs_of(self, session: str) -> list[str]:
        listed = self.server.client().request(
            "GET", f"/agent-runs?sessionId={session}&limit=200").json()["runs"]
        return [run["runId"] for run in listed]

    def check_effects(self, events: list) -> None:
        for one in (frame.json() for frame in events if frame.event == "tool_result"):
            if one["ok"]:
                self.assertEqual(self.peer.counts["POST"].get(one["toolUseId"]), 1)

    def test_nothing_is_lost_nor_doubled_nor_stuck(self):
        session = self.begin("shared")
        work = (lambda: self.send(session, "a", "queue"),
                lambda: self.send(session, "b", "interrupt"), self.end)
        workers = [threading.Thread(target=self.guarded, args=(one,)) for one in work]
        for one in workers:
            one.start()
        for _ in range(KILLS):
            self.pause.wait(0.3)  # paced: a kill comes at any moment
            self.server.kill()
            self.server.restart()
        for one in workers:
            one.join()
        self.assertEqual(self.failures, [])
        client = self.server.client()
        said = {}
        for run in self.runs_of(session):
            events = client.log(run)
            self.check_effects(events)
            snapshot = client.snapshot(run)
            self.assertIn(snapshot["status"], ("succeeded", "cancelled"))
            said[snapshot["spec"]["prompt"]] = snapshot["status"]
        self.assertEqual(set(said), {f"{name}{n}" for name in "ab" for n in range(MESSAGES)})
        # The last message of the one who interrupts is interrupted by nobody.
        self.assertEqual(said[f"b{MESSAGES - 1}"], "succeeded")
        shown = client.request("GET", f"/agent-sessions/{session}").json()
        self.assertEqual((shown["currentRunId"], shown["queuedRuns"]), (None, 0))
        history = [one["content"] for one in shown["messages"] if one["role"] == "user"]
        self.assertEqual(sorted(history),
                         sorted(text for text, status in said.items() if status == "succeeded"))
        queued = [one for one in history if one[0] == "a"]
        self.assertEqual(queued, sorted(queued))
        self.assertEqual(len(self.ended), self.SESSIONS)
        for ended in self.ended:
            runs = self.runs_of(ended)
            self.assertEqual(len(runs), 2)
            for run in runs:
                self.check_effects(client.log(run))
                self.assertIn(client.snapshot(run)["status"], ("succeeded", "cancelled"))
            shown = client.request("GET", f"/agent-sessions/{ended}").json()
            self.assertEqual((shown["status"], shown["currentRunId"], shown["queuedRuns"]),
                             ("ended", None, 0))
            late = client.request("POST", f"/agent-sessions/{ended}/messages", {"prompt": "Late."})
            self.assertEqual((late.status, late.json()["code"]), (409, "session_ended"))
        self.assertEqual({key: count for key, count in self.peer.counts["POST"].items()
                          if count != 1}, {})
        self.check_data(self.server)
        print(f"interrupted sessions: {KILLS} kills, {len(said)} messages, {len(self.ended)} ends")
