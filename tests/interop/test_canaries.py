"""A canary in every place where a secret can be is found nowhere but in the requests to the host
that it is for: not in events, logs, errors, lists, exports, backups, metrics or traces, and not on
the disk.

Every peer is a gossip: it sends back all that it was sent, in answers and in errors."""

import base64
import subprocess
import sys
import unittest
import urllib.parse
from http.server import ThreadingHTTPServer
from pathlib import Path

from support.peers import gossip
from support.script import turn
from support.server import ServerCase, binary, die_with_parent

SECONDS_MAX = 60


def canary(name: str) -> str:
    return f"canary-{name}-5b1d09"


# Where each secret belongs: the peer that gets it. The names are those of the places.
PLACES = {
    "tool": ["path", "header", "query", "body", "tool-inline"],
    "vendor": ["vendor-key", "vendor-header"],
    "anthropic": ["anthropic-key"],
    "google": ["google-key"],
    "search": ["search-key"],
    "mcp": ["mcp-named", "mcp-inline", "mcp-agent"],
    "mcp_config": ["config-header"],
    "a2a": ["a2a-named", "a2a-inline"],
    "room": ["room-named", "room-inline", "room-agent"],
    "proxy": ["proxy-password"],
    "program": ["program-variable"],
}
NAMED = ("path", "header", "query", "body", "mcp-named", "a2a-named", "room-named")


def named(name: str) -> str:
    """How a template names the secret."""
    return f"{{{{secret:{name}}}}}"


