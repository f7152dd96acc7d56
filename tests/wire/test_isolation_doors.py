"""Nobody learns anything about another workspace at addresses that name none: files of rooms and
tokens for rooms, which the credentials of rooms open, and the revocation of OAuth tokens."""

import time
import unittest
import urllib.parse

from support.http import Client, Response
from support.isolation import (OWNER_KEY, REFUSALS, STRANGER_KEY, WORKSPACES, changed, shown)
from support.peers.room_token import claims, signed
from support.script import turn
from support.server import ServerCase

THEIRS, NOBODYS, OWN = "parlour", "nowhere", "lobby"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HOUR_SECONDS = 3600


class Rooms:
    """A room of a workspace, and a room key with its secret."""

    def __init__(self, client: Client, name: str):
        self.id = client.request("POST", "/rooms", {"name": name}).json()["id"]
        made = client.request("POST", f"/rooms/{name}/tokens", {"name": "guest"}).json()
        self.token = made["token"]
        self.project = claims(self.token)["sub"]
        self.server_key = claims(self.token)["kid"]
        key = client.request("POST", "/room-keys", {"name": "signer"}).json()
        self.key, self.key_id = key["apiKey"], key["id"]
        self.secret = self.key.split("-", 3)[3]

    def file_token(self, room_id: str, key_id: str = "") -> str:
        """A token for a file of a room, signed with this workspace's key whatever it names."""
        return signed({"kid": key_id or self.key_id, "sub": self.project,
                       "exp": int(time.time()) + HOUR_SECONDS,
                       "file": {"room": room_id, "path": "a.txt"}}, self.secret)


class DoorsTest(ServerCase):
    def setUp(self):
        self.server = self.start_server([turn("unused")], WORKSPACES)
        self.owner = Client(self.server.url, OWNER_KEY, "acme")
        self.stranger = Client(self.server.url, STRANGER_KEY, "other")
        self.nobody = Client(self.server.url, "")
        self.theirs, self.own = Rooms(self.owner, THEIRS), Rooms(self.stranger, OWN)

    def check_same(self, theirs: Response, nobodys: Response, sent: tuple[str, str]) -> None:
        """Both are refused in the same words; `sent` is what the requests differ in."""
        self.assertIn(theirs.status, REFUSALS, theirs.body)
        self.assertEqual(shown(theirs, {"sent": sent[0]}), shown(nobodys, {"sent": sent[1]}))

    def file(self, room: str, token: str) -> Response:
        return self.nobody.request_at("GET", f"/rooms/{room}/files/a.txt?token={token}")

    def test_a_file_token_of_a_stranger_opens_nothing_in_the_room(self):
        for room_id in (self.own.id, self.theirs.id):
            token = self.own.file_token(room_id)
            self.check_same(self.file(THEIRS, token), self.file(NOBODYS, token), (THEIRS, NOBODYS))
        # The token itself is good: in the stranger's own room, only the file is missing.
        answer = self.file(OWN, self.own.file_token(self.own.id))
        self.assertEqual((answer.status, answer.json()["message"]),
                         (404, "there is no such file"))

    def test_a_token_does_not_tell_whether_its_key_exists(self):
        for key in (self.theirs.key_id, self.theirs.server_key):
            answers = [self.file(THEIRS, self.own.file_token(self.theirs.id, one))
                       for one in (key, changed(key))]
            self.check_same(*answers, (THEIRS, THEIRS))

    def connect(self, project: str, room: str, key: str) -> Response:
        return self.nobody.request_at("POST", f"/accounts/projects/{project}/rooms/{room}/connect",
                                      {}, {"Authorization": f"Bearer {key}"})

    def test_a_room_key_of_a_stranger_connects_to_no_other_project(self):
        unknown = changed(self.theirs.project)
        for room in (THEIRS, NOBODYS):
            self.check_same(self.connect(self.theirs.project, room, self.own.key),
                            self.connect(unknown, room, self.own.key),
                            (self.theirs.project, unknown))
        self.assertEqual(self.connect(self.own.project, OWN, self.own.key).status, 200)
        # Where a room is, is the key's project; its name there says nothing about others.
        answers = [self.connect(self.own.project, room, self.own.key) for room in (THEIRS, NOBODYS)]
        self.assertEqual([answer.status for answer in answers], [200, 200])
        for answer in answers:
            self.assertEqual(claims(answer.json()["jwt"])["kid"], self.own.key_id)

    def test_a_room_key_that_is_not_the_projects_is_told_as_one_that_nobody_has(self):
        secret = self.theirs.secret
        wrong = self.theirs.key.replace(secret, changed(secret))
        none = f"ma-{'A' * 22}-{self.theirs.key.split('-')[2]}-{secret}"
        self.check_same(self.connect(self.theirs.project, THEIRS, wrong),
                        self.connect(self.theirs.project, THEIRS, none), ("wrong", "none"))

    def post(self, path: str, **form: str) -> Response:
        return self.nobody.request_at("POST", f"/api/oauth/{path}",
                                      urllib.parse.urlencode(form).encode(), FORM)

    def oauth_client(self, client: Client) -> tuple[dict, str]:
        """A client of OAuth as it authenticates itself, and its refresh token."""
        made = client.request("POST", "/oauth-clients",
                              {"name": "portal", "scopes": ["runs:read"]}).json()
        return ({"client_id": made["clientId"], "client_secret": made["clientSecret"]},
                made["refreshToken"])

    def test_a_stranger_revokes_no_token(self):
        theirs, refresh_token = self.oauth_client(self.owner)
        own, _ = self.oauth_client(self.stranger)
        refresh = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        token = self.post("token", **theirs, **refresh).json()["access_token"]
        for sent in (token, refresh_token):
            answers = [self.post("revoke", **own, token=one) for one in (sent, changed(sent))]
            self.assertEqual(answers[0].status, 200)
            self.assertEqual(*(shown(answer, {}) for answer in answers))
        holder = Client(self.server.url, token, "acme")
        self.assertEqual(holder.request("GET", "/agent-runs").status, 200)
        self.assertEqual(self.post("token", **theirs, **refresh).status, 200)
        # The owner's client takes it back with the same request.
        self.assertEqual(self.post("revoke", **theirs, token=token).status, 200)
        self.assertEqual(holder.request("GET", "/agent-runs").status, 401)

    def test_a_refresh_token_is_worth_nothing_to_another_client(self):
        _, refresh_token = self.oauth_client(self.owner)
        own, _ = self.oauth_client(self.stranger)
        answers = [self.post("token", **own, grant_type="refresh_token", refresh_token=one)
                   for one in (refresh_token, changed(refresh_token))]
        self.assertEqual(answers[0].status, 400)
        self.assertEqual(*(shown(answer, {}) for answer in answers))


if __name__ == "__main__":
    unittest.main()
