"""A vendor in this process, as Anthropic's Messages are, that notes when it says what."""

import json
import socket
import threading
import time
from dataclasses import dataclass, field


def event(kind: str, **members) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | members)}\n\n".encode()


def block(index: int, start: dict, delta: dict) -> bytes:
    """The beginning of a block and all that is in it, without its end."""
    return (event("content_block_start", index=index, content_block=start)
            + event("content_block_delta", index=index, delta=delta))


MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m",
           "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}


def ending(reason: str) -> bytes:
    return (event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 1})
            + event("message_stop"))


@dataclass
class StampingVendor:
    """Answers a first question with so many calls, and one with results with a text. Serves one
    connection at a time; times are nanoseconds of the machine's steady clock."""

    calls: int = 1
    pause: float = 0.01  # from the last call's block to the end of the stream
    closed: list[int] = field(default_factory=list)  # when the block of a call was closed
    ended: list[int] = field(default_factory=list)  # when a stream with calls ended
    asked_again: list[int] = field(default_factory=list)  # when the results came

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer: socket.socket) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with peer, peer.makefile("rb") as requests:
            while body := read_request(requests):
                has_results = "tool_result" in json.dumps(body["messages"][-1])
                if has_results:
                    self.asked_again.append(time.monotonic_ns())
                send_head(peer)
                send_chunk(peer, event("message_start", message=MESSAGE))
                if has_results:
                    self.say(peer)
                else:
                    self.call(peer)
                peer.sendall(b"0\r\n\r\n")

    def say(self, peer: socket.socket) -> None:
        send_chunk(peer, block(0, {"type": "text", "text": ""},
                               {"type": "text_delta", "text": "Done."})
                   + event("content_block_stop", index=0) + ending("end_turn"))

    def call(self, peer: socket.socket) -> None:
        for index in range(self.calls):
            start = {"type": "tool_use", "id": f"toolu_{index}", "name": "fetch", "input": {}}
            send_chunk(peer, block(index, start, {"type": "input_json_delta",
                                                  "partial_json": f'{{"page":{index}}}'}))
            self.closed.append(time.monotonic_ns())
            send_chunk(peer, event("content_block_stop", index=index))
        time.sleep(self.pause)  # paced: the model goes on after its calls
        self.ended.append(time.monotonic_ns())
        send_chunk(peer, ending("tool_use"))

    def close(self) -> None:
        self.listener.close()


def read_request(requests) -> dict | None:
    length = 0
    while line := requests.readline():
        if line in (b"\r\n", b"\n"):
            return json.loads(requests.read(length))
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return None


def send_head(peer: socket.socket) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                 b"transfer-encoding: chunked\r\n\r\n")


def send_chunk(peer: socket.socket, data: bytes) -> None:
    peer.sendall(f"{len(data):x}\r\n".encode() + data + b"\r\n")
