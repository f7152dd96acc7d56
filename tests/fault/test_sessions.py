"""Two senders of one session, while the server is killed again and again: every message is answered
once, in an order that both can see."""

import os
import threading

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
