"""Tests of runs whose models are fake vendors."""

import os
from dataclasses import dataclass
from unittest.mock import patch

from support.fake_vendor import WIRES, FakeVendor, Wire
from support.http import Client, Frame
from support.script import local_tool
from support.server import Server, ServerCase

FORMATS = tuple(WIRES)
PROMPT = "What is in a and b?"
TOOLS = [local_tool("look", path="string")]
# What a model's entry in the configuration file says for each format.
ENTRIES = {
    "chat": {"provider": "openai", "api": "chat"},
    "responses": {"provider": "openai", "api": "responses"},
    "anthropic": {"provider": "anthropic"},
    "gemini": {"provider": "google"},
    "xai": {"provider": "xai"},
}
BASE_PATHS = {"chat": "/v1", "responses": "/v1", "anthropic": "", "gemini": "", "xai": "/v1"}


def model_entry(name: str, url: str, **settings) -> dict:
    return {"id": name, "vendorModelId": "vendor-m", "apiKey": "secret",
            "baseUrl": url + BASE_PATHS[name]} | ENTRIES[name] | settings


@dataclass
class Story:
    """What a run showed, without what differs from one run to the next."""

    frames: list[Frame]

    @property
    def events(self) -> list[tuple]:
        return [shown(frame) for frame in self.frames]

    @property
    def joined(self) -> list[tuple]:
        """The same with pieces of text in a row as one."""
        out: list[tuple] = []
        for event in self.events:
            if out and event[0] in ("assistant_delta", "thinking_delta") and \
                    out[-1][0] == event[0]:
                out[-1] = (event[0], out[-1][1] + event[1])
            else:
                out.append(event)
        return out

    @property
    def end(self) -> tuple:
        return self.events[-1]


def shown(frame: Frame) -> tuple:
    fields = frame.json()
    name = frame.event
    if name in ("assistant_delta", "thinking_delta"):
        return name, fields["text"]
    if name == "local_tool_call":
        return name, fields["args"]
    if name == "local_tool_result_in":
        return name, fields.get("result", fields.get("error"))
    if name == "assistant_message":
        calls = [made["input"] for made in fields.get("toolCalls", [])]
        return name, fields["text"], calls, fields["finishReason"]
    if name == "turn_restarted":
        return name, fields["turn"], fields["attempt"]
    if name == "result":
        return name, fields["subtype"], fields["text"]
    if name == "error":
        return name, fields["code"], fields["message"]
    return (name,)


class History:
    """The messages that a request of one format must have, put together step by step."""

    def __init__(self, name: str):
        self.name = name
        self.steps: list[dict] = []

    def user(self, text: str) -> "History":
        content = {"chat": {"role": "user", "content": text},
                   "responses": {"role": "user", "content": text},
                   "anthropic": {"role": "user", "content": [{"type": "text", "text": text}]},
                   "gemini": {"role": "user", "parts": [{"text": text}]}}
        self.steps.append(content[self.name])
        return self

    def turn(self, blocks: list[dict]) -> "History":
        """A turn of the model with its blocks as the vendor said them."""
        if self.name == "anthropic":
            self.steps.append({"role": "assistant", "content": blocks})
        elif self.name == "gemini":
            self.steps.append({"role": "model", "parts": join_texts(blocks)})
        else:
            self.steps += blocks
        return self

    def told(self, text: str) -> "History":
        """A turn of the model that is told as text alone."""
        part = {"type": "output_text", "text": text}
        content = {"chat": {"role": "assistant", "content": text},
                   "responses": {"role": "assistant", "content": [part]},
                   "anthropic": {"role": "assistant", "content": [{"type": "text", "text": text}]},
                   "gemini": {"role": "model", "parts": [{"text": text}]}}
        self.steps.append(content[self.name])
        return self

    def results(self, blocks: list[dict], *texts: str) -> "History":
        """The results of the calls that are among the blocks of a turn."""
        if self.name == "chat":
            calls = blocks[0].get("tool_calls", [])
            self.steps += [{"role": "tool", "tool_call_id": made["id"], "content": text}
                           for made, text in zip(calls, texts, strict=True)]
        elif self.name == "responses":
            calls = [item for item in blocks if item["type"] == "function_call"]
            self.steps += [{"type": "function_call_output", "call_id": made["call_id"],
                            "output": text} for made, text in zip(calls, texts, strict=True)]
        elif self.name == "anthropic":
            calls = [block for block in blocks if block["type"] == "tool_use"]
            content = [{"type": "tool_result", "tool_use_id": made["id"], "content": text}
                       for made, text in zip(calls, texts, strict=True)]
            self.steps.append({"role": "user", "content": content})
        else:
            calls = [part["functionCall"] for part in blocks if "functionCall" in part]
            parts = [{"functionResponse": {key: made[key] for key in ("id", "name") if key in made}
                      | {"response": {"output": text}}}
                     for made, text in zip(calls, texts, strict=True)]
            self.steps.append({"role": "user", "parts": parts})
        return self


