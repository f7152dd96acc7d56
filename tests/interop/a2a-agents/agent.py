"""An agent on the official Python SDK, which speaks 1.0 and 0.3. Prints its port. What it does
follows from the first word of the message: echo, parts, ask or fail."""

import asyncio
import socket

import uvicorn
from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task,
                       TaskState, TaskStatus)
from starlette.applications import Starlette


class Stranger(AgentExecutor):
    async def execute(self, context, event_queue):
        said = context.get_user_input()
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if not context.current_task:
            await event_queue.enqueue_event(Task(
                id=context.task_id, context_id=context.context_id,
                status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)))
        await updater.start_work(updater.new_agent_message([new_text_part("thinking")]))
        word = said.split()[0]
        if word == "ask":
            await updater.requires_input(updater.new_agent_message([new_text_part("Colour?")]))
        elif word == "fail":
            await updater.failed(updater.new_agent_message([new_text_part("It broke.")]))
        else:
            parts = [new_text_part(f"heard: {said}")]
            if word == "parts":
                parts = [new_text_part("some text"), new_data_part({"n": 7}),
                         Part(raw=b"hi", filename="a.txt", media_type="text/plain")]
            await updater.add_artifact(parts, name="answer")
            await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url: str) -> AgentCard:
    return AgentCard(
        name="Stranger", description="An agent of others.", version="1.0.0",
        default_input_modes=["text/plain"], default_output_modes=["text/plain"],
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="hear", name="Hear", description="Hears.", tags=["x"])],
        supported_interfaces=[AgentInterface(url=f"{url}/rpc", protocol_binding="JSONRPC",
                                             protocol_version="1.0")])


async def main() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    about = card(f"http://127.0.0.1:{port}")
    handler = DefaultRequestHandler(agent_executor=Stranger(), task_store=InMemoryTaskStore(),
                                    agent_card=about)
    app = Starlette(routes=[*create_agent_card_routes(about),
                            *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    print(port, flush=True)
    await server.serve(sockets=[listener])


asyncio.run(main())
