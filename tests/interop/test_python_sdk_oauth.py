"""OAuth with the official Python SDK: tokens that it gets, renews and gives back by itself."""

import json
import subprocess
import unittest

from support.python_sdk import SdkCase
from support.script import turn

CALL = turn(calls=[("read_file", {"path": "x"})])
SCOPES = ["runs:read", "runs:write", "sessions:read", "sessions:write"]
# What the SDK's own OAuth client says, and how it fails.
PROGRAM = """
import asyncio, inspect, json, sys, mantyx
task = json.load(sys.stdin)
oauth = mantyx.MantyxOAuthClient(client_id=task["clientId"], client_secret=task["secret"],
                                 base_url=task["url"])
is_async = task["client"] == "async"
refresh, revoke = ((oauth.arefresh, oauth.arevoke) if is_async else (oauth.refresh, oauth.revoke))
token = task["refresh"]

async def told(call, **arguments):
    try:
        value = call(**arguments)
        if inspect.isawaitable(value):
            value = await value
    except mantyx.MantyxOAuthError as error:
        return [error.oauth_error, error.status]
    if value is not None:
        return [value.token_type, value.expires_in, value.scope, value.refresh_token == token]

async def main():
    print(json.dumps([
        await told(refresh, refresh_token=token),
        await told(refresh, refresh_token=token, scope=["runs:read"]),
        await told(refresh, refresh_token=token, scope="keys:write"),
        await told(revoke, token="mantyx_at_unknown"),
        await told(revoke, token=token),
        await told(refresh, refresh_token=token),
    ]))

asyncio.run(main())
"""


class OAuth:
    """What programs with tokens do; for each of the SDK's two clients."""

    def new_client(self, server) -> dict:
        made = server.client().request("POST", "/oauth-clients",
                                       {"name": "portal", "scopes": SCOPES})
        self.assertEqual(made.status, 201, made.body)
        return made.json()

    def test_a_run_is_made_with_tokens_that_are_renewed(self):
        server = self.start_server([CALL, turn("Read.")])
        made = self.new_client(server)
        oauth = {"client_id": made["clientId"], "client_secret": made["clientSecret"],
                 "refresh_token": made["refreshToken"], "stale_token": "mantyx_at_" + "0" * 64}
        done = self.call(server, "run_agent", ["read_file"], oauth=oauth)
        self.assertEqual(done.returned["text"], "Read.")
        self.assertEqual(done.all("tool"), [{"read_file": "x"}])

    def test_a_scope_that_is_missing_is_named(self):
        server = self.start_server([turn("?")])
        made = self.new_client(server)
        oauth = {"client_id": made["clientId"], "client_secret": made["clientSecret"],
                 "refresh_token": made["refreshToken"], "stale_token": "mantyx_at_" + "0" * 64}
        done = self.call(server, "list_models", oauth=oauth)
        self.assertEqual(done.raised["error"], "MantyxScopeError")
        self.assertIn("models:read", json.dumps(done.raised))

    def test_tokens_are_refreshed_and_revoked(self):
        server = self.start_server([turn("?")])
        made = self.new_client(server)
        task = {"client": self.client, "url": server.url, "clientId": made["clientId"],
                "secret": made["clientSecret"], "refresh": made["refreshToken"]}
        done = subprocess.run([self.python, "-c", PROGRAM], input=json.dumps(task), text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout),
                         [["Bearer", 3600, " ".join(SCOPES), True],
                          ["Bearer", 3600, "runs:read", True],
                          ["invalid_scope", 400], None, None, ["invalid_grant", 400]])


class SyncOAuthTest(OAuth, SdkCase):
    client = "sync"


class AsyncOAuthTest(OAuth, SdkCase):
    client = "async"


if __name__ == "__main__":
    unittest.main()
