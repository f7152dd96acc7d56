"""Participants of rooms on the MeshAgent client of PyPI. Reads a command as a line of JSON, {"do":
NAME, "as": PARTICIPANT, ...}, and answers each with a line: {"ok": RESULT} or {"error", "code"}."""

import asyncio
import json
import logging
import os
import sys

from meshagent.api import RoomClient, RoomException
from meshagent.api.messaging import (
    BinaryContent, EmptyContent, ErrorContent, FileContent, JsonContent, LinkContent, TextContent,
    _ControlContent,
)
from meshagent.api.room_server_client import ToolContentSpec
from meshagent.api.webhooks import WebhookServer
from meshagent.api.websocket_protocol import WebSocketClientProtocol
from meshagent.tools import ContentTool, ToolContext, Toolkit, start_hosted_toolkit, tool

from services import Services

rooms: dict[str, RoomClient] = {}
hosted: dict = {}
pending: dict[str, asyncio.Task] = {}


def show(content) -> dict:
    match content:
        case JsonContent():
            return {"json": content.json}
        case TextContent():
            return {"text": content.text}
        case LinkContent():
            return {"link": [content.name, content.url]}
        case FileContent():
            return {"file": [content.name, content.mime_type, content.data.decode()]}
        case BinaryContent():
            return {"binary": [content.headers, content.data.decode()]}
        case EmptyContent():
            return {"empty": True}
        case None:
            return {"empty": True}
        case _ControlContent():
            return {"control": content.method, "status": content.status_code}
    return {"unknown": repr(content)}


def made(shown: dict):
    """The content that is shown so."""
    match shown:
        case {"json": value}:
            return JsonContent(json=value)
        case {"text": text}:
            return TextContent(text=text)
        case {"link": [name, url]}:
            return LinkContent(name=name, url=url)
        case {"file": [name, mime_type, data]}:
            return FileContent(name=name, mime_type=mime_type, data=data.encode())
        case {"binary": [headers, data]}:
            return BinaryContent(headers=headers, data=data.encode())
    return EmptyContent()


@tool(name="json")
async def as_json(days: int, unit: str | None) -> JsonContent:
    """Gives back what it was given."""
    return JsonContent(json={"days": days, "unit": unit})


@tool(name="text")
async def as_text() -> TextContent:
    return TextContent(text="Grüße")


@tool(name="file")
async def as_file() -> FileContent:
    return FileContent(name="a.txt", mime_type="text/plain", data=b"x" * 100_000)


@tool(name="link")
async def as_link() -> LinkContent:
    return LinkContent(name="there", url="https://example.com/")


@tool(name="empty")
async def as_empty() -> EmptyContent:
    return EmptyContent()


@tool(name="who")
async def who(context: ToolContext) -> JsonContent:
    caller = context.caller
    return JsonContent(json={"caller": caller.id, "name": caller.get_attribute("name"),
                             "role": caller.role})


@tool(name="report")
async def report(context: ToolContext) -> TextContent:
    """Tells how far it is, and waits for the room once, so that this is told before its answer."""
    context.emit({"type": "agent.event", "message": "half", "progress": 1, "total": 2})
    await context.room.list_toolkits()
    return TextContent(text="whole")


@tool(name="fail")
async def fail() -> TextContent:
    raise RoomException("no luck")


@tool(name="wait")
async def wait() -> TextContent:
    await asyncio.Future()


ALL = ["json", "text", "file", "binary", "link", "empty"]


class Binary(ContentTool):
    def __init__(self):
        super().__init__(name="binary", input_spec=ToolContentSpec(types=["json", "empty"]),
                         output_spec=ToolContentSpec(types=["binary"]))

    async def execute(self, *, context, input):
        return BinaryContent(headers={"n": 1}, data=b"b")


class Any(ContentTool):
    """Gives back what it was given."""

    def __init__(self):
        spec = ToolContentSpec(types=ALL)
        super().__init__(name="any", input_spec=spec, output_spec=spec)

    async def execute(self, *, context, input):
        return input


class Count(ContentTool):
    """Streams the numbers up to its input."""

    def __init__(self):
        super().__init__(name="count", input_spec=ToolContentSpec(types=["json"]),
                         output_spec=ToolContentSpec(types=["json"], stream=True))

    async def execute(self, *, context, input):
        async def items():
            for n in range(1, input.json["n"] + 1):
                yield JsonContent(json={"n": n})
        return items()


