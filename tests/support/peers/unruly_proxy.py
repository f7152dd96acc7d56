"""A TCP proxy that mistreats connections: it cuts them, or holds bytes back and lets them go."""

import asyncio
import random
import socket
import struct
import threading

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
PIECE_BYTES = 65536
CUT_SHARE = 0.25  # of the connections are cut, after so many bytes of the answer
CUT_BYTES_MAX = 4000
HOLD_SHARE = 0.05  # of the pieces are held back for so long
HOLD_SECONDS_MAX = 0.4


class UnrulyProxy:
    """Listens on a free port and passes bytes on to `target`, more or less."""

    def __init__(self, target: tuple[str, int], seed: int, cut_share: float = CUT_SHARE):
        self.target = target
        self.cut_share = cut_share
        self.random = random.Random(seed)
        self.cuts = 0
        self.holds = 0
        self.calm = False  # from then on it behaves
        self.loop = asyncio.new_event_loop()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, sock=self.listener))
        self.loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_server, to_server = await asyncio.open_connection(*self.target)
        except OSError:
            reset(writer)
            return
        is_cut = not self.calm and self.random.random() < self.cut_share
        limit = self.random.randint(0, CUT_BYTES_MAX) if is_cut else None
        request = asyncio.ensure_future(self.pass_on(reader, to_server, None))
        answer = asyncio.ensure_future(self.pass_on(from_server, writer, limit))
        try:
            await asyncio.wait({request, answer}, return_when=asyncio.FIRST_COMPLETED)
            if limit is not None and answer.done():
                self.cuts += 1
                reset(writer)
        finally:
            request.cancel()
            answer.cancel()
            to_server.close()
            writer.close()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
                      limit: int | None) -> None:
        """Ends when either side does, or after `limit` bytes."""
        try:
            while data := await reader.read(PIECE_BYTES):
                if not self.calm and self.random.random() < HOLD_SHARE:
                    self.holds += 1
                    pause = self.random.random() * HOLD_SECONDS_MAX
                    await asyncio.sleep(pause)  # paced: a slow network
                writer.write(data if limit is None else data[:limit])
                await writer.drain()
                if limit is not None:
                    limit -= len(data)
                    if limit <= 0:
                        return
        except OSError:
            return


def reset(writer: asyncio.StreamWriter) -> None:
    """The peer sees a connection that was reset."""
    if writer.transport.is_closing():
        return
    peer = writer.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    writer.transport.abort()
