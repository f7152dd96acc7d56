"""A reader that stops reading costs nobody anything, and gets everything in the end."""

import socket

from support.http import Client, Connection, EventStream, request_bytes
from support.script import turn
from support.server import ServerCase

EVENTS = 100_000
SCRIPT = [turn(*("x" for _ in range(EVENTS)))]
SMALL_BUFFER_BYTES = 4096


def open_stalled(client: Client, run: str) -> Connection:
    """A connection with hardly any room for what the server sends, of which nothing is read."""
    connection = Connection(client.address)
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
    path = client.path(f"/agent-runs/{run}/stream")
    connection.send(request_bytes("GET", path, client.headers(), None))
    return connection


def read_to_end(client: Client, run: str, stalled: Connection) -> list[int]:
    """The seqs that the stalled reader gets once it reads on. The server may have given it up by
    then; it comes back where it was."""
    seqs: list[int] = []
    try:
        for frame in EventStream(stalled, stalled.receive_head()):
            seqs.append(frame.seq)
    except ConnectionError:
        with client.stream(run, seqs[-1] if seqs else 0) as stream:
            seqs += [frame.seq for frame in stream]
    return seqs


class StalledReaderTest(ServerCase):
    def test_it_delays_neither_the_run_nor_another_reader(self):
        client = self.start_server(SCRIPT).client()
        run = client.create(prompt="Say it all.")
        with open_stalled(client, run) as stalled:
            with client.stream(run) as stream:
                others = [frame.seq for frame in stream]
            self.assertEqual(client.snapshot(run)["status"], "succeeded")

            mine = read_to_end(client, run, stalled)

        everything = list(range(1, EVENTS + 3))  # the deltas, the message, the result
        self.assertEqual(others, everything)
        self.assertEqual(mine, everything)


if __name__ == "__main__":
    import unittest

    unittest.main()
