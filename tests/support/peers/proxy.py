"""A TCP proxy that cuts connections after so many bytes of the answer."""

import selectors
import socket
import struct
import threading

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class CuttingProxy:
    """Listens on a free port and passes bytes on. The n-th connection is cut after `cuts[n]` bytes
    of the answer, by a reset or by an ordinary close in turn; those after the last are not cut."""

    def __init__(self, target: tuple[str, int], cuts: list[int]):
        self.target = target
        self.cuts = cuts
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            number = self.connections
            self.connections += 1
            limit = self.cuts[number] if number < len(self.cuts) else None
            threading.Thread(target=self.serve, args=[client, limit, number % 2 == 0],
                             daemon=True).start()

    def serve(self, client: socket.socket, limit: int | None, resets: bool) -> None:
        """One thread moves both directions, because a close takes effect only if nobody reads."""
        with client, socket.create_connection(self.target) as server, \
                selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ)
            selector.register(server, selectors.EVENT_READ)
            left = limit
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if client in ready and not pass_on(client, server):
                    return
                if server not in ready:
                    continue
                data = receive(server)
                client.sendall(data if left is None else data[:left])
                if left is not None and len(data) >= left:
                    if resets:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                    return
                if not data:
                    return
                if left is not None:
                    left -= len(data)


def receive(source: socket.socket) -> bytes:
    try:
        return source.recv(65536)
    except OSError:
        return b""


def pass_on(source: socket.socket, target: socket.socket) -> bool:
    data = receive(source)
    if data:
        target.sendall(data)
    return bool(data)
