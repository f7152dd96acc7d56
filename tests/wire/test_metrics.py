"""What /metrics tells: every line as Prometheus reads it, and each family counts what it says."""

import re

from support.http import Client, Connection
from support.peers.room_peer import RoomPeer
from support.script import turn
from support.server import ServerCase

LABEL = r'[a-z_]+="[^"\\\n]*"'
LINE = re.compile(rf'([a-z_:]+)((?:\{{{LABEL}(?:,{LABEL})*\}})?) (\S+)')
TOOL = {"kind": "local", "name": "look"}
GAUGES = (('errand_limit{limit="requestsPerMinute"}', 1000),
          ('errand_limit{limit="runsInFlight"}', 8),
          ('errand_limit{limit="tools"}', 256),
          ('errand_limit{limit="turnFileBytes"}', 20 * 1024 * 1024),
          ('errand_limit{limit="fileBytesTotal"}', 256 * 1024 * 1024),
          ("errand_model_file_bytes", 0), ("errand_runs_queued", 0),
          ("errand_store_commits_waiting", 0), ("errand_runs_in_flight", 0))


def parse(text: str) -> tuple[dict[str, str], dict[str, float]]:
    """The types of the families, and the samples by name and label."""
    types, samples = {}, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} is there twice"
            types[name] = kind
            continue
        found = LINE.fullmatch(line)
        assert found, f"not a sample: {line}"
        family = re.sub("_(bucket|sum|count)$", "", found[1])
        assert found[1] in types or types.get(family) == "histogram", line
        assert found[1] + found[2] not in samples, f"{line} is there twice"
        samples[found[1] + found[2]] = float(found[3])
    return types, samples


