"""A host and a caller of a room, who go on with their calls while others misbehave."""

import threading

from support.peers.room_peer import RoomPeer

TOOLKIT = {"name": "kit", "public": True, "tools": {"run": {}}}
ANSWER = {"type": "empty"}


def register(host: RoomPeer) -> dict:
    return host.ask("room.register_toolkit", TOOLKIT)


def call_between(host: RoomPeer, caller: RoomPeer) -> dict:
    """What the caller gets from a tool of the host, which answers with ANSWER."""
    asked = caller.send("room.invoke_tool", {"toolkit": "kit", "tool": "run"})
    call, _, _, _ = host.until("room.tool_call.kit")
    host.send("room.tool_call_response", ANSWER, message_id=call)
    while True:
        message_id, _, answer, _ = caller.until("__response__")
        if message_id == asked:
            return answer


class Neighbours:
    """Makes one call after the other on a thread of its own, from __enter__ to __exit__. The first
    call that is not answered, or with something else than ANSWER, is the last."""

    def __init__(self, host: RoomPeer, caller: RoomPeer):
        self.answered = 0
        self.failure: Exception | None = None
        self.host = host
        self.caller = caller
        self.stopping = False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> "Neighbours":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stopping = True
        self.thread.join()

    def run(self) -> None:
        while not self.stopping and self.failure is None:
            failure = self.call()
            with self.changed:
                self.failure = failure
                self.answered += failure is None
                self.changed.notify_all()

    def call(self) -> Exception | None:
        try:
            answer = call_between(self.host, self.caller)
        except Exception as error:  # more() raises it
            return error
        return None if answer == ANSWER else AssertionError(f"a call was answered with {answer}")

    def more(self, count: int) -> None:
        """Returns when so many more calls were begun and answered."""
        with self.changed:
            wanted = self.answered + 1 + count  # one is under way
            self.changed.wait_for(lambda: self.failure or self.answered >= wanted)
        if self.failure:
            raise self.failure
