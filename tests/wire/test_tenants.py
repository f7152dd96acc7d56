"""Keys that are revoked or expire while they are in use, and runs that wait for a slot."""

import threading
import unittest
import urllib.parse

from support.http import Client
from support.script import turn
from support.server import ServerCase

TOOL = {"kind": "local", "name": "look"}
CALL_FIRST = [turn(calls=[("look", {})]), turn("Done.")]
LONG_POLL_SECONDS = 30


class KeyTest(ServerCase):
    def new_key(self, owner: Client, **members) -> tuple[str, Client]:
        made = owner.request("POST", "/api-keys", {"name": "guest"} | members).json()
        return made["id"], Client(owner.url, made["apiKey"], owner.workspace)

    def test_a_revoked_key_loses_its_open_stream(self):
        owner = self.start_server(CALL_FIRST).client()
        key, guest = self.new_key(owner)
        run = owner.create(prompt="Look.", tools=[TOOL])
        with guest.stream(run) as stream, owner.stream(run) as others:
            stream.until("assistant_message")
            others.until("assistant_message")
            self.assertEqual(owner.request("DELETE", f"/api-keys/{key}").status, 204)
            with self.assertRaises(ConnectionError):
                stream.next()
            self.assertEqual(guest.request("GET", f"/agent-runs/{run}/stream").status, 401)
            # The streams of other keys go on.
            owner.cancel(run)
            others.until("cancelled")

    def test_a_revoked_key_loses_its_long_poll(self):
        owner = self.start_server(CALL_FIRST).client()
        key, guest = self.new_key(owner)
        patient_key, patient = self.new_key(owner)
        answers = []
        path = f"/tool-calls?wait={LONG_POLL_SECONDS}"
        patient_poll, poll = (
            threading.Thread(target=lambda who=who: answers.append(who.request("GET", path)))
            for who in (patient, guest))
        patient_poll.start()
        self.wait_for_use(owner, patient_key)
        poll.start()
        self.wait_for_use(owner, key)
        owner.request("DELETE", f"/api-keys/{key}")
        poll.join()
        self.assertEqual([answer.status for answer in answers], [401])
        # Whoever began to wait earlier still waits: the revocation has ended the other poll.
        self.assertTrue(patient_poll.is_alive())
        owner.request("DELETE", f"/api-keys/{patient_key}")
        patient_poll.join()

    def wait_for_use(self, owner: Client, key: str) -> None:
        """Until the list says that the key was used: its request is being answered."""
        while not any(one["id"] == key and one["lastUsedAt"]
                      for one in owner.request("GET", "/api-keys").json()["apiKeys"]):
            pass

    def test_a_key_expires_also_for_what_it_has_opened(self):
        owner = self.start_server(CALL_FIRST).client()
        run = owner.create(prompt="Look.", tools=[TOOL])
        _, guest = self.new_key(owner, ttlMs=1500)
        with guest.stream(run) as stream:
            stream.until("assistant_message")
            with self.assertRaises(ConnectionError):
                stream.next()
        self.assertEqual(guest.request("GET", "/agent-runs").status, 401)

    def test_a_revoked_token_loses_its_streams_and_no_others_of_its_client(self):
        owner = self.start_server(CALL_FIRST).client()
        made = owner.request("POST", "/oauth-clients",
                             {"name": "portal", "scopes": ["runs:read"]}).json()
        who = {"client_id": made["clientId"], "client_secret": made["clientSecret"]}

        def ask(path: str, **form) -> dict:
            answer = owner.request_at("POST", path, urllib.parse.urlencode(who | form).encode(),
                                      {"Content-Type": "application/x-www-form-urlencoded"})
            self.assertEqual(answer.status, 200, answer.body)
            return answer.json()

        gone, kept = (ask("/api/oauth/token", grant_type="client_credentials")["access_token"]
                      for _ in range(2))
        run = owner.create(prompt="Look.", tools=[TOOL])
        with (Client(owner.url, gone).stream(run) as lost,
              Client(owner.url, kept).stream(run) as stream):
            lost.until("assistant_message")
            stream.until("assistant_message")
            ask("/api/oauth/revoke", token="mantyx_at_" + 64 * "0")
            ask("/api/oauth/revoke", token=gone)
            with self.assertRaises(ConnectionError):
                lost.next()
            owner.cancel(run)
            stream.until("cancelled")

    def test_a_room_token_ends_with_the_access_token_that_made_it(self):
        owner = self.start_server(CALL_FIRST).client()
        owner.request("POST", "/rooms", {"name": "den"})
        made = owner.request("POST", "/oauth-clients",
                             {"name": "portal", "scopes": ["rooms:write"]}).json()
        form = {"grant_type": "client_credentials", "client_id": made["clientId"],
                "client_secret": made["clientSecret"]}
        token = owner.request_at("POST", "/api/oauth/token", urllib.parse.urlencode(form).encode(),
                                 {"Content-Type": "application/x-www-form-urlencoded"}).json()
        guest = Client(owner.url, token["access_token"])
        answers = [who.request("POST", "/rooms/den/tokens", {"name": "ann"}).json()
                   for who in (guest, owner)]
        self.assertIsNotNone(answers[0]["expiresAt"])
        self.assertIsNone(answers[1]["expiresAt"])

    def test_scopes_and_the_last_use_outlive_a_restart(self):
        server = self.start_server(CALL_FIRST)
        key, guest = self.new_key(server.client(), scopes=["models:read"])
        self.assertEqual(guest.request("GET", "/models").status, 200)
        server.stop()
        server.restart()
        guest.url = server.url
        self.assertEqual(guest.request("GET", "/models").status, 200)
        self.assertEqual(guest.request("GET", "/agent-runs").status, 403)
        listed = server.client().request("GET", "/api-keys").json()["apiKeys"]
        self.assertTrue([one["lastUsedAt"] for one in listed if one["id"] == key][0])


