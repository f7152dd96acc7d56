"""A thousand runs that wait for their clients at the same time."""

import asyncio
import json
import os

from support.http import ChunkReader, Frame, FrameReader, parse_head, request_bytes
from support.script import local_tool, turn
from support.server import ServerCase

RUNS = int(os.environ.get("ERRAND_MANY", "1000"))
OPENING_AT_ONCE = 64
SECONDS_MAX = 300
SCRIPT = [turn("Wait.", calls=[("hold", {})]), turn("Thank ", "you.")]


class AsyncClient:
    """The few calls that this test needs, many at a time."""

    def __init__(self, client):
        self.client = client
        self.opening = asyncio.Semaphore(OPENING_AT_ONCE)

    async def open(self, method: str, rest: str, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = self.client.headers() | {"Content-Type": "application/json"}
        reader, writer = await asyncio.open_connection(*self.client.address)
        writer.write(request_bytes(method, self.client.path(rest), headers, data))
        received = b""
        while not (head := parse_head(received)):
            piece = await reader.read(65536)
            if not piece:
                raise ConnectionError(f"{method} {rest}: closed without an answer")
            received += piece
        return reader, writer, head

    async def post(self, rest: str, body) -> tuple[int, bytes]:
        async with self.opening:
            reader, writer, head = await self.open("POST", rest, body)
            length = int(head.headers.get("content-length", "0"))
            data = head.rest
            if len(data) < length:
                data += await reader.readexactly(length - len(data))
            writer.close()
            return head.status, data


class WaitingRun:
    """A run, its open stream, and every frame that came."""

    def __init__(self, client: AsyncClient):
        self.client = client
        self.frames: list[Frame] = []
        self.called = asyncio.Event()

    async def create_and_read(self) -> None:
        status, body = await self.client.post(
            "/agent-runs", {"prompt": "Go.", "tools": [local_tool("hold")]})
        assert status == 201, body
        self.run = json.loads(body)["runId"]
        async with self.client.opening:
            reader, writer, head = await self.client.open("GET", f"/agent-runs/{self.run}/stream")
        chunks, frames, data = ChunkReader(), FrameReader(), head.rest
        while True:
            for frame in frames.feed(chunks.feed(data)):
                self.frames.append(frame)
                if frame.event == "local_tool_call":
                    self.called.set()
            if chunks.done:
                break
            data = await reader.read(65536)
            assert data, f"{self.run}: cut after {len(self.frames)} events"
        writer.close()

    async def answer(self) -> int:
        call = next(frame for frame in self.frames if frame.event == "local_tool_call")
        status, _ = await self.client.post(
            f"/agent-runs/{self.run}/tool-results",
            {"toolUseId": call.json()["toolUseId"], "result": f"for {self.run}"})
        return status


async def hold_and_answer(client: AsyncClient) -> tuple[list[WaitingRun], list[int]]:
    runs = [WaitingRun(client) for _ in range(RUNS)]
    async with asyncio.TaskGroup() as group:
        for run in runs:
            group.create_task(run.create_and_read())
        await asyncio.gather(*(run.called.wait() for run in runs))
        statuses = await asyncio.gather(*(run.answer() for run in runs))
    return runs, statuses


class ManyTest(ServerCase):
    def test_a_thousand_waiting_runs_are_all_answered_and_all_end(self):
        server = self.start_server(SCRIPT)

        async def scenario():
            client = AsyncClient(server.client())
            return await asyncio.wait_for(hold_and_answer(client), SECONDS_MAX)

        runs, statuses = asyncio.run(scenario())
        self.assertEqual(set(statuses), {204})
        self.assertEqual({run.frames[-1].json()["text"] for run in runs}, {"Thank you."})
        answers = {run.run: [frame.json()["result"] for frame in run.frames
                             if frame.event == "local_tool_result_in"] for run in runs}
        self.assertEqual(answers, {run.run: [f"for {run.run}"] for run in runs})