class Sum(ContentTool):
    def __init__(self):
        super().__init__(name="sum", input_spec=ToolContentSpec(types=ALL, stream=True),
                         output_spec=ToolContentSpec(types=["json"]))

    async def execute(self, *, context, input):
        return JsonContent(json={"items": [show(item) async for item in input]})


class Broken(ContentTool):
    def __init__(self):
        spec = ToolContentSpec(types=ALL, stream=True)
        super().__init__(name="broken", input_spec=spec, output_spec=spec)

    async def execute(self, *, context, input):
        async def items():
            yield JsonContent(json={"n": 1})
            raise RoomException("broke")
        return items()


class Echo(ContentTool):
    """Streams each item of its input back."""

    def __init__(self):
        spec = ToolContentSpec(types=ALL, stream=True)
        super().__init__(name="echo", input_spec=spec, output_spec=spec)

    async def execute(self, *, context, input):
        async def items():
            async for item in input:
                yield item
        return items()


async def given(items):
    for item in items:
        if isinstance(item, str):
            yield BinaryContent(data=item.encode(), headers={"n": 1})
        else:
            yield JsonContent(json=item)


async def join(name: str, url: str, token: str) -> dict:
    room = RoomClient(protocol_factory=lambda: WebSocketClientProtocol(url=url, token=token),
                      reconnect_timeout=60)
    await room.__aenter__()
    rooms[name] = room
    return {"id": room.local_participant.id, "name": room.local_participant.get_attribute("name")}


async def host(name: str, toolkit: str, public: bool = True) -> None:
    kit = Toolkit(name=toolkit, public=public,
                  tools=[as_json, as_text, as_file, as_link, as_empty, who, report, fail, wait,
                         Binary(), Any(), Count(), Sum(), Echo(), Broken()])
    hosted[name] = await start_hosted_toolkit(room=rooms[name], toolkit=kit)


async def stop(name: str) -> None:
    await hosted[name].stop()


async def list_toolkits(name: str) -> dict:
    toolkits = await rooms[name].list_toolkits()
    return {one.name: sorted(tool.name for tool in one.tools) for one in toolkits}


async def call(name: str, toolkit: str, tool: str, input=None) -> dict:
    return show(await rooms[name].invoke(toolkit=toolkit, tool=tool, input=input))


async def stream(name: str, toolkit: str, tool: str, items: list) -> list:
    output = await rooms[name].invoke(toolkit=toolkit, tool=tool, input=given(items))
    return [show(item) async for item in output]


async def give(name: str, toolkit: str, tool: str, content: dict) -> dict:
    return await call(name, toolkit, tool, made(content))


async def contents(items: list):
    for item in items:
        yield made(item)


async def rest_of(output) -> list:
    """The items of a stream, and the failure that ends it."""
    items = []
    try:
        async for item in output:
            if isinstance(item, _ControlContent):  # the close, which this client shows
                continue
            items.append({"error": item.text} if isinstance(item, ErrorContent) else show(item))
    except RoomException as error:
        items.append({"error": str(error)})
    return items


async def exchange(name: str, toolkit: str, tool: str, items: list) -> list:
    return await rest_of(await rooms[name].invoke(toolkit=toolkit, tool=tool,
                                                  input=contents(items)))


async def collect(name: str, toolkit: str, tool: str, items: list) -> dict:
    return await call(name, toolkit, tool, contents(items))


async def stream_out(name: str, toolkit: str, tool: str, content: dict) -> list:
    return await rest_of(await rooms[name].invoke(toolkit=toolkit, tool=tool, input=made(content)))


async def reported(name: str, toolkit: str, tool: str) -> dict:
    """A call, and the first thing that its host has told of it."""
    reports = asyncio.Queue()

    def take(event: dict) -> None:
        if event["tool"] == tool:
            reports.put_nowait(event["chunk"])

    rooms[name].on("room.tool_call_response_chunk", take)
    answer = await call(name, toolkit, tool)
    report = await reports.get()
    rooms[name].off("room.tool_call_response_chunk", take)
    return {"answer": answer, "report": [report["message"], report["progress"], report["total"]]}