class QueueTest(ServerCase):
    WAITING_MAX = 100

    def test_a_session_takes_a_hundred_messages_that_wait(self):
        client = self.start_server(CALL_FIRST).client()
        session = client.request("POST", "/agent-sessions", {"tools": [TOOL]}).json()["sessionId"]
        path = f"/agent-sessions/{session}/messages"
        answers = [client.request("POST", path, {"prompt": f"{n}"})
                   for n in range(self.WAITING_MAX + 2)]
        # The first has the turn, and waits for its client.
        self.assertEqual([one.status for one in answers], [201] * (self.WAITING_MAX + 1) + [429])
        refused = answers[-1].json()
        self.assertEqual((refused["code"], refused["limit"], refused["max"]),
                         ("session_queue_full", "queuedMessages", self.WAITING_MAX))
        metrics = client.request_at("GET", "/metrics").body.decode()
        self.assertIn('errand_limit_rejections_total{limit="queuedMessages"} 1', metrics)
        # An interrupting message waits, too; it finds no place either.
        urgent = client.request("POST", path, {"prompt": "!", "whenBusy": "interrupt"})
        self.assertEqual(urgent.status, 429)


class SlotTest(ServerCase):
    """One run of a workspace at a time. A run that is in flight waits for a slow model."""

    def setUp(self):
        self.server = self.start_server(
            {"slow": [turn("Slow.", delayMs=60000)], "fast": [turn("Fast.")],
             "calls": CALL_FIRST},
            {"limits": {"runsInFlight": 1},
             "workspaces": [{"slug": "other", "apiKeys": ["mantyx_" + "b" * 64]}]})
        self.client = self.server.client()

    def status(self, run: str) -> str:
        return self.client.snapshot(run)["status"]

    def finish(self, run: str, client: Client | None = None) -> str:
        with (client or self.client).stream(run) as stream:
            return list(stream)[-1].event

    def test_a_run_waits_for_its_slot_and_then_starts(self):
        first = self.client.create(prompt="a", modelId="slow")
        second = self.client.create(prompt="b", modelId="fast")
        self.assertEqual((self.status(first), self.status(second)), ("running", "queued"))
        other = Client(self.server.url, "mantyx_" + "b" * 64, "other")
        self.assertEqual(self.finish(other.create(prompt="c", modelId="fast"), other), "result")
        self.client.cancel(first)
        self.assertEqual(self.finish(second), "result")
        self.assertEqual(self.status(second), "succeeded")
        self.check_data(self.server)

    def test_a_run_that_waits_for_its_client_needs_no_slot(self):
        waiting = self.client.create(prompt="a", modelId="calls", tools=[TOOL])
        with self.client.stream(waiting) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
            stream.until("assistant_message")
            self.assertEqual(self.finish(self.client.create(prompt="b", modelId="fast")), "result")
            self.client.answer(waiting, call, result="seen")
            self.assertEqual(list(stream)[-1].event, "result")

    def test_a_queued_run_can_be_cancelled(self):
        first = self.client.create(prompt="a", modelId="slow")
        second = self.client.create(prompt="b", modelId="fast")
        self.assertEqual(self.client.cancel(second).status, 200)
        self.assertEqual(self.finish(second), "cancelled")
        self.assertEqual(self.status(first), "running")

    def test_queued_runs_outlive_a_kill(self):
        first = self.client.create(prompt="a", modelId="slow")
        queued = [self.client.create(prompt="b", modelId="fast") for _ in range(3)]
        self.server.kill()
        self.server.restart()
        self.client = self.server.client()
        self.client.cancel(first)
        self.assertEqual([self.finish(run) for run in queued], ["result"] * 3)
        self.check_data(self.server)

    def test_messages_of_sessions_wait_for_slots_too(self):
        session = self.client.request("POST", "/agent-sessions", {"modelId": "fast"}).json()
        first = self.client.create(prompt="a", modelId="slow")
        answer = self.client.request("POST", f"/agent-sessions/{session['sessionId']}/messages",
                                     {"prompt": "Hi"})
        run = answer.json()["runId"]
        snapshot = self.client.snapshot(run)
        self.assertEqual((snapshot["lastSeq"], snapshot["status"]), (0, "queued"))
        self.client.cancel(first)
        self.assertEqual(self.finish(run), "result")


class MetricsTest(ServerCase):
    def test_metrics_are_for_this_machine_and_for_operators(self):
        server = self.start_server([turn("Hello.")])
        self.assertEqual(Client(server.url, "").request_at("GET", "/metrics").status, 200)
        run = server.client().create(prompt="Hi")
        with server.client().stream(run) as stream:
            list(stream)
        text = server.client().request_at("GET", "/metrics").body.decode()
        lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
        self.assertEqual(lines["errand_model_calls_total"], "1")
        self.assertEqual(lines["errand_runs_in_flight"], "0")
        self.assertEqual(lines['errand_http_responses_total{status="201"}'], "1")

    def test_behind_a_proxy_metrics_need_a_key(self):
        server = self.start_server([turn("Hello.")], arguments=("--behind-proxy",))
        owner = server.client()
        self.assertEqual(Client(server.url, "").request_at("GET", "/metrics").status, 401)
        self.assertEqual(owner.request_at("GET", "/metrics").status, 200)
        made = owner.request("POST", "/workspaces", {"slug": "acme"}).json()
        stranger = Client(server.url, made["apiKey"]["apiKey"], "acme")
        self.assertEqual(stranger.request_at("GET", "/metrics").status, 403)


if __name__ == "__main__":
    unittest.main()