class CanariesTest(ServerCase):
    def start_gossip(self) -> ThreadingHTTPServer:
        peer = gossip.start_gossip()
        self.addCleanup(peer.server_close)
        self.addCleanup(peer.shutdown)
        return peer

    def setUp(self):
        self.peers = {name: self.start_gossip() for name in PLACES if name != "program"}
        self.traces = self.start_gossip()
        proxy = self.peers["proxy"].url.removeprefix("http://")
        calls = [("tell", {"x": 1}), ("web_search", {"query": "bread"}), ("gossip_tell", {}),
                 ("program_tell", {}), ("known_tell", {}), ("hr", {"message": "Days?"})]
        scripts = {"scripted": [turn(calls=calls), turn("Done.")], "quiet": [turn("Done.")]}
        self.server = self.start_server(scripts, {
            "models": [
                *({"id": name, "provider": "scripted", "script": f"{name}.json"}
                  for name in scripts),
                {"id": "vendor", "provider": "openai-compatible", "vendorModelId": "m",
                 "baseUrl": f"{self.peers['vendor'].url}/v1", "apiKey": canary("vendor-key"),
                 "headers": {"x-team": canary("vendor-header")}},
                *({"id": name, "provider": name, "vendorModelId": "m",
                   "baseUrl": self.peers[name].url, "apiKey": canary(f"{name}-key")}
                  for name in ("anthropic", "google")),
                {"id": "far", "provider": "openai-compatible", "vendorModelId": "m", "retries": 0,
                 "baseUrl": "http://vendor.invalid/v1", "apiKey": "unused"}],
            "mcpServers": {
                "known": {"url": f"{self.peers['mcp_config'].url}/mcp",
                          "headers": {"Authorization": f"Bearer {canary('config-header')}"}},
                "program": {"command": sys.executable, "args": [gossip.__file__],
                            "env": {"THE_CANARY": canary("program-variable")}}},
            "search": {"provider": "exa", "apiKey": canary("search-key"),
                       "baseUrl": self.peers["search"].url},
            "telemetry": {"otlp": self.traces.url},
            "network": {"allow": ["127.0.0.0/8"]}},
            variables={"http_proxy": f"http://user:{canary('proxy-password')}@{proxy}"})
        self.client = self.server.client()

    def put(self, path: str, body: dict) -> None:
        made = self.client.request("PUT", path, body)
        self.assertEqual(made.status, 201, made.body)

    def store(self) -> None:
        """Secrets, the tool and the agent that use them, and a room."""
        for name in NAMED:
            self.put(f"/secrets/{name}", {"value": canary(name)})
        self.put("/tools/tell", {"http": {
            "method": "POST", "url": f"{self.peers['tool'].url}/tool/{named('path')}",
            "headers": {"Authorization": f"Bearer {named('header')}",
                        "X-Inline": canary("tool-inline")},
            "query": {"k": named("query")}, "body": {"k": named("body")}}})
        self.put("/agents/clerk", {"tools": [
            {"kind": "mcp", "name": "gossip", "url": f"{self.peers['mcp'].url}/mcp",
             "headers": {"Authorization": f"Bearer {named('mcp-named')}",
                         "X-Agent": canary("mcp-agent"), "X-Inline": canary("mcp-inline")}}]})
        self.put("/agents/guest", {"room": self.room(canary("room-agent"))})
        made = self.client.request("POST", "/rooms", {"name": "office"})
        self.assertEqual(made.status, 201, made.body)

    def room(self, token: str) -> dict:
        """The room of the peer, which lets nobody in."""
        url = self.peers["room"].url.replace("http", "ws", 1)
        return {"url": f"{url}/rooms/parlour", "token": token}

    def start_room_runs(self) -> list[str]:
        """A run with its token written out, one that names it, and one that has its agent's. They
        go on without the room, and the one that cannot fails."""
        needs = {"requiredToolkits": [{"toolkit": "crm", "timeoutMs": 0}]}
        return [self.client.create(prompt="Go.", modelId="quiet", **members) for members in (
            {"room": self.room(canary("room-inline"))},
            {"room": self.room(named("room-named"))} | needs,
            {"agentId": "guest"})]

    def make_credentials(self) -> list[str]:
        """Secrets that the server gives out once, and keeps as hashes or sealed."""
        key = self.client.request("POST", "/api-keys", {"name": "guest"}).json()
        oauth = self.client.request("POST", "/oauth-clients",
                                    {"name": "portal", "scopes": ["runs:read"]}).json()
        form = urllib.parse.urlencode({
            "grant_type": "client_credentials", "client_id": oauth["clientId"],
            "client_secret": oauth["clientSecret"]})
        tokens = self.client.request_at(
            "POST", "/api/oauth/token", form.encode(),
            {"Content-Type": "application/x-www-form-urlencoded"}).json()
        room_key = self.client.request("POST", "/room-keys", {"name": "signer"}).json()
        token = self.client.request("POST", "/rooms/office/tokens", {"name": "guest"}).json()
        made = [key["apiKey"], oauth["clientSecret"], oauth["refreshToken"],
                tokens["access_token"], room_key["apiKey"], token["token"]]
        self.assertTrue(all(made))
        return made

    def answers(self, runs: list[str], session: str) -> list[str]:
        """What whoever has a key can read."""
        paths = ["/agent-runs", "/tools", "/tools/tell", "/tools/tell/versions", "/offered-tools",
                 "/secrets", "/secrets/path", "/api-keys", "/oauth-clients", "/models",
                 "/models?check=true", "/agents", "/agents/clerk", "/agents/clerk/versions",
                 "/agents/guest", "/agents/guest/versions",
                 "/rooms", "/rooms/office", "/room-keys", "/agent-sessions",
                 f"/agent-sessions/{session}", f"/agent-sessions/{session}/events"]
        for run in runs:
            paths += [f"/agent-runs/{run}", f"/agent-runs/{run}/events",
                      f"/agent-runs/{run}/journal"]
        told = [self.client.request("GET", path).body.decode() for path in paths]
        tried = self.client.request("POST", "/tools/tell/test", {"arguments": {}})
        self.assertEqual(tried.status, 200, tried.body)
        metrics = self.client.request_at("GET", "/metrics")
        return [*told, tried.body.decode(), metrics.body.decode()]

    def exports(self, runs: list[str]) -> list[str]:
        """What commands write."""
        folder = Path(self.server.folder.name)
        told = []
        for words in (*(("runs", "export", run) for run in runs), ("runs", "show", runs[0]),
                      ("backup", str(folder / "copy.db")), ("doctor",)):
            done = subprocess.run(
                [binary(), *words, *(() if words == ("doctor",) else ("--data", self.server.data))],
                cwd=folder, capture_output=True, timeout=SECONDS_MAX, check=False,
                preexec_fn=die_with_parent)
            if words != ("doctor",):
                self.assertEqual(done.returncode, 0, done.stderr)
            told += [done.stdout.decode("latin-1"), done.stderr.decode("latin-1")]
        return [*told, (folder / "copy.db").read_bytes().decode("latin-1")]

    def check_places(self) -> None:
        """Each canary has come where it belongs, and nowhere else."""
        for place, names in PLACES.items():
            for name in names:
                secret = canary(name)
                if place == "proxy":
                    secret = base64.b64encode(f"user:{secret}".encode()).decode()
                for other, peer in self.peers.items():
                    check = self.assertIn if other == place else self.assertNotIn
                    check(secret, "".join(peer.heard), f"{name} at {other}")

    def test_no_canary_leaves_its_place(self):
        self.store()
        credentials = self.make_credentials()
        tools = [{"kind": "mantyx", "id": "tell"}, {"kind": "mantyx_plugin", "name": "web_search"},
                 {"kind": "mcp", "name": "known", "url": "config:known"},
                 {"kind": "mcp", "name": "program", "url": "config:program"},
                 {"kind": "a2a", "name": "hr", "agentCardUrl": f"{self.peers['a2a'].url}/agent",
                  "headers": {"Authorization": f"Bearer {named('a2a-named')}",
                              "X-Inline": canary("a2a-inline")}}]
        made = self.client.request("POST", "/agent-sessions", {"agentId": "clerk", "tools": tools})
        self.assertEqual(made.status, 201, made.body)
        session = made.json()["sessionId"]
        sent = self.client.request("POST", f"/agent-sessions/{session}/messages",
                                   {"prompt": "Go.", "metadata": {"n": "1"}})
        self.assertEqual(sent.status, 201, sent.body)
        runs = [sent.json()["runId"]]
        frames = self.client.log(runs[0])
        results = [frame.json() for frame in frames if frame.event == "tool_result"]
        self.assertEqual(len(results), 6, results)
        shown = [frame.data.decode() for frame in frames]
        runs += [self.client.create(prompt="Go.", modelId=model)
                 for model in ("vendor", "anthropic", "google", "far")]
        runs += self.start_room_runs()
        for run in runs[1:]:
            shown += [frame.data.decode() for frame in self.client.log(run)]
        self.check_places()
        self.assertIn("[redacted]", "".join(shown))

        shown += self.answers(runs, session)
        self.server.stop()
        shown += self.exports(runs)
        shown += self.traces.heard
        self.assertTrue(self.traces.heard)
        key_file = self.server.data / "secret.key"
        credentials.append(key_file.read_text().strip())
        # The configuration is the operator's own file, and the key stands nowhere else.
        shown += [path.read_bytes().decode("latin-1")
                  for path in [*self.server.data.rglob("*"), self.server.errors_path]
                  if path.is_file() and path != key_file]
        everywhere = [canary(name) for names in PLACES.values() for name in names]
        for secret in (*everywhere, *credentials):
            for text in shown:
                found = text.find(secret)
                self.assertEqual(found, -1, text[max(0, found - 200):found + 200])


if __name__ == "__main__":
    unittest.main()
