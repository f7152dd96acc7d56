"""Servers, agents and rooms that a caller names are reached at allowed addresses only, whatever
leads there: the reference itself, a name, or an agent's card. Redirects are not followed."""

import json
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.script import turn
from support.server import Server, ServerCase

ALLOWED, PRIVATE = "127.0.0.1", "127.0.0.2"
ONE_ADDRESS = {"network": {"allow": [f"{ALLOWED}/32"]}}
BOTH_ADDRESSES = {"network": {"allow": [f"{ALLOWED}/32", f"{PRIVATE}/32"]}}


class Listener:
    """Counts the connections that anybody opens to it, and closes each at once."""

    def __init__(self, address: str):
        self.socket = socket.create_server((address, 0))
        self.address = self.socket.getsockname()
        self.port = self.address[1]
        self.place = f"{address}:{self.port}"
        self.accepted = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return  # the test is over
            self.accepted += 1
            connection.close()

    def connections(self) -> int:
        """Connections are accepted in their order: all that came before our own are counted when
        ours is closed."""
        with socket.create_connection(self.address) as own:
            own.recv(1)
        return self.accepted - 1

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self.socket.close()


class Guide(BaseHTTPRequestHandler):
    """Shows a card that names another address, and redirects everything else to it."""

    def do_GET(self):
        if self.path.startswith("/card"):
            return self.answer(200, json.dumps({
                "protocolVersion": "0.3.0", "name": "hr", "url": f"{self.server.leads_to}/agent",
                "description": "Knows.", "version": "1", "capabilities": {},
                "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
                "skills": [{"id": "a", "name": "a", "description": "a", "tags": []}]}))
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        return self.answer(307, "", {"Location": f"{self.server.leads_to}{self.path}"})

    do_POST = do_GET

    def answer(self, status: int, text: str, headers: dict | None = None) -> None:
        self.server.seen.append((self.command, self.path))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class AddressesTest(ServerCase):
    def listen(self, address: str) -> Listener:
        listener = Listener(address)
        self.addCleanup(listener.close)
        return listener

    def start_guide(self, leads_to: str) -> ThreadingHTTPServer:
        guide = ThreadingHTTPServer((ALLOWED, 0), Guide)
        guide.daemon_threads = True
        guide.leads_to, guide.seen = f"http://{leads_to}", []
        guide.url = f"http://{ALLOWED}:{guide.server_port}"
        threading.Thread(target=guide.serve_forever, daemon=True).start()
        self.addCleanup(guide.server_close)
        self.addCleanup(guide.shutdown)
        return guide

    def serve(self, *calls: str, config: dict | None = None) -> Server:
        """A server whose model calls these tools, and then is done."""
        arguments = {"message": "Days?"}
        return self.start_server([turn(calls=[(name, arguments) for name in calls]),
                                  turn("Done.")], config)

    def results(self, server: Server, **members) -> dict[str, dict]:
        """What the tools of a run gave, by their names."""
        client = server.client()
        events = [frame.json() for frame in client.log(client.create(prompt="Go.", **members))]
        self.assertEqual(events[-1]["subtype"], "success", events[-1])
        return {event["name"]: event for event in events if event["type"] == "tool_result"}

    def check_stubs(self, host: str) -> None:
        """Nothing is allowed: a stub stands for each tool, and nobody is asked."""
        listener = self.listen(ALLOWED)
        place = f"{host}:{listener.port}"
        stubs = ("far_unavailable", "hr_unavailable", "room_unavailable")
        server = self.serve(*stubs)
        room = {"url": f"ws://{place}/rooms/office", "token": "a-token"}
        results = self.results(server, room=room, tools=[
            {"kind": "mcp", "name": "far", "url": f"http://{place}/mcp"},
            {"kind": "a2a", "name": "hr", "agentCardUrl": f"http://{place}/card.json"}])
        self.assertEqual(set(results), set(stubs))
        for result in results.values():
            self.assertFalse(result["ok"])
            self.assertIn("is unavailable in this run", result["result"])
        self.assertEqual(listener.connections(), 0)
        self.check_data(server)
        reason = f"{place} is at {ALLOWED}, which is not a public address"
        self.assertEqual(server.errors().count(reason), len(stubs))

    def test_references_to_an_address_that_is_not_allowed_are_replaced(self):
        self.check_stubs(ALLOWED)

    def test_references_to_a_name_of_such_an_address_are_replaced(self):
        self.check_stubs("localhost")

    def test_a_card_does_not_lead_to_an_address_that_is_not_allowed(self):
        listener = self.listen(PRIVATE)
        guide = self.start_guide(listener.place)
        server = self.serve("hr", config=ONE_ADDRESS)
        results = self.results(server, tools=[{"kind": "a2a", "name": "hr",
                                               "agentCardUrl": f"{guide.url}/card.json"}])
        self.assertEqual(set(guide.seen), {("GET", "/card.json")})
        self.assertFalse(results["hr"]["ok"])
        self.assertIn(PRIVATE, results["hr"]["result"])
        self.assertEqual(listener.connections(), 0)
        self.check_data(server)

    def test_a_redirect_of_a_server_or_of_a_card_is_not_followed(self):
        listener = self.listen(PRIVATE)
        guide = self.start_guide(listener.place)
        server = self.serve("far_unavailable", "hr_unavailable", config=BOTH_ADDRESSES)
        results = self.results(server, tools=[
            {"kind": "mcp", "name": "far", "url": f"{guide.url}/mcp"},
            {"kind": "a2a", "name": "hr", "agentCardUrl": f"{guide.url}/moved.json"}])
        self.assertEqual({path for _, path in guide.seen}, {"/mcp", "/moved.json"})
        self.assertEqual([result["ok"] for result in results.values()], [False, False])
        self.assertEqual(listener.connections(), 0)
        self.check_data(server)


if __name__ == "__main__":
    unittest.main()
