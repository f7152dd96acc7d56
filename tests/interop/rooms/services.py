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


def service_commands(rooms: dict[str, RoomClient]) -> dict:
    everybody: dict[str, Waiting] = {}

    def waiting(name: str) -> Waiting:
        return everybody.setdefault(name, Waiting())

    async def settle(name: str) -> None:
        """Returns once everything has come that the room has said so far."""
        try:
            await rooms[name].list_toolkits()
        except RoomException:
            pass  # an answer, too

    async def queue_open(name: str, queue: str) -> None:
        await rooms[name].queues.open(name=queue)

    async def queue_put(name: str, queue: str, message: dict, create: bool = False) -> None:
        await rooms[name].queues.send(name=queue, message=message, create=create)

    async def queue_take(name: str, queue: str, create: bool = False) -> dict | None:
        return await rooms[name].queues.receive(name=queue, create=create, wait=False)

    async def queue_wait(name: str, queue: str) -> None:
        """Waits for a message, which `queueGot` gives."""
        waiting(name).work["queue"] = asyncio.create_task(
            rooms[name].queues.receive(name=queue, create=False, wait=True))
        for _ in range(2):  # the first answer comes after the request was sent, and the second
            await rooms[name].queues.list()  # after the room has it

    async def queue_got(name: str) -> dict | None:
        return await waiting(name).work["queue"]

    async def queues(name: str) -> dict:
        return {one.name: one.size for one in await rooms[name].queues.list()}

    async def queue_drain(name: str, queue: str) -> None:
        await rooms[name].queues.drain(name=queue)

    async def queue_close(name: str, queue: str) -> None:
        await rooms[name].queues.close(name=queue)

    async def hear_streams(name: str) -> None:
        put = waiting(name).requests.put_nowait
        rooms[name].messaging.on("stream_requested", lambda request: put(request))

    async def stream_open(name: str, to: str, text: str) -> None:
        """Asks for a stream, which is there once `streamOpened` has answered."""
        messaging = rooms[name].messaging
        await settle(name)
        target = next(one for one in messaging.get_participants()
                      if one.get_attribute("name") == to)
        waiting(name).work["stream"] = asyncio.create_task(messaging.stream(
            to=target, type="chat", message={"text": text}, attachment=b"attached"))

    async def stream_opened(name: str) -> None:
        waiting(name).stream = await waiting(name).work["stream"]

    async def stream_accept(name: str) -> dict:
        request = await waiting(name).requests.get()
        waiting(name).stream = await request.accept()
        return shown_message(request)

    async def stream_reject(name: str, message: str) -> None:
        await (await waiting(name).requests.get()).reject(message=message)

    async def stream_say(name: str, text: str) -> None:
        await waiting(name).stream.send_message(type="chat", message={"text": text})

    async def stream_hear(name: str) -> dict | None:
        event = await waiting(name).stream.receive()
        if event is None or isinstance(event, RoomMessage):
            return event and shown_message(event)
        return {"event": type(event).__name__}

    async def stream_close(name: str) -> None:
        await waiting(name).stream.close()

    async def watch_files(name: str) -> None:
        def hear(event: str):
            return lambda participant_id, **paths: waiting(name).files.put_nowait(
                {"event": event, "by": participant_id} | paths)
        for event in ("file.updated", "file.deleted", "file.moved"):
            rooms[name].storage.on(event, hear(event))

    async def file_event(name: str) -> dict:
        return await waiting(name).files.get()

    async def stat(name: str, path: str) -> bool:
        return await rooms[name].storage.exists(path=path)

    async def listen(name: str) -> None:
        """Reads the logs; the first line is one of its own."""
        logs = waiting(name).logs = rooms[name].developer.logs()
        first = asyncio.ensure_future(anext(logs))
        while not first.done():  # until the room has the listener
            await rooms[name].developer.log(type="begun", data={})
        assert (await first).type == "begun"

    async def next_log(name: str) -> dict:
        while (line := await anext(waiting(name).logs)).type == "begun":
            pass
        return {"type": line.type, "data": line.data}

    async def log(name: str, type: str, data: dict) -> None:
        await rooms[name].developer.log(type=type, data=data)

    return {"queueOpen": queue_open, "queuePut": queue_put, "queueTake": queue_take,
            "queueWait": queue_wait, "queueGot": queue_got, "queues": queues,
            "queueDrain": queue_drain, "queueClose": queue_close, "hearStreams": hear_streams,
            "streamOpen": stream_open, "streamOpened": stream_opened,
            "streamAccept": stream_accept, "streamReject": stream_reject, "streamSay": stream_say,
            "streamHear": stream_hear, "streamClose": stream_close, "watchFiles": watch_files,
            "fileEvent": file_event, "exists": stat, "listen": listen, "nextLog": next_log,
            "log": log}