class MetricsTest(ServerCase):
    def be_refused(self, server) -> None:
        """Asks with credentials that are not good enough, each for a reason of its own."""
        reader = server.client().request("POST", "/api-keys", {"scopes": ["models:read"]}).json()
        key = reader["apiKey"]
        for credential, workspace, status in (("", "default", 401), ("nobody", "default", 401),
                                              (key, "other", 404), (key, "default", 403)):
            client = Client(server.url, credential, workspace)
            self.assertEqual(client.request("GET", "/agent-runs").status, status)
        # A body that has not come yet is refused by its request's head.
        with Connection(client.address) as connection:
            connection.send(b"POST /api/v1/workspaces/default/agent-runs HTTP/1.1\r\n"
                            b"Host: errand\r\nContent-Length: 5\r\n\r\n")
            self.assertEqual(connection.receive_response().status, 401)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = client.request_at("POST", "/api/oauth/token", b"grant_type=client_credentials",
                                   form)
        self.assertEqual(answer.status, 401)

    def test_sessions_rooms_and_mcp_sessions_are_counted(self):
        server = self.start_server([turn(calls=[("look", {})])])
        client = server.client()
        session = client.request("POST", "/agent-sessions", {"tools": [TOOL]}).json()["sessionId"]
        for prompt in ("One?", "Two?", "Three?"):
            client.request("POST", f"/agent-sessions/{session}/messages", {"prompt": prompt})
        mcp = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
               "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                          "clientInfo": {"name": "test", "version": "1"}}}
        began = client.request("POST", "/mcp", mcp,
                               {"Accept": "application/json, text/event-stream"})
        self.assertEqual(began.status, 200)
        client.request("POST", "/rooms", {"name": "den"})
        for name in ("ann", "bob"):
            token = client.request("POST", "/rooms/den/tokens", {"name": name}).json()["token"]
            peer = RoomPeer(server.url, "den", token).ready()
            self.addCleanup(peer.close)
        samples = self.samples(server)
        self.assertEqual(
            {name: samples[f"errand_{name}"] for name in (
                "sessions_created_total", "session_messages_total", "session_messages_waiting",
                "mcp_sessions", "rooms", "room_participants")},
            {"sessions_created_total": 1, "session_messages_total": 3,
             "session_messages_waiting": 2, "mcp_sessions": 1, "rooms": 1,
             "room_participants": 2})

    def samples(self, server) -> dict[str, float]:
        types, samples = parse(server.client().request_at("GET", "/metrics").body.decode())
        for name, kind in types.items():
            if kind != "histogram":
                continue
            counts = [samples[key] for key in samples if key.startswith(name + "_bucket")]
            self.assertEqual(counts, sorted(counts), name)
            self.assertEqual(counts[-1], samples[name + "_count"], name)
        return samples

    def test_families_count_what_they_say(self):
        turns = [turn(calls=[("look", {})]), turn("Done.", usage={"inputTokens": 7}),
                 {"error": {"status": 400, "code": "no", "message": "no"}}]
        config = {"limits": {"requestsPerMinute": 1000, "runsInFlight": 8}}
        server = self.start_server(turns, config)
        client = server.client()
        before = self.samples(server)
        run = client.create(prompt="Look.", tools=[TOOL])
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()
            client.answer(run, call["toolUseId"], error="It broke.")
            stream.until("result")
        said = [{"role": role, "content": "Go on."}
                for role in ("user", "assistant", "user", "assistant", "user")]
        client.log(client.create(messages=said))  # the third turn of the script
        client.request("POST", "/agent-runs", {"prompt": "Hi", "name": "x" * 1000})
        self.be_refused(server)
        after = self.samples(server)
        grown = {name: after[name] - before.get(name, 0) for name in after}

        for name, growth in (
                ("errand_runs_created_total", 2),
                ('errand_runs_ended_total{status="succeeded"}', 1),
                ('errand_runs_ended_total{status="failed"}', 1),
                ('errand_runs_ended_total{status="cancelled"}', 0),
                ('errand_tool_calls_total{kind="local"}', 1),
                ('errand_tool_failures_total{kind="local"}', 1),
                ("errand_model_calls_total", 3),
                ("errand_model_failures_total", 1),
                ('errand_model_requests_total{model="scripted"}', 3),
                ('errand_model_errors_total{model="scripted"}', 1),
                ('errand_model_tokens_total{model="scripted",kind="input"}', 7),
                ('errand_runs_failed_total{reason="invalid_request"}', 1),
                ("errand_runs_removed_total", 0),
                ("errand_model_retries_total", 0),
                ("errand_model_duration_seconds_count", 3),
                ('errand_limit_rejections_total{limit="nameChars"}', 1),
                ('errand_http_refused_total{reason="missing_credential"}', 2),
                ('errand_http_refused_total{reason="invalid_credential"}', 1),
                ('errand_http_refused_total{reason="wrong_workspace"}', 1),
                ('errand_http_refused_total{reason="insufficient_scope"}', 1),
                ('errand_http_refused_total{reason="invalid_client"}', 1),
                ("errand_sessions_created_total", 0),
                ('errand_tokens_total{kind="input"}', 7),
                ("errand_build_info{version=", 0)):
            key = next((one for one in grown if one.startswith(name)), None)
            self.assertIsNotNone(key, name)
            self.assertEqual(grown[key], growth, name)
        for name in ("errand_http_requests_total", "errand_http_request_duration_seconds_count",
                     "errand_store_commit_duration_seconds_count", "process_cpu_seconds_total",
                     "errand_log_appends_total", "errand_durable_waits_total",
                     "errand_store_commits_total", "errand_store_writes_total",
                     "errand_store_pages_total",
                     'errand_http_responses_total{status="201"}'):
            self.assertGreater(grown[name], 0, name)
        for name, value in GAUGES:
            self.assertEqual(after[name], value, name)
        for name in ("errand_disk_free_bytes", "errand_database_bytes",
                     "errand_database_log_bytes",
                     'errand_limit{limit="conversationBytes"}',
                     "process_open_fds", "process_start_time_seconds",
                     "process_resident_memory_bytes", 'errand_limit{limit="bodyBytes"}',
                     'errand_limit{limit="connections"}',
                     'errand_limit{limit="modelConnections"}',
                     'errand_limit{limit="offeredTools"}', 'errand_limit{limit="resultBytes"}',
                     'errand_limit{limit="runsInFlightTotal"}'):
            self.assertGreater(after[name], 0, name)
        self.assertGreaterEqual(after["errand_loop_lag_seconds"], 0)
        self.assertGreaterEqual(after["errand_store_waiting_bytes"], 0)
        self.assertEqual(grown["process_start_time_seconds"], 0)