def join_texts(parts: list[dict]) -> list[dict]:
    """Plain texts in a row may go back as one part; whatever is signed may not."""
    out: list[dict] = []
    for part in parts:
        is_plain = set(part) <= {"text", "thought"}
        if is_plain and out and set(out[-1]) == set(part):
            out[-1] = out[-1] | {"text": out[-1]["text"] + part["text"]}
        else:
            out.append(part)
    return out


def messages_of(name: str, body: dict) -> list[dict]:
    return body[{"responses": "input", "gemini": "contents"}.get(name, "messages")]


def upto_call(name: str, blocks: list[dict], number: int) -> list[dict]:
    """The blocks of a turn up to that call."""
    marks = {"responses": lambda block: block["type"] == "function_call",
             "anthropic": lambda block: block["type"] == "tool_use",
             "gemini": lambda block: "functionCall" in block}
    ends = [place + 1 for place, block in enumerate(blocks) if marks[name](block)]
    return blocks[: ends[number - 1]]


class VendorCase(ServerCase):
    """A server whose models are named as their formats, each behind a fake vendor."""

    def start_vendors(self, *answers, formats=FORMATS, wires: dict[str, Wire] | None = None,
                      certificate=None, others=(), config: dict | None = None,
                      **settings) -> tuple[Server, dict[str, FakeVendor]]:
        """`others` are models of the configuration besides, `config` is what else it says."""
        vendors = {}
        for name in formats:
            wire = (wires or {}).get(name) or WIRES[name]()
            vendors[name] = FakeVendor(*[answer() if callable(answer) else answer
                                         for answer in answers],
                                       wire=wire, certificate=certificate)
            self.addCleanup(vendors[name].close)
        if certificate:
            self.enterContext(patch.dict(os.environ, SSL_CERT_FILE=str(certificate.pem)))
        models = [model_entry(name, vendors[name].url, **settings) for name in formats]
        config = {"models": [*models, *others], "defaultModel": formats[0]} | (config or {})
        return self.start_server([], config), vendors

    def create(self, client: Client, name: str, **spec) -> str:
        return client.create(modelId=name, **({"prompt": PROMPT, "tools": TOOLS} | spec))

    def follow(self, client: Client, run: str, after: int = 0) -> Story:
        """Reads the run to its end, and answers its calls with "in PATH"."""
        frames = []
        with client.stream(run, after) as stream:
            for frame in stream:
                frames.append(frame)
                if frame.event == "local_tool_call":
                    self.answer(client, run, frame)
        return Story(frames)

    def answer(self, client: Client, run: str, frame: Frame) -> None:
        call = frame.json()
        answer = client.answer(run, call["toolUseId"], result=f"in {call['args'].get('path')}")
        self.assertEqual(answer.status, 204, answer.body)

    def play(self, server: Server, name: str, **spec) -> Story:
        client = server.client()
        return self.follow(client, self.create(client, name, **spec))

    def check_asked(self, vendor: FakeVendor, name: str, *histories: History) -> None:
        """The vendor was asked with exactly these histories, and took them all."""
        self.assertEqual(vendor.refusals, [])
        asked = [messages_of(name, body) for body in vendor.bodies]
        self.assertEqual(asked, [history.steps for history in histories], name)
        self.assertEqual(vendor.answers, [], "answers that nobody asked for")
