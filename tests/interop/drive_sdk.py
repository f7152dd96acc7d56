"""Calls the official Python SDK once, as a test asks, and reports what happens as lines of JSON.

The first line of stdin is the task: {"client": "sync"|"async", "call": NAME, "url", "key",
"workspace", "tools": [NAME...], "arguments": {...}}. Every further line is the answer of one call
of the tool `wait`. A line of stdout has one member: `event`, `tool` (a handler was called),
`delta`, and last `returned` or `raised`. The call `session` takes `steps`, each a verb of a
session with its arguments, and reports what each gave as `step`. Without a key the client gets its
tokens by `oauth`: {"client_id", "client_secret", "refresh_token", "stale_token"}.
"""

import asyncio
import dataclasses
import json
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal

import mantyx
from pydantic import BaseModel, field_validator

MEET_SECONDS_MAX = 60
MEETING = threading.Barrier(3)
ANSWERS: "queue.Queue[str]" = queue.Queue()
OUTPUT = threading.Lock()


def report(what: str, value: Any) -> None:
    with OUTPUT:
        print(json.dumps({what: value}, default=dataclasses.asdict), flush=True)


class FileArgs(BaseModel):
    path: str


class Place(BaseModel):
    city: str
    country: str | None = None


class Forecast(BaseModel):
    place: Place
    unit: Literal["C", "F"] = "C"


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("not an even number")
        return value


def read_file(args: FileArgs) -> str:
    report("tool", {"read_file": args.path})
    return f"text of {args.path}"


def forecast(args: Forecast) -> dict:
    report("tool", {"forecast": args.model_dump()})
    return {"city": args.place.city, "degrees": 21, "unit": args.unit}


def fail(args: dict) -> str:
    report("tool", {"fail": args})
    raise RuntimeError("out of paper")