async def begin(name: str, **more) -> None:
    pending[name] = asyncio.create_task(answer_to(call(name, **more)))


async def finish(name: str) -> dict:
    return await pending[name]


async def message(name: str, to: str, text: str) -> None:
    participants = rooms[name].messaging.get_participants()
    target = next(one for one in participants if one.get_attribute("name") == to)
    await rooms[name].messaging.send_message(to=target, type="chat", message={"text": text},
                                             attachment=b"attached")


async def broadcast(name: str, text: str) -> None:
    await rooms[name].messaging.broadcast_message(type="chat", message={"text": text})


async def present(name: str) -> dict:
    return {one.get_attribute("name"): one.role
            for one in rooms[name].messaging.get_participants()}


async def enable(name: str) -> None:
    received[name] = asyncio.Queue()
    messaging = rooms[name].messaging
    messaging.on("message", lambda message: received[name].put_nowait(message))
    enabled = asyncio.get_running_loop().create_future()
    messaging.on("messaging_enabled", lambda **_: enabled.set_result(None))
    await messaging.enable()
    await enabled


async def read(name: str) -> dict:
    got = await received[name].get()
    sender = rooms[name].messaging.get_participant(got.from_participant_id)
    return {"from": sender.get_attribute("name"), "type": got.type, "message": got.message,
            "attachment": (got.attachment or b"").decode()}


async def queue_send(name: str, queue: str, message: dict) -> None:
    await rooms[name].queues.send(name=queue, create=True, message=message)


async def queue_receive(name: str, queue: str, wait: bool = False) -> dict | None:
    return await rooms[name].queues.receive(name=queue, create=True, wait=wait)


async def files(name: str, path: str) -> list:
    return [one.name for one in await rooms[name].storage.list(path=path)]


def pattern(size: int) -> bytes:
    """The bytes of a file of this size; both peers know them."""
    return bytes(i % 251 for i in range(size))


async def upload(name: str, path: str, size: int, overwrite: bool = True) -> None:
    await rooms[name].storage.upload(path=path, data=pattern(size), overwrite=overwrite)


async def download(name: str, path: str) -> dict:
    file = await rooms[name].storage.download(path=path)
    return {"name": file.name, "type": file.mime_type, "size": len(file.data),
            "same": file.data == pattern(len(file.data))}


async def delete(name: str, path: str) -> None:
    await rooms[name].storage.delete(path)


async def move(name: str, source: str, destination: str) -> None:
    await rooms[name].storage.move(source_path=source, destination_path=destination)


class Agent(WebhookServer):
    """The package's own receiver of room.call, which joins the room that calls."""

    async def on_call(self, event) -> None:
        await join(self.agent, event.room_url, event.token)
        called[self.agent] = event.arguments


async def answer_calls(name: str, port: int, secret: str) -> None:
    agent = Agent(host="127.0.0.1", port=port, webhook_secret=secret)
    agent.agent = name
    await agent.start()


async def call_agent(name: str, agent: str, url: str, arguments: dict) -> None:
    await rooms[name].call(name=agent, url=url, arguments=arguments)


async def called_with(name: str) -> dict:
    return called[name]


called: dict[str, dict] = {}
received: dict[str, asyncio.Queue] = {}
COMMANDS = {"join": join, "host": host, "stop": stop, "list": list_toolkits, "call": call,
            "stream": stream, "begin": begin, "finish": finish, "enable": enable,
            "message": message, "read": read, "queueSend": queue_send,
            "queueReceive": queue_receive, "files": files, "upload": upload, "download": download,
            "delete": delete, "move": move, "answerCalls": answer_calls, "callAgent": call_agent,
            "calledWith": called_with, "give": give, "exchange": exchange, "collect": collect,
            "streamOut": stream_out, "broadcast": broadcast, "present": present,
            "reported": reported} | Services(rooms).commands()


async def answer_to(work) -> dict:
    try:
        return {"ok": await work}
    except Exception as error:  # a test looks at every one
        return {"error": str(error), "code": getattr(error, "code", None)}


async def main() -> None:
    logging.disable(logging.CRITICAL)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        work = COMMANDS[command.pop("do")](command.pop("as"), **command)
        print(json.dumps(await answer_to(work)), flush=True)
    os._exit(0)  # connections that are left open would complain about the end of the loop


asyncio.run(main())
