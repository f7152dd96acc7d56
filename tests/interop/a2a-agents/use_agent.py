"""The official Python SDK as a client of an agent: use_agent.py BASE_URL KEY. Prints what it got as
one line of JSON."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (GetTaskRequest, ListTasksRequest, Message, Part, Role, SendMessageRequest,
                       TaskState)


def message(text: str, context_id: str = "") -> SendMessageRequest:
    return SendMessageRequest(message=Message(
        message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)],
        context_id=context_id))


async def use(base_url: str, key: str) -> dict:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, base_url).get_agent_card()
        plain = ClientFactory(ClientConfig(streaming=False, httpx_client=http)).create(card)
        sent = [event async for event in plain.send_message(message("Say it."))]
        task = sent[-1].task
        streaming = ClientFactory(ClientConfig(streaming=True, httpx_client=http)).create(card)
        events = [event async for event in streaming.send_message(
            message("Again.", task.context_id))]
        got = await plain.get_task(GetTaskRequest(id=task.id))
        listed = await plain.list_tasks(ListTasksRequest(context_id=task.context_id))
        kinds: list[str] = []
        for event in events:
            kind = event.WhichOneof("payload")
            if kinds[-1:] != [kind]:
                kinds.append(kind)
        return {"name": card.name, "state": TaskState.Name(task.status.state),
                "text": task.artifacts[0].parts[0].text, "same": got.id == task.id,
                "listed": len(listed.tasks), "events": kinds}


print(json.dumps(asyncio.run(use(sys.argv[1], sys.argv[2]))))