def halve(args: Even) -> str:
    report("tool", {"halve": args.number})
    return str(args.number // 2)


def say_nothing(args: dict) -> str:
    report("tool", {"say_nothing": args})
    return ""


async def meet(args: dict) -> str:
    """Returns only if two other calls of it run at the same time."""
    report("tool", {"meet": args})
    await asyncio.to_thread(MEETING.wait, MEET_SECONDS_MAX)
    return f"met {args['who']}"


async def wait(args: dict) -> str:
    report("tool", {"wait": args})
    return await asyncio.to_thread(ANSWERS.get)


def draw(args: dict) -> mantyx.ToolResult:
    report("tool", {"draw": args})
    picture = mantyx.ToolResultFile(filename="dot.txt", mime_type="text/plain", data="ZG90")
    return mantyx.ToolResult(result="drawn", files=[picture])


LOCAL_TOOLS = {
    "read_file": (read_file, FileArgs, {}),
    "forecast": (forecast, Forecast, {"output_schema": Place, "long_running": True}),
    "fail": (fail, None, {}),
    "halve": (halve, Even, {}),
    "say_nothing": (say_nothing, None, {}),
    "meet": (meet, None, {}),
    "wait": (wait, None, {}),
    "look_again": (wait, None, {"read_only": True, "retain": True}),
    "draw": (draw, None, {}),
}


def make_tool(name: str, where: str) -> Any:
    """A tool by its name; `where` is what comes after a colon."""
    if name == "notes":
        program = str(Path(__file__).with_name("mcp_notes.py"))
        return mantyx.define_local_mcp(name=name, command=sys.executable, args=[program])
    if name == "hr":
        return mantyx.define_local_a2a(name=name, agent_card_url=where, headers={"X-Team": "a"})
    if name == "remote_mcp":
        return mantyx.mantyx_mcp(name=name, url=where, headers={"X-Key": "k"}, tool_filter=["a"])
    if name == "remote_agent":
        return mantyx.mantyx_a2a(name=name, agent_card_url=where, context_id="ctx_1")
    if name == "stored":
        return mantyx.mantyx_tool("tool_cm6")
    if name == "plugin":
        return mantyx.mantyx_plugin_tool("@web/search")
    execute, parameters, more = LOCAL_TOOLS[name]
    return mantyx.define_local_tool(name=name, description=f"The tool {name}.",
                                    parameters=parameters, execute=execute, **more)


def arguments_of(task: dict) -> dict:
    arguments = dict(task.get("arguments", {}))
    if task["call"] in ("run_agent", "stream_agent", "run_plan"):
        tools = [make_tool(*spec.partition(":")[::2]) for spec in task.get("tools", [])]
        arguments = {"system_prompt": "Be brief.", "prompt": "Go.", "tools": tools} | arguments
    if task["call"] in ("run_agent", "run_plan"):
        arguments["on_event"] = report_event
        arguments["on_assistant_delta"] = lambda text: report("delta", text)
    return arguments


def report_event(event: mantyx.RunEvent) -> None:
    report("event", {"seq": event.seq, "type": event.type, "data": event.data})


def report_error(error: mantyx.MantyxError) -> None:
    report("raised", {"error": type(error).__name__} | vars(error))


# Verbs of the client, which name their session or run.
CLIENT_VERBS = ("list_sessions", "get_session_events", "get_session_events_page", "end_session",
                "submit_run_feedback")


class SessionSteps:
    """Verbs of one session after the other; what they give may have to be awaited."""

    def __init__(self, client: Any, task: dict):
        self.client = client
        self.session: Any = None
        self.tools = [make_tool(*spec.partition(":")[::2]) for spec in task.get("tools", [])]

    def begin(self, verb: str, arguments: dict) -> Any:
        if verb == "create":
            return self.client.create_session(tools=self.tools, **arguments)
        if verb == "resume":
            return self.client.resume_session(arguments["id"], tools=self.tools or None)
        if verb in CLIENT_VERBS:
            return getattr(self.client, verb)(**arguments)
        if verb in ("send", "stream", "run_plan"):
            return getattr(self.session, verb)(arguments.pop("text"), **arguments)
        return getattr(self.session, verb)(**arguments)

    def finish(self, verb: str, value: Any) -> None:
        if verb in ("create", "resume"):
            self.session = value
            value = getattr(value, "id", None) or value.session_id
        report("step", {verb: value})


def call_sync(task: dict, options: dict) -> Any:
    with mantyx.MantyxClient(**options) as client:
        if task["call"] == "session":
            steps = SessionSteps(client, task)
            for verb, arguments in task["arguments"]["steps"]:
                value = steps.begin(verb, arguments)
                if verb == "stream":
                    value = [event.type for event in value]
                steps.finish(verb, value)
            return None
        answer = getattr(client, task["call"])(**arguments_of(task))
        if task["call"] == "stream_agent":
            for event in answer:
                report_event(event)
            return None
        return answer


async def call_async(task: dict, options: dict) -> Any:
    async with mantyx.AsyncMantyxClient(**options) as client:
        if task["call"] == "session":
            steps = SessionSteps(client, task)
            for verb, arguments in task["arguments"]["steps"]:
                value = steps.begin(verb, arguments)
                if verb == "stream":
                    steps.finish(verb, [event.type async for event in value])
                else:
                    steps.finish(verb, await value)
            return None
        answer = getattr(client, task["call"])(**arguments_of(task))
        if task["call"] == "stream_agent":
            async for event in answer:
                report_event(event)
            return None
        return await answer


def tokens_of(task: dict) -> Any:
    """A source that begins with a token that the server does not take (any more)."""
    oauth = task["oauth"]
    client = mantyx.MantyxOAuthClient(client_id=oauth["client_id"], base_url=task["url"],
                                      client_secret=oauth["client_secret"])
    stale = mantyx.OAuthToken(access_token=oauth["stale_token"], token_type="Bearer",
                              expires_in=3600, expires_at=time.time() + 3600,
                              refresh_token=oauth["refresh_token"], scope=None)
    make = (client.async_refresh_token_source if task["client"] == "async"
            else client.refresh_token_source)
    return make(refresh_token=oauth["refresh_token"], initial_token=stale)


def read_answers() -> None:
    for line in sys.stdin:
        ANSWERS.put(line.removesuffix("\n"))


def main() -> None:
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=read_answers, daemon=True).start()
    options = {"base_url": task["url"], "workspace_slug": task["workspace"]}
    if task.get("oauth"):
        options["token_source"] = tokens_of(task)
    else:
        options["api_key"] = task["key"]
    try:
        if task["client"] == "async":
            answer = asyncio.run(call_async(task, options))
        else:
            answer = call_sync(task, options)
    except mantyx.MantyxError as error:
        report_error(error)
        return
    report("returned", answer)


if __name__ == "__main__":
    main()
