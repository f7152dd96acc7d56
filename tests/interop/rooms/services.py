"""Commands of peer.py about what a room itself offers: queues, message streams, files, logs."""

import asyncio
from dataclasses import dataclass, field

from meshagent.api import RoomClient, RoomException
from meshagent.api.room_server_client import RoomMessage


@dataclass
class Waiting:
    """What a participant waits for, or has heard and not told."""

    work: dict[str, asyncio.Task] = field(default_factory=dict)
    requests: asyncio.Queue = field(default_factory=asyncio.Queue)
    files: asyncio.Queue = field(default_factory=asyncio.Queue)
    stream: object = None
    logs: object = None


def shown_message(message) -> dict:
    return {"type": message.type, "message": message.message,
            "attachment": (message.attachment or b"").decode()}


class Services:
    """The commands, each a method that takes the name of a participant."""

    def __init__(self, rooms: dict[str, RoomClient]):
        self.rooms = rooms
        self.everybody: dict[str, Waiting] = {}

    def waiting(self, name: str) -> Waiting:
        return self.everybody.setdefault(name, Waiting())

    async def settle(self, name: str) -> None:
        """Returns once everything has come that the room has said so far."""
        try:
            await self.rooms[name].list_toolkits()
        except RoomException:
            pass  # an answer, too

    async def queue_open(self, name: str, queue: str) -> None:
        await self.rooms[name].queues.open(name=queue)

    async def queue_put(self, name: str, queue: str, message: dict, create: bool = False) -> None:
        await self.rooms[name].queues.send(name=queue, message=message, create=create)

    async def queue_take(self, name: str, queue: str, create: bool = False) -> dict | None:
        return await self.rooms[name].queues.receive(name=queue, create=create, wait=False)

    async def queue_wait(self, name: str, queue: str) -> None:
        """Waits for a message, which `queueGot` gives."""
        self.waiting(name).work["queue"] = asyncio.create_task(
            self.rooms[name].queues.receive(name=queue, create=False, wait=True))
        for _ in range(2):  # the first answer comes after the request was sent, and the second
            await self.rooms[name].queues.list()  # after the room has it

    async def queue_got(self, name: str) -> dict | None:
        return await self.waiting(name).work["queue"]

    async def queues(self, name: str) -> dict:
        return {one.name: one.size for one in await self.rooms[name].queues.list()}

    async def queue_drain(self, name: str, queue: str) -> None:
        await self.rooms[name].queues.drain(name=queue)

    async def queue_close(self, name: str, queue: str) -> None:
        await self.rooms[name].queues.close(name=queue)

    async def hear_streams(self, name: str) -> None:
        put = self.waiting(name).requests.put_nowait
        self.rooms[name].messaging.on("stream_requested", lambda request: put(request))

    async def stream_open(self, name: str, to: str, text: str) -> None:
        """Asks for a stream, which is there once `streamOpened` has answered."""
        messaging = self.rooms[name].messaging
        await self.settle(name)
        target = next(one for one in messaging.get_participants()
                      if one.get_attribute("name") == to)
        self.waiting(name).work["stream"] = asyncio.create_task(messaging.stream(
            to=target, type="chat", message={"text": text}, attachment=b"attached"))

    async def stream_opened(self, name: str) -> None:
        self.waiting(name).stream = await self.waiting(name).work["stream"]

    async def stream_accept(self, name: str) -> dict:
        request = await self.waiting(name).requests.get()
        self.waiting(name).stream = await request.accept()
        return shown_message(request)

    async def stream_reject(self, name: str, message: str) -> None:
        await (await self.waiting(name).requests.get()).reject(message=message)

    async def stream_say(self, name: str, text: str) -> None:
        await self.waiting(name).stream.send_message(type="chat", message={"text": text})

    async def stream_hear(self, name: str) -> dict | None:
        event = await self.waiting(name).stream.receive()
        if event is None or isinstance(event, RoomMessage):
            return event and shown_message(event)
        return {"event": type(event).__name__}

    async def stream_close(self, name: str) -> None:
        await self.waiting(name).stream.close()

    async def watch_files(self, name: str) -> None:
        def hear(event: str):
            return lambda participant_id, **paths: self.waiting(name).files.put_nowait(
                {"event": event, "by": participant_id} | paths)
        for event in ("file.updated", "file.deleted", "file.moved"):
            self.rooms[name].storage.on(event, hear(event))

    async def file_event(self, name: str) -> dict:
        return await self.waiting(name).files.get()

    async def stat(self, name: str, path: str) -> bool:
        return await self.rooms[name].storage.exists(path=path)

    async def listen(self, name: str) -> None:
        """Reads the logs; the first line is one of its own."""
        logs = self.waiting(name).logs = self.rooms[name].developer.logs()
        first = asyncio.ensure_future(anext(logs))
        while not first.done():  # until the room has the listener
            await self.rooms[name].developer.log(type="begun", data={})
        assert (await first).type == "begun"

    async def next_log(self, name: str) -> dict:
        while (line := await anext(self.waiting(name).logs)).type == "begun":
            pass
        return {"type": line.type, "data": line.data}

    async def log(self, name: str, type: str, data: dict) -> None:
        await self.rooms[name].developer.log(type=type, data=data)

    def commands(self) -> dict:
        return {"queueOpen": self.queue_open, "queuePut": self.queue_put,
                "queueTake": self.queue_take, "queueWait": self.queue_wait,
                "queueGot": self.queue_got, "queues": self.queues,
                "queueDrain": self.queue_drain, "queueClose": self.queue_close,
                "hearStreams": self.hear_streams, "streamOpen": self.stream_open,
                "streamOpened": self.stream_opened, "streamAccept": self.stream_accept,
                "streamReject": self.stream_reject, "streamSay": self.stream_say,
                "streamHear": self.stream_hear, "streamClose": self.stream_close,
                "watchFiles": self.watch_files, "fileEvent": self.file_event,
                "exists": self.stat, "listen": self.listen, "nextLog": self.next_log,
                "log": self.log}
